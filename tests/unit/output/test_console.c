/* The printed summary, line by line against what Python's tool and the Rust tool printed for the same figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <unistd.h>

#include "fixture.h"
#include "output/console.h"
#include "output/table.h"

static struct fixture f;

static int setup(void **state)
{
    (void)state;
    fixture_begin(&f);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fixture_end(&f);
    return 0;
}

static void assert_text(struct buf *got, const char *wanted)
{
    assert_string_equal(buf_cstr(got), wanted);
    buf_done(got);
}

static void assert_has(struct buf *got, const char *line)
{
    if (strstr(buf_cstr(got), line) == NULL)
        fail_msg("no '%s' in:\n%s", line, got->ptr);
}

static void assert_has_not(struct buf *got, const char *line)
{
    if (strstr(buf_cstr(got), line) != NULL)
        fail_msg("'%s' in:\n%s", line, got->ptr);
}

/* stdout of Python's vllm bench serve 0.33.0, blanks at line ends included. */
static void test_table_equals_pythons(void **state)
{
    (void)state;
    struct buf out = {0};
    console_table(&f.report, &out);
    assert_text(&out, "============ Serving Benchmark Result ============\n"
                      "Successful requests:                     4         \n"
                      "Failed requests:                         0         \n"
                      "Benchmark duration (s):                  0.04      \n"
                      "Total input tokens:                      112       \n"
                      "Total generated tokens:                  24        \n"
                      "Request throughput (req/s):              108.90    \n"
                      "Output token throughput (tok/s):         653.39    \n"
                      "Peak output token throughput (tok/s):    24.00     \n"
                      "Peak concurrent requests:                4.00      \n"
                      "Total token throughput (tok/s):          3702.52   \n"
                      "---------------Time to First Token----------------\n"
                      "Mean TTFT (ms):                          23.54     \n"
                      "Median TTFT (ms):                        23.37     \n"
                      "P99 TTFT (ms):                           25.28     \n"
                      "-----Time per Output Token (excl. 1st token)------\n"
                      "Mean TPOT (ms):                          2.03      \n"
                      "Median TPOT (ms):                        2.21      \n"
                      "P99 TPOT (ms):                           2.38      \n"
                      "---------------Inter-token Latency----------------\n"
                      "Mean ITL (ms):                           2.03      \n"
                      "Median ITL (ms):                         1.77      \n"
                      "P99 ITL (ms):                            4.28      \n"
                      "==================================================\n");
}

static void test_limits_goodput_and_queue_metrics_have_their_lines(void **state)
{
    (void)state;
    f.config.max_concurrency = 1;
    f.config.request_rate = 100.0;
    f.config.goodput.any = true;
    for (int i = 0; i < METRIC_COUNT; i++)
        f.config.metric_selected[i] = i >= METRIC_E2EL;
    struct buf out = {0};
    console_table(&f.report, &out);
    assert_text(&out, "============ Serving Benchmark Result ============\n"
                      "Successful requests:                     4         \n"
                      "Failed requests:                         0         \n"
                      "Maximum request concurrency:             1         \n"
                      "Request rate configured (RPS):           100.00    \n"
                      "Benchmark duration (s):                  0.04      \n"
                      "Total input tokens:                      112       \n"
                      "Total generated tokens:                  24        \n"
                      "Request throughput (req/s):              108.90    \n"
                      "Request goodput (req/s):                 0.00      \n"
                      "Output token throughput (tok/s):         653.39    \n"
                      "Peak output token throughput (tok/s):    24.00     \n"
                      "Peak concurrent requests:                4.00      \n"
                      "Total token throughput (tok/s):          3702.52   \n"
                      "----------------End-to-end Latency----------------\n"
                      "Mean E2EL (ms):                          33.50     \n"
                      "Median E2EL (ms):                        33.25     \n"
                      "P99 E2EL (ms):                           35.75     \n"
                      "---------------Client-side Queueing---------------\n"
                      "Mean Client Queue Time (ms):             14.36     \n"
                      "Median Client Queue Time (ms):           12.32     \n"
                      "P99 Client Queue Time (ms):              32.13     \n"
                      "--------Queue-inclusive End-to-end Latency--------\n"
                      "Mean E2EL incl. Client Queue (ms):       34.09     \n"
                      "Median E2EL incl. Client Queue (ms):     31.71     \n"
                      "P99 E2EL incl. Client Queue (ms):        53.48     \n"
                      "==================================================\n");
}

static void test_percentiles_are_named_as_given(void **state)
{
    (void)state;
    f.config.percentile_count = 3;
    f.config.percentiles[0] = 99.9;
    f.config.percentiles[1] = 50;
    f.config.percentiles[2] = 95.5;
    f.percentiles[SERIES_TTFT][1] = 1;
    f.percentiles[SERIES_TTFT][2] = 2;
    struct buf out = {0};
    console_table(&f.report, &out);
    assert_has(&out, "P99.9 TTFT (ms):                         25.28     \n"
                     "P50 TTFT (ms):                           1.00      \n"
                     "P95.5 TTFT (ms):                         2.00      \n");
    buf_done(&out);
}

