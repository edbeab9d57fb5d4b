/* What may be concluded from two files: tests where single requests or repeated runs are there, the plain figures where
 * they are not, and a warning where the two did not measure the same thing. */
#include "modes/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "json/writer.h"
#include "metrics/intervals.h"
#include "modes/compare_file.h"
#include "output/compare.h"
#include "output/figures.h"
#include "output/table.h"

static const double USUAL_SHIFT = 0.05;

/* ---- settings ---------------------------------------------------------------------------------------------------- */

static void add_value(struct buf *out, const struct js_value *v)
{
    struct js_writer w;
    if (v == NULL || v->type == JS_NULL) {
        buf_add_str(out, "none");
        return;
    }
    js_writer_init(&w, out);
    js_write_value(&w, v);
}

static bool same_value(const struct js_value *a, const struct js_value *b)
{
    double x;
    double y;
    if (js_as_double(a, &x) && js_as_double(b, &y))
        return x == y;
    struct buf text_a = {0};
    struct buf text_b = {0};
    add_value(&text_a, a);
    add_value(&text_b, b);
    bool same = sv_eq(buf_sv(&text_a), buf_sv(&text_b));
    buf_done(&text_a);
    buf_done(&text_b);
    return same;
}

/* Input and output a request; the data sets differ when these do. */
static void warn_lengths(struct compare_report *r)
{
    static const char *const names[][2] = {{"total_input_tokens", "input"},
                                           {"total_output_tokens", "output"}};
    for (size_t i = 0; i < 2; i++) {
        double a, b, n_a, n_b;
        if (!figure_get(r->a, names[i][0], &a) || !figure_get(r->b, names[i][0], &b) ||
            !figure_get(r->a, "completed", &n_a) || !figure_get(r->b, "completed", &n_b) ||
            !(n_a > 0) || !(n_b > 0))
            continue;
        a /= n_a;
        b /= n_b;
        if (fabs(a - b) > 0.02 * fmax(a, b))
            buf_add_fmt(&r->warnings,
                        "the runs differ in their requests: %.1f and %.1f %s tokens on average\n",
                        a, b, names[i][1]);
    }
}

static void warn_settings(struct compare_report *r)
{
    static const char *const keys[] = {"mode",
                                       "backend",
                                       "model_id",
                                       "tokenizer_id",
                                       "num_prompts",
                                       "max_model_len",
                                       "request_rate",
                                       "burstiness",
                                       "max_concurrency",
                                       "ramp_up_strategy",
                                       "ramp_up_start_rps",
                                       "ramp_up_end_rps",
                                       "num_conversations",
                                       "turns_per_conversation",
                                       "multi_turn_concurrency",
                                       "inter_turn_delay_ms"};
    bool any = false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const struct js_value *a = js_get(r->a, keys[i]);
        const struct js_value *b = js_get(r->b, keys[i]);
        if (same_value(a, b))
            continue;
        buf_add_fmt(&r->warnings, "the runs differ in their settings: %s is ", keys[i]);
        add_value(&r->warnings, a);
        buf_add_str(&r->warnings, " and ");
        add_value(&r->warnings, b);
        buf_add_char(&r->warnings, '\n');
        any = true;
    }
    const struct js_value *a = js_get(r->a, "settings_hash");
    const struct js_value *b = js_get(r->b, "settings_hash");
    if (!any && a != NULL && b != NULL && !same_value(a, b))
        buf_add_str(&r->warnings, "the runs differ in settings that their files do not name\n");
    bool cut = false;
    if ((js_as_bool(js_get(r->a, "interrupted"), &cut) && cut) ||
        (js_as_bool(js_get(r->b, "interrupted"), &cut) && cut))
        buf_add_str(&r->warnings, "a run was interrupted\n");
    warn_lengths(r);
}

/* What the gate cannot see is said: a figure that one run lacks (or that is NaN there) has no row. */
static void warn_missing(struct compare_report *r)
{
    struct buf names[2] = {{0}, {0}};
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        const struct compare_row *row = &r->rows[i];
        double value;
        bool in_a = figure_get(r->a, row->key, &value);
        if (row->has_both || (!in_a && !figure_get(r->b, row->key, &value)))
            continue;
        struct buf *list = &names[in_a ? 0 : 1];
        buf_add_fmt(list, "%s%s", list->len > 0 ? ", " : "", row->label);
    }
    for (size_t i = 0; i < 2; i++) {
        if (names[i].len > 0)
            buf_add_fmt(&r->warnings, "not compared, because only %s has a number for it: %s\n",
                        i == 0 ? "A" : "B", buf_cstr(&names[i]));
        buf_done(&names[i]);
    }
}

