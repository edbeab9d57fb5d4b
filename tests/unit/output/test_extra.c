/* Pooling, probes, server counters, figures by tokens: on the console as Python printed them, and in the result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "output/console.h"
#include "output/notes.h"
#include "output/result.h"

static struct fixture f;
static struct buf out;
static struct probe_stats probe;
static struct server_stats server;
static double percentiles[2][4];

static int setup(void **state)
{
    (void)state;
    fixture_begin(&f);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buf_done(&out);
    fixture_end(&f);
    return 0;
}

static const char *json(void)
{
    buf_reset(&out);
    result_json(&f.report, &out);
    return buf_cstr(&out);
}

static const char *table(void)
{
    buf_reset(&out);
    console_table(&f.report, &out);
    return buf_cstr(&out);
}

static const char *tokens(void)
{
    buf_reset(&out);
    console_tokens(&f.report, &out);
    return buf_cstr(&out);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

static void assert_has_not(const char *text, const char *part)
{
    if (strstr(text, part) != NULL)
        fail_msg("'%s' in:\n%s", part, text);
}

/* Python's recorded case `detailed_embeddings`; a second request failed. */
static void fixture_pooling(void)
{
    f.report.pooling = true;
    f.config.metric_selected[METRIC_E2EL] = true;
    f.summary.total_output_tokens = 0;
    f.summary.output_from_usage = 0;
    f.summary.input_from_usage = 4;
    f.summary.total_input_sequences = 4;
    f.summary.input_sequence_throughput = 257.8575147737733;
    f.summary.request_throughput = 257.8575147737733;
    f.summary.input_throughput = 7220.010413665652;
    f.summary.total_token_throughput = 7220.010413665652;
    f.summary.series[SERIES_TTFT] = (struct series_stats){0};
    f.summary.series[SERIES_ITL] = (struct series_stats){0};
}

/* The Rust tool's lines for the same run, at Python's width, and Python's total. */
static void test_table_of_a_pooling_run(void **state)
{
    (void)state;
    fixture_pooling();
    f.config.goodput.any = true; /* means nothing here */
    assert_string_equal(table(), "======= Embedding/Pooling Benchmark Result =======\n"
                                 "Successful requests:                     4         \n"
                                 "Failed requests:                         0         \n"
                                 "Benchmark duration (s):                  0.04      \n"
                                 "Total input tokens:                      112       \n"
                                 "Request throughput (req/s):              257.86    \n"
                                 "Input throughput (inputs/s):             257.86    \n"
                                 "Input token throughput (tok/s):          7220.01   \n"
                                 "Peak concurrent requests:                4.00      \n"
                                 "Total token throughput (tok/s):          7220.01   \n"
                                 "----------------End-to-end Latency----------------\n"
                                 "Mean E2EL (ms):                          33.50     \n"
                                 "Median E2EL (ms):                        33.25     \n"
                                 "P99 E2EL (ms):                           35.75     \n"
                                 "==================================================\n");
    assert_string_equal(tokens(), "");
}

/* Python: duration, completed, total_input_tokens, total_input_sequences, request_throughput,
 * input_sequence_throughput, total_token_throughput, input_lens, latencies, queue_times, errors, e2el. */
static void test_result_of_a_pooling_run(void **state)
{
    (void)state;
    fixture_pooling();
    f.config.save_detailed = true;
    f.config.goodput.any = true;
    const char *text = json();
    assert_has(text, "\"max_concurrency\":null,\"duration\":0.03673176200027228,\"completed\":4,"
                     "\"failed\":0,\"total_input_tokens\":112,\"total_input_sequences\":4,"
                     "\"request_throughput\":257.8575147737733,"
                     "\"input_sequence_throughput\":257.8575147737733,"
                     "\"total_token_throughput\":7220.010413665652,\"request_goodput\":null,"
                     "\"input_lens\":[27,30,30],\"latencies\":[1.0,0.0,0.0],"
                     "\"queue_times\":[0.0,0.125,0.25],\"errors\":[");
    assert_has(text, "\"closed_early\"],\"start_times\":[0.0,0.125,0.25],"
                     "\"mean_e2el_ms\":33.5,\"median_e2el_ms\":33.25,\"std_e2el_ms\":0.5,"
                     "\"p99_e2el_ms\":35.75,\"steady_state\":null,\"num_requests_sent\":4,"
                     "\"exact_max_concurrent_requests\":3,\"client\":{");
    static const char *const ABSENT[] = {
        "output_throughput", "total_output_tokens", "rtfx",
        "ttft_ms",           "per_token",           "\"ttfts",
        "generated_texts",   "output_tokens_from",  "max_output_tokens_per_s"};
    for (size_t i = 0; i < sizeof(ABSENT) / sizeof(ABSENT[0]); i++)
        assert_has_not(text, ABSENT[i]);
}

