/* See multi_turn.h. */
#include "output/multi_turn.h"

#include <stdio.h>

#include "base/num.h"
#include "output/console.h"
#include "output/extra.h"
#include "output/fields.h"
#include "output/report_priv.h"
#include "output/result.h"
#include "output/table.h"

enum { WIDTH = 60, LABEL = 45 };

static const struct {
    enum metric_id metric;
    enum series_id series;
    const char *title;
    const char *name;
} blocks[] = {
    {METRIC_TTFT, SERIES_TTFT, "Time to First Token", "TTFT"},
    {METRIC_TPOT, SERIES_TPOT, "Time per Output Token (excl. 1st token)", "TPOT"},
    {METRIC_ITL, SERIES_ITL, "Inter-token Latency", "ITL"},
    {METRIC_E2EL, SERIES_E2EL, "End-to-end Latency", "E2EL"},
};

enum { BLOCK_COUNT = sizeof(blocks) / sizeof(blocks[0]) };

/* ---- console ----------------------------------------------------------------------------------------------------- */

static void head_row(struct buf *out, const char *label, const char *value)
{
    buf_add_fmt(out, "%-*s %s\n", LABEL, label, value);
}

static void head_uint(struct buf *out, const char *label, uint64_t value)
{
    char text[NUM_TEXT_MAX];
    num_format_u64(text, value);
    head_row(out, label, text);
}

static void head_fixed(struct buf *out, const char *label, double value, int decimals)
{
    char text[400];
    num_format_fixed(text, sizeof(text), value, decimals);
    head_row(out, label, text);
}

static void add_uint(struct buf *out, const char *label, uint64_t value)
{
    buf_add_fmt(out, "%-*s %-10llu\n", LABEL, label, (unsigned long long)value);
}

static void add_fixed(struct buf *out, const char *label, double value)
{
    char text[400];
    num_format_fixed(text, sizeof(text), value, 2);
    buf_add_fmt(out, "%-*s %-10s\n", LABEL, label, text);
}

static void add_metric(const struct config *config, const struct series_stats *s, const char *name,
                       struct buf *out)
{
    char label[80];
    snprintf(label, sizeof(label), "Mean %s (ms):", name);
    table_fixed(out, label, s->mean_ms);
    snprintf(label, sizeof(label), "Median %s (ms):", name);
    table_fixed(out, label, s->median_ms);
    for (size_t i = 0; i < config->percentile_count; i++) {
        char p[NUM_TEXT_MAX];
        num_format_short(p, config->percentiles[i]);
        snprintf(label, sizeof(label), "P%s %s (ms):", p, name);
        table_fixed(out, label, s->percentiles_ms[i]);
    }
}

static void add_summary(const struct multi_turn_report *m, const struct summary *s, struct buf *out)
{
    const struct config *config = m->run->config;
    add_uint(out, "Successful requests:", s->completed);
    add_uint(out, "Failed requests:", s->failed);
    add_uint(out, "Total input tokens:", s->total_input_tokens);
    add_uint(out, "Total generated tokens:", s->total_output_tokens);
    add_fixed(out, "Request throughput (req/s):", s->request_throughput);
    add_fixed(out, "Input token throughput (tok/s):", s->input_throughput);
    add_fixed(out, "Output token throughput (tok/s):", s->output_throughput);
    add_fixed(out, "Total token throughput (tok/s):", s->total_token_throughput);
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (!config->metric_selected[blocks[i].metric])
            continue;
        table_title(out, blocks[i].title, '-', WIDTH);
        add_metric(config, &s->series[blocks[i].series], blocks[i].name, out);
    }
}

static void add_speculation(const struct server_stats *s, struct buf *out)
{
    if (s == NULL || !s->has_speculation)
        return;
    table_title(out, "Speculative Decoding", '-', TABLE_WIDTH);
    table_fixed(out, "Acceptance rate (%):", s->acceptance_rate);
    table_fixed(out, "Acceptance length:", s->acceptance_length);
    table_uint(out, "Drafts:", s->drafts);
    table_uint(out, "Draft tokens:", s->draft_tokens);
    table_uint(out, "Accepted tokens:", s->accepted_tokens);
    if (s->position_count > 0)
        buf_add_str(out, "Per-position acceptance (%):\n");
    for (size_t i = 0; i < s->position_count; i++) {
        char label[40];
        snprintf(label, sizeof(label), "  Position %lld:", (long long)s->positions[i]);
        table_fixed(out, label, 100.0 * s->position_rates[i]);
    }
}

