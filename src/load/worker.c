/* A worker's loop.  Each turn drains every readable socket first and sends afterwards, so that sending never delays a
 * read.  Items are claimed in order of their due times: with a limit from one counter that all workers share (a claim is
 * made only by a worker that has a free slot), without one each worker takes every n-th item. */
#include "load/worker_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "load/conn_priv.h"

enum { PREOPEN_AT_ONCE = 128, SENDS_AT_ONCE = 32 };

static const uint64_t CONNECT_TIMEOUT_NS = 30 * NS_PER_S;
static const uint64_t PREOPEN_TIMEOUT_NS = 10 * NS_PER_S;

/* ---- set-up ---------------------------------------------------------------------------------------------------- */

/* Worker `index` of `workers` gets its share of a total: the first ones get one more. */
static size_t share(size_t total, unsigned index, unsigned workers)
{
    return total / workers + (index < total % workers ? 1 : 0);
}

bool worker_init(struct worker *w, struct load_shared *shared, unsigned index,
                 struct load_counters *counters, struct error *err)
{
    const struct load_plan *plan = shared->plan;
    w->shared = shared;
    w->plan = plan;
    w->index = index;
    w->counters = counters;
    w->claimed = SIZE_MAX;
    w->stride_next = index;
    w->limit = SIZE_MAX;
    if (plan->max_concurrency > 0)
        w->limit = share(plan->max_concurrency, index, shared->workers);
    if (plan->concurrency_known) {
        uint64_t most = plan->max_concurrency;
        bool counted = plan->send_for_ns == 0 || plan->due_ns != NULL;
        if (counted && (most == 0 || most > plan->count))
            most = plan->count;
        w->preopen = share(most, index, shared->workers);
    }
    w->block = mem_alloc(READ_BLOCK);
    return poller_open(&w->poller, err);
}

void worker_done(struct worker *w)
{
    for (size_t i = 0; i < w->conn_count; i++)
        conn_free(w, w->conns[i]);
    free(w->conns);
    free(w->block);
    buf_done(&w->scratch);
    poller_close(&w->poller);
}

/* ---- clocks ---------------------------------------------------------------------------------------------------- */

/* Once a turn: the distance of the two clocks.  Slewing changes it by at most 0.05 %; more is a step, and stamps made
 * before it still need the old distance. */
static void sample_offset(struct worker *w, uint64_t now_ns)
{
    int64_t offset = (int64_t)(clock_real_ns() - clock_mono_ns());
    if (w->offset_at_ns != 0) {
        int64_t change = offset - w->real_offset_ns;
        int64_t allowed = (int64_t)(NS_PER_MS + (now_ns - w->offset_at_ns) / 1000);
        if (change > allowed || change < -allowed) {
            w->previous_offset_ns = w->real_offset_ns;
            w->stats.clock_steps++;
        }
    } else {
        w->previous_offset_ns = offset;
    }
    w->real_offset_ns = offset;
    w->offset_at_ns = now_ns;
}

/* ---- slots ----------------------------------------------------------------------------------------------------- */

static void push(struct conn **list, struct conn *c)
{
    c->next = *list;
    *list = c;
}

static struct conn *pop(struct conn **list)
{
    struct conn *c = *list;
    if (c != NULL)
        *list = c->next;
    return c;
}

void worker_slot_free(struct worker *w, struct conn *c, uint64_t when_ns)
{
    c->free_ns = when_ns;
    push(c->state == CONN_IDLE ? &w->warm : &w->cold, c);
}

/* An open connection when there is one; the server may have closed some of the warm ones meanwhile. */
static struct conn *take_slot(struct worker *w)
{
    struct conn *c;
    while ((c = pop(&w->warm)) != NULL) {
        if (c->state == CONN_IDLE)
            return c;
        push(&w->cold, c);
    }
    c = pop(&w->cold);
    return c != NULL ? c : conn_new(w);
}

/* ---- connections before the start ------------------------------------------------------------------------------ */

/* Connections that earlier calls left open come first. */
static void adopt_some(struct worker *w, size_t *opened)
{
    struct net_stream stream;
    while (*opened < w->preopen && w->plan->pool != NULL &&
           fetch_pool_take(w->plan->pool, &stream)) {
        (*opened)++;
        conn_adopt(w, conn_new(w), &stream);
    }
}

