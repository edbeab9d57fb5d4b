/* The result file: keys and their order, number formats, metadata, names, appending. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fixture.h"
#include "output/report_priv.h"
#include "output/result.h"

static struct fixture f;
static struct buf out;

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
    buf_done(&out);
    return 0;
}

static const char *json(void)
{
    buf_reset(&out);
    result_json(&f.report, &out);
    return buf_cstr(&out);
}

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

/* Collects the keys at the top level of a JSON object, separated by blanks. */
static void top_keys(const char *text, struct buf *keys)
{
    int depth = 0;
    bool in_string = false;
    const char *begin = NULL;
    for (const char *c = text; *c != '\0'; c++) {
        if (in_string) {
            if (*c == '\\')
                c++;
            else if (*c == '"') {
                in_string = false;
                if (depth == 1 && c[1] == ':')
                    buf_add_fmt(keys, "%.*s ", (int)(c - begin), begin);
            }
            continue;
        }
        if (*c == '"') {
            in_string = true;
            begin = c + 1;
        }
        depth += (*c == '{' || *c == '[') - (*c == '}' || *c == ']');
    }
}

static void assert_keys(const char *wanted)
{
    struct buf keys = {0};
    top_keys(json(), &keys);
    assert_string_equal(buf_cstr(&keys), wanted);
    buf_done(&keys);
}

/* Values of Python's recorded file; added to them are the Rust tool's keys and ours. */
static void test_whole_object_of_a_plain_run(void **state)
{
    (void)state;
    f.config.metric_selected[METRIC_TPOT] = f.config.metric_selected[METRIC_ITL] = false;
    assert_string_equal(
        json(),
        "{\"date\":\"20261130-075542\",\"endpoint_type\":\"vllm\",\"backend\":\"vllm\","
        "\"label\":null,\"model_id\":\"org/mock-model\",\"tokenizer_id\":\"tok-mini\","
        "\"num_prompts\":4,\"max_model_len\":null,\"request_rate\":\"inf\",\"burstiness\":1.0,"
        "\"max_concurrency\":null,\"duration\":0.03673176200027228,\"completed\":4,\"failed\":0,"
        "\"total_input_tokens\":112,\"total_output_tokens\":24,"
        "\"request_throughput\":108.89758024595578,\"request_goodput\":null,"
        "\"input_throughput\":3049.132246886762,\"output_throughput\":653.3854814757347,"
        "\"total_token_throughput\":3702.517728362496,\"max_output_tokens_per_s\":24.0,"
        "\"max_concurrent_requests\":4,\"rtfx\":0.0,"
        "\"mean_ttft_ms\":23.54342474995974,\"median_ttft_ms\":23.365027999943777,"
        "\"std_ttft_ms\":0.5,\"p99_ttft_ms\":25.275874919834678,\"steady_state\":null,"
        "\"num_requests_sent\":4,\"exact_max_concurrent_requests\":3,"
        "\"exact_max_output_tokens_per_s\":24.0,\"client\":{\"version\":\"" VB_VERSION "\","
        "\"threads\":2,\"timestamps\":\"kernel\","
        "\"receive_lag_us\":{\"p50\":0.0,\"p99\":0.0,\"max\":0.0,\"mean\":0.0},"
        "\"send_lag_us\":{\"p50\":0.0,\"p99\":0.0,\"max\":0.0,\"mean\":0.0},"
        "\"connect_us\":{\"p50\":0.0,\"p99\":0.0,\"max\":0.0,\"mean\":0.0},"
        "\"merged_read_share\":0.0,\"merged_event_share\":0.0,\"longest_stall_ms\":0.0,"
        "\"cpu_share\":0.0,\"tcp_retransmits\":0,\"connections\":4,\"reconnects\":0,"
        "\"requests_connecting\":0,\"dns_ms\":0.0,\"address\":\"127.0.0.1:8000\","
        "\"clock_steps\":0,\"verdict\":\"clean\",\"verdict_rule\":\"none\","
        "\"mean_queue_ms\":0.0,\"p99_queue_ms\":0.0,\"failures\":{\"connect\":0,\"timeout\":0,"
        "\"http_status\":0,\"malformed_stream\":0,\"closed_early\":0,\"error_event\":0,"
        "\"no_token\":0,\"interrupted\":0,\"unfinished\":0},"
        "\"output_tokens_from\":{\"usage\":4,\"text\":0,\"fallback\":0}}}");
}