void multi_turn_text(const struct multi_turn_report *m, struct buf *out)
{
    const struct config_multi_turn *mt = &m->run->config->multi_turn;
    char text[80];
    console_failures(m->run, out);
    table_title(out, " Multi-Turn Benchmark Result ", '=', WIDTH);
    snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)m->completed,
             (unsigned long long)m->conversations);
    head_row(out, "Conversations completed/total:", text);
    if (m->not_started > 0)
        head_uint(out, "Conversations not started:", m->not_started);
    head_uint(out, "Turns per conversation (configured):", mt->num_turns);
    head_fixed(out, "Avg turns completed:", m->avg_turns, 1);
    head_fixed(out, "Avg conversation duration (ms):", m->avg_duration_ms, 0);
    head_uint(out, "Concurrency:", m->concurrency);
    head_uint(out, "Inter-turn delay (ms):", mt->delay_ms);
    head_fixed(out, "Benchmark duration (s):", m->run->summary->duration_s, 2);
    table_title(out, " Overall (All Turns) ", '-', WIDTH);
    add_summary(m, m->run->summary, out);
    for (size_t i = 0; i < m->turn_count; i++) {
        if (m->turns[i].sent == 0)
            continue;
        snprintf(text, sizeof(text), " Turn %zu (%llu samples) ", i + 1,
                 (unsigned long long)m->turns[i].sent);
        table_title(out, text, '-', WIDTH);
        add_summary(m, &m->turns[i], out);
    }
    add_speculation(m->run->server, out);
    table_title(out, "", '=', WIDTH);
    console_tokens(m->run, out);
    console_measurement(m->run, out);
}

/* ---- result object ----------------------------------------------------------------------------------------------- */

static void member_double(struct js_writer *w, const char *name, double value)
{
    js_key(w, name);
    js_double(w, value);
}

static void member_uint(struct js_writer *w, const char *name, uint64_t value)
{
    js_key(w, name);
    js_uint(w, value);
}

/* Names and values of the latency statistics, handed to `put`. */
typedef void put_double_fn(void *user, const char *name, double value);

static void each_metric(const struct config *config, const struct summary *s, put_double_fn *put,
                        void *user)
{
    char key[80];
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        if (!config->metric_selected[blocks[i].metric])
            continue;
        const struct series_stats *series = &s->series[blocks[i].series];
        const char *name = config_metric_name(blocks[i].metric);
        snprintf(key, sizeof(key), "mean_%s_ms", name);
        put(user, key, series->mean_ms);
        snprintf(key, sizeof(key), "median_%s_ms", name);
        put(user, key, series->median_ms);
        snprintf(key, sizeof(key), "std_%s_ms", name);
        put(user, key, series->std_ms);
        for (size_t k = 0; k < config->percentile_count; k++) {
            char p[NUM_TEXT_MAX];
            num_format_short(p, config->percentiles[k]);
            snprintf(key, sizeof(key), "p%s_%s_ms", p, name);
            put(user, key, series->percentiles_ms[k]);
        }
    }
}

static void put_field(void *user, const char *name, double value)
{
    fields_double(user, name, value);
}

static void put_member(void *user, const char *name, double value)
{
    member_double(user, name, value);
}

static void put_settings(struct fields *f, const struct multi_turn_report *m)
{
    const struct config *config = m->run->config;
    const struct config_multi_turn *mt = &config->multi_turn;
    char date[16];
    report_date(m->run->date, date);
    fields_text(f, "date", date);
    fields_text(f, "mode", "multi_turn");
    fields_text(f, "backend", config->backend);
    fields_text(f, "model_id", m->run->model_id);
    fields_uint(f, "num_conversations", m->conversations);
    if (fields_key(f, "max_model_len")) {
        if (config->max_model_len > 0)
            js_uint(&f->w, config->max_model_len);
        else
            js_null(&f->w);
    }
    fields_uint(f, "turns_per_conversation", mt->num_turns);
    fields_uint(f, "multi_turn_concurrency", m->concurrency);
    fields_uint(f, "inter_turn_delay_ms", mt->delay_ms);
    if (m->no_history) {
        fields_double(f, "prefix_global_ratio", mt->global_ratio);
        fields_double(f, "prefix_conversation_ratio", mt->conversation_ratio);
        fields_double(f, "prefix_unique_ratio", 1.0 - mt->global_ratio - mt->conversation_ratio);
        if (fields_key(f, "no_history_accumulation"))
            js_bool(&f->w, true);
    }
    fields_metadata(f);
}

