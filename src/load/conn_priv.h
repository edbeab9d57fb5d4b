/* conn_priv.h - one connection of the load engine and the request that it carries.
 * Threads: everything runs on the worker's thread.  Errors: data in the record. */
#ifndef VB_LOAD_CONN_PRIV_H
#define VB_LOAD_CONN_PRIV_H

#include "json/scan.h"
#include "load/worker_priv.h"
#include "net/http1.h"
#include "net/inflate.h"
#include "net/stream.h"
#include "sse/sse.h"

enum conn_state { CONN_CLOSED, CONN_CONNECTING, CONN_IDLE, CONN_BUSY };

/* BODY_DRAIN: bytes that nobody reads. */
enum body_kind { BODY_UNKNOWN, BODY_EVENTS, BODY_PLAIN, BODY_DRAIN, BODY_ERROR };

enum {
    READ_BLOCK = 64 * 1024,
    ERROR_BODY_MAX = 64 * 1024,
    ERROR_TEXT_MAX = 2000,
    PLAIN_BODY_MAX = 64 * 1024 * 1024,
    PLAIN_BODY_KEPT = 1024 * 1024 /* of its buffer, for the next reply */
};

struct conn {
    struct net_stream stream;
    enum conn_state state;
    enum body_kind body_kind;
    bool pooled;           /* was open before its request began */
    bool wants_write;      /* EPOLLOUT is on */
    bool answered;         /* a byte of the response has come */
    bool saw_done;         /* [DONE] or a terminal event */
    bool has_error_event;  /* the server reported an error inside a 200 response */
    struct record *record; /* NULL when idle */
    size_t item;
    uint64_t could_go_ns;  /* when the request was due and a slot free */
    uint64_t free_ns;      /* when the previous request ended */
    uint64_t last_read_ns; /* mapped stamp of the previous read, or the send */
    struct http1 http;
    struct sse sse;
    struct inflater *inflater; /* of the present response; NULL: not encoded */
    struct buf body;           /* BODY_EVENTS: raw text so far; else the body itself */
    struct sv error_event;     /* in the slab */
    struct conn *next;         /* in one of the worker's lists of free slots */
};

/* conn.c */
struct conn *conn_new(struct worker *w); /* closed, in no list */
void conn_free(struct worker *w, struct conn *c);
/* Begins to connect; false when it failed at once (stream_problem says why). */
bool conn_open(struct worker *w, struct conn *c);
/* Takes over an open connection; closed again when it cannot be watched. */
void conn_adopt(struct worker *w, struct conn *c, const struct net_stream *stream);
void conn_close(struct worker *w, struct conn *c);
void conn_want_write(struct worker *w, struct conn *c, bool on);
/* Starts an item: sends at once on an open connection, else connects first. */
void conn_start(struct worker *w, struct conn *c, size_t item, uint64_t could_go_ns);
/* record->start_ns has been taken: notes the send lag. */
void conn_note_start(struct worker *w, struct conn *c);
void conn_event(struct worker *w, struct conn *c, uint32_t events);
void conn_reset_response(struct conn *c);
/* End of stream (sys 0) or a socket error: sent again when the pooled connection was stale, else failed. */
void conn_broken(struct worker *w, struct conn *c, int sys);
/* Ends the request; the verdict is in its record.  `keep`: the connection goes back to the pool. */
void conn_finish(struct worker *w, struct conn *c, bool keep, uint64_t when_ns);
/* Ends the request as failed and closes the connection. */
void conn_fail(struct worker *w, struct conn *c, enum failure_kind kind, struct sv message);

/* send.c */
void conn_send(struct worker *w, struct conn *c);
void conn_flush(struct worker *w, struct conn *c);

/* receive.c */
void conn_receive(struct worker *w, struct conn *c);

#endif