static void test_keys_stand_in_pythons_order_with_the_extras_between(void **state)
{
    (void)state;
    assert_keys("date endpoint_type backend label model_id tokenizer_id num_prompts max_model_len "
                "request_rate burstiness max_concurrency duration completed failed "
                "total_input_tokens total_output_tokens request_throughput request_goodput "
                "input_throughput output_throughput total_token_throughput "
                "max_output_tokens_per_s max_concurrent_requests rtfx "
                "mean_ttft_ms median_ttft_ms std_ttft_ms p99_ttft_ms "
                "mean_tpot_ms median_tpot_ms std_tpot_ms p99_tpot_ms "
                "mean_itl_ms median_itl_ms std_itl_ms p99_itl_ms steady_state "
                "num_requests_sent exact_max_concurrent_requests exact_max_output_tokens_per_s "
                "client ");
}

static void test_every_optional_key_has_its_place(void **state)
{
    (void)state;
    struct config_pair pairs[1] = {{SV_LIT("gpu"), SV_LIT("a100")}};
    struct rps_change change = {5, UINT64_C(1796025342018273000)};
    f.config.metadata = (struct config_pairs){pairs, 1, 1};
    f.config.ramp_up_strategy = RAMP_UP_LINEAR;
    f.config.ramp_up_start_rps = 5;
    f.config.ramp_up_end_rps = 40.5;
    f.config.save_detailed = true;
    f.config.max_concurrency = 4;
    f.config.request_rate = 2;
    f.config.percentile_count = 2;
    f.config.percentiles[0] = 99.9;
    f.config.percentiles[1] = 50;
    f.config.metric_selected[METRIC_ITL] = false;
    f.config.metric_selected[METRIC_TPOT] = false;
    f.config.metric_selected[METRIC_E2EL] = true;
    f.config.metric_selected[METRIC_CLIENT_QUEUE_TIME] = true;
    f.config.metric_selected[METRIC_E2EL_INCLUDING_CLIENT_QUEUE] = true;
    f.report.rps_changes = &change;
    f.report.rps_change_count = 1;
    f.report.interrupted = true;
    f.summary.failed = 2;
    f.summary.has_cached_tokens = true;
    f.summary.total_cached_tokens = 16;
    f.records[0].server_queue_s = 0.0015;
    f.records[0].server_ttft_s = 0.00425;
    assert_keys("date endpoint_type backend label model_id tokenizer_id num_prompts max_model_len "
                "gpu request_rate burstiness max_concurrency "
                "ramp_up_strategy ramp_up_start_rps ramp_up_end_rps duration completed failed "
                "total_input_tokens total_output_tokens request_throughput request_goodput "
                "input_throughput output_throughput total_token_throughput "
                "input_lens output_lens ttfts itls latencies start_times queue_times "
                "generated_texts errors "
                "max_output_tokens_per_s max_concurrent_requests rtfx failed_requests "
                "server_queue_times server_ttfts rps_change_events "
                "mean_ttft_ms median_ttft_ms std_ttft_ms p99.9_ttft_ms p50_ttft_ms "
                "mean_e2el_ms median_e2el_ms std_e2el_ms p99.9_e2el_ms p50_e2el_ms "
                "mean_client_queue_time_ms median_client_queue_time_ms std_client_queue_time_ms "
                "p99.9_client_queue_time_ms p50_client_queue_time_ms "
                "mean_e2el_including_client_queue_ms median_e2el_including_client_queue_ms "
                "std_e2el_including_client_queue_ms p99.9_e2el_including_client_queue_ms "
                "p50_e2el_including_client_queue_ms "
                "steady_state num_requests_sent exact_max_concurrent_requests "
                "exact_max_output_tokens_per_s total_cached_tokens cached_token_share "
                "interrupted client ");
    const char *text = buf_cstr(&out);
    assert_has(text, "\"gpu\":\"a100\",\"request_rate\":2.0,");
    assert_has(text, "\"ramp_up_strategy\":\"linear\",\"ramp_up_start_rps\":5,"
                     "\"ramp_up_end_rps\":40.5,");
    assert_has(text, "\"rps_change_events\":[{\"rps\":5,"
                     "\"timestamp\":\"2026-11-30T07:55:42.018273\"}]");
    assert_has(text, "\"server_queue_times\":[0.0015,null,null],"
                     "\"server_ttfts\":[0.00425,null,null]");
    assert_has(text, "\"interrupted\":true,");
}

