/* See threshold.h. */
#include "load/threshold.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/num.h"

static const uint64_t INTERVAL_NS = 500 * NS_PER_MS;
static const uint64_t PAGE_TIMEOUT_NS = 10 * NS_PER_S;

struct threshold {
    const struct server *server;
    double wanted;
    uint64_t duration_ns;
    int stop_fd;
    bool running;
    pthread_t thread;
    struct threshold_report report;
};

bool threshold_running(struct sv page, double *running)
{
    struct sv line;
    while (sv_split(&page, '\n', &line)) {
        line = sv_trim(line);
        if (!sv_starts(line, SV_LIT("vllm:num_requests_running")))
            continue;
        size_t at = line.len;
        while (at > 0 && line.ptr[at - 1] != ' ' && line.ptr[at - 1] != '\t')
            at--;
        return num_parse_double(sv_skip(line, at), running);
    }
    return false;
}

static bool is_reached(struct threshold *t)
{
    struct buf page = {0};
    struct error err;
    double running = 0.0;
    bool reached = server_get(t->server, "/metrics", PAGE_TIMEOUT_NS, &page, &err) &&
                   threshold_running(buf_sv(&page), &running) && running >= t->wanted;
    buf_done(&page);
    return reached;
}

/* True when the load has ended meanwhile. */
static bool stopped_within(const struct threshold *t, uint64_t wait_ns)
{
    struct pollfd stop = {.fd = t->stop_fd, .events = POLLIN};
    struct timespec most = {(time_t)(wait_ns / NS_PER_S), (long)(wait_ns % NS_PER_S)};
    return ppoll(&stop, 1, &most, NULL) != 0;
}

static void *watching(void *arg)
{
    struct threshold *t = arg;
    struct threshold_report *report = &t->report;
    while (!(report->reached = is_reached(t)))
        if (stopped_within(t, INTERVAL_NS))
            return NULL;
    if (stopped_within(t, 0))
        return NULL;
    report->started = server_command(t->server, "/start_profile", &report->error);
    report->failed = !report->started;
    if (report->failed)
        return NULL;
    report->cut = stopped_within(t, t->duration_ns);
    report->failed = !server_command(t->server, "/stop_profile", &report->error);
    return NULL;
}

struct threshold *threshold_start(const struct server *server, uint64_t running,
                                  uint64_t duration_ns)
{
    struct threshold *t = mem_new(struct threshold);
    t->server = server;
    t->wanted = (double)running;
    t->duration_ns = duration_ns;
    t->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    t->running = t->stop_fd >= 0 && pthread_create(&t->thread, NULL, watching, t) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return t;
}

void threshold_stop(struct threshold *t, struct threshold_report *report)
{
    uint64_t one = 1;
    *report = (struct threshold_report){0};
    if (t == NULL)
        return;
    if (t->running && write(t->stop_fd, &one, sizeof(one)) == sizeof(one))
        pthread_join(t->thread, NULL);
    if (t->stop_fd >= 0)
        close(t->stop_fd);
    *report = t->report;
    free(t);
}
