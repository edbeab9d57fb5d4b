/* The steady-state window (METRICS 4): the longest stretch of the run at which the wanted concurrency held, and the
 * figures of just that stretch, so that filling up and draining do not dilute them.
 *
 * Three things differ from the Rust tool, whose key names are kept.  The window takes the longest plateau, not all from
 * the first rise to the last fall, so an idle stretch in mid-run is not averaged in.  Failed requests hold their slot
 * until they end.  What happens at the closing instant (a completion, the last token) belongs to the window, what
 * happens at the opening instant (the starts that open it) does too: starts count in [up, down), the rest in
 * (up, down].
 *
 * In a closed loop the concurrency falls by one at every completion until the next request goes out.  Such a turn-over
 * is no end of a plateau: falls shorter than TURNOVER_NS are passed over.
 *
 * Example, C = 2, threshold 1: requests (0 s, 5 s) and (1 s, 5 s) give the window 1 s to 5 s. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stats.h"
#include "metrics/summary_priv.h"

/* Longer than any pause between a completion and the next send on a loaded client (tens of ms), far shorter than an
 * idle stretch that would change the figures. */
static const uint64_t TURNOVER_NS = 100 * NS_PER_MS;

struct plateaus {
    uint64_t threshold;
    uint64_t now; /* requests in flight */
    uint64_t peak;
    bool above; /* now >= threshold */
    bool open;  /* a plateau has begun; it ends at down_ns unless a short fall follows */
    uint64_t up_ns, down_ns;
    bool found;
    uint64_t best_up_ns, best_down_ns;
    uint64_t gaps, gap_ns;
};

static void close_plateau(struct plateaus *p)
{
    if (p->open && (!p->found || p->down_ns - p->up_ns > p->best_down_ns - p->best_up_ns)) {
        p->found = true;
        p->best_up_ns = p->up_ns;
        p->best_down_ns = p->down_ns;
    }
    p->open = false;
}

static void on_start(struct plateaus *p, uint64_t time_ns)
{
    p->now++;
    p->peak = p->now > p->peak ? p->now : p->peak;
    if (p->above || p->now < p->threshold)
        return;
    p->above = true;
    if (p->open && time_ns - p->down_ns <= TURNOVER_NS)
        return;
    if (p->open) {
        p->gaps++;
        p->gap_ns += time_ns - p->down_ns;
    }
    close_plateau(p);
    p->open = true;
    p->up_ns = time_ns;
}

static void on_end(struct plateaus *p, uint64_t time_ns)
{
    p->now -= p->now > 0;
    if (p->above && p->now < p->threshold) {
        p->above = false;
        p->down_ns = time_ns;
    }
}

/* Merges the sorted starts and ends; at one instant ends come first, for they make room for the starts. */
static void find_plateaus(struct plateaus *p, const struct metrics_edges *edges)
{
    size_t e = 0;
    for (size_t s = 0; s < edges->count; s++) {
        while (e < edges->count && edges->ends[e] <= edges->starts[s])
            on_end(p, edges->ends[e++]);
        on_start(p, edges->starts[s]);
    }
    while (e < edges->count)
        on_end(p, edges->ends[e++]);
    /* A request of no length ended before it started in this order and left the count one too high. */
    if (p->above)
        p->down_ns = edges->ends[edges->count - 1];
    close_plateau(p);
}

static void write_warning(struct steady_state *st, double min_window_s, double run_s)
{
    int used = 0;
    if (st->duration_s < min_window_s) {
        double share = 100.0 * st->duration_s / (run_s > 1e-9 ? run_s : 1e-9);
        used = snprintf(st->warning, sizeof(st->warning),
                        "steady-state window is %.1fs (%.1f%% of run); may not be representative",
                        st->duration_s, share);
    }
    if (st->gaps > 0)
        used += snprintf(st->warning + used, sizeof(st->warning) - (size_t)used,
                         "%sconcurrency fell below the threshold %llu time%s (%.1fs in all); the "
                         "longest plateau is shown",
                         used > 0 ? "; " : "", (unsigned long long)st->gaps,
                         st->gaps == 1 ? "" : "s", st->gap_s);
    st->has_warning = used > 0;
}

/* Tokens that arrived in (up, down], each event weighing its tokens. */
static double tokens_in_window(const struct record *r, bool has_tokenizer, uint64_t up_ns,
                               uint64_t down_ns)
{
    double tokens = 0.0;
    struct metrics_tokens t;
    for (metrics_tokens_begin(&t, r, has_tokenizer); t.more; metrics_tokens_next(&t))
        tokens += t.time_ns > up_ns && t.time_ns <= down_ns ? t.weight : 0.0;
    return tokens;
}

