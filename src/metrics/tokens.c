/* What the number of tokens in an event changes: inter-token latency by tokens, and the figures of reasoning models.
 *
 * Servers send several tokens in one event when they decode speculatively or batch their stream.  The gaps between
 * events, which Python's tool calls inter-token latency, then say little about tokens.  Here each gap is spread over the
 * tokens that it brought.  Events of no token (an empty closing chunk) hand their gap on to the next event; what no
 * token follows is dropped.
 *
 * Example: events at 0, 40 and 60 ms that bring 1, 4 and 2 tokens: the gaps 40 and 20 ms become 10 10 10 10 10 10 ms. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "metrics/summary_priv.h"

/* Token events of one record and the whole number of tokens of each. */
struct walk {
    struct record_cursor cursor;
    enum token_source source;
    uint64_t total; /* TOKENS_SPREAD: output tokens */
    uint64_t events;
    uint64_t at;     /* index of this event */
    uint64_t gap_ns; /* before it; 0 for the first one */
    uint64_t tokens;
    bool more;
};

/* total * index / events, rounded up: the first event always brings a token, and where there are more events than
 * tokens the last ones bring none, as in streams that end with an empty chunk.  Parts that cannot overflow, for the
 * total is a server's word. */
static uint64_t tokens_until(const struct walk *w, uint64_t index)
{
    uint64_t whole = w->total / w->events;
    uint64_t rest = w->total % w->events;
    return whole * index + (rest * index + w->events - 1) / w->events;
}

static void set_tokens(struct walk *w, uint64_t running)
{
    switch (w->source) {
    case TOKENS_RUNNING:
        w->tokens = running;
        break;
    case TOKENS_SPREAD:
        w->tokens = tokens_until(w, w->at + 1) - tokens_until(w, w->at);
        break;
    case TOKENS_UNKNOWN:
    case TOKEN_SOURCE_COUNT:
        w->tokens = 1;
        break;
    }
}

static void walk_begin(struct walk *w, const struct record *r, bool has_tokenizer)
{
    *w = (struct walk){.source = record_token_source(r, has_tokenizer),
                       .total = record_output_tokens(r, has_tokenizer),
                       .events = r->events,
                       .more = r->events > 0};
    record_gaps_begin(r, &w->cursor);
    if (w->more)
        set_tokens(w, r->first_tokens);
}

static void walk_next(struct walk *w)
{
    w->more = record_gaps_next(&w->cursor, &w->gap_ns);
    w->at++;
    if (w->more)
        set_tokens(w, w->cursor.tokens);
}

/* What a first pass finds. */
struct census {
    uint64_t events;
    uint64_t tokens;
    bool plain; /* one token an event everywhere */
};

static void count_tokens(struct census *census, struct per_token *out, const struct record *r,
                         bool has_tokenizer)
{
    struct walk w;
    walk_begin(&w, r, has_tokenizer);
    out->requests[w.source] += w.more;
    for (; w.more; walk_next(&w)) {
        census->events++;
        census->tokens += w.tokens;
        census->plain = census->plain && w.tokens == 1;
        if (w.tokens > out->max_tokens_per_event)
            out->max_tokens_per_event = w.tokens;
    }
}

/* A gap by tokens, and how often it counts.  One a token would be simpler, but a server that claims a billion tokens
 * must not cost memory for them. */
struct share {
    double each_s;
    uint64_t tokens;
};

/* The shares of one record; the first event with tokens only starts the clock. */
static size_t spread_gaps(const struct record *r, bool has_tokenizer, struct share *x)
{
    struct walk w;
    size_t n = 0;
    bool begun = false;
    uint64_t gap_ns = 0;
    for (walk_begin(&w, r, has_tokenizer); w.more; walk_next(&w)) {
        gap_ns += w.gap_ns;
        if (w.tokens == 0)
            continue;
        if (begun)
            x[n++] = (struct share){(double)gap_ns / 1e9 / (double)w.tokens, w.tokens};
        begun = true;
        gap_ns = 0;
    }
    return n;
}

static int compare_shares(const void *a, const void *b)
{
    double x = ((const struct share *)a)->each_s;
    double y = ((const struct share *)b)->each_s;
    return (x > y) - (x < y);
}