static void test_token_lines_need_a_tokenizer_or_usage(void **state)
{
    (void)state;
    f.report.has_tokenizer = false;
    struct buf out = {0};
    console_table(&f.report, &out);
    assert_has(&out, "Total generated tokens:");
    buf_reset(&out);
    f.summary.output_from_usage = 0;
    console_table(&f.report, &out);
    assert_text(&out, "============ Serving Benchmark Result ============\n"
                      "Successful requests:                     4         \n"
                      "Failed requests:                         0         \n"
                      "Benchmark duration (s):                  0.04      \n"
                      "Total input tokens:                      112       \n"
                      "Request throughput (req/s):              108.90    \n"
                      "Peak concurrent requests:                4.00      \n"
                      "==================================================\n");
}

/* stdout of the Rust tool, but for the P90 that nobody asked for. */
static void test_steady_block_equals_the_rust_tools(void **state)
{
    (void)state;
    fixture_steady(&f);
    struct buf out = {0};
    console_steady(&f.report, &out);
    assert_text(&out, "============ Steady-State Metrics =============\n"
                      "Concurrency threshold:              >= 0.50 * 4 = 2\n"
                      "Window:                             0.0s -> 0.2s  (0.2s)\n"
                      "Observed peak concurrency:          4\n"
                      "Requests started in window:         11 / 12 (91.7%)\n"
                      "Requests completed in window:       10\n"
                      "-----------------------------------------------\n"
                      "Request throughput (req/s):         58.06\n"
                      "Output token throughput (tok/s):    406.44\n"
                      "Input token throughput (tok/s):     1619.96\n"
                      "Total token throughput (tok/s):     2026.40\n"
                      "-----------------------------------------------\n"
                      "Mean TTFT (ms):                     7.22\n"
                      "Median TTFT (ms):                   6.69\n"
                      "P99 TTFT (ms):                      9.77\n"
                      "-----------------------------------------------\n"
                      "Mean TPOT (ms):                     9.97\n"
                      "Median TPOT (ms):                   9.99\n"
                      "P90 TPOT (ms):                      10.04\n"
                      "P99 TPOT (ms):                      10.11\n"
                      "===============================================\n");
}

static void test_no_window_prints_no_steady_block(void **state)
{
    (void)state;
    struct buf out = {0};
    console_steady(&f.report, &out);
    assert_int_equal(out.len, 0);
}

static void test_failures_show_messages_then_counts(void **state)
{
    (void)state;
    f.config.api_key = "sk-secret";
    f.summary.failed = 2;
    f.summary.failures[FAILURE_HTTP_STATUS] = 1;
    f.summary.failures[FAILURE_CLOSED_EARLY] = 1;
    struct buf out = {0};
    console_failures(&f.report, &out);
    assert_text(&out, "Failed requests during benchmark run detected (capping to 10):\n"
                      "Error 0: HTTP 400 Bad Request: bad key ***\n"
                      "Error 1: closed_early\n"
                      "Failed requests by category: http_status: 1, closed_early: 1\n");
}

static void test_only_ten_failures_are_shown_and_control_characters_never(void **state)
{
    (void)state;
    static struct record many[15];
    for (size_t i = 0; i < 15; i++) {
        record_init(&many[i]);
        many[i].sent = many[i].done = true;
        many[i].failure = FAILURE_ERROR_EVENT;
        many[i].error = SV_LIT("red \x1b[31m\ttext\n");
    }
    f.report.records = many;
    f.report.count = 15;
    f.summary.failed = 15;
    struct buf out = {0};
    console_failures(&f.report, &out);
    assert_has(&out, "Error 9: red ?[31m\ttext\n");
    assert_has_not(&out, "Error 10");
    assert_has_not(&out, "\x1b");
    buf_done(&out);
}

static void test_header_values_never_come_back(void **state)
{
    (void)state;
    struct config_pair headers[2] = {{SV_LIT("Authorization"), SV_LIT("Bearer tok-1234")},
                                     {SV_LIT("x-on"), SV_LIT("1")}};
    f.config.headers = (struct config_pairs){headers, 2, 2};
    f.records[1].error = SV_LIT("got Bearer tok-1234, key tok-1234, 1 time");
    f.summary.failed = 2;
    struct buf out = {0};
    console_failures(&f.report, &out);
    assert_has(&out, "Error 0: got ***, key ***, 1 time\n");
    buf_done(&out);
}