static void open_some(struct worker *w, size_t *opened)
{
    while (*opened < w->preopen && w->connecting < PREOPEN_AT_ONCE && !w->preopen_failed) {
        struct conn *c = conn_new(w);
        (*opened)++;
        if (conn_open(w, c))
            w->connecting++;
        else
            w->preopen_failed = true;
    }
}

static void handle_events(struct worker *w)
{
    for (int i = 0; i < w->poller.count; i++)
        conn_event(w, w->poller.events[i].data.ptr, w->poller.events[i].events);
}

/* A connection that cannot be opened now is tried again by the request that needs it, which then fails with the
 * reason. */
static void preopen_connections(struct worker *w)
{
    uint64_t give_up_ns = clock_mono_ns() + PREOPEN_TIMEOUT_NS;
    size_t opened = 0;
    adopt_some(w, &opened);
    open_some(w, &opened);
    while (w->connecting > 0 && clock_mono_ns() < give_up_ns) {
        poller_wait(&w->poller, give_up_ns, clock_mono_ns());
        handle_events(w);
        open_some(w, &opened);
    }
    for (size_t i = 0; i < w->conn_count; i++) {
        struct conn *c = w->conns[w->conn_count - 1 - i];
        if (c->state == CONN_CONNECTING) {
            conn_close(w, c);
            w->connecting--;
        }
        worker_slot_free(w, c, 0);
    }
}

/* ---- sending --------------------------------------------------------------------------------------------------- */

/* Sends at a fixed time may be a little late without being cut. */
static const uint64_t LATE_NS = 10 * NS_PER_MS;

static bool is_over(const struct worker *w, uint64_t now_ns)
{
    uint64_t limit = w->plan->send_for_ns;
    return limit > 0 &&
           now_ns >= w->shared->start_ns + limit + (w->plan->due_ns != NULL ? LATE_NS : 0);
}

static bool claim(struct worker *w)
{
    if (w->claimed != SIZE_MAX)
        return true;
    if (w->exhausted)
        return false;
    if (is_over(w, clock_mono_ns())) {
        w->exhausted = true;
        return false;
    }
    size_t item;
    if (w->limit != SIZE_MAX) {
        item = atomic_fetch_add_explicit(&w->shared->next, 1, memory_order_relaxed);
    } else {
        item = w->stride_next;
        w->stride_next += w->shared->workers;
    }
    if (item >= w->shared->capacity) {
        w->exhausted = true;
        return false;
    }
    if (w->shared->open_ended)
        load_record_init(w->plan, item, &w->shared->records[item]);
    w->claimed = item;
    return true;
}

/* The same for items that come to be on the way. */
static uint64_t send_fed(struct worker *w)
{
    const struct load_feed *feed = w->plan->feed;
    for (int sent = 0; w->busy < w->limit; sent++) {
        uint64_t now = clock_mono_ns();
        uint64_t when = UINT64_MAX;
        size_t item;
        if (sent == SENDS_AT_ONCE)
            return 0;
        switch (feed->next(feed->user, now, &item, &when)) {
        case LOAD_FEED_WAIT:
            return when;
        case LOAD_FEED_END:
            w->exhausted = true;
            return UINT64_MAX;
        case LOAD_FEED_ITEM:
            break;
        }
        load_record_init(w->plan, item, &w->shared->records[item]);
        struct conn *c = take_slot(w);
        uint64_t due = worker_due_ns(w, item);
        conn_start(w, c, item, c->free_ns > due ? c->free_ns : due);
    }
    return UINT64_MAX;
}

/* Sends what is due and has a slot, a few requests a turn so that a burst does not keep arrivals waiting; returns when
 * to come again (UINT64_MAX: nothing to wait for). */
static uint64_t send_due(struct worker *w)
{
    for (int sent = 0; w->busy < w->limit && claim(w); sent++) {
        if (sent == SENDS_AT_ONCE)
            return 0;
        uint64_t due = worker_due_ns(w, w->claimed);
        if (due > clock_mono_ns())
            return due;
        if (is_over(w, clock_mono_ns())) {
            w->claimed = SIZE_MAX;
            w->exhausted = true;
            return UINT64_MAX;
        }
        size_t item = w->claimed;
        w->claimed = SIZE_MAX;
        struct conn *c = take_slot(w);
        conn_start(w, c, item, c->free_ns > due ? c->free_ns : due);
    }
    return UINT64_MAX;
}

