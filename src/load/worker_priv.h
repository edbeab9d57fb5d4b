/* worker_priv.h - one thread of the load engine: its poll set, its connections, its part of the schedule.
 * Workers share only the next item's number, the stop level and the release flag; everything else has one owner.
 * Threads: as said at each field.  Errors: worker_init fills struct error; the rest is data. */
#ifndef VB_LOAD_WORKER_PRIV_H
#define VB_LOAD_WORKER_PRIV_H

#include "load/load.h"
#include "net/poller.h"

#include <pthread.h>
#include <stdatomic.h>

enum stop_level { STOP_NOT, STOP_SENDING, STOP_NOW };

/* What all workers of a run share. */
struct load_shared {
    const struct load_plan *plan;
    struct record *records;
    struct buf head; /* request line and headers up to the item's own part */
    unsigned workers;
    uint64_t start_ns;        /* written before `released` */
    _Atomic unsigned ready;   /* workers whose connections are open */
    _Atomic bool released;    /* the clock runs */
    _Atomic size_t next;      /* first item that nobody has claimed (limited concurrency) */
    size_t capacity;          /* items that there is a record for */
    bool open_ended;          /* records are made ready when their items are claimed */
    _Atomic bool out_of_time; /* the grace has passed */
    _Atomic int stop;         /* enum stop_level */
    int changed_fd; /* eventfd that workers raise when they are ready and when they have finished */
};

/* Counters that the main thread reads while the worker runs; one cache line a worker. */
struct load_counters {
    _Alignas(64) _Atomic uint64_t sent;
    _Atomic uint64_t done;
    _Atomic uint64_t failed;
    _Atomic uint64_t tokens;
    _Atomic bool finished;
};

struct conn;

/* The request of an item. */
static inline size_t load_request_index(const struct load_plan *plan, size_t item)
{
    if (plan->order != NULL)
        return plan->order[item];
    return plan->send_for_ns > 0 ? item % plan->workload->count : item;
}

/* A fresh record for an item (run.c). */
void load_record_init(const struct load_plan *plan, size_t item, struct record *r);

struct worker {
    struct load_shared *shared;
    const struct load_plan *plan;
    unsigned index;
    pthread_t thread;
    struct poller poller;
    struct load_counters *counters;
    struct record_slab slab;
    struct client_stats stats;

    struct conn **conns; /* every slot ever made */
    size_t conn_count;
    size_t conn_cap;
    struct conn *warm; /* free slots whose connection was open when they became free */
    struct conn *cold; /* free slots without a connection */
    size_t limit;      /* requests that may be in flight here; SIZE_MAX without a limit */
    size_t busy;       /* requests in flight */
    size_t preopen;    /* connections to open before the start */
    size_t connecting; /* of them, under way */
    bool preopen_failed;

    size_t claimed;     /* item claimed but not yet sent, SIZE_MAX when none */
    size_t stride_next; /* next item of this worker when there is no limit */
    bool exhausted;     /* nothing is left to claim */

    int64_t real_offset_ns;     /* CLOCK_REALTIME - CLOCK_MONOTONIC, this turn */
    int64_t previous_offset_ns; /* before the last step of the wall clock */
    uint64_t offset_at_ns;
    uint64_t next_sweep_ns;
    char *block;        /* read buffer, shared by the connections */
    struct buf scratch; /* prompts of token ids, texts being put together */
};

bool worker_init(struct worker *w, struct load_shared *shared, unsigned index,
                 struct load_counters *counters, struct error *err);
void *worker_main(void *worker);
void worker_done(struct worker *w);

/* A request has ended on this slot; its connection may be open (warm) or not. */
void worker_slot_free(struct worker *w, struct conn *c, uint64_t when_ns);

/* When an item is due, on the monotonic clock. */
static inline uint64_t worker_due_ns(const struct worker *w, size_t item)
{
    return w->shared->start_ns + (w->plan->due_ns != NULL ? w->plan->due_ns[item] : 0);
}

/* One writer: a plain add that others may read at any time. */
static inline void counter_add(_Atomic uint64_t *counter, uint64_t n)
{
    uint64_t now = atomic_load_explicit(counter, memory_order_relaxed);
    atomic_store_explicit(counter, now + n, memory_order_relaxed);
}

#endif