static void test_queue_block_stands_where_a_rate_is_set(void **state)
{
    (void)state;
    struct buf out = {0};
    console_queue(&f.report, &out);
    assert_int_equal(out.len, 0);
    f.config.request_rate = 8.0;
    f.summary.mean_queue_ms = 1.5;
    f.summary.p99_queue_ms = 12.345;
    console_queue(&f.report, &out);
    assert_text(&out, "--------------------Queue Time--------------------\n"
                      "Mean queue time (ms):                    1.50      \n"
                      "P99 queue time (ms):                     12.35     \n");
}

static void test_measurement_block_of_a_clean_run(void **state)
{
    (void)state;
    hist_add(&f.client.receive_lag, 8000);
    hist_add(&f.client.send_lag, 2500000);
    f.summary.series[SERIES_TTFT].mean_ms = f.summary.series[SERIES_E2EL].mean_ms = 400.0;
    f.client.event_reads = 400;
    f.client.merged_reads = 1;
    f.client.longest_stall_ns = 1250000;
    f.client.cpu_ns = 125;
    f.client.tcp_retransmits = 7;
    f.client.reconnects = 1;
    f.client.requests_connecting = 2;
    struct buf out = {0};
    console_measurement(&f.report, &out);
    assert_text(&out, "-------------------Measurement--------------------\n"
                      "Receive lag P50 (us):                    8.00      \n"
                      "Receive lag P99 (us):                    8.00      \n"
                      "Receive lag max (us):                    8.00      \n"
                      "Send lag P50 (ms):                       2.50      \n"
                      "Send lag P99 (ms):                       2.50      \n"
                      "Send lag max (ms):                       2.50      \n"
                      "Merged reads (%):                        0.25      \n"
                      "Longest loop stall (ms):                 1.25      \n"
                      "Client threads:                          2         \n"
                      "Client CPU (% of one core per thread):   12.50     \n"
                      "TCP retransmits:                         7         \n"
                      "Timestamps:                              kernel    \n"
                      "Connections opened:                      4         \n"
                      "Reconnects:                              1         \n"
                      "Requests that had to connect:            2         \n"
                      "Verdict:                                 clean     \n"
                      "==================================================\n");
}

static void test_verdict_names_its_rule(void **state)
{
    (void)state;
    f.client.kernel_stamps = 0;
    f.client.longest_stall_ns = UINT64_C(900000000);
    struct buf out = {0};
    console_measurement(&f.report, &out);
    assert_has(&out, "Timestamps:                              user      \n");
    assert_has(&out, "Verdict:                                 invalid   \nVerdict rule: ");
    buf_done(&out);
}

static void test_everything_goes_out_in_the_order_failures_table_steady_measurement(void **state)
{
    (void)state;
    f.summary.failed = 2;
    f.config.request_rate = 5;
    fixture_steady(&f);
    FILE *file = tmpfile();
    struct error err;
    assert_non_null(file);
    assert_true(console_print(&f.report, file, &err));
    char text[8192];
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    const char *a = strstr(text, "Failed requests during");
    const char *b = strstr(text, "Serving Benchmark Result");
    const char *c = strstr(text, "Steady-State Metrics");
    const char *d = strstr(text, "Queue Time");
    const char *e = strstr(text, "Measurement");
    assert_true(a != NULL && a < b && b < c && c < d && d < e);
}

static void test_closed_pipe_is_no_error(void **state)
{
    (void)state;
    int ends[2];
    struct error err;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    FILE *file = fdopen(ends[1], "w");
    assert_non_null(file);
    assert_true(console_print(&f.report, file, &err));
    fclose(file);

    FILE *full = fopen("/dev/full", "w");
    if (full != NULL) {
        assert_false(table_write(full, SV_LIT("x"), &err));
        assert_int_equal(err.code, E_IO);
        fclose(full);
    }
}

static void test_titles_put_an_odd_rest_on_the_right(void **state)
{
    (void)state;
    struct buf out = {0};
    table_title(&out, "abc", '-', 8);
    table_title(&out, "longer than wide", '-', 8);
    table_title(&out, "", '=', 3);
    assert_text(&out, "--abc---\nlonger than wide\n===\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table_equals_pythons, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits_goodput_and_queue_metrics_have_their_lines,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_percentiles_are_named_as_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_token_lines_need_a_tokenizer_or_usage, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_steady_block_equals_the_rust_tools, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_window_prints_no_steady_block, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failures_show_messages_then_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_only_ten_failures_are_shown_and_control_characters_never, setup, teardown),
        cmocka_unit_test_setup_teardown(test_header_values_never_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(test_queue_block_stands_where_a_rate_is_set, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_measurement_block_of_a_clean_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_verdict_names_its_rule, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_everything_goes_out_in_the_order_failures_table_steady_measurement, setup,
            teardown),
        cmocka_unit_test_setup_teardown(test_closed_pipe_is_no_error, setup, teardown),
        cmocka_unit_test(test_titles_put_an_odd_rest_on_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