static void test_pooling_window_has_no_token_percentiles(void **state)
{
    (void)state;
    fixture_pooling();
    fixture_steady(&f);
    f.summary.steady.mean_ttft_ms = f.summary.steady.median_ttft_ms = 0;
    assert_has(json(), "\"mean_ttft_ms\":0.0,\"median_ttft_ms\":0.0,\"percentiles_ttft_ms\":[],");
}

static void test_pooling_token_rate_needs_a_count(void **state)
{
    (void)state;
    fixture_pooling();
    f.report.has_tokenizer = false;
    assert_has(table(), "Total token throughput (tok/s):");
    f.summary.input_from_usage = 0;
    assert_has_not(table(), "Total token throughput (tok/s):");
}

/* Python's recorded case `probe`. */
static void test_probes_stand_behind_the_main_rows(void **state)
{
    (void)state;
    probe = (struct probe_stats){2, 0, 16.257196999731605, 18.510311079621715, 18.556292999619473};
    f.report.probe = &probe;
    assert_has(table(), "Total token throughput (tok/s):          3702.52   \n"
                        "------------------Probe Requests------------------\n"
                        "Probe requests completed:                2         \n"
                        "Probe requests failed:                   0         \n"
                        "Median probe E2EL (ms):                  16.26     \n"
                        "P99 probe E2EL (ms):                     18.51     \n"
                        "Max probe E2EL (ms):                     18.56     \n"
                        "---------------Time to First Token----------------\n");
    assert_has(json(), "\"rtfx\":0.0,\"probe_completed\":2,\"probe_failed\":0,"
                       "\"probe_median_e2el_ms\":16.257196999731605,"
                       "\"probe_p99_e2el_ms\":18.510311079621715,"
                       "\"probe_max_e2el_ms\":18.556292999619473,\"mean_ttft_ms\"");
    probe = (struct probe_stats){.failed = 3};
    assert_has_not(table(), "robe");
    assert_has_not(json(), "probe");
}

/* Python's recorded case `spec_decode`. */
static void test_speculation_stands_behind_the_latencies(void **state)
{
    (void)state;
    server = (struct server_stats){.has_speculation = true,
                                   .acceptance_rate = 66.66666666666666,
                                   .acceptance_length = 3.0,
                                   .drafts = 40,
                                   .draft_tokens = 120,
                                   .accepted_tokens = 80,
                                   .position_rates = {0.9, 0.7, 0.4},
                                   .positions = {0, 1, 2},
                                   .position_count = 3};
    f.report.server = &server;
    assert_has(table(), "P99 ITL (ms):                            4.28      \n"
                        "---------------Speculative Decoding---------------\n"
                        "Acceptance rate (%):                     66.67     \n"
                        "Acceptance length:                       3.00      \n"
                        "Drafts:                                  40        \n"
                        "Draft tokens:                            120       \n"
                        "Accepted tokens:                         80        \n"
                        "Per-position acceptance (%):\n"
                        "  Position 0:                            90.00     \n"
                        "  Position 1:                            70.00     \n"
                        "  Position 2:                            40.00     \n"
                        "==================================================\n");
    assert_has(json(), "\"rtfx\":0.0,\"spec_decode_acceptance_rate\":66.66666666666666,"
                       "\"spec_decode_acceptance_length\":3.0,\"spec_decode_num_drafts\":40,"
                       "\"spec_decode_draft_tokens\":120,\"spec_decode_accepted_tokens\":80,"
                       "\"spec_decode_per_position_acceptance_rates\":[0.9,0.7,0.4],"
                       "\"mean_ttft_ms\"");
    server.position_count = 0;
    assert_has_not(table(), "Per-position");
    assert_has(json(), "\"spec_decode_per_position_acceptance_rates\":[],");
}

