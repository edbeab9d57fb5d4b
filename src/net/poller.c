/* epoll with nanosecond time-outs: epoll_pwait2 where the kernel has it (5.11), a timerfd elsewhere. */
#include "net/poller.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

static bool have_pwait2(int epoll_fd)
{
    struct epoll_event none;
    struct timespec zero = {0, 0};
    return epoll_pwait2(epoll_fd, &none, 1, &zero, NULL) >= 0 || errno != ENOSYS;
}

bool poller_open(struct poller *p, struct error *err)
{
    memset(p, 0, sizeof(*p));
    p->wake_fd = p->timer_fd = -1;
    p->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (p->epoll_fd < 0)
        return error_sys(err, E_IO, errno, "cannot create an epoll set");
    p->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    bool ok = p->wake_fd >= 0 && poller_add(p, p->wake_fd, EPOLLIN, &p->wake_fd);
    if (ok && !have_pwait2(p->epoll_fd)) {
        p->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        ok = p->timer_fd >= 0 && poller_add(p, p->timer_fd, EPOLLIN, &p->timer_fd);
    }
    if (!ok) {
        int sys = errno;
        poller_close(p);
        return error_sys(err, E_IO, sys, "cannot set up an event loop");
    }
    return true;
}

void poller_close(struct poller *p)
{
    if (p->epoll_fd >= 0)
        close(p->epoll_fd);
    if (p->wake_fd >= 0)
        close(p->wake_fd);
    if (p->timer_fd >= 0)
        close(p->timer_fd);
    p->epoll_fd = p->wake_fd = p->timer_fd = -1;
}

bool poller_add(struct poller *p, int fd, uint32_t interest, void *what)
{
    struct epoll_event e = {.events = interest, .data.ptr = what};
    return epoll_ctl(p->epoll_fd, EPOLL_CTL_ADD, fd, &e) == 0;
}

bool poller_change(struct poller *p, int fd, uint32_t interest, void *what)
{
    struct epoll_event e = {.events = interest, .data.ptr = what};
    return epoll_ctl(p->epoll_fd, EPOLL_CTL_MOD, fd, &e) == 0;
}

static int wait_events(struct poller *p, uint64_t until_ns, uint64_t now_ns)
{
    uint64_t left = until_ns > now_ns ? until_ns - now_ns : 0;
    bool endless = until_ns == UINT64_MAX;
    if (p->timer_fd < 0) {
        struct timespec t = {(time_t)(left / NS_PER_S), (long)(left % NS_PER_S)};
        return epoll_pwait2(p->epoll_fd, p->events, POLLER_BATCH, endless ? NULL : &t, NULL);
    }
    if (left == 0)
        return epoll_wait(p->epoll_fd, p->events, POLLER_BATCH, 0);
    struct itimerspec at = {0};
    if (!endless) {
        at.it_value.tv_sec = (time_t)(until_ns / NS_PER_S);
        at.it_value.tv_nsec = (long)(until_ns % NS_PER_S);
    }
    timerfd_settime(p->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
    return epoll_wait(p->epoll_fd, p->events, POLLER_BATCH, -1);
}

/* The wake-up and timer descriptors are the poller's own and not shown to the caller. */
static bool own_event(struct poller *p, const struct epoll_event *e)
{
    if (e->data.ptr != &p->wake_fd && e->data.ptr != &p->timer_fd)
        return false;
    uint64_t value;
    ssize_t n = read(e->data.ptr == &p->wake_fd ? p->wake_fd : p->timer_fd, &value, sizeof(value));
    (void)n; /* non-blocking: nothing there is fine */
    return true;
}

void poller_wait(struct poller *p, uint64_t until_ns, uint64_t now_ns)
{
    int n = wait_events(p, until_ns, now_ns);
    p->count = 0;
    for (int i = 0; i < n; i++) {
        if (!own_event(p, &p->events[i]))
            p->events[p->count++] = p->events[i];
    }
}

void poller_wake(struct poller *p)
{
    uint64_t one = 1;
    ssize_t n = write(p->wake_fd, &one, sizeof(one));
    (void)n; /* a full counter wakes as well */
}

void poller_sharpen_timers(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}
