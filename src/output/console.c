/* The summary as Python's tool prints it, byte for byte where both show a line.  Blocks that Python does not have stand
 * after its closing rule, so a reader that stops there has read exactly Python's table. */
#include "output/console.h"

#include <math.h>

#include "base/num.h"
#include "output/report_priv.h"
#include "output/table.h"

enum {
    SHOWN_FAILURES = 10,
    SHOWN_ERROR_BYTES = 2000,
    STEADY_WIDTH = 47,
    STEADY_LABEL = 35,
};

/* A message from outside, made harmless for a terminal: no control characters but newline and tab. */
static void add_message(const struct run_report *report, struct sv text, struct buf *out)
{
    size_t from = out->len;
    bool cut = text.len > SHOWN_ERROR_BYTES;
    report_redact(report, cut ? sv_make(text.ptr, SHOWN_ERROR_BYTES) : text, out);
    for (size_t i = from; i < out->len; i++) {
        unsigned char c = (unsigned char)out->ptr[i];
        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            out->ptr[i] = '?';
    }
    buf_add_str(out, cut ? " ...\n" : "\n");
}

void console_failures(const struct run_report *report, struct buf *out)
{
    const struct summary *s = report->summary;
    if (s->failed == 0)
        return;
    buf_add_str(out, "Failed requests during benchmark run detected (capping to 10):\n");
    unsigned shown = 0;
    for (size_t i = 0; i < report->count && shown < SHOWN_FAILURES; i++) {
        const struct record *r = &report->records[i];
        if (record_ok(r) || record_unfinished(r) || !(r->sent || r->done))
            continue;
        buf_add_fmt(out, "Error %u: ", shown++);
        add_message(report, report_error_text(r), out);
    }
    buf_add_str(out, "Failed requests by category:");
    const char *separator = " ";
    for (enum failure_kind kind = 0; kind < FAILURE_COUNT; kind++) {
        if (s->failures[kind] == 0 || kind == FAILURE_UNFINISHED)
            continue;
        buf_add_fmt(out, "%s%s: %llu", separator, failure_name(kind),
                    (unsigned long long)s->failures[kind]);
        separator = ", ";
    }
    buf_add_char(out, '\n');
}

static void generation_rows(const struct run_report *report, struct buf *out)
{
    const struct summary *s = report->summary;
    bool tokens = report_has_tokens(report);
    if (tokens)
        table_uint(out, "Total generated tokens:", s->total_output_tokens);
    table_fixed(out, "Request throughput (req/s):", s->request_throughput);
    if (report->config->goodput.any)
        table_fixed(out, "Request goodput (req/s):", s->request_goodput);
    if (tokens) {
        table_fixed(out, "Output token throughput (tok/s):", s->output_throughput);
        table_fixed(out, "Peak output token throughput (tok/s):", s->max_output_tokens_per_s);
    }
    table_fixed(out, "Peak concurrent requests:", (double)s->max_concurrent_requests);
    if (s->rtfx > 0.0)
        table_fixed(out, "RTFx (Inverse Real-Time Factor):", s->rtfx);
    if (tokens)
        table_fixed(out, "Total token throughput (tok/s):", s->total_token_throughput);
}

/* The Rust tool's rows, and Python's total that it lacks. */
static void pooling_rows(const struct run_report *report, struct buf *out)
{
    const struct summary *s = report->summary;
    table_fixed(out, "Request throughput (req/s):", s->request_throughput);
    table_fixed(out, "Input throughput (inputs/s):", s->input_sequence_throughput);
    table_fixed(out, "Input token throughput (tok/s):", s->input_throughput);
    table_fixed(out, "Peak concurrent requests:", (double)s->max_concurrent_requests);
    if (report_has_tokens(report))
        table_fixed(out, "Total token throughput (tok/s):", s->total_token_throughput);
}

static void main_rows(const struct run_report *report, struct buf *out)
{
    const struct summary *s = report->summary;
    const struct config *config = report->config;
    table_uint(out, "Successful requests:", s->completed);
    table_uint(out, "Failed requests:", s->failed);
    if (config->duration_ns > 0)
        table_uint(out, "Unfinished requests:", s->unfinished);
    if (config->max_concurrency > 0)
        table_uint(out, "Maximum request concurrency:", config->max_concurrency);
    if (isfinite(config->request_rate))
        table_fixed(out, "Request rate configured (RPS):", config->request_rate);
    table_fixed(out, "Benchmark duration (s):", s->duration_s);
    table_uint(out, "Total input tokens:", s->total_input_tokens);
    if (report->pooling)
        pooling_rows(report, out);
    else
        generation_rows(report, out);
}

