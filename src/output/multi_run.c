/* The figures come out of the runs' result objects by their keys, so that a run taken from a file counts like one just
 * measured. */
#include "output/multi_run.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/num.h"
#include "json/writer.h"
#include "metrics/multi.h"
#include "output/figures.h"
#include "output/table.h"

enum { WIDTH = 80, TITLE_WIDTH = 70 };

struct row {
    const char *label;
    const char *key;
};

static const struct row rows[] = {
    {"Request throughput (req/s)", "request_throughput"},
    {"Output throughput (tok/s)", "output_throughput"},
    {"Total token throughput (tok/s)", "total_token_throughput"},
    {"Peak output tokens/s", "max_output_tokens_per_s"},
    {"Mean TTFT (ms)", "mean_ttft_ms"},
    {"Median TTFT (ms)", "median_ttft_ms"},
    {"P99 TTFT (ms)", "p99_ttft_ms"},
    {"Mean TPOT (ms)", "mean_tpot_ms"},
    {"Median TPOT (ms)", "median_tpot_ms"},
    {"P99 TPOT (ms)", "p99_tpot_ms"},
    {"Mean ITL (ms)", "mean_itl_ms"},
    {"Mean E2EL (ms)", "mean_e2el_ms"},
    {"P99 E2EL (ms)", "p99_e2el_ms"},
    {"Completed requests", "completed"},
    {"Failed requests", "failed"},
    {"Duration (s)", "duration"},
};

static const struct row steady_rows[] = {
    {"Request throughput (req/s)", "steady_state.request_throughput"},
    {"Output throughput (tok/s)", "steady_state.output_throughput"},
    {"Input throughput (tok/s)", "steady_state.input_throughput"},
    {"Total token throughput (tok/s)", "steady_state.total_token_throughput"},
    {"Mean TTFT (ms)", "steady_state.mean_ttft_ms"},
    {"Median TTFT (ms)", "steady_state.median_ttft_ms"},
    {"Mean TPOT (ms)", "steady_state.mean_tpot_ms"},
    {"Median TPOT (ms)", "steady_state.median_tpot_ms"},
    {"P90 TPOT (ms)", "steady_state.p90_tpot_ms"},
    {"P99 TPOT (ms)", "steady_state.p99_tpot_ms"},
};

enum {
    ROW_COUNT = sizeof(rows) / sizeof(rows[0]),
    STEADY_COUNT = sizeof(steady_rows) / sizeof(steady_rows[0])
};

/* Over the runs that have the figure. */
static void collect(const struct multi_run *m, const char *key, struct multi_stats *stats)
{
    double *x = mem_array(m->count + 1, sizeof(*x));
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        if (m->results[i] != NULL && figure_get(m->results[i], key, &x[n]))
            n++;
    multi_stats_make(x, n, stats);
    free(x);
}

static size_t measured(const struct multi_run *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->count; i++)
        n += m->results[i] != NULL;
    return n;
}

void multi_run_heading(size_t runs, struct buf *out)
{
    char text[80];
    snprintf(text, sizeof(text), " Multi-Run Benchmark (%zu runs) ", runs);
    table_title(out, text, '=', TITLE_WIDTH);
    buf_add_char(out, '\n');
}

void multi_run_banner(size_t run, size_t runs, struct buf *out)
{
    char text[80];
    snprintf(text, sizeof(text), " Run %zu/%zu ", run, runs);
    table_title(out, text, '-', TITLE_WIDTH);
}

static void add_columns(struct buf *out, const char *label, char texts[4][400])
{
    buf_add_fmt(out, "%-35s %10s %10s %10s %10s\n", label, texts[0], texts[1], texts[2], texts[3]);
}

static void add_dashes(struct buf *out)
{
    static const char dashes[] = "-----------------------------------";
    buf_add_fmt(out, "%.35s %.10s %.10s %.10s %.10s\n", dashes, dashes, dashes, dashes, dashes);
}

static void add_row(const struct multi_run *m, const struct row *row, bool two_decimals,
                    struct buf *out)
{
    struct multi_stats s;
    char texts[4][400] = {"-", "-", "-", "-"};
    collect(m, row->key, &s);
    const double values[4] = {s.mean, s.std, s.min, s.max};
    for (size_t i = 0; i < 4 && s.count > 0; i++) {
        if (two_decimals)
            num_format_fixed(texts[i], sizeof(texts[i]), values[i], 2);
        else
            figure_text(texts[i], sizeof(texts[i]), values[i]);
    }
    add_columns(out, row->label, texts);
}