/* Python's tool and ours write 0 for latencies that nothing was measured of. */
static void warn_empty(struct compare_report *r)
{
    const struct js_value *const results[] = {r->a, r->b};
    for (size_t i = 0; i < 2; i++) {
        double completed;
        if (figure_get(results[i], "completed", &completed) && !(completed > 0.0))
            buf_add_fmt(&r->warnings,
                        "no request of %s completed; its latencies are no measurements\n",
                        i == 0 ? "A" : "B");
    }
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static struct compare_row *find_row(struct compare_report *r, const char *key)
{
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        if (strcmp(r->rows[i].key, key) == 0)
            return &r->rows[i];
    return NULL;
}

static bool is_closed_loop(const struct js_value *result)
{
    struct sv rate;
    double limit;
    return js_as_sv(js_get(result, "request_rate"), &rate) && sv_eq(rate, SV_LIT("inf")) &&
           js_as_double(js_get(result, "max_concurrency"), &limit);
}

static void test_throughput(struct compare_report *r, const struct compare_test *latency)
{
    static const char *const keys[] = {"request_throughput", "output_throughput",
                                       "total_token_throughput"};
    if (!is_closed_loop(r->a) || !is_closed_loop(r->b) ||
        !same_value(js_get(r->a, "max_concurrency"), js_get(r->b, "max_concurrency")))
        return;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct compare_row *row = find_row(r, keys[i]);
        if (row != NULL && row->has_both)
            compare_as(latency, row->a, row->b, &row->test);
    }
}

static void test_requests(struct compare_report *r, struct compare_file *a, struct compare_file *b)
{
    static const char *const series[] = {"ttft", "tpot", "itl", "e2el"};
    static const char *const stats[] = {"mean", "median", "p99"};
    struct compare_test tests[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT];
    compare_requests(&a->samples, &b->samples, 0, tests);
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++) {
        for (size_t j = 0; j < COMPARE_STAT_COUNT; j++) {
            char key[40];
            snprintf(key, sizeof(key), "%s_%s_ms", stats[j], series[k]);
            struct compare_row *row = find_row(r, key);
            if (row != NULL && row->has_both)
                row->test = tests[k][j];
        }
    }
    test_throughput(r, &tests[COMPARE_E2EL][COMPARE_MEAN]);
    r->unit = "requests";
}

/* A figure of every run of a summary. */
static size_t values_of_runs(const struct js_value *runs, const char *key, double *x, size_t cap)
{
    size_t n = 0;
    for (const struct js_value *run = runs->first; run != NULL && n < cap; run = run->next)
        if (figure_get(js_get(run, "result"), key, &x[n]))
            n++;
    return n;
}

static void test_runs(struct compare_report *r, const struct compare_file *a,
                      const struct compare_file *b)
{
    double *x = mem_array(a->runs->count + 1, sizeof(*x));
    double *y = mem_array(b->runs->count + 1, sizeof(*y));
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        struct compare_row *row = &r->rows[i];
        if (!row->has_both || !row->gated || strcmp(row->key, "failed") == 0 ||
            strcmp(row->key, "completed") == 0)
            continue;
        size_t n = values_of_runs(a->runs, row->key, x, a->runs->count);
        size_t m = values_of_runs(b->runs, row->key, y, b->runs->count);
        compare_runs(x, n, y, m, &row->test);
    }
    free(x);
    free(y);
    r->unit = "runs";
}

/* Without single requests there is only the figure; of a p99 of few requests not even that is one. */
static void test_nothing(struct compare_report *r)
{
    double a = 0.0;
    double b = 0.0;
    size_t least = interval_least_samples(99.0, 0.95);
    figure_get(r->a, "completed", &a);
    figure_get(r->b, "completed", &b);
    if (fmin(a, b) >= (double)least)
        return;
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        struct compare_test *t = &r->rows[i].test;
        if (strncmp(r->rows[i].key, "p99_", 4) != 0 || !r->rows[i].has_both)
            continue;
        t->least = least;
        snprintf(t->reason, sizeof(t->reason), "a p99 needs %zu requests a run, there are %.0f",
                 least, fmin(a, b));
    }
}

static bool is_regression(const struct compare_report *r, const struct compare_row *row)
{
    if (!row->has_both || !row->gated || isnan(r->threshold))
        return false;
    double percent = compare_percent(row->a, row->b);
    double worse = row->lower_is_better ? percent : -percent;
    if (!(worse > 100.0 * r->threshold))
        return false;
    return row->verdict == COMPARE_UNTESTED || row->verdict == COMPARE_HIGHER ||
           row->verdict == COMPARE_LOWER;
}

