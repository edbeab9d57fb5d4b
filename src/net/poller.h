/* poller.h - one thread's epoll set with a wait of nanosecond resolution.
 * Use: poller_open; poller_add/poller_change per socket; poller_wait; poller_close.  poller_wake from another thread ends
 * a wait early (it shows as no event).
 * Threads: one owner; only poller_wake may be called by others.  Errors: struct error on opening; false otherwise. */
#ifndef VB_NET_POLLER_H
#define VB_NET_POLLER_H

#include "base/error.h"

#include <stdint.h>
#include <sys/epoll.h>

enum { POLLER_BATCH = 256 };

struct poller {
    int epoll_fd;
    int wake_fd;
    int timer_fd; /* -1 while the kernel has epoll_pwait2 */
    int count;    /* events of the last wait */
    struct epoll_event events[POLLER_BATCH];
};

bool poller_open(struct poller *p, struct error *err);
void poller_close(struct poller *p);

/* `what` comes back in events[i].data.ptr and must not be NULL. Level-triggered; `interest` is EPOLLIN, EPOLLOUT... */
bool poller_add(struct poller *p, int fd, uint32_t interest, void *what);
bool poller_change(struct poller *p, int fd, uint32_t interest, void *what);

/* Waits until something happens or the monotonic instant has come (0: do not wait; UINT64_MAX: no limit).  Fills
 * p->count events, woken or timed out gives 0.  `now_ns` is the caller's latest clock reading. */
void poller_wait(struct poller *p, uint64_t until_ns, uint64_t now_ns);
void poller_wake(struct poller *p);

/* Timers of this thread are to fire on time, not up to 50 us late (PR_SET_TIMERSLACK). */
void poller_sharpen_timers(void);

#endif
