/* Totals, rates and series of a run (METRICS 2).  Python's definitions rule: sums and series are over successes, times
 * are seconds until the statistics are taken, and a series is averaged in data set order before its percentiles are
 * taken, so that numpy's last bits come out. */
#include "metrics/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/stats.h"
#include "metrics/select.h"
#include "metrics/summary_priv.h"

enum { MS_PER_S = 1000 };

/* A division by a run of no length would be infinite (METRICS 10). */
static const double MIN_DURATION_S = 1e-9;

/* The token count somebody made for this success; 0 when nobody did. */
static uint64_t counted_tokens(const struct record *r, bool has_tokenizer)
{
    if (r->usage_completion_tokens > 0)
        return (uint64_t)r->usage_completion_tokens;
    if (has_tokenizer && r->text_tokens > 0)
        return (uint64_t)r->text_tokens;
    return 0;
}

uint64_t record_output_tokens(const struct record *r, bool has_tokenizer)
{
    if (!record_ok(r))
        return 0;
    uint64_t counted = counted_tokens(r, has_tokenizer);
    if (counted > 0)
        return counted;
    /* Tokenised and found empty is a count too. */
    return has_tokenizer && r->text_tokens == 0 ? 0 : 1;
}

uint64_t record_input_tokens(const struct record *r)
{
    return r->usage_prompt_tokens >= 0 ? (uint64_t)r->usage_prompt_tokens : r->prompt_len;
}

double record_event_weight(const struct record *r, bool has_tokenizer)
{
    uint64_t counted = counted_tokens(r, has_tokenizer);
    if (counted == 0 || r->events == 0)
        return 1.0;
    return (double)counted / (double)r->events;
}

enum token_source record_token_source(const struct record *r, bool has_tokenizer)
{
    uint64_t counted = counted_tokens(r, has_tokenizer);
    if (counted == 0 || r->events == 0)
        return TOKENS_UNKNOWN;
    int64_t off = (int64_t)counted - r->running_tokens;
    return r->counted_events == r->events && off >= -1 && off <= 1 ? TOKENS_RUNNING : TOKENS_SPREAD;
}

double record_ttft_s(const struct record *r)
{
    return r->first_ns != 0 ? metrics_seconds(r->start_ns, r->first_ns) : 0.0;
}

double record_latency_s(const struct record *r)
{
    return record_ok(r) ? metrics_seconds(r->start_ns, metrics_answered_ns(r)) : 0.0;
}

double record_queue_s(const struct record *r)
{
    return metrics_sent(r) ? metrics_seconds(r->due_ns, r->start_ns) : 0.0;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void metrics_edges_init(struct metrics_edges *edges, const struct record *records, size_t count,
                        const struct summary_options *options)
{
    edges->starts = mem_array(count + 1, sizeof(uint64_t));
    edges->ends = mem_array(count + 1, sizeof(uint64_t));
    edges->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!metrics_sent(&records[i]))
            continue;
        edges->starts[edges->count] = records[i].start_ns;
        edges->ends[edges->count++] = metrics_end_ns(&records[i], options);
    }
    qsort(edges->starts, edges->count, sizeof(uint64_t), compare_u64);
    qsort(edges->ends, edges->count, sizeof(uint64_t), compare_u64);
}

void metrics_edges_done(struct metrics_edges *edges)
{
    free(edges->starts);
    free(edges->ends);
    *edges = (struct metrics_edges){0};
}

static void add_output(struct summary *s, const struct record *r, bool has_tokenizer)
{
    s->total_output_tokens += record_output_tokens(r, has_tokenizer);
    if (r->usage_completion_tokens > 0)
        s->output_from_usage++;
    else if (has_tokenizer && r->text_tokens >= 0)
        s->output_from_text++;
    else
        s->output_from_fallback++;
}

/* What the successes add up to on the way to rates and shares. */
struct sums {
    double audio_s;
    uint64_t cache_input_tokens; /* input of the requests whose server told of its cache */
};