static void judge(struct compare_report *r)
{
    struct compare_test *tests[COMPARE_ROWS];
    size_t family = 0;
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        tests[i] = &r->rows[i].test;
        family += r->rows[i].test.available;
    }
    compare_adjust(tests, COMPARE_ROWS);
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        struct compare_row *row = &r->rows[i];
        row->verdict = compare_judge(&row->test, r->shift);
        if (row->verdict == COMPARE_INCONCLUSIVE && row->test.available)
            row->needed = compare_needed(&row->test, r->shift, family);
        row->regression = is_regression(r, row);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

struct texts {
    struct buf text;
    struct buf markdown;
    struct buf junit;
    size_t tests;
    size_t regressions;
    struct buf gate; /* the figures that are worse */
};

static void add_gate_text(const struct compare_report *r, struct texts *t)
{
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        const struct compare_row *row = &r->rows[i];
        if (row->regression)
            buf_add_fmt(&t->gate, "%s%s %+.1f%% (%s)", t->gate.len > 0 ? ", " : "", row->label,
                        compare_percent(row->a, row->b), r->file_b);
    }
}

/* A comparison of nothing must not pass for one without a regression. */
static bool has_common_figure(const struct compare_report *r, struct error *err)
{
    for (size_t i = 0; i < COMPARE_ROWS; i++)
        if (r->rows[i].has_both && r->rows[i].gated)
            return true;
    return error_set(err, E_PARSE,
                     "nothing to compare: result files '%s' and '%s' have none of the figures in "
                     "common",
                     r->file_a, r->file_b);
}

static bool compare_pair(const struct config *config, struct compare_file *a,
                         struct compare_file *b, struct texts *t, struct error *err)
{
    struct compare_report *r = mem_new(struct compare_report);
    *r = (struct compare_report){
        .file_a = a->path,
        .file_b = b->path,
        .a = a->result,
        .b = b->result,
        .threshold = config->compare_threshold,
        .shift = config->compare_threshold > 0.0 ? config->compare_threshold : USUAL_SHIFT,
    };
    compare_rows_make(r);
    if (a->has_samples && b->has_samples)
        test_requests(r, a, b);
    else if (a->runs != NULL && b->runs != NULL)
        test_runs(r, a, b);
    else
        test_nothing(r);
    judge(r);
    warn_settings(r);
    warn_empty(r);
    warn_missing(r);
    compare_text(r, &t->text);
    compare_markdown(r, &t->markdown);
    compare_junit_suite(r, &t->junit);
    t->regressions += compare_regressions(r);
    add_gate_text(r, t);
    bool ok = has_common_figure(r, err);
    buf_done(&r->warnings);
    free(r);
    return ok;
}

static bool write_files(const struct config *config, const struct texts *t, struct error *err)
{
    if (config->compare_markdown != NULL &&
        !file_write_atomic(config->compare_markdown, buf_sv(&t->markdown), err))
        return false;
    if (config->compare_junit == NULL)
        return true;
    struct buf xml = {0};
    buf_add_str(&xml, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    buf_add(&xml, buf_sv(&t->junit));
    buf_add_str(&xml, "</testsuites>\n");
    bool ok = file_write_atomic(config->compare_junit, buf_sv(&xml), err);
    buf_done(&xml);
    return ok;
}

static bool compare_all(const struct config *config, struct texts *t, struct error *err)
{
    const struct config_names *files = &config->compare;
    struct compare_file a;
    bool ok = compare_file_read(&a, files->items[0], err);
    for (size_t i = 1; ok && i < files->count; i++) {
        struct compare_file b;
        ok = compare_file_read(&b, files->items[i], err) && compare_pair(config, &a, &b, t, err);
        compare_file_done(&b);
    }
    compare_file_done(&a);
    return ok;
}

bool compare_run(const struct config *config, struct error *err)
{
    struct texts t = {0};
    bool ok = compare_all(config, &t, err) && write_files(config, &t, err) &&
              table_write(stdout, buf_sv(&t.text), err);
    if (ok && t.regressions > 0)
        ok = error_set(err, E_GATE, "gate not met: --compare-threshold %.3g%%: worse are %s",
                       100.0 * config->compare_threshold, buf_cstr(&t.gate));
    buf_done(&t.text);
    buf_done(&t.markdown);
    buf_done(&t.junit);
    buf_done(&t.gate);
    return ok;
}