static void probe_block(const struct run_report *report, struct buf *out)
{
    const struct probe_stats *p = report->probe;
    if (!report_has_probes(report))
        return;
    table_title(out, "Probe Requests", '-', TABLE_WIDTH);
    table_uint(out, "Probe requests completed:", p->completed);
    table_uint(out, "Probe requests failed:", p->failed);
    table_fixed(out, "Median probe E2EL (ms):", p->median_ms);
    table_fixed(out, "P99 probe E2EL (ms):", p->p99_ms);
    table_fixed(out, "Max probe E2EL (ms):", p->max_ms);
}

static void diffusion_block(const struct server_stats *s, struct buf *out)
{
    table_title(out, "Diffusion Decoding", '-', TABLE_WIDTH);
    table_fixed(out, "Committed throughput (tok/s):", s->committed_throughput);
    table_fixed(out, "Denoising steps per canvas:", s->steps_per_canvas);
    table_fixed(out, "Committed per denoising step:", s->committed_per_step);
    table_uint(out, "Committed tokens:", s->committed_tokens);
    table_uint(out, "Denoising steps:", s->denoising_steps);
    table_uint(out, "Canvas positions evaluated:", s->canvas_positions);
}

static void speculation_block(const struct server_stats *s, struct buf *out)
{
    table_title(out, "Speculative Decoding", '-', TABLE_WIDTH);
    table_fixed(out, "Acceptance rate (%):", s->acceptance_rate);
    table_fixed(out, "Acceptance length:", s->acceptance_length);
    table_uint(out, "Drafts:", s->drafts);
    table_uint(out, "Draft tokens:", s->draft_tokens);
    table_uint(out, "Accepted tokens:", s->accepted_tokens);
    if (s->position_count > 0)
        buf_add_str(out, "Per-position acceptance (%):\n");
    for (size_t i = 0; i < s->position_count; i++) {
        char label[64];
        snprintf(label, sizeof(label), "  Position %lld:", (long long)s->positions[i]);
        table_fixed(out, label, 100.0 * s->position_rates[i]);
    }
}

/* Where a model decodes by diffusion, its drafts are part of that (Python shows one of the two). */
static void server_block(const struct run_report *report, struct buf *out)
{
    const struct server_stats *s = report->server;
    if (s != NULL && s->has_diffusion)
        diffusion_block(s, out);
    else if (s != NULL && s->has_speculation)
        speculation_block(s, out);
}

static void series_rows(const struct run_report *report, const char *name,
                        const struct series_stats *series, struct buf *out)
{
    char label[128];
    snprintf(label, sizeof(label), "Mean %s (ms):", name);
    table_fixed(out, label, series->mean_ms);
    snprintf(label, sizeof(label), "Median %s (ms):", name);
    table_fixed(out, label, series->median_ms);
    for (size_t i = 0; i < report->config->percentile_count; i++) {
        char p[NUM_TEXT_MAX];
        num_format_short(p, report->config->percentiles[i]);
        snprintf(label, sizeof(label), "P%s %s (ms):", p, name);
        table_fixed(out, label, series->percentiles_ms[i]);
    }
}

static void metric_block(const struct run_report *report, enum metric_id metric, struct buf *out)
{
    static const struct {
        const char *title;
        const char *name;
    } TEXTS[METRIC_COUNT] = {
        [METRIC_TTFT] = {"Time to First Token", "TTFT"},
        [METRIC_TPOT] = {"Time per Output Token (excl. 1st token)", "TPOT"},
        [METRIC_ITL] = {"Inter-token Latency", "ITL"},
        [METRIC_E2EL] = {"End-to-end Latency", "E2EL"},
        [METRIC_CLIENT_QUEUE_TIME] = {"Client-side Queueing", "Client Queue Time"},
        [METRIC_E2EL_INCLUDING_CLIENT_QUEUE] = {"Queue-inclusive End-to-end Latency",
                                                "E2EL incl. Client Queue"},
    };
    table_title(out, TEXTS[metric].title, '-', TABLE_WIDTH);
    series_rows(report, TEXTS[metric].name, report_series(report, metric), out);
}

