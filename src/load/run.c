/* One run of the engine: workers are started, the clock is released when their connections are open, the calling thread
 * watches signals and progress, and everything is merged after the join. */
#include "load/load.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "load/worker_priv.h"
#include "net/sock.h"

enum {
    MAX_THREADS = 64,
    FILES_BESIDE = 32,
    TICK_MS = 100,
    STREAMS_PER_THREAD = 256,
    DEFAULT_MAX_THREADS = 8,
    MOST_OPEN_ENDED = 1 << 24,
    LEAST_OPEN_ENDED = 1 << 16
};

struct load {
    struct load_shared shared;
    struct worker *workers;
    struct load_counters *counters;
    unsigned started; /* threads that run */
    int signal_fd; /* SIGINT and SIGTERM, taken over for the run; -1 when the plan has a stop_fd */
    sigset_t old_mask;
};

unsigned load_choose_threads(uint64_t concurrency)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = (concurrency + STREAMS_PER_THREAD - 1) / STREAMS_PER_THREAD;
    uint64_t most = cores > 3 ? (uint64_t)cores / 2 : 1;
    if (most > DEFAULT_MAX_THREADS)
        most = DEFAULT_MAX_THREADS;
    if (wanted > most)
        wanted = most;
    return wanted > 0 ? (unsigned)wanted : 1;
}

/* Most connections that can be open at once, as far as it is known. */
static uint64_t known_concurrency(const struct load_plan *plan)
{
    uint64_t most = plan->max_concurrency > 0 ? plan->max_concurrency : plan->count;
    bool counted = plan->send_for_ns == 0 || plan->due_ns != NULL;
    return most < plan->count || !counted ? most : plan->count;
}

static unsigned thread_count(const struct load_plan *plan)
{
    if (plan->feed != NULL)
        return 1;
    uint64_t concurrency = known_concurrency(plan);
    uint64_t threads = plan->threads > 0 ? plan->threads : load_choose_threads(concurrency);
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    if (threads > concurrency)
        threads = concurrency;
    return threads > 0 ? (unsigned)threads : 1;
}

static void make_head(const struct load_plan *plan, struct buf *head)
{
    buf_add_fmt(head, "POST " SV_FMT " HTTP/1.1\r\n", SV_ARG(plan->path));
    buf_add(head, plan->headers);
    if (plan->id_prefix != NULL)
        buf_add_fmt(head, "x-request-id: %s", plan->id_prefix);
}

void load_record_init(const struct load_plan *plan, size_t item, struct record *r)
{
    const struct request *request = &plan->workload->requests[load_request_index(plan, item)];
    record_init(r);
    r->prompt_len = request->prompt_len;
    r->output_len = request->output_len;
    r->input_sequences = backend_inputs(plan->backend, plan->body, request->sequences);
    if (request->file != NULL)
        r->input_audio_s = request->file->length_s;
}

