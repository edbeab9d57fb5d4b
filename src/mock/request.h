/* request.h - reads HTTP/1.1 requests as bytes arrive, over any segmentation (RFC 9112).
 * Use: mock_request_init; mock_request_feed with every block, repeated on the unused rest, until:
 *   MOCK_REQUEST_MORE      everything was used, the request is not complete
 *   MOCK_REQUEST_CONTINUE  once, when the client waits for "100 Continue": send it and feed on
 *   MOCK_REQUEST_READY     complete; the views below are valid until mock_request_reset
 *   MOCK_REQUEST_BAD       final; `status` and `problem` say what to answer before closing
 * Content-Length and chunked bodies; empty lines before the request line are skipped; LF alone ends a line.
 * Limits: head and trailers MOCK_REQUEST_MAX_HEAD, chunk-size line MOCK_REQUEST_MAX_LINE, body MOCK_REQUEST_MAX_BODY.
 * Threads: one owner.  Errors: MOCK_REQUEST_BAD. */
#ifndef VB_MOCK_REQUEST_H
#define VB_MOCK_REQUEST_H

#include "base/buf.h"

#include <stdint.h>

enum {
    MOCK_REQUEST_MAX_HEAD = 64 * 1024,
    MOCK_REQUEST_MAX_LINE = 1024,
    MOCK_REQUEST_MAX_BODY = 256 * 1024 * 1024,
};

enum mock_request_result {
    MOCK_REQUEST_MORE,
    MOCK_REQUEST_CONTINUE,
    MOCK_REQUEST_READY,
    MOCK_REQUEST_BAD,
};

enum mock_request_state {
    MOCK_AT_HEAD,
    MOCK_AT_BODY,
    MOCK_AT_CHUNK_SIZE,
    MOCK_AT_CHUNK_DATA,
    MOCK_AT_CHUNK_END,
    MOCK_AT_TRAILER,
    MOCK_AT_READY,
    MOCK_AT_BAD,
};

struct mock_request {
    /* valid when ready */
    struct sv method;
    struct sv target;     /* as sent */
    struct sv path;       /* target without query */
    struct sv query;      /* behind '?', empty when there is none */
    struct sv fields;     /* header lines */
    struct sv request_id; /* X-Request-Id, NULL pointer when absent */
    bool http10;
    bool keep_alive;
    /* valid when bad */
    int status;
    const char *problem;

    /* the parser's own */
    enum mock_request_state state;
    bool expect_continue;
    bool chunked;
    uint64_t left; /* bytes of the body or chunk still to come */
    struct buf head;
    struct buf line; /* chunk-size and trailer lines */
    size_t trailer_bytes;
    struct buf body;
};

void mock_request_init(struct mock_request *r);
/* Ready for the next request; keeps memory up to a bound. */
void mock_request_reset(struct mock_request *r);
void mock_request_done(struct mock_request *r);

/* *used gets the bytes of `block` that belong to this request. */
enum mock_request_result mock_request_feed(struct mock_request *r, struct sv block, size_t *used);

/* True when nothing of a request has been seen yet: the connection is idle. */
bool mock_request_is_empty(const struct mock_request *r);

static inline struct sv mock_request_body(const struct mock_request *r)
{
    return buf_sv(&r->body);
}

#endif
