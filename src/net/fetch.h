/* fetch.h - one blocking HTTP request, for everything that is not measured: model discovery, readiness, /metrics,
 * /tokenize, profile and cache calls.
 * Use: fetch(&target, "GET", "/v1/models", body, timeout, &reply, &err).  A connection a call, closed afterwards.
 * Threads: safe, each call has its own socket.  Errors: false for transport problems (E_NETWORK); an HTTP error status
 * is a reply like any other. */
#ifndef VB_NET_FETCH_H
#define VB_NET_FETCH_H

#include "base/buf.h"
#include "base/error.h"
#include "net/target.h"

struct fetch_reply {
    int status;
    struct buf body;
};
void fetch_reply_done(struct fetch_reply *reply);

enum { FETCH_MAX_BODY = 256 * 1024 * 1024 };

/* `path` is appended to the target's path prefix.  `headers`: complete lines "Name: value\r\n", may be empty.
 * `body` may be empty (then no Content-Length for GET, 0 for POST). */
bool fetch(const struct net_target *target, const char *method, struct sv path, struct sv headers,
           struct sv body, uint64_t timeout_ns, struct fetch_reply *reply, struct error *err);

#endif
