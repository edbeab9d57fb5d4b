/* The PyTorch record file: when, where, and what is in a record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "fixture.h"
#include "json/tree.h"
#include "output/pytorch.h"
#include "output/result.h"

static const char VARIABLE[] = "SAVE_TO_PYTORCH_BENCHMARK_FORMAT";

static struct fixture f;
static struct buf out;
static struct buf result;
static struct arena arena;

static int setup(void **state)
{
    (void)state;
    fixture_begin(&f);
    unsetenv(VARIABLE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unsetenv(VARIABLE);
    buf_done(&out);
    buf_done(&result);
    arena_done(&arena);
    fixture_end(&f);
    return 0;
}

static const struct js_value *records(void)
{
    struct error err;
    buf_reset(&out);
    buf_reset(&result);
    result_json(&f.report, &result);
    pytorch_json(&f.report, buf_sv(&result), &out);
    const struct js_value *list = js_parse(&arena, buf_sv(&out), "the records", &err);
    if (list == NULL)
        fail_msg("%s", err.message);
    return list;
}

static const struct js_value *at(const struct js_value *v, const char *a, const char *b,
                                 const char *c)
{
    v = js_get(v, a);
    v = b != NULL ? js_get(v, b) : v;
    return c != NULL ? js_get(v, c) : v;
}

static void assert_text(const struct js_value *v, const char *wanted)
{
    struct sv text;
    assert_true(js_as_sv(v, &text));
    if (!sv_eq(text, sv_from(wanted)))
        fail_msg("got '" SV_FMT "', wanted '%s'", SV_ARG(text), wanted);
}

static void test_variable_switches_it_on_unless_empty_or_zero(void **state)
{
    (void)state;
    assert_false(pytorch_wanted());
    setenv(VARIABLE, "", 1);
    assert_false(pytorch_wanted());
    setenv(VARIABLE, "0", 1);
    assert_false(pytorch_wanted());
    setenv(VARIABLE, "1", 1);
    assert_true(pytorch_wanted());
}

/* ttft, tpot and itl are selected with P99: twelve records in Python's order. */
static void test_one_record_a_statistic(void **state)
{
    (void)state;
    static const char *const NAMES[12] = {"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms",
                                          "p99_ttft_ms",    "mean_tpot_ms", "median_tpot_ms",
                                          "std_tpot_ms",    "p99_tpot_ms",  "median_itl_ms",
                                          "mean_itl_ms",    "std_itl_ms",   "p99_itl_ms"};
    const struct js_value *list = records();
    for (size_t i = 0; i < 12; i++)
        assert_text(at(js_at(list, i), "metric", "name", NULL), NAMES[i]);
    assert_null(js_at(list, 12));
    assert_non_null(strstr(buf_cstr(&out), "{\"name\":\"mean_ttft_ms\","
                                           "\"benchmark_values\":[23.54342474995974],"
                                           "\"extra_info\":{\"date\":\"20261130-075542\","));
    assert_text(at(js_at(list, 0), "benchmark", "name", NULL), "vLLM benchmark");
    assert_text(at(js_at(list, 0), "model", "name", NULL), "org/mock-model");
}

static void test_arrays_of_requests_and_the_statistics_stay_out_of_the_rest(void **state)
{
    (void)state;
    f.config.save_detailed = true;
    f.records[0].server_queue_s = 0.5;
    const struct js_value *rest = at(js_at(records(), 0), "metric", "extra_info", NULL);
    static const char *const OUT[] = {
        "ttfts",        "itls",      "generated_texts", "errors", "server_queue_times",
        "mean_ttft_ms", "p99_itl_ms"};
    static const char *const IN[] = {"date", "completed", "request_rate", "latencies", "client"};
    for (size_t i = 0; i < sizeof(OUT) / sizeof(OUT[0]); i++)
        assert_null(js_get(rest, OUT[i]));
    for (size_t i = 0; i < sizeof(IN) / sizeof(IN[0]); i++)
        assert_non_null(js_get(rest, IN[i]));
    assert_text(js_get(rest, "request_rate"), "inf");
}