static void test_detailed_arrays_are_aligned_to_the_requests(void **state)
{
    (void)state;
    f.config.save_detailed = true;
    f.config.api_key = "sk-secret";
    f.summary.failed = 2;
    const char *text = json();
    assert_has(text, "\"input_lens\":[27,30,30],\"output_lens\":[6,0,0],"
                     "\"ttfts\":[0.25,0.0,0.5],\"itls\":[[0.25,0.5],[],[]],"
                     "\"latencies\":[1.0,0.0,0.0],\"start_times\":[0.0,0.125,0.25],"
                     "\"queue_times\":[0.0,0.125,0.25],"
                     "\"generated_texts\":[\" caf\xc3\xa9 \\\"x\\\"\",\"\",\"\"],"
                     "\"errors\":[\"\",\"HTTP 400 Bad Request: bad key ***\",\"closed_early\"],"
                     "\"max_output_tokens_per_s\"");
    assert_has(text, "\"failed_requests\":[{\"index\":1,"
                     "\"error\":\"HTTP 400 Bad Request: bad key ***\",\"prompt_len\":30,"
                     "\"start_time\":0.125,\"latency\":0.0,\"ttft\":0.0,\"output_tokens\":0,"
                     "\"itl\":[],\"category\":\"http_status\"},{\"index\":2,");
    assert_has(text, "\"connect_times\":[0.0,0.0,0.0],\"send_lags\":[0.0,0.0,0.0],"
                     "\"due_times\":[0.0,0.0,0.0],\"end_times\":[1.0,0.25,0.8],"
                     "\"answer_ttfts\":[0.0,0.0,0.0],\"client_input_lens\":[30,30,30],"
                     "\"cached_tokens\":[null,null,null],\"token_events\":[3,0,1],"
                     "\"merged_events\":[0,0,0],\"merged_bounds\":[0.0,0.0,0.0]}}");
    assert_null(strstr(text, "sk-secret"));
}

static void test_requests_never_sent_say_so(void **state)
{
    (void)state;
    record_init(&f.records[2]);
    f.config.save_detailed = true;
    f.report.interrupted = true;
    assert_has(json(),
               "\"errors\":[\"\",\"HTTP 400 Bad Request: bad key sk-secret\",\"not sent\"]");
    assert_has(buf_cstr(&out), "\"start_times\":[0.0,0.125,0.0]");
}

static void test_text_that_is_not_utf8_gives_valid_json(void **state)
{
    (void)state;
    f.records[0].text = SV_LIT("a\xff"
                               "b\x01");
    f.config.save_detailed = true;
    assert_has(json(), "\"generated_texts\":[\"a\xef\xbf\xbd"
                       "b\\u0001\",");
}

static void test_infinities_are_strings(void **state)
{
    (void)state;
    f.config.burstiness = HUGE_VAL;
    assert_has(json(), "\"request_rate\":\"inf\",\"burstiness\":\"inf\",");
}

static void test_goodput_of_zero_is_a_number(void **state)
{
    (void)state;
    f.config.goodput.any = true;
    assert_has(json(), "\"request_goodput\":0.0,");
}

static void test_token_metrics_need_a_tokenizer_or_usage(void **state)
{
    (void)state;
    f.report.has_tokenizer = false;
    assert_has(json(), "\"mean_ttft_ms\"");
    f.summary.output_from_usage = 0;
    assert_null(strstr(json(), "ttft_ms"));
}

