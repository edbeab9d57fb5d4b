/* load.h - the load engine: sends a workload's requests on schedule and records what came back.
 * Use: fill a struct load_plan; load_run; read the records and statistics.  load_run starts the worker threads, opens
 * connections where the concurrency is known, starts the clock, and returns when every request has ended.
 * Threads: load_run is called from the main thread; it takes SIGINT and SIGTERM over while it runs (every other thread
 * keeps them blocked): the first one stops sending and waits for what is in flight, the second one aborts.  With a
 * stop_fd it may be called from any thread.
 * Errors: false only when the run could not start; failed requests are data in their records. */
#ifndef VB_LOAD_LOAD_H
#define VB_LOAD_LOAD_H

#include "backends/backend.h"
#include "datasets/workload.h"
#include "metrics/client.h"
#include "metrics/record.h"
#include "net/fetch.h"

/* Requests that come to be while the load runs, one from the answer to another.  All calls come from the one worker thread
 * of such a run. */
enum load_feed_state { LOAD_FEED_ITEM, LOAD_FEED_WAIT, LOAD_FEED_END };

struct load_feed {
    void *user;
    /* The clock begins to run. */
    void (*begin)(void *user, uint64_t start_ns);
    /* An item that may go now, its request ready in the workload; or when to ask again (*when_ns, UINT64_MAX: at the end
     * of a request); or that none will come any more. */
    enum load_feed_state (*next)(void *user, uint64_t now_ns, size_t *item, uint64_t *when_ns);
    /* The item's request has ended, its record is complete. */
    void (*ended)(void *user, size_t item, const struct record *record);
    /* Header lines of an item with their ends; returns the length, at most cap - 1. */
    size_t (*head)(void *user, size_t item, char *out, size_t cap);
};

enum load_text { LOAD_TEXT_NONE, LOAD_TEXT_WITHOUT_USAGE, LOAD_TEXT_ALWAYS };

/* What a running load looks like from outside. */
struct load_progress {
    uint64_t sent;
    uint64_t done;
    uint64_t failed;
    uint64_t tokens;
    uint64_t elapsed_ns;
};

struct load_plan {
    const struct net_target *target;
    struct fetch_pool *pool; /* its idle connections are taken over; may be NULL */
    const struct workload *workload;
    const uint32_t *order;  /* request index in the workload of each item sent; NULL: identity */
    size_t count;           /* items to send */
    const uint64_t *due_ns; /* per item, relative to the start, ascending; NULL: all at once */
    /* Above 0: nothing is sent later than this after the start, and what has not ended `grace_ns` later is cut off.  The
     * workload is begun again at its end; without due times `count` does not matter. */
    uint64_t send_for_ns;
    uint64_t grace_ns;
    const struct load_feed *feed; /* NULL: the items are known beforehand */
    const struct backend *backend;
    const struct body_template *body;
    struct sv model;          /* fills the body's model, from body_model_text */
    const struct sv *lora;    /* the same for each adapter, and which one each item uses; */
    const uint32_t *lora_of;  /* NULL: `model` for all */
    struct sv path;           /* request target: prefix and endpoint */
    struct sv headers;        /* complete header lines for every request */
    const char *id_prefix;    /* x-request-id is prefix + item number; NULL: not sent */
    uint64_t max_concurrency; /* 0: no limit */
    bool concurrency_known;   /* open connections before the clock starts */
    unsigned threads;         /* 0: chosen */
    uint64_t request_timeout_ns;
    enum load_text text;
    /* Called on the calling thread about ten times a second; may be NULL. */
    void (*progress)(void *user, const struct load_progress *progress);
    /* Called on the calling thread when a signal has stopped the sending and requests are still in flight; may be
     * NULL. */
    void (*draining)(void *user, uint64_t in_flight);
    bool impatient; /* the first signal aborts: nothing is being measured */
    void *user;
    /* Called once on the calling thread when the clock has begun to run; may be NULL. */
    void (*started)(void *user);
    /* Above 0: an eventfd that aborts the run when it is raised.  Signals are then left alone, so that such a run may go
     * on in another thread beside the main one. */
    int stop_fd;
};

struct load_result {
    struct record *records; /* in item order */
    size_t count;           /* plan->count; with send_for_ns the items sent */
    size_t mapped_bytes;    /* of records that are mapped, not on the heap; else 0 */
    uint64_t start_ns;
    uint64_t start_real_ns; /* wall clock at the start */
    uint64_t duration_ns;   /* start to the end of the last response */
    bool interrupted;
    struct client_stats client;
    struct record_slab *slabs; /* memory of the records */
    size_t slab_count;
};

bool load_run(const struct load_plan *plan, struct load_result *result, struct error *err);
void load_result_done(struct load_result *result);

/* Threads used for a concurrency on this machine: one per 256 streams, at most half the cores and 8. */
unsigned load_choose_threads(uint64_t concurrency);

#endif
