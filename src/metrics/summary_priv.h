/* summary_priv.h - parts of metrics_summarize that have files of their own; inside this room only.
 * Each fills its fields of a zeroed summary whose totals are done.  Threads: pure functions.  Errors: none. */
#ifndef VB_METRICS_SUMMARY_PRIV_H
#define VB_METRICS_SUMMARY_PRIV_H

#include "metrics/summary.h"

static inline double metrics_seconds(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0.0;
}

/* A request that was at least started; it may have failed or may still be unfinished (interrupted run). */
static inline bool metrics_sent(const struct record *r)
{
    return r->sent || r->done;
}

/* When the answer was there: the last token event, without any (pooling) the end of the response. */
static inline uint64_t metrics_answered_ns(const struct record *r)
{
    return r->last_ns != 0 ? r->last_ns : r->end_ns;
}

/* When the request gave its slot back: the end of the response or of the failure, the run's end when it has none. */
static inline uint64_t metrics_end_ns(const struct record *r, const struct summary_options *options)
{
    uint64_t end = r->done && r->end_ns != 0 ? r->end_ns : options->start_ns + options->duration_ns;
    uint64_t latest = r->last_ns > r->start_ns ? r->last_ns : r->start_ns;
    return end > latest ? end : latest;
}

/* Walks the token events of a success and the tokens that each brought:
 * for (metrics_tokens_begin(&t, r, has_tokenizer); t.more; metrics_tokens_next(&t)) use(t.time_ns, t.weight); */
struct metrics_tokens {
    struct record_cursor cursor;
    uint64_t time_ns;
    double weight; /* tokens of this event */
    bool counted;  /* the weights are the server's running counts, else all are the same */
    bool more;
};

static inline void metrics_tokens_begin(struct metrics_tokens *t, const struct record *r,
                                        bool has_tokenizer)
{
    record_gaps_begin(r, &t->cursor);
    t->time_ns = r->first_ns;
    t->counted = record_token_source(r, has_tokenizer) == TOKENS_RUNNING;
    t->weight = t->counted ? (double)r->first_tokens : record_event_weight(r, has_tokenizer);
    t->more = r->events > 0;
}

static inline void metrics_tokens_next(struct metrics_tokens *t)
{
    uint64_t gap_ns = 0;
    t->more = record_gaps_next(&t->cursor, &gap_ns);
    t->time_ns += t->more ? gap_ns : 0;
    if (t->counted)
        t->weight = (double)t->cursor.tokens;
}

/* Time per output token after the first, s; 0 when there is no second token. */
double metrics_tpot_s(const struct record *r, bool has_tokenizer);

/* Statistics of n values in seconds, which change their order in passing. */
void metrics_series(double *x, size_t n, const struct summary_options *options,
                    struct series_stats *out);
/* A copy of the statistics with percentiles of its own. */
void metrics_series_copy(const struct series_stats *from, const struct summary_options *options,
                         struct series_stats *to);

/* summary->per_token and summary->reasoning; the series are done. */
void metrics_per_token(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *summary);
void metrics_reasoning(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *summary);

/* Starts and ends of all requests that were sent, each sorted ascending. */
struct metrics_edges {
    uint64_t *starts;
    uint64_t *ends;
    size_t count;
};

void metrics_edges_init(struct metrics_edges *edges, const struct record *records, size_t count,
                        const struct summary_options *options);
void metrics_edges_done(struct metrics_edges *edges);

void metrics_peaks(const struct record *records, size_t count,
                   const struct summary_options *options, const struct metrics_edges *edges,
                   struct summary *summary);
void metrics_steady(const struct record *records, size_t count,
                    const struct summary_options *options, const struct metrics_edges *edges,
                    struct summary *summary);

#endif