static void test_steady_state_keeps_the_rust_tools_keys(void **state)
{
    (void)state;
    fixture_steady(&f);
    assert_has(json(),
               "\"steady_state\":{\"window\":{\"start_s\":0.000164934,\"end_s\":0.172391605,"
               "\"duration_s\":0.172226671,\"target_concurrency\":4,\"threshold\":0.5,"
               "\"threshold_abs\":2,\"observed_peak\":4,\"requests_started_in_window\":11,"
               "\"requests_completed_in_window\":10,\"requests_total\":12,\"warning\":null,"
               "\"gaps\":0,\"gap_s\":0.0},"
               "\"request_throughput\":58.06301626767204,\"input_throughput\":1619.95815386805,"
               "\"output_throughput\":406.4411138737043,"
               "\"total_token_throughput\":2026.3992677417543,"
               "\"mean_ttft_ms\":7.218267363636364,\"median_ttft_ms\":6.690382,"
               "\"percentiles_ttft_ms\":[[99.0,9.770941800000001]],"
               "\"mean_tpot_ms\":9.969250436363637,\"median_tpot_ms\":9.987157,"
               "\"p90_tpot_ms\":10.0400534,\"p99_tpot_ms\":10.105989740000002}");
}

/* As assignments to a Python dict: the first position stays, the later value wins. */
static void test_metadata_overwrites_earlier_keys_and_yields_to_later_ones(void **state)
{
    (void)state;
    struct config_pair pairs[] = {
        {SV_LIT("a"), SV_LIT("1")},          {SV_LIT("completed"), SV_LIT("many")},
        {SV_LIT("backend"), SV_LIT("mine")}, {SV_LIT("a"), SV_LIT("\"2\"")},
        {SV_LIT("client"), SV_LIT("none")},  {SV_LIT("z"), SV_LIT("")}};
    f.config.metadata = (struct config_pairs){pairs, 6, 6};
    f.config.metric_selected[METRIC_TTFT] = false;
    f.config.metric_selected[METRIC_TPOT] = false;
    f.config.metric_selected[METRIC_ITL] = false;
    assert_keys("date endpoint_type backend label model_id tokenizer_id num_prompts max_model_len "
                "a completed client z request_rate burstiness max_concurrency duration failed "
                "total_input_tokens total_output_tokens request_throughput request_goodput "
                "input_throughput output_throughput total_token_throughput "
                "max_output_tokens_per_s max_concurrent_requests rtfx steady_state "
                "num_requests_sent exact_max_concurrent_requests exact_max_output_tokens_per_s ");
    const char *text = buf_cstr(&out);
    assert_has(text, "\"endpoint_type\":\"vllm\",\"backend\":\"mine\",\"label\":null,");
    assert_has(text, "\"max_model_len\":null,\"a\":\"\\\"2\\\"\",\"completed\":4,\"client\":{");
    assert_has(text, "\"fallback\":0}},\"z\":\"\",\"request_rate\":\"inf\",");
    assert_has(text, "\"duration\":0.03673176200027228,\"failed\":0,");
    assert_has(text, "\"exact_max_output_tokens_per_s\":24.0}");
}

static void assert_path(const char *wanted)
{
    buf_reset(&out);
    result_path(&f.report, &out);
    assert_string_equal(buf_cstr(&out), wanted);
}

static void test_automatic_names_are_pythons(void **state)
{
    (void)state;
    assert_path("vllm-infqps-mock-model-20261130-075542.json");
    f.config.max_concurrency = 3;
    f.config.request_rate = 10;
    assert_path("vllm-10.0qps-concurrency3-mock-model-20261130-075542.json");
    f.config.label = "lab";
    f.config.request_rate = 50.5;
    f.config.max_concurrency = 0;
    f.config.result_dir = "res/deep";
    assert_path("res/deep/lab-50.5qps-mock-model-20261130-075542.json");
    f.config.ramp_up_strategy = RAMP_UP_EXPONENTIAL;
    f.config.ramp_up_start_rps = 1;
    f.config.ramp_up_end_rps = 20;
    f.config.max_concurrency = 8;
    assert_path("res/deep/lab-ramp-up-exponential-1qps-20qps-concurrency8-mock-model-"
                "20261130-075542.json");
}

static void test_given_name_is_joined_to_the_folder(void **state)
{
    (void)state;
    f.config.result_filename = "x.json";
    assert_path("x.json");
    f.config.result_dir = "d/";
    assert_path("d/x.json");
    f.config.result_filename = "/abs/x.json";
    assert_path("/abs/x.json");
}