/* ---- limits on time -------------------------------------------------------------------------------------------- */

static void sweep_one(struct worker *w, struct conn *c, uint64_t now_ns)
{
    if (c->record == NULL)
        return;
    char text[256];
    if (now_ns - c->record->start_ns > w->plan->request_timeout_ns) {
        snprintf(text, sizeof(text), "no complete response within %.3f s (--request-timeout)",
                 (double)w->plan->request_timeout_ns / 1e9);
        conn_fail(w, c, FAILURE_TIMEOUT, sv_from(text));
    } else if (c->state == CONN_CONNECTING && now_ns - c->stream.begun_ns > CONNECT_TIMEOUT_NS) {
        snprintf(text, sizeof(text), "cannot connect to %s: no answer within 30 s",
                 w->plan->target->address_text);
        conn_fail(w, c, FAILURE_CONNECT, sv_from(text));
    }
}

static void sweep(struct worker *w, uint64_t now_ns)
{
    uint64_t step = w->plan->request_timeout_ns / 20;
    if (step > NS_PER_S)
        step = NS_PER_S;
    if (step < NS_PER_MS)
        step = NS_PER_MS;
    w->next_sweep_ns = now_ns + step;
    for (size_t i = 0; i < w->conn_count; i++)
        sweep_one(w, w->conns[i], now_ns);
}

static void abort_all(struct worker *w, enum failure_kind kind, struct sv text)
{
    for (size_t i = 0; i < w->conn_count; i++) {
        if (w->conns[i]->record != NULL)
            conn_fail(w, w->conns[i], kind, text);
    }
}

static uint64_t send_more(struct worker *w)
{
    return w->plan->feed != NULL ? send_fed(w) : send_due(w);
}

/* ---- the loop -------------------------------------------------------------------------------------------------- */

static void tell_main(struct worker *w)
{
    uint64_t one = 1;
    ssize_t n = write(w->shared->changed_fd, &one, sizeof(one));
    (void)n; /* a full counter has woken the main thread as well */
}

static void wait_for_release(struct worker *w)
{
    atomic_fetch_add(&w->shared->ready, 1);
    tell_main(w);
    while (!atomic_load(&w->shared->released)) {
        uint64_t now = clock_mono_ns();
        poller_wait(&w->poller, now + NS_PER_S, now);
        sample_offset(w, now);
        handle_events(w);
    }
}

static bool nothing_left(struct worker *w, int stop)
{
    if (w->busy > 0)
        return false;
    return stop != STOP_NOT || (w->exhausted && w->claimed == SIZE_MAX);
}

static void run(struct worker *w)
{
    uint64_t turn_began = clock_mono_ns();
    sample_offset(w, turn_began);
    for (;;) {
        int stop = atomic_load_explicit(&w->shared->stop, memory_order_relaxed);
        uint64_t wake = stop == STOP_NOT ? send_more(w) : UINT64_MAX;
        if (stop == STOP_NOW)
            abort_all(w, FAILURE_INTERRUPTED, SV_LIT("interrupted"));
        if (atomic_load_explicit(&w->shared->out_of_time, memory_order_relaxed))
            abort_all(w, FAILURE_UNFINISHED, SV_LIT("not finished when --grace had passed"));
        if (nothing_left(w, stop))
            return;
        uint64_t now = clock_mono_ns();
        if (now >= w->next_sweep_ns)
            sweep(w, now);
        if (now - turn_began > w->stats.longest_stall_ns)
            w->stats.longest_stall_ns = now - turn_began;
        poller_wait(&w->poller, wake < w->next_sweep_ns ? wake : w->next_sweep_ns, now);
        turn_began = clock_mono_ns();
        sample_offset(w, turn_began);
        handle_events(w);
    }
}

void *worker_main(void *arg)
{
    struct worker *w = arg;
    poller_sharpen_timers();
    preopen_connections(w);
    wait_for_release(w);
    uint64_t cpu = clock_thread_cpu_ns();
    uint64_t began = clock_mono_ns();
    run(w);
    for (size_t i = 0; i < w->conn_count; i++)
        conn_close(w, w->conns[i]);
    w->stats.wall_ns = clock_mono_ns() - began;
    w->stats.cpu_ns = clock_thread_cpu_ns() - cpu;
    w->stats.threads = 1;
    atomic_store(&w->counters->finished, true);
    tell_main(w);
    return NULL;
}