/* How many items there will be is not known: address space for many is reserved, and memory comes with its use. */
static bool map_records(struct load *load, struct load_result *result, struct error *err)
{
    size_t count = MOST_OPEN_ENDED;
    void *memory = MAP_FAILED;
    for (; count >= LEAST_OPEN_ENDED && memory == MAP_FAILED; count /= 2) {
        result->mapped_bytes = count * sizeof(struct record);
        result->count = count;
        memory = mmap(NULL, result->mapped_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (memory == MAP_FAILED) {
        result->mapped_bytes = 0;
        return error_sys(err, E_LIMIT, errno, "cannot reserve memory for the requests' records");
    }
    result->records = memory;
    load->shared.open_ended = true;
    return true;
}

static bool make_records(struct load *load, struct load_result *result, struct error *err)
{
    const struct load_plan *plan = load->shared.plan;
    if (plan->send_for_ns > 0 && plan->due_ns == NULL) {
        if (!map_records(load, result, err))
            return false;
    } else {
        result->count = plan->count;
        result->records = mem_array(plan->count, sizeof(*result->records));
        for (size_t i = 0; i < plan->count; i++)
            load_record_init(plan, i, &result->records[i]);
    }
    load->shared.records = result->records;
    load->shared.capacity = result->count;
    return true;
}

static bool take_signals(struct load *load, struct error *err)
{
    sigset_t signals;
    if (load->shared.plan->stop_fd > 0) {
        load->signal_fd = -1;
        load->shared.changed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
        return load->shared.changed_fd >= 0 ||
               error_sys(err, E_IO, errno, "cannot wait for client threads");
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, &load->old_mask);
    load->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    load->shared.changed_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (load->signal_fd < 0 || load->shared.changed_fd < 0)
        return error_sys(err, E_IO, errno, "cannot watch for signals");
    return true;
}

static bool start_workers(struct load *load, struct error *err)
{
    for (unsigned i = 0; i < load->shared.workers; i++) {
        struct worker *w = &load->workers[i];
        if (!worker_init(w, &load->shared, i, &load->counters[i], err))
            return false;
    }
    for (unsigned i = 0; i < load->shared.workers; i++) {
        int sys = pthread_create(&load->workers[i].thread, NULL, worker_main, &load->workers[i]);
        if (sys != 0)
            return error_sys(err, E_LIMIT, sys, "cannot start a client thread");
        load->started++;
    }
    return true;
}

static void wake_all(struct load *load)
{
    for (unsigned i = 0; i < load->started; i++)
        poller_wake(&load->workers[i].poller);
}

static uint64_t requests_in_flight(const struct load *load)
{
    uint64_t sent = 0, done = 0;
    for (unsigned i = 0; i < load->started; i++) {
        done += atomic_load_explicit(&load->counters[i].done, memory_order_relaxed);
        sent += atomic_load_explicit(&load->counters[i].sent, memory_order_relaxed);
    }
    return sent > done ? sent - done : 0;
}

static void stop_more(struct load *load)
{
    const struct load_plan *plan = load->shared.plan;
    int level = atomic_load(&load->shared.stop);
    if (level < STOP_NOW)
        atomic_store(&load->shared.stop, plan->impatient ? STOP_NOW : level + 1);
    wake_all(load);
    uint64_t in_flight = requests_in_flight(load);
    if (level == STOP_NOT && !plan->impatient && plan->draining != NULL && in_flight > 0)
        plan->draining(plan->user, in_flight);
}

/* When what is in flight is cut off; UINT64_MAX: never. */
static uint64_t cut_ns(const struct load *load)
{
    const struct load_plan *plan = load->shared.plan;
    if (plan->send_for_ns == 0 || !atomic_load(&load->shared.released))
        return UINT64_MAX;
    return load->shared.start_ns + plan->send_for_ns + plan->grace_ns;
}

static int tick_ms(const struct load *load)
{
    uint64_t now = clock_mono_ns();
    uint64_t cut = cut_ns(load);
    uint64_t left_ms = cut > now ? (cut - now) / NS_PER_MS + 1 : 0;
    return cut != UINT64_MAX && !atomic_load(&load->shared.out_of_time) && left_ms < TICK_MS
               ? (int)left_ms
               : TICK_MS;
}

static void check_time(struct load *load)
{
    if (clock_mono_ns() < cut_ns(load) || atomic_load(&load->shared.out_of_time))
        return;
    atomic_store(&load->shared.out_of_time, true);
    wake_all(load);
}

/* Until a worker has news, at most a tick; a signal raises the stop level. */
static void wait_tick(struct load *load)
{
    int stop_fd = load->shared.plan->stop_fd;
    bool aborting = atomic_load(&load->shared.stop) == STOP_NOW;
    /* A raised stop_fd stays raised: once seen it is no longer watched. */
    int watched = stop_fd <= 0 ? load->signal_fd : aborting ? -1 : stop_fd;
    struct pollfd fds[2] = {{.fd = watched, .events = POLLIN},
                            {.fd = load->shared.changed_fd, .events = POLLIN}};
    int ready = poll(fds, 2, tick_ms(load));
    check_time(load);
    if (ready <= 0)
        return;
    struct signalfd_siginfo info;
    uint64_t value;
    if (stop_fd > 0 && (fds[0].revents & POLLIN) != 0) {
        atomic_store(&load->shared.stop, STOP_NOW);
        wake_all(load);
    } else if (stop_fd <= 0 && read(load->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        stop_more(load);
    }
    if (read(load->shared.changed_fd, &value, sizeof(value)) < 0 && errno != EAGAIN)
        usleep(TICK_MS * 1000);
}

static void release(struct load *load, struct load_result *result)
{
    while (atomic_load(&load->shared.ready) < load->shared.workers)
        wait_tick(load);
    result->start_ns = load->shared.start_ns = clock_mono_ns();
    result->start_real_ns = clock_real_ns();
    if (load->shared.plan->feed != NULL)
        load->shared.plan->feed->begin(load->shared.plan->feed->user, result->start_ns);
    atomic_store(&load->shared.released, true);
    wake_all(load);
    if (load->shared.plan->started != NULL)
        load->shared.plan->started(load->shared.plan->user);
}

static bool all_finished(const struct load *load)
{
    for (unsigned i = 0; i < load->started; i++) {
        if (!atomic_load(&load->counters[i].finished))
            return false;
    }
    return true;
}

static void report_progress(const struct load *load, const struct load_result *result)
{
    struct load_progress p = {.elapsed_ns = clock_mono_ns() - result->start_ns};
    for (unsigned i = 0; i < load->started; i++) {
        p.sent += atomic_load_explicit(&load->counters[i].sent, memory_order_relaxed);
        p.done += atomic_load_explicit(&load->counters[i].done, memory_order_relaxed);
        p.failed += atomic_load_explicit(&load->counters[i].failed, memory_order_relaxed);
        p.tokens += atomic_load_explicit(&load->counters[i].tokens, memory_order_relaxed);
    }
    const struct load_plan *plan = load->shared.plan;
    if (plan->progress != NULL)
        plan->progress(plan->user, &p);
}

static void watch(struct load *load, const struct load_result *result)
{
    while (!all_finished(load)) {
        wait_tick(load);
        report_progress(load, result);
    }
}

/* With an end by time, only what was sent counts. */
static void trim_records(const struct load *load, struct load_result *result)
{
    if (load->shared.plan->send_for_ns == 0)
        return;
    if (load->shared.open_ended) {
        size_t claimed = atomic_load(&load->shared.next);
        result->count = claimed < result->count ? claimed : result->count;
    }
    while (result->count > 0 && !result->records[result->count - 1].sent)
        result->count--;
}

/* The last answer.  What was cut off ended at no time of its own: nothing of it is counted, so the grace that it was
 * given is no part of the run; the time in which requests were sent is. */
static uint64_t last_end_ns(const struct load *load, const struct load_result *result)
{
    uint64_t end = result->start_ns;
    for (size_t i = 0; i < result->count; i++) {
        const struct record *r = &result->records[i];
        uint64_t r_end = record_unfinished(r) ? result->start_ns + load->shared.plan->send_for_ns
                         : r->done            ? r->end_ns
                                              : 0;
        end = r_end > end ? r_end : end;
    }
    return end;
}

static void finish(struct load *load, struct load_result *result)
{
    result->slab_count = load->shared.workers;
    result->slabs = mem_array(result->slab_count, sizeof(*result->slabs));
    for (unsigned i = 0; i < load->started; i++)
        pthread_join(load->workers[i].thread, NULL);
    for (unsigned i = 0; i < load->shared.workers; i++) {
        struct worker *w = &load->workers[i];
        client_stats_merge(&result->client, &w->stats);
        result->slabs[i] = w->slab;
    }
    trim_records(load, result);
    result->duration_ns = last_end_ns(load, result) - result->start_ns;
    result->interrupted = atomic_load(&load->shared.stop) != STOP_NOT;
    result->client.address = load->shared.plan->target->address_text;
    result->client.paced = load->shared.plan->due_ns != NULL && load->shared.plan->feed == NULL;
    result->client.dns_ms = (double)load->shared.plan->target->dns_ns / 1e6;
}

static void load_done(struct load *load)
{
    for (unsigned i = 0; i < load->shared.workers; i++) {
        if (load->workers[i].shared != NULL)
            worker_done(&load->workers[i]);
    }
    free(load->workers);
    free(load->counters);
    buf_done(&load->shared.head);
    if (load->signal_fd >= 0)
        close(load->signal_fd);
    if (load->shared.changed_fd >= 0)
        close(load->shared.changed_fd);
    if (load->shared.plan->stop_fd <= 0)
        pthread_sigmask(SIG_SETMASK, &load->old_mask, NULL);
}

bool load_run(const struct load_plan *plan, struct load_result *result, struct error *err)
{
    *result = (struct load_result){0};
    if (!sock_raise_file_limit(known_concurrency(plan) * plan->concurrency_known + FILES_BESIDE,
                               err))
        return false;
    struct load load = {.shared = {.plan = plan, .workers = thread_count(plan)}};
    load.workers = mem_array(load.shared.workers, sizeof(*load.workers));
    load.counters = aligned_alloc(64, load.shared.workers * sizeof(*load.counters));
    memset(load.counters, 0, load.shared.workers * sizeof(*load.counters));
    make_head(plan, &load.shared.head);
    load.signal_fd = load.shared.changed_fd = -1;
    bool ok = make_records(&load, result, err);
    if (!ok)
        load.shared.workers = 0;
    ok = ok && take_signals(&load, err) && start_workers(&load, err);
    if (ok) {
        release(&load, result);
        watch(&load, result);
    } else {
        atomic_store(&load.shared.stop, STOP_NOW);
        atomic_store(&load.shared.released, true);
        wake_all(&load);
    }
    finish(&load, result);
    load_done(&load);
    if (!ok)
        load_result_done(result);
    return ok;
}

void load_result_done(struct load_result *result)
{
    for (size_t i = 0; i < result->slab_count; i++)
        record_slab_done(&result->slabs[i]);
    free(result->slabs);
    if (result->mapped_bytes > 0)
        munmap(result->records, result->mapped_bytes);
    else
        free(result->records);
    *result = (struct load_result){0};
}