static void read_file(const char *path, struct buf *text)
{
    struct error err;
    buf_reset(text);
    if (!file_read(path, text, &err))
        fail_msg("%s", err.message);
}

static void test_saving_makes_the_folder_and_appending_adds_lines(void **state)
{
    (void)state;
    char dir[] = "/tmp/vb-result-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char deep[64];
    snprintf(deep, sizeof(deep), "%s/new/deep", dir);
    f.config.result_dir = deep;
    f.config.result_filename = "r.json";
    struct error err;
    char *path = NULL;

    assert_true(result_save(&f.report, &path, &err)); /* not asked to save */
    assert_null(path);

    f.config.save_result = true;
    assert_true(result_save(&f.report, &path, &err));
    struct buf text = {0};
    read_file(path, &text);
    assert_string_equal(buf_cstr(&text), json()); /* one line, no newline at the end */
    assert_true(result_save(&f.report, NULL, &err));
    read_file(path, &text);
    assert_int_equal(text.len, out.len); /* overwritten */

    f.config.append_result = true;
    assert_true(result_save(&f.report, NULL, &err));
    read_file(path, &text);
    assert_int_equal(text.len, 2 * out.len + 1);
    assert_int_equal(text.ptr[out.len], '\n');

    buf_done(&text);
    unlink(path);
    free(path);
    rmdir(deep);
    deep[strlen(deep) - strlen("/deep")] = '\0';
    rmdir(deep);
    assert_int_equal(rmdir(dir), 0);
}

/* The second one of the same second gets a name of its own. */
static void test_a_result_that_cannot_be_saved_goes_to_the_temporary_folder(void **state)
{
    (void)state;
    char dir[] = "/tmp/vb-result-XXXXXX";
    assert_non_null(mkdtemp(dir));
    const char *old = getenv("TMPDIR");
    char *kept = old != NULL ? strdup(old) : NULL;
    setenv("TMPDIR", dir, 1);
    f.config.save_result = true;
    f.config.result_dir = "/dev/null/x";
    f.config.result_filename = "r.json";
    char date[16];
    report_date(f.report.date, date);
    char names[2][100];
    for (int i = 0; i < 2; i++) {
        struct error err;
        assert_false(result_save(&f.report, NULL, &err));
        assert_int_equal(err.code, E_IO);
        snprintf(names[i], sizeof(names[i]), "%s/vllm-bench-result-%s-%ld%s.json", dir, date,
                 (long)getpid(), i == 0 ? "" : "-1");
        char told[256];
        snprintf(told, sizeof(told), "; the result was written to '%s' instead", names[i]);
        assert_non_null(strstr(err.message, "'/dev/null"));
        assert_non_null(strstr(err.message, told));
        struct buf text = {0};
        read_file(names[i], &text);
        assert_string_equal(buf_cstr(&text), json());
        buf_done(&text);
    }
    unlink(names[0]);
    unlink(names[1]);
    assert_int_equal(rmdir(dir), 0);
    if (kept != NULL)
        setenv("TMPDIR", kept, 1);
    else
        unsetenv("TMPDIR");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole_object_of_a_plain_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys_stand_in_pythons_order_with_the_extras_between,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_every_optional_key_has_its_place, setup, teardown),
        cmocka_unit_test_setup_teardown(test_detailed_arrays_are_aligned_to_the_requests, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_requests_never_sent_say_so, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text_that_is_not_utf8_gives_valid_json, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_infinities_are_strings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_goodput_of_zero_is_a_number, setup, teardown),
        cmocka_unit_test_setup_teardown(test_token_metrics_need_a_tokenizer_or_usage, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_steady_state_keeps_the_rust_tools_keys, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            test_metadata_overwrites_earlier_keys_and_yields_to_later_ones, setup, teardown),
        cmocka_unit_test_setup_teardown(test_automatic_names_are_pythons, setup, teardown),
        cmocka_unit_test_setup_teardown(test_given_name_is_joined_to_the_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_a_result_that_cannot_be_saved_goes_to_the_temporary_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_saving_makes_the_folder_and_appending_adds_lines,
                                        setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
