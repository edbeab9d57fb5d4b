/* Tables and files of the modes, from results written by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json/tree.h"
#include "output/compare.h"
#include "output/figures.h"
#include "output/multi_run.h"
#include "output/sweep.h"

struct set {
    struct arena arena;
    const struct js_value *results[3];
    const char *files[3];
    bool reused[3];
};

static void parse(struct set *s, size_t i, const char *text)
{
    struct error err;
    s->results[i] = js_parse(&s->arena, sv_from(text), "test", &err);
    assert_non_null(s->results[i]);
}

static void has(struct buf *text, const char *part)
{
    if (strstr(buf_cstr(text), part) == NULL)
        fail_msg("'%s' is missing in:\n%s", part, buf_cstr(text));
}

static void lacks(struct buf *text, const char *part)
{
    if (strstr(buf_cstr(text), part) != NULL)
        fail_msg("'%s' stands in:\n%s", part, buf_cstr(text));
}

static void test_figures_are_found_by_dotted_names(void **state)
{
    (void)state;
    struct set s = {0};
    double value;
    parse(&s, 0,
          "{\"duration\":2,\"p99.9_ttft_ms\":7.5,\"steady_state\":{\"p99.9_x\":3,\"y\":4},"
          "\"t\":\"1\",\"n\":null}");
    assert_true(figure_get(s.results[0], "p99.9_ttft_ms", &value) && value == 7.5);
    assert_true(figure_get(s.results[0], "steady_state.y", &value) && value == 4.0);
    assert_true(figure_get(s.results[0], "steady_state.p99.9_x", &value) && value == 3.0);
    assert_false(figure_get(s.results[0], "steady_state.z", &value));
    assert_false(figure_get(s.results[0], "t", &value));
    assert_false(figure_get(s.results[0], "n", &value));
    assert_false(figure_get(NULL, "n", &value));
    arena_done(&s.arena);
}

/* Means 2, 4, 6: mean 4, population deviation sqrt(8/3) = 1.63; t(0.975, 2) = 4.3027, half = 4.3027 * 2 / sqrt(3) = 4.97. */
static void test_the_table_over_runs(void **state)
{
    (void)state;
    struct set s = {0};
    struct buf out = {0};
    parse(&s, 0,
          "{\"backend\":\"openai\",\"num_prompts\":5,\"duration\":1.5,\"completed\":5,"
          "\"request_throughput\":2,\"steady_state\":{\"request_throughput\":1.5}}");
    parse(&s, 1,
          "{\"num_prompts\":5,\"duration\":1.5,\"completed\":5,\"request_throughput\":4,"
          "\"steady_state\":null}");
    parse(&s, 2, "{\"num_prompts\":5,\"duration\":1.5,\"completed\":5,\"request_throughput\":6}");
    struct multi_run m = {s.results, s.files, 3, false, "20260101-000000"};
    multi_run_table(&m, &out);
    has(&out, "========================== Multi-Run Summary (3 runs) ==========================\n"
              "Metric                                    Mean        Std        Min        Max\n");
    has(&out, "Request throughput (req/s)                   4       1.63          2          6\n");
    has(&out, "Completed requests                           5          0          5          5\n");
    has(&out, "P99 TTFT (ms)                                -          -          -          -\n");
    has(&out, "Duration (s)                              1.50          0       1.50       1.50\n");
    has(&out, "Throughput CV: 40.8% (lower = more stable across runs)\n");
    has(&out, " Steady-State Summary (1/3 runs) ");
    has(&out, "Aggregated over 1/3 runs (2 runs had no valid window)\n");
    has(&out, "Request throughput (req/s)                0.00       8.97     124.2%      40.8%\n");
    buf_reset(&out);
    multi_run_json(&m, &out);
    has(&out, "\"mode\":\"multi_run\",\"num_runs\":3,\"measured_runs\":3,\"backend\":\"openai\","
              "\"num_prompts\":5,\"duration\":1.5,\"completed\":5.0,\"request_throughput\":4.0");
    has(&out, "\"steady_state\":{\"request_throughput\":1.5}");
    buf_reset(&out);
    multi_run_csv(&m, &out);
    assert_string_equal(
        buf_cstr(&out),
        "run,duration,completed,request_throughput,steady_state.request_throughput\n"
        "1,1.5,5,2,1.5\n2,1.5,5,4,\n3,1.5,5,6,\n");
    buf_done(&out);
    arena_done(&s.arena);
}