static void write_turn(struct js_writer *w, const struct multi_turn_report *m, size_t index)
{
    const struct summary *s = &m->turns[index];
    js_begin_object(w);
    member_uint(w, "turn_index", index);
    member_uint(w, "num_samples", s->sent);
    member_uint(w, "completed", s->completed);
    member_uint(w, "failed", s->failed);
    member_uint(w, "total_input_tokens", s->total_input_tokens);
    member_uint(w, "total_output_tokens", s->total_output_tokens);
    member_double(w, "request_throughput", s->request_throughput);
    member_double(w, "input_throughput", s->input_throughput);
    member_double(w, "output_throughput", s->output_throughput);
    member_double(w, "total_token_throughput", s->total_token_throughput);
    each_metric(m->run->config, s, put_member, w);
    js_end_object(w);
}

static void put_failures(struct fields *f, const struct multi_turn_report *m)
{
    const struct run_report *run = m->run;
    if (run->summary->failed == 0 || !fields_key(f, "failed_requests"))
        return;
    js_begin_array(&f->w);
    for (size_t i = 0; i < run->count; i++) {
        const struct record *r = &run->records[i];
        struct record_cursor cursor;
        struct buf text = {0};
        uint64_t gap_ns = 0;
        if (record_ok(r) || !(r->sent || r->done))
            continue;
        js_begin_object(&f->w);
        buf_add_fmt(&text, "%sconv-%zu", run->config->request_id_prefix, m->owner[i]);
        js_key(&f->w, "conversation_id");
        js_string(&f->w, buf_sv(&text));
        buf_reset(&text);
        member_uint(&f->w, "turn_index", i - m->first_item[m->owner[i]]);
        report_redact(run, report_error_text(r), &text);
        js_key(&f->w, "error");
        js_string(&f->w, buf_sv(&text));
        buf_done(&text);
        member_uint(&f->w, "prompt_len", record_input_tokens(r));
        member_double(&f->w, "start_time",
                      r->start_ns > run->start_ns ? (double)(r->start_ns - run->start_ns) / 1e9
                                                  : 0.0);
        member_double(&f->w, "latency", record_latency_s(r));
        member_double(&f->w, "ttft", record_ttft_s(r));
        member_uint(&f->w, "output_tokens", 0);
        js_key(&f->w, "itl");
        js_begin_array(&f->w);
        record_gaps_begin(r, &cursor);
        while (record_gaps_next(&cursor, &gap_ns))
            js_double(&f->w, (double)gap_ns / 1e9);
        js_end_array(&f->w);
        js_key(&f->w, "category");
        js_cstring(&f->w, failure_name(r->done ? r->failure : FAILURE_INTERRUPTED));
        js_end_object(&f->w);
    }
    js_end_array(&f->w);
}

void multi_turn_json(const struct multi_turn_report *m, struct buf *out)
{
    const struct summary *s = m->run->summary;
    struct fields f;
    fields_begin(&f, out, &m->run->config->metadata);
    put_settings(&f, m);
    fields_double(&f, "duration", s->duration_s);
    fields_uint(&f, "conversations_completed", m->completed);
    fields_uint(&f, "conversations_failed", m->conversations - m->completed - m->not_started);
    fields_double(&f, "avg_turns_completed", m->avg_turns);
    fields_double(&f, "avg_conversation_duration_ms", m->avg_duration_ms);
    fields_uint(&f, "completed", s->completed);
    fields_uint(&f, "failed", s->failed);
    put_failures(&f, m);
    fields_uint(&f, "total_input_tokens", s->total_input_tokens);
    fields_uint(&f, "total_output_tokens", s->total_output_tokens);
    fields_double(&f, "request_throughput", s->request_throughput);
    fields_double(&f, "input_throughput", s->input_throughput);
    fields_double(&f, "output_throughput", s->output_throughput);
    fields_double(&f, "total_token_throughput", s->total_token_throughput);
    each_metric(m->run->config, s, put_field, &f);
    extra_server(&f, m->run);
    if (fields_key(&f, "per_turn_metrics")) {
        js_begin_array(&f.w);
        for (size_t i = 0; i < m->turn_count; i++)
            if (m->turns[i].sent > 0)
                write_turn(&f.w, m, i);
        js_end_array(&f.w);
    }
    fields_uint(&f, "num_requests_sent", s->sent);
    fields_uint(&f, "conversations_not_started", m->not_started);
    if (m->run->interrupted && fields_key(&f, "interrupted"))
        js_bool(&f.w, true);
    result_client(&f, m->run);
    fields_end(&f);
}