static void test_settings_are_there_and_secrets_are_not(void **state)
{
    (void)state;
    struct config_pair header = {SV_LIT("X-Key"), SV_LIT("hush-hush")};
    struct config_pair top_p = {SV_LIT("top_p"), SV_LIT("0.9")};
    f.config.headers = (struct config_pairs){&header, 1, 1};
    f.config.sampling = (struct config_pairs){&top_p, 1, 1};
    f.config.base_url = "http://me:word@host:8000/v1";
    f.config.dataset_path = "sk-secret.jsonl";
    f.config.api_key = "sk-secret";
    f.config.request_rate = 2.5;
    f.config.goodput.any = f.config.goodput.given[METRIC_TTFT] = true;
    f.config.goodput.limit_ms[METRIC_TTFT] = 200;
    const struct js_value *args = at(js_at(records(), 0), "benchmark", "extra_info", "args");
    assert_text(js_get(js_get(args, "header"), "X-Key"), "***");
    assert_text(js_get(args, "base_url"), "http://***@host:8000/v1");
    assert_text(js_get(args, "dataset_path"), "***.jsonl");
    assert_text(js_get(args, "backend"), "vllm");
    assert_text(js_get(args, "percentile_metrics"), "ttft,tpot,itl");
    assert_text(js_get(args, "metric_percentiles"), "99");
    assert_text(js_at(js_get(args, "goodput"), 0), "ttft:200");
    const char *text = buf_cstr(&out);
    assert_non_null(strstr(text, "\"num_prompts\":4,"));
    assert_non_null(strstr(text, "\"request_rate\":2.5,"));
    assert_non_null(strstr(text, "\"top_p\":0.9,"));
    assert_non_null(strstr(text, "\"top_k\":null,"));
    assert_non_null(strstr(text, "\"save_detailed\":false,"));
    assert_null(strstr(text, "hush"));
    assert_null(strstr(text, "word@"));
    assert_null(strstr(text, "sk-secret"));
}

/* What only the server knows comes from --metadata. */
static void test_engine_settings_come_from_the_metadata(void **state)
{
    (void)state;
    struct config_pair pairs[] = {{SV_LIT("compilation_config.mode"), SV_LIT("0")},
                                  {SV_LIT("optimization_level"), SV_LIT("2")},
                                  {SV_LIT("tensor_parallel_size"), SV_LIT("8")}};
    const struct js_value *info = at(js_at(records(), 0), "benchmark", "extra_info", NULL);
    assert_text(js_get(info, "compilation_config.mode"), "");
    assert_non_null(strstr(buf_cstr(&out), "\"use_compile\":true"));
    f.config.metadata = (struct config_pairs){pairs, 3, 3};
    info = at(js_at(records(), 0), "benchmark", "extra_info", NULL);
    assert_text(js_get(info, "compilation_config.mode"), "0");
    assert_text(js_get(info, "optimization_level"), "2");
    assert_text(js_get(js_get(info, "args"), "tensor_parallel_size"), "8");
    assert_non_null(strstr(buf_cstr(&out), "\"use_compile\":false"));
    f.config.metadata = (struct config_pairs){0};
    f.config.result_filename = "run-eager.json";
    records();
    assert_non_null(strstr(buf_cstr(&out), "\"use_compile\":false"));
    f.config.result_filename = NULL;
}

static void test_no_statistics_no_records(void **state)
{
    (void)state;
    f.report.pooling = true;
    buf_reset(&result);
    result_json(&f.report, &result);
    pytorch_json(&f.report, buf_sv(&result), &out);
    assert_int_equal(out.len, 0);
}

/* Without --result-filename too, where Python's tool fails after the run. */
static void test_file_lies_beside_the_result(void **state)
{
    (void)state;
    char dir[] = "/tmp/vb-pytorch-XXXXXX";
    struct error err;
    struct buf text = {0};
    char *path = NULL;
    assert_non_null(mkdtemp(dir));
    f.config.save_result = true;
    f.config.result_dir = dir;
    assert_true(result_save(&f.report, &path, &err));
    char name[128];
    snprintf(name, sizeof(name), "%s/vllm-infqps-mock-model-20261130-075542.pytorch.json", dir);
    assert_false(file_exists(name));

    setenv(VARIABLE, "1", 1);
    unlink(path); /* else the name is taken */
    assert_true(result_save(&f.report, NULL, &err));
    assert_true(file_read(name, &text, &err));
    records();
    assert_true(sv_eq(buf_sv(&text), buf_sv(&out)));
    unlink(name);

    f.config.result_filename = ".hidden";
    assert_true(result_save(&f.report, NULL, &err));
    snprintf(name, sizeof(name), "%s/.hidden.pytorch.json", dir);
    assert_int_equal(unlink(name), 0);
    snprintf(name, sizeof(name), "%s/.hidden", dir);
    assert_int_equal(unlink(name), 0);
    f.config.result_filename = NULL;

    unlink(path);
    free(path);
    buf_done(&text);
    assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_variable_switches_it_on_unless_empty_or_zero, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_one_record_a_statistic, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_arrays_of_requests_and_the_statistics_stay_out_of_the_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_settings_are_there_and_secrets_are_not, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_engine_settings_come_from_the_metadata, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_no_statistics_no_records, setup, teardown),
        cmocka_unit_test_setup_teardown(test_file_lies_beside_the_result, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