void console_table(const struct run_report *report, struct buf *out)
{
    const char *title =
        report->pooling ? " Embedding/Pooling Benchmark Result " : " Serving Benchmark Result ";
    table_title(out, title, '=', TABLE_WIDTH);
    main_rows(report, out);
    probe_block(report, out);
    for (enum metric_id metric = 0; metric < METRIC_COUNT; metric++)
        if (report_shows_metric(report, metric))
            metric_block(report, metric, out);
    server_block(report, out);
    table_title(out, "", '=', TABLE_WIDTH);
}

/* Rows of the steady-state block: label in 35 columns, the value without padding. */
static void steady_fixed(struct buf *out, const char *label, double value)
{
    buf_add_fmt(out, "%-*s %.2f\n", STEADY_LABEL, label, value);
}

static void steady_window(const struct steady_state *st, struct buf *out)
{
    buf_add_fmt(out, "%-*s >= %.2f * %llu = %llu\n", STEADY_LABEL,
                "Concurrency threshold:", st->threshold, (unsigned long long)st->target_concurrency,
                (unsigned long long)st->threshold_abs);
    buf_add_fmt(out, "%-*s %.1fs -> %.1fs  (%.1fs)\n", STEADY_LABEL, "Window:", st->start_s,
                st->end_s, st->duration_s);
    buf_add_fmt(out, "%-*s %llu\n", STEADY_LABEL,
                "Observed peak concurrency:", (unsigned long long)st->observed_peak);
    double total = st->requests_total > 0 ? (double)st->requests_total : 1.0;
    buf_add_fmt(out, "%-*s %llu / %llu (%.1f%%)\n", STEADY_LABEL,
                "Requests started in window:", (unsigned long long)st->requests_started,
                (unsigned long long)st->requests_total,
                100.0 * (double)st->requests_started / total);
    buf_add_fmt(out, "%-*s %llu\n", STEADY_LABEL,
                "Requests completed in window:", (unsigned long long)st->requests_completed);
}

void console_steady(const struct run_report *report, struct buf *out)
{
    const struct steady_state *st = &report->summary->steady;
    if (!st->found)
        return;
    if (st->has_warning)
        buf_add_fmt(out, "Warning: %s\n", st->warning);
    table_title(out, " Steady-State Metrics ", '=', STEADY_WIDTH);
    steady_window(st, out);
    table_title(out, "", '-', STEADY_WIDTH);
    steady_fixed(out, "Request throughput (req/s):", st->request_throughput);
    steady_fixed(out, "Output token throughput (tok/s):", st->output_throughput);
    steady_fixed(out, "Input token throughput (tok/s):", st->input_throughput);
    steady_fixed(out, "Total token throughput (tok/s):", st->total_token_throughput);
    if (st->ttft_count > 0) {
        table_title(out, "", '-', STEADY_WIDTH);
        steady_fixed(out, "Mean TTFT (ms):", st->mean_ttft_ms);
        steady_fixed(out, "Median TTFT (ms):", st->median_ttft_ms);
        for (size_t i = 0; i < report->config->percentile_count; i++) {
            char p[NUM_TEXT_MAX];
            char label[64];
            num_format_short(p, report->config->percentiles[i]);
            snprintf(label, sizeof(label), "P%s TTFT (ms):", p);
            steady_fixed(out, label, st->percentiles_ttft_ms[i]);
        }
    }
    if (st->mean_tpot_ms > 0.0 || st->median_tpot_ms > 0.0) {
        table_title(out, "", '-', STEADY_WIDTH);
        steady_fixed(out, "Mean TPOT (ms):", st->mean_tpot_ms);
        steady_fixed(out, "Median TPOT (ms):", st->median_tpot_ms);
        steady_fixed(out, "P90 TPOT (ms):", st->p90_tpot_ms);
        steady_fixed(out, "P99 TPOT (ms):", st->p99_tpot_ms);
    }
    table_title(out, "", '=', STEADY_WIDTH);
}