/* Python's recorded case `diffusion`; where both are there the table shows this one, the result has both. */
static void test_diffusion_takes_the_place_of_speculation(void **state)
{
    (void)state;
    server = (struct server_stats){.has_speculation = true,
                                   .has_diffusion = true,
                                   .committed_throughput = 3586.0846914233884,
                                   .steps_per_canvas = 4.0,
                                   .committed_per_step = 8.0,
                                   .committed_tokens = 128,
                                   .denoising_steps = 16,
                                   .canvas_positions = 640};
    f.report.server = &server;
    assert_has(table(), "----------------Diffusion Decoding----------------\n"
                        "Committed throughput (tok/s):            3586.08   \n"
                        "Denoising steps per canvas:              4.00      \n"
                        "Committed per denoising step:            8.00      \n"
                        "Committed tokens:                        128       \n"
                        "Denoising steps:                         16        \n"
                        "Canvas positions evaluated:              640       \n"
                        "==================================================\n");
    assert_has_not(table(), "Speculative");
    assert_has(json(), "\"spec_decode_per_position_acceptance_rates\":[],"
                       "\"diffusion_committed_throughput\":3586.0846914233884,"
                       "\"diffusion_steps_per_canvas\":4.0,\"diffusion_committed_per_step\":8.0,"
                       "\"diffusion_committed_tokens\":128,\"diffusion_denoising_steps\":16,"
                       "\"diffusion_canvas_positions\":640,\"mean_ttft_ms\"");
    server = (struct server_stats){0};
    assert_has_not(table(), "Decoding");
    assert_has_not(json(), "spec_decode");
}

static void fixture_tokens(double per_event)
{
    percentiles[0][0] = 19.5;
    f.summary.per_token = (struct per_token){
        .requests = {[TOKENS_RUNNING] = 3, [TOKENS_SPREAD] = 1},
        .mean_tokens_per_event = per_event,
        .max_tokens_per_event = 4,
        .itl = {.count = 20,
                .mean_ms = 10.5,
                .median_ms = 10.25,
                .std_ms = 2.5,
                .percentiles_ms = percentiles[0]},
    };
}

static void test_tokens_per_event_are_shown_when_they_are_several(void **state)
{
    (void)state;
    fixture_tokens(2.5);
    assert_string_equal(tokens(), "-----------------Tokens per Event-----------------\n"
                                  "Mean tokens per event:                   2.50      \n"
                                  "Max tokens per event:                    4         \n"
                                  "Mean ITL per token (ms):                 10.50     \n"
                                  "Median ITL per token (ms):               10.25     \n"
                                  "P99 ITL per token (ms):                  19.50     \n");
    assert_has(json(),
               "\"exact_max_output_tokens_per_s\":24.0,\"per_token\":{"
               "\"mean_itl_ms\":10.5,\"median_itl_ms\":10.25,\"std_itl_ms\":2.5,"
               "\"p99_itl_ms\":19.5,\"mean_tokens_per_event\":2.5,"
               "\"max_tokens_per_event\":4,"
               "\"counted_by\":{\"running_usage\":3,\"spread\":1,\"none\":0}},\"client\":{");
    fixture_tokens(1.0);
    assert_string_equal(tokens(), "");
    assert_has(json(), "\"mean_tokens_per_event\":1.0");
    f.report.has_tokenizer = false;
    f.summary.output_from_usage = 0;
    assert_has_not(json(), "per_token");
}

