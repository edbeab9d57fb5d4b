/* backend.h - one API of a server: how its request body is put together and how its reply is read.
 * Use: backend_find(name); backend->body_parts once per run; backend->scan for each event of a stream, or
 * backend_scan_plain for a reply that is no event stream.
 * Adding an API is one file and one row in table.c.
 * Threads: a backend is constant; a body template is read-only after body_parts.  Errors: body_parts fills struct error;
 * scan returns a small enum (hot path). */
#ifndef VB_BACKENDS_BACKEND_H
#define VB_BACKENDS_BACKEND_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"
#include "config/config.h"

#include <math.h>
#include <stdint.h>

/* The body of a request is: head | prompt | middle | output length | tail.
 * The parts are JSON text; they are the same for all requests of a run. Where an extra key replaces the prompt or the
 * length, has_* is false and the extra key's text stands in the fixed parts. */
struct body_template {
    struct buf head;   /* up to where the prompt's JSON goes */
    struct buf middle; /* from there to where the output length goes */
    struct buf tail;   /* the rest */
    bool has_prompt;
    bool has_output_len;
};

void body_template_done(struct body_template *t);

enum scan_result {
    SCAN_TOKEN, /* a token event: takes the stamp of the read */
    SCAN_OTHER, /* valid, no token (role chunk, usage chunk, [DONE], metrics, data that is blank) */
    SCAN_ERROR, /* the server reports an error; reply->error is its message */
    SCAN_BAD,   /* not valid JSON */
};

/* What one event said; all fields are set by every scan. Views point into the scanned data. */
struct reply_event {
    bool done;      /* [DONE] or a terminal event */
    bool reasoning; /* SCAN_TOKEN: only reasoning, no visible answer yet */
    struct sv
        text; /* raw JSON string content of the visible text, escapes not resolved; may be empty */
    struct sv error;          /* SCAN_ERROR: message, raw JSON string content or JSON text */
    bool error_is_raw_string; /* error needs js_unescape */
    int64_t prompt_tokens;    /* -1 when not in this event */
    int64_t completion_tokens;
    int64_t cached_tokens;
    double server_queue_ms; /* NAN when not in this event */
    double server_ttft_ms;
};

struct backend {
    const char *name;
    const char *endpoint;        /* default path */
    const char *endpoint_suffix; /* what Python demands of the URL; a warning when it lacks it */
    bool streams;
    bool pooling;           /* embeddings, scores: no text comes back */
    bool openai_compatible; /* sampling flags allowed */
    /* Fills *t for this config; `model` is the name that goes into the body. */
    bool (*body_parts)(const struct config *config, const char *model, struct body_template *t,
                       struct error *err);
    /* Reads one event's data (name: the SSE event name, usually empty).  Of a token's text only whether it is empty may
     * decide over the other results: backend_scan_next relies on it. */
    enum scan_result (*scan)(struct sv name, struct sv data, struct reply_event *event);
};

/* NULL when unknown. */
const struct backend *backend_find(const char *name);
/* Row i of the table, NULL past the end. */
const struct backend *backend_at(size_t i);

/* The event before, which the next one probably resembles; begins as zeros. */
struct backend_memo {
    struct sv data; /* NULL: not to be compared with */
    struct reply_event event;
};

/* The same as backend->scan into memo->event, faster for an event that differs from the one before in its text alone.
 * The data given in the call before must still be there: set memo->data to the NULL view when it has gone. */
enum scan_result backend_scan_next(const struct backend *backend, struct backend_memo *memo,
                                   struct sv name, struct sv data);

/* Reads the whole body of a 200 reply that is not an event stream. SCAN_ERROR: the body carries the server's message;
 * SCAN_OTHER: other JSON. That goes for a whole completion too (--extra-body '{"stream": false}'): it holds no chunk
 * from which a latency could be taken, so the request never got a token, as in Python. SCAN_BAD: no JSON. */
enum scan_result backend_scan_plain(const struct backend *backend, struct sv body,
                                    struct reply_event *event);

/* The server's message in an error reply body (JSON {"error":{"message"}} or {"message"}/{"detail"}/{"object":"error"}
 * or plain text), whitespace folded, at most 500 bytes; appended to out. */
void backend_error_text(struct sv body, struct buf *out);

#endif
