/* The Rust tool's layout (ORCHESTRATION 14); figures come out of the points' result objects by their keys. */
#include "output/sweep.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "json/writer.h"
#include "output/figures.h"
#include "output/table.h"

enum { TITLE_WIDTH = 70, NAME_WIDTH = 20, COLUMNS_MAX = 100 };

struct column {
    char header[48];
    char key[64];
    int width;
};

struct columns {
    struct column at[COLUMNS_MAX];
    size_t count;
};

static const struct {
    const char *title;
    const char *flag;
    const char *banner; /* and key */
    const char *name;   /* heading of the first column */
    const char *label;
} kinds[] = {
    [SWEEP_CONCURRENCY] = {" Concurrency Sweep ", "--max-concurrency", "max_concurrency",
                           "Max Concurrency", "concurrency"},
    [SWEEP_RATE] = {" Request Rate Sweep ", "--request-rate", "request_rate", "Request Rate",
                    "rate"},
    [SWEEP_MULTI_TURN] = {" Multi-Turn Concurrency Sweep ", "--multi-turn-concurrency",
                          "multi_turn_concurrency", "MT Concurrency", "concurrency"},
};

const char *sweep_key(enum sweep_kind kind)
{
    return kinds[kind].banner;
}

void sweep_label(enum sweep_kind kind, double value, struct buf *out)
{
    char text[NUM_TEXT_MAX];
    num_format_short(text, value);
    buf_add_fmt(out, "%s=%s", kinds[kind].label, text);
}

void sweep_heading(enum sweep_kind kind, const double *values, size_t count, struct buf *out)
{
    table_title(out, kinds[kind].title, '=', TITLE_WIDTH);
    buf_add_fmt(out, "Sweeping %s over %zu values: [", kinds[kind].flag, count);
    for (size_t i = 0; i < count; i++) {
        char text[NUM_TEXT_MAX];
        if (kind == SWEEP_RATE)
            num_format_double(text, values[i]);
        else
            num_format_short(text, values[i]);
        buf_add_fmt(out, "%s%s", i > 0 ? ", " : "", text);
    }
    buf_add_str(out, "]\n\n");
}

void sweep_banner(enum sweep_kind kind, double value, size_t point, size_t count, struct buf *out)
{
    char number[NUM_TEXT_MAX];
    char text[160];
    num_format_short(number, value);
    snprintf(text, sizeof(text), " Run %zu/%zu: %s=%s ", point, count, kinds[kind].banner, number);
    table_title(out, text, '-', TITLE_WIDTH);
}

/* ---- table ------------------------------------------------------------------------------------------------------- */

static void add_column(struct columns *c, const char *header, const char *key, int width)
{
    if (c->count == COLUMNS_MAX)
        return;
    struct column *column = &c->at[c->count++];
    snprintf(column->header, sizeof(column->header), "%s", header);
    snprintf(column->key, sizeof(column->key), "%s", key);
    column->width = (int)strlen(column->header) > width ? (int)strlen(column->header) : width;
}

static void add_percentile(struct columns *c, double p)
{
    char number[NUM_TEXT_MAX];
    char header[48];
    char key[64];
    num_format_short(number, p);
    for (int i = 0; i < 2; i++) {
        snprintf(header, sizeof(header), "P%.20s %s(ms)", number, i == 0 ? "TTFT" : "TPOT");
        if (p == 50.0)
            snprintf(key, sizeof(key), "median_%s_ms", i == 0 ? "ttft" : "tpot");
        else
            snprintf(key, sizeof(key), "p%.20s_%s_ms", number, i == 0 ? "ttft" : "tpot");
        add_column(c, header, key, 12);
    }
}

static void make_columns(const struct sweep_report *s, struct columns *c)
{
    c->count = 0;
    add_column(c, "Req/s", "request_throughput", 10);
    add_column(c, "Inputs/s", "input_sequence_throughput", 10);
    add_column(c, "Tok/s", "output_throughput", 10);
    add_column(c, "Total tok/s", "total_token_throughput", 12);
    add_column(c, "SS req/s", "steady_state.request_throughput", 10);
    add_column(c, "SS out tok/s", "steady_state.output_throughput", 12);
    add_percentile(c, 50.0);
    add_percentile(c, 90.0);
    for (size_t i = 0; i < s->percentile_count; i++) {
        double p = s->percentiles[i];
        bool seen = p == 50.0 || p == 90.0;
        for (size_t k = 0; k < i; k++)
            seen = seen || s->percentiles[k] == p;
        if (!seen)
            add_percentile(c, p);
    }
}

static void add_header(const struct sweep_report *s, const struct columns *c, struct buf *out)
{
    size_t width = NAME_WIDTH + c->count;
    for (size_t i = 0; i < c->count; i++)
        width += (size_t)c->at[i].width;
    table_title(out, " Sweep Summary ", '=', width);
    buf_add_fmt(out, "%-*s", NAME_WIDTH, kinds[s->kind].name);
    for (size_t i = 0; i < c->count; i++)
        buf_add_fmt(out, " %*s", c->at[i].width, c->at[i].header);
    buf_add_char(out, '\n');
    buf_add_str(out, "--------------------");
    for (size_t i = 0; i < c->count; i++) {
        buf_add_char(out, ' ');
        for (int k = 0; k < c->at[i].width; k++)
            buf_add_char(out, '-');
    }
    buf_add_char(out, '\n');
}