static void test_a_run_alone_has_no_interval(void **state)
{
    (void)state;
    struct set s = {0};
    struct buf out = {0};
    parse(&s, 0, "{\"duration\":1.5,\"request_throughput\":2}");
    struct multi_run m = {s.results, s.files, 3, true, "d"};
    multi_run_table(&m, &out);
    has(&out, " Multi-Run Summary (1 runs) ");
    has(&out, "Steady-state: no runs had a valid window\n");
    lacks(&out, "Confidence");
    buf_reset(&out);
    multi_run_json(&m, &out);
    has(&out, "\"num_runs\":3,\"measured_runs\":1,\"interrupted\":true");
    has(&out, "\"ci95\":null");
    buf_done(&out);
    arena_done(&s.arena);
}

/* The recorded layout of the Rust tool (golden sweep_rate), with an absent point. */
static void test_the_table_of_a_sweep(void **state)
{
    (void)state;
    struct set s = {0};
    struct buf out = {0};
    const double values[3] = {50.0, 100.5, HUGE_VAL};
    const double more[] = {50.0, 95.0, 95.0};
    parse(&s, 0,
          "{\"duration\":1,\"request_throughput\":38.78,\"median_ttft_ms\":7.65,"
          "\"p95_tpot_ms\":2.49,\"steady_state\":{\"output_throughput\":3}}");
    parse(&s, 2, "{\"duration\":1,\"request_throughput\":38.78}");
    struct sweep_report r = {.kind = SWEEP_RATE,
                             .values = values,
                             .results = s.results,
                             .files = s.files,
                             .reused = s.reused,
                             .count = 3,
                             .percentiles = more,
                             .percentile_count = 3,
                             .date = "d"};
    sweep_heading(SWEEP_RATE, values, 3, &out);
    has(&out, "========================= Request Rate Sweep =========================\n"
              "Sweeping --request-rate over 3 values: [50.0, 100.5, inf]\n\n");
    buf_reset(&out);
    sweep_banner(SWEEP_RATE, 50.0, 1, 2, &out);
    assert_string_equal(buf_cstr(&out), "---------------------- Run 1/2: request_rate=50 "
                                        "----------------------\n");
    buf_reset(&out);
    sweep_table(&r, &out);
    has(&out, "Request Rate              Req/s   Inputs/s      Tok/s  Total tok/s   SS req/s "
              "SS out tok/s P50 TTFT(ms) P50 TPOT(ms) P90 TTFT(ms) P90 TPOT(ms) P95 TTFT(ms) "
              "P95 TPOT(ms)\n");
    has(&out,
        "rate=50                   38.78          -          -            -          -         "
        "3.00         7.65            -            -            -            -         2.49\n");
    has(&out, "rate=100.5                    -");
    has(&out, "Best throughput: 38.78 req/s at rate=inf\n"); /* the later of equal ones */
    buf_reset(&out);
    sweep_json(&r, &out);
    has(&out, "\"swept\":\"request_rate\"");
    has(&out, "{\"request_rate\":100.5,\"file\":null,\"reused\":false,\"result\":null}");
    has(&out, "\"best\":{\"request_rate\":\"inf\",\"request_throughput\":38.78}}");
    buf_reset(&out);
    sweep_csv(&r, &out);
    has(&out, "\n100.5,,,,,\n");
    buf_done(&out);
    arena_done(&s.arena);
}

static void test_csv_fields_are_quoted_where_needed(void **state)
{
    (void)state;
    struct buf out = {0};
    figure_csv(&out, SV_LIT("plain"));
    buf_add_char(&out, ',');
    figure_csv(&out, SV_LIT("a,\"b\""));
    assert_string_equal(buf_cstr(&out), "plain,\"a,\"\"b\"\"\"");
    buf_done(&out);
}