void console_tokens(const struct run_report *report, struct buf *out)
{
    const struct summary *s = report->summary;
    const struct per_token *p = &s->per_token;
    bool tokens = !report->pooling && report_has_tokens(report);
    if (tokens && p->mean_tokens_per_event >= 1.005 && p->itl.percentiles_ms != NULL) {
        table_title(out, "Tokens per Event", '-', TABLE_WIDTH);
        table_fixed(out, "Mean tokens per event:", p->mean_tokens_per_event);
        table_uint(out, "Max tokens per event:", p->max_tokens_per_event);
        series_rows(report, "ITL per token", &p->itl, out);
    }
    if (tokens && s->reasoning.requests > 0) {
        table_title(out, "Reasoning", '-', TABLE_WIDTH);
        table_uint(out, "Requests with reasoning:", s->reasoning.requests);
        table_uint(out, "Requests without answer:", s->reasoning.without_answer);
        table_fixed(out, "Reasoning share of token events (%):", 100.0 * s->reasoning.event_share);
        if (s->reasoning.has_tokens) {
            table_uint(out, "Reasoning tokens:", s->reasoning.tokens);
            table_fixed(out,
                        "Reasoning share of output tokens (%):", 100.0 * s->reasoning.token_share);
        }
        if (s->reasoning.ttfa.count > 0)
            series_rows(report, "TTFA", &s->reasoning.ttfa, out);
    }
    if (s->total_cached_tokens > 0) {
        table_title(out, "Prompt Cache", '-', TABLE_WIDTH);
        table_uint(out, "Cached input tokens:", s->total_cached_tokens);
        table_fixed(out, "Cached share of input (%):", 100.0 * s->cached_token_share);
    }
}

void console_queue(const struct run_report *report, struct buf *out)
{
    if (!isfinite(report->config->request_rate) && report->config->ramp_up_strategy == RAMP_UP_NONE)
        return;
    table_title(out, "Queue Time", '-', TABLE_WIDTH);
    table_fixed(out, "Mean queue time (ms):", report->summary->mean_queue_ms);
    table_fixed(out, "P99 queue time (ms):", report->summary->p99_queue_ms);
}

/* One time in the unit that keeps two decimals telling: microseconds below a millisecond. */
static void lag_row(struct buf *out, const char *name, uint64_t value_ns)
{
    char label[64];
    bool small = value_ns < 1000000;
    snprintf(label, sizeof(label), "%s (%s):", name, small ? "us" : "ms");
    table_fixed(out, label, (double)value_ns / (small ? 1e3 : 1e6));
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

void console_measurement(const struct run_report *report, struct buf *out)
{
    static const char *const STAMPS[] = {
        [STAMP_KERNEL] = "kernel", [STAMP_USER] = "user", [STAMP_MIXED] = "mixed"};
    const struct client_stats *c = report->client;
    char rule[400] = "";
    enum verdict verdict = report_verdict(report, rule, sizeof(rule));
    table_title(out, "Measurement", '-', TABLE_WIDTH);
    lag_row(out, "Receive lag P50", hist_percentile_ns(&c->receive_lag, 50));
    lag_row(out, "Receive lag P99", hist_percentile_ns(&c->receive_lag, 99));
    lag_row(out, "Receive lag max", c->receive_lag.count > 0 ? c->receive_lag.max_ns : 0);
    lag_row(out, "Send lag P50", hist_percentile_ns(&c->send_lag, 50));
    lag_row(out, "Send lag P99", hist_percentile_ns(&c->send_lag, 99));
    lag_row(out, "Send lag max", c->send_lag.count > 0 ? c->send_lag.max_ns : 0);
    table_fixed(out, "Merged reads (%):", percent(c->merged_reads, c->event_reads));
    table_fixed(out, "Longest loop stall (ms):", (double)c->longest_stall_ns / 1e6);
    table_uint(out, "Client threads:", c->threads);
    table_fixed(out, "Client CPU (% of one core per thread):", percent(c->cpu_ns, c->wall_ns));
    table_uint(out, "TCP retransmits:", c->tcp_retransmits);
    table_text(out, "Timestamps:", STAMPS[client_stamp_source(c)]);
    table_uint(out, "Connections opened:", c->connections);
    table_uint(out, "Reconnects:", c->reconnects);
    table_uint(out, "Requests that had to connect:", c->requests_connecting);
    table_text(out, "Verdict:", verdict_name(verdict));
    if (verdict != VERDICT_CLEAN)
        buf_add_fmt(out, "Verdict rule: %s\n", rule);
    table_title(out, "", '=', TABLE_WIDTH);
}

bool console_print(const struct run_report *report, FILE *file, struct error *err)
{
    struct buf out = {0};
    console_failures(report, &out);
    console_table(report, &out);
    console_steady(report, &out);
    console_tokens(report, &out);
    console_queue(report, &out);
    console_measurement(report, &out);
    bool ok = table_write(file, buf_sv(&out), err);
    buf_done(&out);
    return ok;
}