static void add_steady(const struct multi_run *m, struct buf *out)
{
    struct multi_stats s;
    char text[120];
    size_t n = measured(m);
    collect(m, steady_rows[0].key, &s);
    buf_add_char(out, '\n');
    if (s.count == 0) {
        buf_add_str(out, "Steady-state: no runs had a valid window\n");
        return;
    }
    snprintf(text, sizeof(text), " Steady-State Summary (%zu/%zu runs) ", s.count, n);
    table_title(out, text, '=', WIDTH);
    if (s.count < n)
        buf_add_fmt(out, "Aggregated over %zu/%zu runs (%zu runs had no valid window)\n", s.count,
                    n, n - s.count);
    buf_add_fmt(out, "%-35s %10s %10s %10s %10s\n", "Metric", "Mean", "Std", "Min", "Max");
    for (size_t i = 0; i < STEADY_COUNT; i++)
        add_row(m, &steady_rows[i], true, out);
    table_title(out, "", '=', WIDTH);
}

static void add_interval(const struct multi_run *m, const struct row *row, struct buf *out)
{
    struct multi_stats s;
    char texts[4][400] = {"-", "-", "-", "-"};
    collect(m, row->key, &s);
    if (s.has_interval) {
        /* none of these figures goes below 0; the JSON keeps the interval as it is */
        bool beyond = s.low < 0.0 && s.min >= 0.0;
        num_format_fixed(texts[0], sizeof(texts[0]), beyond ? 0.0 : s.low, 2);
        num_format_fixed(texts[1], sizeof(texts[1]), s.high, 2);
        if (s.has_cv) {
            double half = (s.high - s.low) / 2.0 / (s.mean < 0.0 ? -s.mean : s.mean);
            snprintf(texts[2], sizeof(texts[2]), "%.1f%%", 100.0 * half);
            snprintf(texts[3], sizeof(texts[3]), "%.1f%%", 100.0 * s.cv);
        }
    }
    add_columns(out, row->label, texts);
}

/* Not in the Rust tool's table. */
static void add_intervals(const struct multi_run *m, struct buf *out)
{
    buf_add_char(out, '\n');
    table_title(out, " 95% Confidence Intervals of the Means ", '=', WIDTH);
    buf_add_fmt(out, "%-35s %10s %10s %10s %10s\n", "Metric", "Low", "High", "+-", "CV");
    add_dashes(out);
    for (size_t i = 0; i < ROW_COUNT; i++)
        add_interval(m, &rows[i], out);
    table_title(out, "", '=', WIDTH);
}