static void add_line(const struct sweep_report *s, const struct columns *c, size_t point,
                     struct buf *out)
{
    struct buf label = {0};
    sweep_label(s->kind, s->values[point], &label);
    buf_add_fmt(out, "%-*s", NAME_WIDTH, buf_cstr(&label));
    buf_done(&label);
    for (size_t i = 0; i < c->count; i++) {
        char text[400] = "-";
        double value;
        if (figure_get(s->results[point], c->at[i].key, &value))
            num_format_fixed(text, sizeof(text), value, 2);
        buf_add_fmt(out, " %*s", c->at[i].width, text);
    }
    buf_add_char(out, '\n');
}

/* The point of the highest request throughput, the later of equal ones; false without any. */
static bool find_best(const struct sweep_report *s, size_t *point, double *best)
{
    bool found = false;
    for (size_t i = 0; i < s->count; i++) {
        double value;
        if (!figure_get(s->results[i], "request_throughput", &value) || (found && value < *best))
            continue;
        *best = value;
        *point = i;
        found = true;
    }
    return found;
}

void sweep_table(const struct sweep_report *s, struct buf *out)
{
    struct columns columns;
    size_t begin = out->len;
    size_t best_point;
    double best;
    make_columns(s, &columns);
    add_header(s, &columns, out);
    size_t width = 0;
    while (out->ptr[begin + width] != '\n')
        width++;
    for (size_t i = 0; i < s->count; i++)
        add_line(s, &columns, i, out);
    table_title(out, "", '=', width);
    if (find_best(s, &best_point, &best)) {
        buf_add_fmt(out, "Best throughput: %.2f req/s at ", best);
        sweep_label(s->kind, s->values[best_point], out);
        buf_add_char(out, '\n');
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void write_value(struct js_writer *w, enum sweep_kind kind, double value)
{
    if (kind == SWEEP_RATE)
        js_double(w, value);
    else
        js_uint(w, (uint64_t)value);
}

static void write_point(struct js_writer *w, const struct sweep_report *s, size_t i)
{
    js_begin_object(w);
    js_key(w, sweep_key(s->kind));
    write_value(w, s->kind, s->values[i]);
    js_key(w, "file");
    js_cstring(w, s->files[i]);
    js_key(w, "reused");
    js_bool(w, s->reused[i]);
    js_key(w, "result");
    if (s->results[i] != NULL)
        js_write_value(w, s->results[i]);
    else
        js_null(w);
    js_end_object(w);
}

/* backend and model, as any of the points has them. */
static void write_common(struct js_writer *w, const struct sweep_report *s)
{
    static const char *const names[] = {"backend", "label", "model_id", "tokenizer_id"};
    for (size_t i = 0; i < s->count; i++) {
        if (s->results[i] == NULL)
            continue;
        for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
            const struct js_value *v = js_get(s->results[i], names[k]);
            if (v == NULL)
                continue;
            js_key(w, names[k]);
            js_write_value(w, v);
        }
        return;
    }
}

void sweep_json(const struct sweep_report *s, struct buf *out)
{
    struct js_writer w;
    size_t point;
    double best;
    js_writer_init(&w, out);
    js_begin_object(&w);
    js_key(&w, "date");
    js_cstring(&w, s->date);
    js_key(&w, "mode");
    js_cstring(&w, "sweep");
    js_key(&w, "swept");
    js_cstring(&w, sweep_key(s->kind));
    write_common(&w, s);
    if (s->interrupted) {
        js_key(&w, "interrupted");
        js_bool(&w, true);
    }
    js_key(&w, "points");
    js_begin_array(&w);
    for (size_t i = 0; i < s->count; i++)
        write_point(&w, s, i);
    js_end_array(&w);
    js_key(&w, "best");
    if (find_best(s, &point, &best)) {
        js_begin_object(&w);
        js_key(&w, sweep_key(s->kind));
        write_value(&w, s->kind, s->values[point]);
        js_key(&w, "request_throughput");
        js_double(&w, best);
        js_end_object(&w);
    } else {
        js_null(&w);
    }
    js_end_object(&w);
}

void sweep_csv(const struct sweep_report *s, struct buf *out)
{
    struct figure_keys keys;
    figure_keys_make(&keys, s->results, s->count);
    buf_add_str(out, sweep_key(s->kind));
    for (size_t i = 0; i < keys.count; i++) {
        buf_add_char(out, ',');
        figure_csv(out, sv_from(keys.items[i]));
    }
    buf_add_char(out, '\n');
    for (size_t i = 0; i < s->count; i++) {
        char text[NUM_TEXT_MAX];
        double value;
        num_format_short(text, s->values[i]);
        buf_add_str(out, text);
        for (size_t k = 0; k < keys.count; k++) {
            text[0] = '\0';
            if (figure_get(s->results[i], keys.items[k], &value))
                num_format_short(text, value);
            buf_add_fmt(out, ",%s", text);
        }
        buf_add_char(out, '\n');
    }
    figure_keys_done(&keys);
}
