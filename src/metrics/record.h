/* record.h - what one request left behind: written by a load worker, read by metrics and output after the join.
 * Times are CLOCK_MONOTONIC nanoseconds.  Token events are kept as compact gaps in blocks taken from the worker's slab,
 * so that an event costs no allocation: record_event or record_event_counted appends, record_gaps iterates.
 * Threads: one writer (the worker that owns the request), readers after the join. */
#ifndef VB_METRICS_RECORD_H
#define VB_METRICS_RECORD_H

#include "base/sv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why a request failed; names appear in results and on the console. */
#define FAILURE_KINDS(X)                                                                           \
    X(FAILURE_NONE, "none")                                                                        \
    X(FAILURE_CONNECT, "connect")                                                                  \
    X(FAILURE_TIMEOUT, "timeout")                                                                  \
    X(FAILURE_HTTP_STATUS, "http_status")                                                          \
    X(FAILURE_MALFORMED, "malformed_stream")                                                       \
    X(FAILURE_CLOSED_EARLY, "closed_early")                                                        \
    X(FAILURE_ERROR_EVENT, "error_event")                                                          \
    X(FAILURE_NO_TOKEN, "no_token")                                                                \
    X(FAILURE_INTERRUPTED, "interrupted")                                                          \
    X(FAILURE_UNFINISHED, "unfinished")

enum failure_kind {
#define FAILURE_ENUM(name, text) name,
    FAILURE_KINDS(FAILURE_ENUM)
#undef FAILURE_ENUM
        FAILURE_COUNT
};

const char *failure_name(enum failure_kind kind);

/* Memory of one worker for gaps and texts: bump allocation in large chunks. */
struct record_slab {
    struct record_chunk *chunks;
    char *next;
    size_t left;
};

void record_slab_done(struct record_slab *slab);
/* Copies bytes into the slab. */
struct sv record_slab_copy(struct record_slab *slab, struct sv bytes);

struct record_block;

struct record {
    uint64_t due_ns; /* when the schedule wanted it sent (benchmark start in a closed loop) */
    uint64_t
        start_ns; /* just before the first byte was handed to the kernel (or before connecting, see connected) */
    uint64_t first_ns;    /* first token event; 0 when none */
    uint64_t last_ns;     /* latest token event */
    uint64_t end_ns;      /* response complete or failed */
    uint64_t send_lag_ns; /* from the instant it could go (due and slot free) to start_ns */
    uint64_t
        connect_ns;  /* connection set-up inside this request's latency; 0 when it found one open */
    uint64_t tls_ns; /* of it, the TLS handshake */
    uint64_t answer_first_ns; /* first token of the visible answer (not reasoning); 0 when none */

    uint32_t events;           /* token events seen, first included */
    uint32_t prompt_len;       /* client's own count */
    uint32_t output_len;       /* expected */
    uint32_t input_sequences;  /* pooling: inputs in the request, documents of a rerank; else 1 */
    uint32_t reasoning_events; /* token events that brought reasoning only */
    bool answer_text;          /* visible text came */
    uint32_t merged_events;    /* token events that shared a read with an earlier one */
    uint64_t merged_bound_ns; /* largest error bound of those (gap to the socket's previous read) */

    /* what the server said; -1 when it did not */
    int64_t usage_prompt_tokens;
    int64_t usage_completion_tokens;
    int64_t usage_cached_tokens;
    int64_t usage_reasoning_tokens;
    double server_queue_s; /* NAN when absent */
    double server_ttft_s;  /* NAN when absent */

    /* Continuous usage: what the server's running count said at token events. */
    uint32_t counted_events; /* token events that carried it and did not go back */
    uint32_t first_tokens;   /* tokens of the first event, when counted */
    int64_t running_tokens;  /* the count at the latest such event; 0 at the start */

    int64_t text_tokens;  /* tokens of the text by the local tokenizer, -1 when not counted */
    double input_audio_s; /* seconds of sound sent; 0 when none */

    bool sent;                 /* at least started */
    bool done;                 /* reached an end, good or bad */
    bool reconnected;          /* pooled connection was stale, sent again once */
    enum failure_kind failure; /* FAILURE_NONE: success */
    int http_status;           /* 0 when no response head came */
    struct sv error;           /* one sentence or more, in the slab; empty for success */
    struct sv text;            /* generated text, in the slab; kept only when asked for */

    struct record_block *first_block;
    struct record_block *last_block;
};

/* Prepares a record for one request (zeroed, counts to -1, NAN). */
void record_init(struct record *r);
/* A token event at time_ns (not before the one before it). */
void record_event(struct record *r, struct record_slab *slab, uint64_t time_ns);
/* The same where the event carries the server's running count of output tokens: the tokens that it brought are the
 * difference to the count before. */
void record_event_counted(struct record *r, struct record_slab *slab, uint64_t time_ns,
                          int64_t running_tokens);

/* Walks the gaps between token events in ns, oldest first: there are events - 1 of them. */
struct record_cursor {
    const struct record_block *block;
    size_t at;
    uint32_t
        tokens; /* brought by the event behind the latest gap, as far as it was counted; else 1 */
};
void record_gaps_begin(const struct record *r, struct record_cursor *c);
bool record_gaps_next(struct record_cursor *c, uint64_t *gap_ns);

/* Was still running when a run with an end by time was over: neither good nor failed. */
static inline bool record_unfinished(const struct record *r)
{
    return r->done && r->failure == FAILURE_UNFINISHED;
}

static inline bool record_ok(const struct record *r)
{
    return r->done && r->failure == FAILURE_NONE;
}

#endif
