/* One thread that sends a probe, waits for its end, rests, and begins again. */
#include "load/probe.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "metrics/summary.h"

struct probe {
    struct load_plan plan;
    struct workload workload;
    struct request request;
    int stop_fd; /* raised by probe_stop */
    uint64_t rest_ns;
    bool started;
    pthread_t thread;
    double *latencies_s;
    size_t completed;
    size_t cap;
    uint64_t failed;
};

struct probe *probe_new(const struct load_plan *plan, double rate)
{
    struct probe *p = mem_new(struct probe);
    struct sv prompt = SV_LIT("\"Hi\"");
    p->request = (struct request){
        .prompt = {.kind = PROMPT_JSON, .json = prompt, .json_bytes = (uint32_t)prompt.len},
        .prompt_len = 1,
        .output_len = 1,
        .due_offset_ns = UINT64_MAX,
    };
    p->workload = (struct workload){.requests = &p->request, .count = 1};
    p->stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    p->rest_ns = rate >= 1e-9 ? (uint64_t)(1e9 / rate) : UINT64_MAX;
    p->plan = *plan;
    p->plan.pool = NULL;
    p->plan.workload = &p->workload;
    p->plan.order = NULL;
    p->plan.lora_of = NULL;
    p->plan.count = 1;
    p->plan.due_ns = NULL;
    p->plan.send_for_ns = 0;
    p->plan.feed = NULL;
    p->plan.id_prefix = NULL;
    p->plan.max_concurrency = 1;
    p->plan.concurrency_known = true;
    p->plan.threads = 1;
    p->plan.text = LOAD_TEXT_NONE;
    p->plan.progress = NULL;
    p->plan.started = NULL;
    p->plan.stop_fd = p->stop_fd;
    return p;
}

/* Rests; true when probing has been ended meanwhile. */
static bool stopped_within(const struct probe *p, uint64_t wait_ns)
{
    struct pollfd stop = {.fd = p->stop_fd, .events = POLLIN};
    uint64_t wait_s = wait_ns / NS_PER_S;
    struct timespec most = {wait_s > 1000000 ? 1000000 : (time_t)wait_s,
                            (long)(wait_ns % NS_PER_S)};
    return ppoll(&stop, 1, &most, NULL) != 0;
}

static void take(struct probe *p, const struct record *r)
{
    if (!record_ok(r)) {
        p->failed += r->done && r->failure != FAILURE_INTERRUPTED;
        return;
    }
    MEM_GROW(p->latencies_s, p->completed, p->cap);
    p->latencies_s[p->completed++] = record_latency_s(r);
}

static void *probing(void *arg)
{
    struct probe *p = arg;
    do {
        struct load_result result;
        struct error err;
        if (load_run(&p->plan, &result, &err)) {
            take(p, &result.records[0]);
            load_result_done(&result);
        } else {
            p->failed++;
        }
    } while (!stopped_within(p, p->rest_ns));
    return NULL;
}

void probe_start(struct probe *p)
{
    /* The new thread and those that it starts inherit the mask: signals go to the main thread. */
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    p->started = p->stop_fd >= 0 && pthread_create(&p->thread, NULL, probing, p) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void probe_stop(struct probe *p, struct probe_stats *stats)
{
    uint64_t one = 1;
    if (p->started && write(p->stop_fd, &one, sizeof(one)) == sizeof(one))
        pthread_join(p->thread, NULL);
    probe_stats_make(p->latencies_s, p->completed, p->failed, stats);
    if (p->stop_fd >= 0)
        close(p->stop_fd);
    free(p->latencies_s);
    free(p);
}