/* Adds one success to the totals. */
static void add_success(struct summary *s, const struct record *r,
                        const struct summary_options *options, struct sums *sums)
{
    s->completed++;
    s->total_input_tokens += record_input_tokens(r);
    s->input_from_usage += r->usage_prompt_tokens >= 0;
    if (options->pooling)
        s->total_input_sequences += r->input_sequences;
    else
        add_output(s, r, options->has_tokenizer);
    sums->audio_s += r->input_audio_s;
    if (r->usage_cached_tokens >= 0) {
        s->has_cached_tokens = true;
        s->total_cached_tokens += (uint64_t)r->usage_cached_tokens;
        sums->cache_input_tokens += record_input_tokens(r);
    }
}

static void add_totals(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *s, struct sums *sums)
{
    s->requested = count;
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (!metrics_sent(r))
            continue;
        s->sent++;
        if (record_ok(r)) {
            add_success(s, r, options, sums);
            continue;
        }
        if (record_unfinished(r))
            s->unfinished++;
        else
            s->failed++;
        s->failures[r->done ? r->failure : FAILURE_INTERRUPTED]++;
    }
}

double metrics_tpot_s(const struct record *r, bool has_tokenizer)
{
    uint64_t tokens = record_output_tokens(r, has_tokenizer);
    return tokens > 1 ? metrics_seconds(r->first_ns, r->last_ns) / (double)(tokens - 1) : 0.0;
}

static uint64_t count_good(const struct record *records, size_t count,
                           const struct summary_options *options)
{
    uint64_t good = 0;
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (record_ok(r) && record_ttft_s(r) <= options->goodput_ttft_ms / MS_PER_S &&
            metrics_tpot_s(r, options->has_tokenizer) <= options->goodput_tpot_ms / MS_PER_S &&
            record_latency_s(r) <= options->goodput_e2el_ms / MS_PER_S)
            good++;
    }
    return good;
}

static void add_rates(const struct record *records, size_t count,
                      const struct summary_options *options, const struct sums *sums,
                      struct summary *s)
{
    double d = s->duration_s > MIN_DURATION_S ? s->duration_s : MIN_DURATION_S;
    s->request_throughput = (double)s->completed / d;
    s->input_throughput = (double)s->total_input_tokens / d;
    s->output_throughput = (double)s->total_output_tokens / d;
    s->total_token_throughput = (double)(s->total_input_tokens + s->total_output_tokens) / d;
    s->input_sequence_throughput = (double)s->total_input_sequences / d;
    s->rtfx = sums->audio_s / d;
    if (sums->cache_input_tokens > 0)
        s->cached_token_share = (double)s->total_cached_tokens / (double)sums->cache_input_tokens;
    if (options->goodput_given && !options->pooling)
        s->request_goodput = (double)count_good(records, count, options) / d;
}

/* Puts the values that the median and the percentiles read where a sort would put them. */
static void place_ranks(double *x, size_t n, const struct summary_options *options)
{
    if (n == 0)
        return;
    size_t *ranks = mem_array(2 * options->percentile_count + 2, sizeof(*ranks));
    size_t count = 0;
    ranks[count++] = n / 2;
    ranks[count++] = n / 2 > 0 ? n / 2 - 1 : 0;
    for (size_t i = 0; i < options->percentile_count; i++) {
        double at = options->percentiles[i] / 100.0 * (double)(n - 1);
        size_t lower = at > 0.0 ? (size_t)at : 0;
        ranks[count++] = lower < n ? lower : n - 1;
        ranks[count++] = lower + 1 < n ? lower + 1 : n - 1;
    }
    select_ranks(x, n, ranks, count);
    free(ranks);
}

void metrics_series(double *x, size_t n, const struct summary_options *options,
                    struct series_stats *out)
{
    out->count = n;
    out->mean_ms = stats_mean(x, n) * MS_PER_S;
    out->std_ms = stats_std(x, n) * MS_PER_S;
    place_ranks(x, n, options);
    out->median_ms = stats_median(x, n) * MS_PER_S;
    out->percentiles_ms = mem_array(options->percentile_count + 1, sizeof(double));
    for (size_t i = 0; i < options->percentile_count; i++)
        out->percentiles_ms[i] = stats_percentile(x, n, options->percentiles[i]) * MS_PER_S;
}

