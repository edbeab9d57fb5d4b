/* backend.h - one API of a server: how its request body is put together and how its reply is read.
 * Use: backend_find(name); backend->body_parts once per run, body_expand for each request; backend->scan for each event
 * of a stream, backend_scan_plain for a reply that is no event stream where one was asked for, and for a pooling
 * backend `scan` with the whole body.
 * Adding an API is one file and one row in table.c.
 * Threads: a backend is constant; a body template is read-only after body_parts.  Errors: body_parts fills struct error;
 * scan returns a small enum (hot path). */
#ifndef VB_BACKENDS_BACKEND_H
#define VB_BACKENDS_BACKEND_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"
#include "config/config.h"

#include <math.h>
#include <stdint.h>

/* The body of a request is a sequence of parts: texts that are the same for all requests of a run, and slots that a
 * request fills.  Where an extra key replaces a slot's member there is no such part. */
enum body_part_kind {
    PART_TEXT,
    PART_WRAPPER, /* text around the prompt; left out when the request brings its own list of messages */
    PART_MODEL,       /* in the form of body_model_text */
    PART_PROMPT,      /* as it is */
    PART_OUTPUT_LEN,  /* digits */
    PART_MEDIA,       /* a comma and the content parts, when there are any */
    PART_MEDIA_FIRST, /* the content parts and a comma, when there are any */
    PART_PROMPT_CLIP, /* the prompt, empty beside media */
    PART_PROMPT_VLM2VEC, /* the prompt; beside media an instruction, which holds it for every second request */
    PART_QUERY, /* first text of a list, or the whole prompt */
    PART_DOCUMENTS, /* the member `documents` behind its comma: the list's other texts; nothing for a single prompt */
    PART_INPUT,      /* the prompt; when it is empty, the URL of the first of the media */
    PART_MODALITY,   /* then, behind a comma, the member `modality` */
    PART_INPUT_CLIP, /* the same two where media always go before the prompt */
    PART_MODALITY_CLIP,
    PART_EXTRA,     /* the request's own members behind a comma */
    PART_FILE_TYPE, /* by the ending of its name */
    PART_FILE_NAME,
    PART_FILE,
};

struct body_part {
    enum body_part_kind kind;
    struct sv text; /* PART_TEXT, PART_WRAPPER */
};

enum { BODY_MAX_PARTS = 48, BODY_MAX_VIEWS = 96 };

/* How the reply of a pooling request is encoded; `encoding_format` of --extra-body decides. */
enum body_reply { BODY_REPLY_JSON, BODY_REPLY_BYTES, BODY_REPLY_BYTES_ONLY };

struct body_template {
    struct arena arena;
    struct body_part parts[BODY_MAX_PARTS];
    size_t count;
    bool is_form; /* multipart/form-data, not JSON */
    enum body_reply reply;
    bool has_fixed_inputs;
    uint32_t fixed_inputs; /* inputs or documents that --extra-body puts into every request */
};

void body_template_done(struct body_template *t);
bool body_has(const struct body_template *t, enum body_part_kind kind);
/* Appends a model's name in the form in which the body holds it: a JSON string, or plain text in a form. */
void body_model_text(const struct body_template *t, const char *name, struct buf *out);

/* What one request puts into the slots.  Views; all but the numbers may be empty. */
struct body_values {
    struct sv model;      /* from body_model_text */
    struct sv prompt;     /* JSON text */
    bool is_messages;     /* the prompt is a list of chat messages */
    uint32_t first_len;   /* the prompt is a list of strings: length of the first literal; else 0 */
    struct sv output_len; /* digits */
    struct sv media;      /* JSON content parts, separated by commas */
    struct sv extra;      /* JSON members */
    struct sv file;       /* bytes */
    struct sv file_name;
    bool has_index; /* the request has an id, which ends in `index` */
    uint64_t index;
};

/* The body as views into template and values, never empty ones; returns how many. */
size_t body_expand(const struct body_template *t, const struct body_values *values,
                   struct sv views[BODY_MAX_VIEWS]);

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
    int64_t reasoning_tokens; /* part of completion_tokens */
    double server_queue_ms;   /* NAN when not in this event */
    double server_ttft_ms;
};

struct backend {
    const char *name;
    const char *endpoint;         /* default path */
    const char *endpoint_suffix;  /* what Python demands of the URL; a warning when it lacks it */
    const char *endpoint_suffix2; /* or this one; may be NULL */
    const char *content_type;     /* of the request; NULL: application/json */
    bool streams;
    bool pooling;           /* embeddings, scores: no text comes back */
    bool openai_compatible; /* sampling flags allowed */
    bool needs_terminal;    /* a stream must end with an event that says so (event->done) */
    bool needs_file;        /* every request uploads a file */
    bool ranks;             /* the prompt is a query and documents */
    /* Fills *t for this config. */
    bool (*body_parts)(const struct config *config, struct body_template *t, struct error *err);
    /* Reads one event's data (name: the SSE event name, usually empty), or the body of a pooling reply.  Of a token's
     * text only whether it is empty may decide over the other results: backend_scan_next relies on it. */
    enum scan_result (*scan)(struct sv name, struct sv data, struct reply_event *event);
};

/* NULL when unknown. */
const struct backend *backend_find(const char *name);
/* Row i of the table, NULL past the end. */
const struct backend *backend_at(size_t i);

/* Inputs of a pooling request whose prompt is a list of `sequences` texts (0 or 1: a single one): documents of a
 * rerank, else texts. */
uint32_t backend_inputs(const struct backend *backend, const struct body_template *t,
                        uint32_t sequences);

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
