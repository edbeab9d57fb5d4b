/* Pooling runs: no token events, so the latency ends with the response and nothing is said of output. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/clock.h"
#include "metrics/summary.h"

static const uint64_t BASE_NS = 5000 * NS_PER_S;
static const double P99[] = {99.0};

static void request(struct record *r, double start_s, double end_s, uint32_t sequences)
{
    record_init(r);
    r->due_ns = BASE_NS;
    r->start_ns = BASE_NS + (uint64_t)llround(start_s * 1e9);
    r->end_ns = BASE_NS + (uint64_t)llround(end_s * 1e9);
    r->prompt_len = 10;
    r->input_sequences = sequences;
    r->sent = r->done = true;
}

static struct summary_options options_for(double duration_s)
{
    return (struct summary_options){
        .start_ns = BASE_NS,
        .duration_ns = (uint64_t)llround(duration_s * 1e9),
        .percentiles = P99,
        .percentile_count = 1,
        .goodput_given = true,
        .goodput_ttft_ms = HUGE_VAL,
        .goodput_tpot_ms = HUGE_VAL,
        .goodput_e2el_ms = HUGE_VAL,
        .has_tokenizer = true,
        .pooling = true,
    };
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9 * fabs(wanted) + 1e-12)
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* Latencies and duration of the recorded run `detailed_embeddings` of Python's tool (27, 35, 23, 27 tokens). */
static void test_figures_equal_pythons_on_a_recorded_run(void **state)
{
    (void)state;
    static const double latency[4] = {0.013911862000441033, 0.01382709600011367,
                                      0.013790261999929498, 0.013946832999863545};
    static const int64_t tokens[4] = {27, 35, 23, 27};
    struct record records[4];
    for (size_t i = 0; i < 4; i++) {
        request(&records[i], 0.0, latency[i], 1);
        records[i].usage_prompt_tokens = tokens[i];
    }
    struct summary_options options = options_for(0.015512442999806808);
    struct summary s;
    metrics_summarize(records, 4, &options, &s);
    assert_int_equal(s.completed, 4);
    assert_int_equal(s.total_input_tokens, 112);
    assert_int_equal(s.total_input_sequences, 4);
    /* 1 ns of 15.5 ms: our times are whole nanoseconds */
    assert_true(fabs(s.request_throughput / 257.8575147737733 - 1) < 1e-6);
    assert_true(fabs(s.input_sequence_throughput / 257.8575147737733 - 1) < 1e-6);
    assert_true(fabs(s.total_token_throughput / 7220.010413665652 - 1) < 1e-6);
    assert_true(fabs(s.series[SERIES_E2EL].mean_ms / 13.869013250086937 - 1) < 1e-6);
    assert_true(fabs(s.series[SERIES_E2EL].median_ms / 13.869479000277352 - 1) < 1e-6);
    assert_true(fabs(s.series[SERIES_E2EL].std_ms / 0.0629498691596782 - 1) < 1e-4);
    assert_true(fabs(s.series[SERIES_E2EL].percentiles_ms[0] / 13.94578386988087 - 1) < 1e-6);
    summary_done(&s);
}

static void test_batches_count_their_inputs_and_output_is_nothing(void **state)
{
    (void)state;
    struct record records[3];
    request(&records[0], 0.0, 0.5, 8);
    request(&records[1], 0.0, 1.0, 4);
    request(&records[2], 0.0, 1.0, 100);
    records[2].failure = FAILURE_HTTP_STATUS;
    struct summary_options options = options_for(2.0);
    struct summary s;
    metrics_summarize(records, 3, &options, &s);
    assert_int_equal(s.total_input_sequences, 12);
    assert_near(s.input_sequence_throughput, 6.0);
    assert_int_equal(s.total_input_tokens, 20); /* nobody but the client counted */
    assert_near(s.total_token_throughput, 10.0);
    assert_near(s.input_throughput, 10.0);
    assert_int_equal(s.total_output_tokens, 0);
    assert_true(s.output_throughput == 0.0);
    assert_int_equal(s.output_from_fallback, 0);
    assert_true(s.request_goodput == 0.0);
    assert_true(s.max_output_tokens_per_s == 0.0 && s.exact_max_output_tokens_per_s == 0.0);
    assert_int_equal(s.series[SERIES_TTFT].count, 0);
    assert_int_equal(s.series[SERIES_TPOT].count, 0);
    assert_int_equal(s.series[SERIES_ITL].count, 0);
    assert_int_equal(s.series[SERIES_E2EL].count, 2);
    assert_near(s.series[SERIES_E2EL].mean_ms, 750.0);
    assert_near(s.per_token.mean_tokens_per_event, 0.0);
    assert_true(record_latency_s(&records[2]) == 0.0);
    summary_done(&s);
}

/* 0 s to 2.5 s and 2 s to 4.5 s: in second 2 both are there. */
static void test_peak_concurrency_lasts_to_the_end_of_the_response(void **state)
{
    (void)state;
    struct record records[2];
    request(&records[0], 0.0, 2.5, 1);
    request(&records[1], 2.0, 4.5, 1);
    struct summary_options options = options_for(5.0);
    struct summary s;
    metrics_summarize(records, 2, &options, &s);
    assert_int_equal(s.max_concurrent_requests, 2);
    assert_int_equal(s.exact_max_concurrent_requests, 2);
    summary_done(&s);
}

/* Requests (0, 5) and (1, 5), C = 2: the window is 1 s to 5 s with both completions and the second start. */
static void test_steady_state_has_no_token_figures(void **state)
{
    (void)state;
    struct record records[2];
    request(&records[0], 0.0, 5.0, 1);
    request(&records[1], 1.0, 5.0, 1);
    struct summary_options options = options_for(5.0);
    options.steady_state = true;
    options.max_concurrency = 2;
    options.steady_threshold = 1.0;
    options.steady_min_window_s = 0.0;
    struct summary s;
    metrics_summarize(records, 2, &options, &s);
    assert_true(s.steady.found);
    assert_near(s.steady.duration_s, 4.0);
    assert_int_equal(s.steady.requests_started, 1);
    assert_int_equal(s.steady.requests_completed, 2);
    assert_near(s.steady.request_throughput, 0.5);
    assert_near(s.steady.input_throughput, 2.5);
    assert_true(s.steady.output_throughput == 0.0);
    assert_near(s.steady.total_token_throughput, 2.5);
    assert_int_equal(s.steady.ttft_count, 0);
    assert_true(s.steady.mean_ttft_ms == 0.0 && s.steady.mean_tpot_ms == 0.0);
    summary_done(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_equal_pythons_on_a_recorded_run),
        cmocka_unit_test(test_batches_count_their_inputs_and_output_is_nothing),
        cmocka_unit_test(test_peak_concurrency_lasts_to_the_end_of_the_response),
        cmocka_unit_test(test_steady_state_has_no_token_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