void multi_run_table(const struct multi_run *m, struct buf *out)
{
    char text[80];
    struct multi_stats s;
    size_t n = measured(m);
    snprintf(text, sizeof(text), " Multi-Run Summary (%zu runs) ", n);
    table_title(out, text, '=', WIDTH);
    buf_add_fmt(out, "%-35s %10s %10s %10s %10s\n", "Metric", "Mean", "Std", "Min", "Max");
    add_dashes(out);
    for (size_t i = 0; i < ROW_COUNT; i++)
        add_row(m, &rows[i], false, out);
    table_title(out, "", '=', WIDTH);
    collect(m, "request_throughput", &s);
    if (s.mean > 0.0)
        buf_add_fmt(out, "Throughput CV: %.1f%% (lower = more stable across runs)\n", 100.0 * s.cv);
    add_steady(m, out);
    if (n > 1)
        add_intervals(m, out);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void member(struct js_writer *w, const char *name, double value)
{
    js_key(w, name);
    js_double(w, value);
}

static void write_stats(struct js_writer *w, const struct multi_stats *s)
{
    js_begin_object(w);
    js_key(w, "runs");
    js_uint(w, s->count);
    member(w, "mean", s->mean);
    member(w, "std", s->std);
    member(w, "min", s->min);
    member(w, "max", s->max);
    js_key(w, "cv");
    if (s->has_cv)
        js_double(w, s->cv);
    else
        js_null(w);
    js_key(w, "ci95");
    if (s->has_interval) {
        js_begin_array(w);
        js_double(w, s->low);
        js_double(w, s->high);
        js_end_array(w);
    } else {
        js_null(w);
    }
    js_end_object(w);
}

static const struct js_value *first_result(const struct multi_run *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (m->results[i] != NULL)
            return m->results[i];
    return NULL;
}

/* What was set: the members of a run before its first figure. */
static void write_settings(struct js_writer *w, const struct js_value *result)
{
    const struct js_value *v = result != NULL ? result->first : NULL;
    for (; v != NULL && !sv_eq(v->key, SV_LIT("duration")); v = v->next) {
        if (sv_eq(v->key, SV_LIT("date")) || sv_eq(v->key, SV_LIT("settings_hash")) ||
            sv_eq(v->key, SV_LIT("seed")) || sv_eq(v->key, SV_LIT("run")))
            continue;
        js_key_sv(w, v->key);
        js_write_value(w, v);
    }
}

static void write_means(const struct multi_run *m, const struct figure_keys *keys,
                        struct js_writer *w)
{
    struct multi_stats s;
    for (size_t i = 0; i < keys->count; i++) {
        if (sv_starts(sv_from(keys->items[i]), SV_LIT("steady_state.")))
            continue;
        collect(m, keys->items[i], &s);
        member(w, keys->items[i], s.mean);
    }
    collect(m, steady_rows[0].key, &s);
    js_key(w, "steady_state");
    if (s.count == 0) {
        js_null(w);
        return;
    }
    js_begin_object(w);
    for (size_t i = 0; i < keys->count; i++) {
        struct sv key = sv_from(keys->items[i]);
        if (!sv_starts(key, SV_LIT("steady_state.")))
            continue;
        collect(m, keys->items[i], &s);
        member(w, keys->items[i] + sizeof("steady_state.") - 1, s.mean);
    }
    js_end_object(w);
}

static void write_runs(const struct multi_run *m, struct js_writer *w)
{
    js_key(w, "runs");
    js_begin_array(w);
    for (size_t i = 0; i < m->count; i++) {
        if (m->results[i] == NULL)
            continue;
        js_begin_object(w);
        js_key(w, "run");
        js_uint(w, i + 1);
        js_key(w, "file");
        js_cstring(w, m->files[i]);
        js_key(w, "result");
        js_write_value(w, m->results[i]);
        js_end_object(w);
    }
    js_end_array(w);
}

void multi_run_json(const struct multi_run *m, struct buf *out)
{
    struct js_writer w;
    struct figure_keys keys;
    figure_keys_make(&keys, m->results, m->count);
    js_writer_init(&w, out);
    js_begin_object(&w);
    js_key(&w, "date");
    js_cstring(&w, m->date);
    js_key(&w, "mode");
    js_cstring(&w, "multi_run");
    js_key(&w, "num_runs");
    js_uint(&w, m->count);
    js_key(&w, "measured_runs");
    js_uint(&w, measured(m));
    if (m->interrupted) {
        js_key(&w, "interrupted");
        js_bool(&w, true);
    }
    write_settings(&w, first_result(m));
    write_means(m, &keys, &w);
    js_key(&w, "statistics");
    js_begin_object(&w);
    for (size_t i = 0; i < keys.count; i++) {
        struct multi_stats s;
        collect(m, keys.items[i], &s);
        js_key(&w, keys.items[i]);
        write_stats(&w, &s);
    }
    js_end_object(&w);
    write_runs(m, &w);
    js_end_object(&w);
    figure_keys_done(&keys);
}

void multi_run_csv(const struct multi_run *m, struct buf *out)
{
    struct figure_keys keys;
    figure_keys_make(&keys, m->results, m->count);
    buf_add_str(out, "run");
    for (size_t i = 0; i < keys.count; i++) {
        buf_add_char(out, ',');
        figure_csv(out, sv_from(keys.items[i]));
    }
    buf_add_char(out, '\n');
    for (size_t i = 0; i < m->count; i++) {
        if (m->results[i] == NULL)
            continue;
        buf_add_fmt(out, "%zu", i + 1);
        for (size_t k = 0; k < keys.count; k++) {
            char text[NUM_TEXT_MAX] = "";
            double value;
            if (figure_get(m->results[i], keys.items[k], &value))
                num_format_short(text, value);
            buf_add_fmt(out, ",%s", text);
        }
        buf_add_char(out, '\n');
    }
    figure_keys_done(&keys);
}