void metrics_series_copy(const struct series_stats *from, const struct summary_options *options,
                         struct series_stats *to)
{
    *to = *from;
    to->percentiles_ms = mem_array(options->percentile_count + 1, sizeof(double));
    memcpy(to->percentiles_ms, from->percentiles_ms, options->percentile_count * sizeof(double));
}

/* The value of a series that has one value a success; false when the record has none. */
static bool series_value(enum series_id id, const struct record *r,
                         const struct summary_options *options, double *out)
{
    switch (id) {
    case SERIES_TTFT:
        *out = record_ttft_s(r);
        return !options->pooling;
    case SERIES_TPOT:
        *out = metrics_tpot_s(r, options->has_tokenizer);
        return !options->pooling && record_output_tokens(r, options->has_tokenizer) > 1;
    case SERIES_E2EL:
        *out = record_latency_s(r);
        return true;
    case SERIES_CLIENT_QUEUE_TIME:
        *out = record_queue_s(r);
        return true;
    case SERIES_E2EL_INCLUDING_CLIENT_QUEUE:
        *out = record_latency_s(r) + record_queue_s(r);
        return true;
    case SERIES_ITL:
    case SERIES_COUNT:
        break;
    }
    return false;
}

/* All gaps between token events of all successes: the one large array of a summary. */
static void itl_series(const struct record *records, size_t count,
                       const struct summary_options *options, struct series_stats *out)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += record_ok(&records[i]) && records[i].events > 1 ? records[i].events - 1 : 0;

    double *x = mem_resize(NULL, total + 1, sizeof(double));
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!record_ok(&records[i]))
            continue;
        struct record_cursor cursor;
        uint64_t gap_ns = 0;
        record_gaps_begin(&records[i], &cursor);
        while (n < total && record_gaps_next(&cursor, &gap_ns))
            x[n++] = (double)gap_ns / 1e9;
    }
    metrics_series(x, n, options, out);
    free(x);
}

static void add_series(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *s)
{
    double *x = mem_resize(NULL, count + 1, sizeof(double));
    for (enum series_id id = 0; id < SERIES_COUNT; id++) {
        if (id == SERIES_ITL)
            continue;
        size_t n = 0;
        for (size_t i = 0; i < count; i++)
            if (record_ok(&records[i]) && series_value(id, &records[i], options, &x[n]))
                n++;
        metrics_series(x, n, options, &s->series[id]);
    }

    /* Failures waited for a slot as well: this figure is over everything that was sent. */
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (metrics_sent(&records[i]))
            x[n++] = record_queue_s(&records[i]);
    s->mean_queue_ms = stats_mean(x, n) * MS_PER_S;
    stats_sort(x, n);
    s->p99_queue_ms = stats_percentile(x, n, 99.0) * MS_PER_S;
    free(x);

    itl_series(records, count, options, &s->series[SERIES_ITL]);
}

void metrics_summarize(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *summary)
{
    *summary = (struct summary){.duration_s = (double)options->duration_ns / 1e9};
    struct sums sums = {0};
    add_totals(records, count, options, summary, &sums);
    add_rates(records, count, options, &sums, summary);
    add_series(records, count, options, summary);
    metrics_per_token(records, count, options, summary);
    metrics_reasoning(records, count, options, summary);

    struct metrics_edges edges;
    metrics_edges_init(&edges, records, count, options);
    metrics_peaks(records, count, options, &edges, summary);
    if (options->steady_state)
        metrics_steady(records, count, options, &edges, summary);
    metrics_edges_done(&edges);
}

void summary_done(struct summary *summary)
{
    for (size_t i = 0; i < SERIES_COUNT; i++)
        free(summary->series[i].percentiles_ms);
    free(summary->per_token.itl.percentiles_ms);
    free(summary->reasoning.ttfa.percentiles_ms);
    free(summary->steady.percentiles_ttft_ms);
    *summary = (struct summary){0};
}