static void ttft_figures(struct steady_state *st, double *x, size_t n,
                         const struct summary_options *options)
{
    st->ttft_count = n;
    st->mean_ttft_ms = stats_mean(x, n) * 1000;
    stats_sort(x, n);
    st->median_ttft_ms = stats_median(x, n) * 1000;
    for (size_t i = 0; i < options->percentile_count; i++)
        st->percentiles_ttft_ms[i] = stats_percentile(x, n, options->percentiles[i]) * 1000;
}

static void tpot_figures(struct steady_state *st, double *x, size_t n)
{
    st->mean_tpot_ms = stats_mean(x, n) * 1000;
    stats_sort(x, n);
    st->median_tpot_ms = stats_median(x, n) * 1000;
    st->p90_tpot_ms = stats_percentile(x, n, 90.0) * 1000;
    st->p99_tpot_ms = stats_percentile(x, n, 99.0) * 1000;
}

/* Figures of the successes in the window. */
static void window_figures(const struct record *records, size_t count,
                           const struct summary_options *options, uint64_t up_ns, uint64_t down_ns,
                           struct steady_state *st)
{
    double *ttft = mem_resize(NULL, count + 1, sizeof(double));
    double *tpot = mem_resize(NULL, count + 1, sizeof(double));
    size_t ttfts = 0;
    size_t tpots = 0;
    double tokens_in = 0.0;
    double tokens_out = 0.0;
    for (size_t i = 0; i < count; i++) {
        const struct record *r = &records[i];
        if (!record_ok(r))
            continue;
        uint64_t end_ns = metrics_end_ns(r, options);
        st->requests_total++;
        st->requests_completed += end_ns > up_ns && end_ns <= down_ns;
        if (!options->pooling)
            tokens_out += tokens_in_window(r, options->has_tokenizer, up_ns, down_ns);
        if (r->start_ns < up_ns || r->start_ns >= down_ns)
            continue;
        st->requests_started++;
        tokens_in += (double)record_input_tokens(r);
        if (options->pooling)
            continue;
        ttft[ttfts++] = record_ttft_s(r);
        if (record_output_tokens(r, options->has_tokenizer) > 1)
            tpot[tpots++] = metrics_tpot_s(r, options->has_tokenizer);
    }
    double d = st->duration_s > 1e-9 ? st->duration_s : 1e-9;
    st->request_throughput = (double)st->requests_completed / d;
    st->input_throughput = tokens_in / d;
    st->output_throughput = tokens_out / d;
    st->total_token_throughput = st->input_throughput + st->output_throughput;
    ttft_figures(st, ttft, ttfts, options);
    tpot_figures(st, tpot, tpots);
    free(ttft);
    free(tpot);
}

void metrics_steady(const struct record *records, size_t count,
                    const struct summary_options *options, const struct metrics_edges *edges,
                    struct summary *summary)
{
    struct steady_state *st = &summary->steady;
    st->target_concurrency = options->max_concurrency;
    st->threshold = options->steady_threshold;
    /* 0.55 * 100 is a little above 55 in doubles; that must not ask for 56. */
    double wanted = ceil(options->steady_threshold * (double)options->max_concurrency - 1e-9);
    st->threshold_abs = wanted > 1.0 ? (uint64_t)wanted : 1;

    struct plateaus p = {.threshold = st->threshold_abs};
    find_plateaus(&p, edges);
    st->observed_peak = p.peak;
    if (!p.found)
        return;

    st->start_s = metrics_seconds(edges->starts[0], p.best_up_ns);
    st->end_s = metrics_seconds(edges->starts[0], p.best_down_ns);
    st->duration_s = metrics_seconds(p.best_up_ns, p.best_down_ns);
    st->gaps = p.gaps;
    st->gap_s = (double)p.gap_ns / 1e9;
    st->percentiles_ttft_ms = mem_array(options->percentile_count + 1, sizeof(double));
    window_figures(records, count, options, p.best_up_ns, p.best_down_ns, st);
    st->found = st->requests_started > 0 || st->requests_completed > 0;

    double min_window_s = options->steady_min_window_s;
    if (min_window_s < 0.0)
        min_window_s = summary->duration_s > 100.0 ? 0.1 * summary->duration_s : 10.0;
    write_warning(st, min_window_s, summary->duration_s);
}