static void make_comparison(struct set *s, struct compare_report *r)
{
    parse(s, 0,
          "{\"model_id\":\"m\",\"date\":\"d1\",\"request_throughput\":142.56,"
          "\"mean_ttft_ms\":9.14,\"failed\":0,\"completed\":4}");
    parse(s, 1,
          "{\"model_id\":\"m\",\"request_throughput\":153.63,\"mean_ttft_ms\":11.81,"
          "\"failed\":2,\"completed\":4}");
    *r = (struct compare_report){.file_a = "a|1.json",
                                 .file_b = "<b>.json",
                                 .a = s->results[0],
                                 .b = s->results[1],
                                 .shift = 0.05,
                                 .threshold = (double)NAN};
    compare_rows_make(r);
}

static void test_the_table_of_a_comparison(void **state)
{
    (void)state;
    struct set s = {0};
    struct compare_report r;
    struct buf out = {0};
    make_comparison(&s, &r);
    compare_text(&r, &out);
    has(&out, "\n================================== Benchmark Comparison "
              "==================================\n  A: a|1.json (model: m, date: d1)\n"
              "  B: <b>.json (model: m, date: ?)\n\n");
    has(&out,
        "Request throughput (req/s)                142.56       153.63     +11.07   +7.8%+\n");
    has(&out,
        "Mean TTFT (ms)                              9.14        11.81      +2.67  +29.2%-\n");
    has(&out,
        "Failed requests                                0            2         +2    inf%-\n");
    has(&out,
        "Completed requests                             4            4         +0   +0.0% \n");
    lacks(&out, "Median TTFT");
    has(&out, "====================== Steady-State Comparison =======================\n"
              "N/A \xe2\x80\x94 one or both runs have no steady-state window\n");
    has(&out, "No significance test");
    buf_done(&out);
    arena_done(&s.arena);
}

static void test_markdown_and_junit_escape_and_count(void **state)
{
    (void)state;
    struct set s = {0};
    struct compare_report r;
    struct buf out = {0};
    make_comparison(&s, &r);
    r.threshold = 0.05;
    for (size_t i = 0; i < COMPARE_ROWS; i++) {
        if (strcmp(r.rows[i].key, "mean_ttft_ms") == 0)
            r.rows[i].regression = true;
        if (strcmp(r.rows[i].key, "request_throughput") == 0) {
            r.rows[i].verdict = COMPARE_INCONCLUSIVE;
            snprintf(r.rows[i].test.reason, sizeof(r.rows[i].test.reason), "too few");
        }
    }
    compare_markdown(&r, &out);
    has(&out, "A: a\\|1.json");
    has(&out, "| Mean TTFT (ms) | 9.14 | 11.81 | +29.2% |  | **regression**, not tested |\n");
    has(&out, "not available: too few |\n");
    has(&out, "Threshold 5%: 1 regression: Mean TTFT (ms) +29.2%\n");
    buf_reset(&out);
    compare_junit_suite(&r, &out);
    has(&out,
        "<testsuite name=\"a|1.json vs &lt;b&gt;.json\" tests=\"4\" failures=\"1\" errors=\"0\" "
        "skipped=\"1\">");
    has(&out, "name=\"mean_ttft_ms\"><failure message=\"9.14 -&gt; 11.81 (+29.2%), not tested\"/>");
    has(&out, "name=\"request_throughput\"><skipped message=\"");
    buf_done(&out);
    arena_done(&s.arena);
}

static void test_changes_from_nothing_are_infinite(void **state)
{
    (void)state;
    assert_true(isinf(compare_percent(0.0, 1.0)));
    assert_true(compare_percent(0.0, 0.0) == 0.0);
    assert_true(compare_percent(4.0, 3.0) == -25.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_are_found_by_dotted_names),
        cmocka_unit_test(test_the_table_over_runs),
        cmocka_unit_test(test_a_run_alone_has_no_interval),
        cmocka_unit_test(test_the_table_of_a_sweep),
        cmocka_unit_test(test_csv_fields_are_quoted_where_needed),
        cmocka_unit_test(test_the_table_of_a_comparison),
        cmocka_unit_test(test_markdown_and_junit_escape_and_count),
        cmocka_unit_test(test_changes_from_nothing_are_infinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