/* The value of a rank, were every share written out once for each of its tokens. */
static double at_rank(const struct share *x, size_t n, uint64_t rank)
{
    size_t i = 0;
    while (i + 1 < n && rank >= x[i].tokens)
        rank -= x[i++].tokens;
    return x[i].each_s;
}

static double percentile(const struct share *x, size_t n, uint64_t total, double p)
{
    double h = p / 100.0 * (double)(total - 1);
    uint64_t lower = h > 0.0 ? (uint64_t)h : 0;
    double low = at_rank(x, n, lower);
    double high = at_rank(x, n, lower + 1 < total ? lower + 1 : lower);
    return low + (high - low) * (h - (double)lower);
}

/* The statistics of METRICS 2.1, every share counting once for each of its tokens. */
static void share_statistics(struct share *x, size_t n, const struct summary_options *options,
                             struct series_stats *out)
{
    uint64_t total = 0;
    double sum = 0.0;
    double squares = 0.0;
    out->percentiles_ms = mem_array(options->percentile_count + 1, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        total += x[i].tokens;
        sum += x[i].each_s * (double)x[i].tokens;
    }
    if (total == 0)
        return;
    double mean = sum / (double)total;
    for (size_t i = 0; i < n; i++)
        squares += (x[i].each_s - mean) * (x[i].each_s - mean) * (double)x[i].tokens;
    qsort(x, n, sizeof(*x), compare_shares);
    out->count = total;
    out->mean_ms = mean * 1000.0;
    out->std_ms = sqrt(squares / (double)total) * 1000.0;
    out->median_ms = percentile(x, n, total, 50.0) * 1000.0;
    for (size_t i = 0; i < options->percentile_count; i++)
        out->percentiles_ms[i] = percentile(x, n, total, options->percentiles[i]) * 1000.0;
}

void metrics_per_token(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *summary)
{
    struct per_token *out = &summary->per_token;
    struct census census = {.plain = true};
    for (size_t i = 0; i < count && !options->pooling; i++)
        if (record_ok(&records[i]))
            count_tokens(&census, out, &records[i], options->has_tokenizer);
    if (census.events > 0)
        out->mean_tokens_per_event = (double)census.tokens / (double)census.events;
    if (census.plain) {
        metrics_series_copy(&summary->series[SERIES_ITL], options, &out->itl);
        return;
    }
    struct share *x = mem_resize(NULL, census.events, sizeof(*x));
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (record_ok(&records[i]))
            n += spread_gaps(&records[i], options->has_tokenizer, x + n);
    share_statistics(x, n, options, &out->itl);
    free(x);
}

/* After reasoning, a single event without text that ends the stream is its closing chunk, not an answer; a tool call
 * comes in several, or has something behind it. */
static bool has_answer(const struct record *r)
{
    return r->answer_first_ns != 0 &&
           (r->reasoning_events == 0 || r->answer_text || r->events - r->reasoning_events > 1);
}

double record_ttfa_s(const struct record *r)
{
    return has_answer(r) ? metrics_seconds(r->start_ns, r->answer_first_ns) : -1.0;
}

void metrics_reasoning(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *summary)
{
    struct reasoning *out = &summary->reasoning;
    double *x = mem_resize(NULL, count + 1, sizeof(double));
    size_t n = 0;
    uint64_t events = 0;
    uint64_t output = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (!record_ok(r))
            continue;
        bool reasons = r->reasoning_events > 0 || r->usage_reasoning_tokens > 0;
        events += r->events;
        out->events += r->reasoning_events;
        out->requests += reasons;
        out->without_answer += reasons && !has_answer(r);
        if (has_answer(r))
            x[n++] = record_ttfa_s(r);
        if (r->usage_reasoning_tokens >= 0) {
            out->has_tokens = true;
            out->tokens += (uint64_t)r->usage_reasoning_tokens;
            output += record_output_tokens(r, options->has_tokenizer);
        }
    }
    if (out->events > 0)
        out->event_share = (double)out->events / (double)events;
    if (output > 0)
        out->token_share = (double)out->tokens / (double)output;
    metrics_series(x, out->requests > 0 ? n : 0, options, &out->ttfa);
    free(x);
}