static void test_reasoning_is_shown_when_there_was_any(void **state)
{
    (void)state;
    percentiles[1][0] = 900;
    f.summary.reasoning = (struct reasoning){
        .requests = 3,
        .without_answer = 1,
        .events = 40,
        .event_share = 0.625,
        .has_tokens = true,
        .tokens = 120,
        .token_share = 0.5,
        .ttfa = {2, 700.0, 650.0, 50.0, percentiles[1]},
    };
    f.config.save_detailed = true;
    f.records[0].reasoning_events = 1;
    f.records[0].answer_first_ns = fixture_at(0.5);
    f.records[0].answer_text = true;
    assert_string_equal(tokens(), "--------------------Reasoning---------------------\n"
                                  "Requests with reasoning:                 3         \n"
                                  "Requests without answer:                 1         \n"
                                  "Reasoning share of token events (%):     62.50     \n"
                                  "Reasoning tokens:                        120       \n"
                                  "Reasoning share of output tokens (%):    50.00     \n"
                                  "Mean TTFA (ms):                          700.00    \n"
                                  "Median TTFA (ms):                        650.00    \n"
                                  "P99 TTFA (ms):                           900.00    \n");
    const char *text = json();
    assert_has(text, "\"reasoning\":{\"requests\":3,\"requests_without_answer\":1,\"events\":40,"
                     "\"event_share\":0.625,\"tokens\":120,\"token_share\":0.5,"
                     "\"mean_ttfa_ms\":700.0,\"median_ttfa_ms\":650.0,"
                     "\"std_ttfa_ms\":50.0,\"p99_ttfa_ms\":900.0},\"client\":{");
    assert_has(text, "\"answer_ttfts\":[0.5,0.0,0.0]");
    assert_has(text, "\"reasoning_events\":[1,0,0]}}");
}

static void test_cached_tokens_have_a_share(void **state)
{
    (void)state;
    f.summary.has_cached_tokens = true;
    assert_has(json(), "\"total_cached_tokens\":0,\"cached_token_share\":0.0,");
    assert_string_equal(tokens(), "");
    f.summary.total_cached_tokens = 28;
    f.summary.cached_token_share = 0.25;
    assert_string_equal(tokens(), "-------------------Prompt Cache-------------------\n"
                                  "Cached input tokens:                     28        \n"
                                  "Cached share of input (%):               25.00     \n");
}

static const char *warned(void)
{
    static char text[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    note_warm_cache(file, &f.config, &f.summary);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    return text;
}

static void test_a_warm_cache_is_warned_of_on_random_prompts_only(void **state)
{
    (void)state;
    f.config.dataset_name = "random";
    f.summary.cached_token_share = 0.01;
    assert_string_equal(warned(), "");
    f.summary.cached_token_share = 0.25;
    assert_has(warned(), "25.0 % of the input tokens from its prefix cache");
    assert_has(warned(), "a warm prefix cache inflates results");
    f.config.random_prefix_len = 8; /* shared on purpose */
    assert_string_equal(warned(), "");
    f.config.random_prefix_len = 0;
    f.config.dataset_name = "custom";
    assert_string_equal(warned(), "");
}

static void test_sound_has_its_rate(void **state)
{
    (void)state;
    f.summary.rtfx = 12.5;
    assert_has(table(), "Peak concurrent requests:                4.00      \n"
                        "RTFx (Inverse Real-Time Factor):         12.50     \n"
                        "Total token throughput (tok/s):          3702.52   \n");
    assert_has(json(), "\"rtfx\":12.5,");
}

static void test_handshakes_are_told_when_there_were_any(void **state)
{
    (void)state;
    assert_has_not(json(), "tls");
    f.client.tls_handshakes = 4;
    f.client.tls_total_ns = 6000000;
    f.config.save_detailed = true;
    f.records[0].tls_ns = 1500000;
    assert_has(json(), "\"tls_handshakes\":4,\"mean_tls_us\":1500.0,");
    assert_has(json(), "\"tls_times\":[0.0015,0.0,0.0]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_table_of_a_pooling_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_result_of_a_pooling_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pooling_window_has_no_token_percentiles, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_pooling_token_rate_needs_a_count, setup, teardown),
        cmocka_unit_test_setup_teardown(test_probes_stand_behind_the_main_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(test_speculation_stands_behind_the_latencies, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_diffusion_takes_the_place_of_speculation, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_tokens_per_event_are_shown_when_they_are_several,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_reasoning_is_shown_when_there_was_any, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_cached_tokens_have_a_share, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_warm_cache_is_warned_of_on_random_prompts_only,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_sound_has_its_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_handshakes_are_told_when_there_were_any, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
