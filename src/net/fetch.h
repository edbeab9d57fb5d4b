/* fetch.h - one blocking HTTP request, for everything that is not measured: model discovery, readiness, /metrics,
 * /tokenize, profile and cache calls.
 * Use: fetch_pool_init; fetch(&pool, &call, timeout, &reply, &err); fetch_pool_done.  Connections are kept in the pool
 * and used again, by later calls or, taken out with fetch_pool_take, by the load engine.
 * Threads: safe, also with one pool.  Errors: false for transport problems (E_NETWORK); an HTTP error status
 * is a reply like any other. */
#ifndef VB_NET_FETCH_H
#define VB_NET_FETCH_H

#include "base/buf.h"
#include "base/error.h"
#include "net/stream.h"

#include <pthread.h>

enum { FETCH_POOL_MAX = 16, FETCH_MAX_BODY = 256 * 1024 * 1024 };

/* Idle connections to one server. */
struct fetch_pool {
    const struct net_target *target;
    pthread_mutex_t lock;
    struct net_stream idle[FETCH_POOL_MAX];
    size_t count;
};

void fetch_pool_init(struct fetch_pool *pool, const struct net_target *target);
/* Takes an idle connection out, for the caller to close; false when there is none. */
bool fetch_pool_take(struct fetch_pool *pool, struct net_stream *stream);
/* Closes what is idle.  Nothing for a zeroed pool. */
void fetch_pool_done(struct fetch_pool *pool);

/* Tells once when a call takes longer than this. */
struct fetch_patience {
    uint64_t after_ns;
    void (*tell)(void *user);
    void *user;
};

struct fetch_call {
    const char *method;
    struct sv path; /* appended to the target's path prefix */
    struct sv
        headers; /* complete lines "Name: value\r\n" beside Host, Accept, Content-Type and Content-Length */
    struct sv body;                        /* JSON; may be empty */
    const struct fetch_patience *patience; /* NULL: nothing is told */
};

struct fetch_reply {
    int status;
    struct buf body;
};
void fetch_reply_done(struct fetch_reply *reply);

bool fetch(struct fetch_pool *pool, const struct fetch_call *call, uint64_t timeout_ns,
           struct fetch_reply *reply, struct error *err);

#endif
