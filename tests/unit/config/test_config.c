/* The settings of `serve`: conversions of its own flags and every rule across flags. */
#include "config/config.h"
#include "config/options.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORDS_MAX = 32 };

/* Words are separated by '|', since values have blanks. */
static bool load(struct config *config, const char *line, struct error *err)
{
    char *argv[WORDS_MAX];
    int argc = 0;
    struct option_parser parser;
    *err = (struct error){0};
    config_init(config);
    struct sv rest = sv_from(line);
    struct sv word;
    while (line[0] != '\0' && sv_split(&rest, '|', &word)) {
        assert_true(argc < WORDS_MAX);
        argv[argc++] = arena_strdup(&config->arena, arena_copy(&config->arena, word).ptr);
    }
    return config_parse(config, argc, argv, &parser, err) && config_check(config, err);
}

static void accept(struct config *config, const char *line)
{
    struct error err;
    if (!load(config, line, &err)) {
        fail_msg("%s: %s", line, err.message);
    }
}

/* Refused with status 2 and a message that holds both parts. */
static void refuse(const char *line, const char *part, const char *other)
{
    struct config config;
    struct error err;
    if (load(&config, line, &err)) {
        fail_msg("%s was accepted", line);
    }
    assert_int_equal(error_exit_status(err.code), 2);
    if (strstr(err.message, part) == NULL || strstr(err.message, other) == NULL) {
        fail_msg("%s: %s", line, err.message);
    }
    config_done(&config);
}

static bool warned(const struct config *config, const char *part)
{
    for (size_t i = 0; i < config->warning_count; i++) {
        if (strstr(config->warnings[i], part) != NULL) {
            return true;
        }
    }
    return false;
}

static void expect_pairs(const struct config_pairs *pairs, const char *expected)
{
    struct buf out = {0};
    for (size_t i = 0; i < pairs->count; i++) {
        buf_add_fmt(&out, "[" SV_FMT "=" SV_FMT "]", SV_ARG(pairs->items[i].key),
                    SV_ARG(pairs->items[i].value));
    }
    assert_string_equal(buf_cstr(&out), expected);
    buf_done(&out);
}

static void test_defaults_are_a_valid_run(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "");
    assert_string_equal(c.backend, "openai");
    assert_int_equal(c.num_prompts, 1000);
    assert_true(c.request_rate == HUGE_VAL);
    assert_int_equal(c.max_concurrency, 0);
    assert_true(c.metric_selected[METRIC_TTFT] && c.metric_selected[METRIC_TPOT] &&
                c.metric_selected[METRIC_ITL] && c.metric_selected[METRIC_E2EL]);
    assert_false(c.metric_selected[METRIC_CLIENT_QUEUE_TIME]);
    assert_int_equal(c.percentile_count, 1);
    assert_true(c.percentiles[0] == 99.0);
    assert_false(c.save_result);
    assert_null(c.api_key);
    config_done(&c);
}

static void test_request_id_prefix_is_bench_and_eight_hex_digits(void **state)
{
    (void)state;
    struct config a;
    struct config b;
    accept(&a, "");
    accept(&b, "");
    assert_int_equal(strlen(a.request_id_prefix), 15);
    assert_memory_equal(a.request_id_prefix, "bench-", 6);
    assert_int_equal(strspn(a.request_id_prefix + 6, "0123456789abcdef"), 8);
    assert_int_equal(a.request_id_prefix[14], '-');
    assert_string_not_equal(a.request_id_prefix, b.request_id_prefix);
    config_done(&a);
    config_done(&b);
    accept(&a, "--request-id-prefix|run-");
    assert_string_equal(a.request_id_prefix, "run-");
    config_done(&a);
}

static void test_sampling_flags_go_in_wire_order_as_python_writes_them(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--repetition-penalty|1.1|--temperature|0|--top-k|40|--presence_penalty=1e-5|"
               "--top-p|1|--min-p|.05|--frequency-penalty|-2");
    expect_pairs(&c.sampling,
                 "[top_p=1.0][top_k=40][min_p=0.05][temperature=0.0][frequency_penalty=-2.0]"
                 "[presence_penalty=1e-05][repetition_penalty=1.1]");
    assert_false(warned(&c, "temperature"));
    config_done(&c);
    accept(&c, "--top-p|0.5|--top-p|0.7");
    expect_pairs(&c.sampling, "[top_p=0.7]");
    assert_true(warned(&c, "no longer sets temperature==0 (greedy)"));
    assert_true(warned(&c, "--top-p was given 2 times"));
    config_done(&c);
    refuse("--top-p|inf", "--top-p", "'inf'");
    refuse("--top-k|1.5", "--top-k", "'1.5'");
}

static void test_sampling_flags_need_a_generative_backend(void **state)
{
    (void)state;
    struct config c;
    struct error err;
    accept(&c, "--top-p|1");
    c.backend = "openai-embeddings";
    assert_false(config_check(&c, &err));
    assert_non_null(strstr(err.message, "OpenAI-compatible"));
    config_done(&c);
}

static void test_headers_are_split_trimmed_kept_in_order_and_checked(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--header| X-A = b=c |X-B=|--mock|--header|Authorization=Bearer x y");
    expect_pairs(&c.headers, "[X-A=b=c][X-B=][Authorization=Bearer x y]");
    config_done(&c);
    refuse("--header|broken", "--header", "'broken'");
    refuse("--header|=v", "--header", "KEY=VALUE");
    refuse("--header|a b=v", "--header", "'a...'");
    refuse("--header|a:b=v", "--header", "'a...'");
    refuse("--header|\xc3\xa4=v", "--header", "name");
    refuse("--header|X=a\r\nEvil: 1", "'X'", "control character");
    refuse("--header|X=a\nEvil: 1", "'X'", "control character");
    refuse("--header|X=a\x7f", "'X'", "control character");
}

static void test_secrets_of_headers_are_not_repeated_in_messages(void **state)
{
    (void)state;
    static const char *const lines[] = {"--header|Authorization: Bearer sekret",
                                        "--header|Authorization Bearer sekret",
                                        "--header|=sekret",
                                        "--header|a b=sekret",
                                        "--header|X=sekret\nY",
                                        "--header|Authorization=Bearer|sekret",
                                        "--header|Authorization=Bearer|se/kret=sekret",
                                        "--header|A=b|--header|sekret",
                                        "--extra-body|{\"api_key\":\"sekret\"",
                                        "--extra-body|{\"api_key\"=\"sekret\"}",
                                        "--extra-body|{api_key sekret|--extra-body.a|1",
                                        "--extra-body|\"key sekret\"",
                                        "--chat-template-kwargs|{\"k\":\"sekret\""};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct config c;
        struct error err;
        assert_false(load(&c, lines[i], &err));
        assert_null(strstr(err.message, "sekret"));
        config_done(&c);
    }
}

static void test_a_word_behind_an_unquoted_header_asks_for_quotes(void **state)
{
    (void)state;
    refuse("--header|Authorization=Bearer|sekret", "--header: word 2 has no '='", "put quotes");
    refuse("--header|A=1|B=2|Authorization=Bearer|s", "--header: word 4 has no '='", "put quotes");
    refuse("--header|A=1|x y=z", "word 2", "put quotes");
    setenv("VLLM_BENCH_HEADER", "Authorization=Bearer\nsekret", 1);
    refuse("", "VLLM_BENCH_HEADER: --header: word 2 has no '='", "put quotes");
    unsetenv("VLLM_BENCH_HEADER");
}

static void test_headers_of_the_program_itself_are_named(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--temperature|0|--header|Content-Length=1|transfer-encoding=x|Connection=close|"
               "X-Request-Id=a|X-Team=b");
    assert_int_equal(c.warning_count, 4);
    assert_true(warned(&c, "--header: 'Content-Length' is left out: the program writes it itself"));
    assert_true(warned(&c, "'transfer-encoding'"));
    assert_true(warned(&c, "'Connection'"));
    assert_true(warned(&c, "'X-Request-Id'"));
    config_done(&c);
}

static void test_sampling_flags_that_plain_openai_leaves_out_are_named_once(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--temperature|0|--top-p|1|--top-k|5|--min-p|0.1|--repetition-penalty|1|"
               "--plain-openai");
    assert_int_equal(c.warning_count, 1);
    assert_true(warned(&c, "--top-k, --min-p, --repetition-penalty have no effect beside "
                           "--plain-openai"));
    config_done(&c);
    accept(&c, "--temperature|0|--top-p|1|--plain-openai");
    assert_int_equal(c.warning_count, 0);
    config_done(&c);
}

static void test_token_ids_need_a_backend_that_takes_them(void **state)
{
    (void)state;
    static const char *const takers[] = {"openai", "vllm", "openai-embeddings", "vllm-pooling"};
    for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
        struct config c;
        char line[80];
        snprintf(line, sizeof(line), "--prompt-token-ids|--backend|%s", takers[i]);
        accept(&c, line);
        config_done(&c);
    }
    refuse("--prompt-token-ids|--backend|openai-responses", "--prompt-token-ids",
           "'openai-responses'");
    refuse("--prompt-token-ids|--backend|vllm-rerank", "--prompt-token-ids", "'vllm-rerank'");
    refuse("--prompt-token-ids|--backend|openai-chat", "--prompt-token-ids", "'openai-chat'");
}

static void test_metadata_is_checked_before_the_run(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--metadata|a=1|b = x=y |--save-result|--metadata|a=2");
    expect_pairs(&c.metadata, "[a=1][b=x=y][a=2]");
    config_done(&c);
    refuse("--metadata|broken", "--metadata", "'broken'");
}

static void test_api_key_comes_from_the_environment_unless_empty(void **state)
{
    (void)state;
    struct config c;
    setenv("OPENAI_API_KEY", "sk-1", 1);
    accept(&c, "");
    assert_string_equal(c.api_key, "sk-1");
    config_done(&c);
    setenv("OPENAI_API_KEY", "", 1);
    accept(&c, "");
    assert_null(c.api_key);
    config_done(&c);
    setenv("OPENAI_API_KEY", "sk-1\r\nX: y", 1);
    refuse("", "OPENAI_API_KEY", "control character");
    unsetenv("OPENAI_API_KEY");
}

static void test_extra_body_is_a_json_object(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--extra-body|{\"a\": {\"b\": [1, null]}}");
    assert_string_equal(c.extra_body, "{\"a\": {\"b\": [1, null]}}");
    config_done(&c);
    refuse("--extra-body|[1]", "--extra-body", "'[1]'");
    refuse("--extra-body|{", "--extra-body", "'{'");
    refuse("--extra-body|3", "--extra-body", "'3'");
    refuse("--chat-template-kwargs|{", "--chat-template-kwargs", "'{'");
    refuse("--chat-template-kwargs|[1]", "--chat-template-kwargs", "'[1]' is no JSON object");
}

static void test_logprobs_are_not_negative(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--logprobs|0");
    assert_true(c.has_logprobs);
    assert_int_equal(c.logprobs, 0);
    config_done(&c);
    accept(&c, "");
    assert_false(c.has_logprobs);
    config_done(&c);
    refuse("--logprobs|-1", "--logprobs", "'-1'");
}

static void test_traffic_numbers_are_positive(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--request-rate|0.5|--burstiness|inf|--max-concurrency|3");
    assert_true(c.request_rate == 0.5);
    assert_true(c.burstiness == HUGE_VAL);
    assert_int_equal(c.max_concurrency, 3);
    config_done(&c);
    refuse("--request-rate|0", "--request-rate", "'0'");
    refuse("--request-rate|-1", "--request-rate", "'-1'");
    refuse("--request-rate=nan", "--request-rate", "'nan'");
    refuse("--burstiness|0", "--burstiness", "'0'");
    refuse("--burstiness=-1", "--burstiness", "'-1'");
    refuse("--max-concurrency|0", "--max-concurrency", "'0'");
    refuse("--num-prompts|0", "--num-prompts", "'0'");
    refuse("--max-model-len|0", "--max-model-len", "'0'");
}

static void test_ramp_up_needs_both_ends_and_no_rate(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--ramp-up-strategy|linear|--ramp-up-start-rps|0.5|--ramp-up-end-rps|40");
    assert_int_equal(c.ramp_up_strategy, RAMP_UP_LINEAR);
    assert_true(c.ramp_up_start_rps == 0.5 && c.ramp_up_end_rps == 40.0);
    config_done(&c);
    accept(&c, "--ramp-up-strategy|exponential|--ramp-up-start-rps|2|--ramp-up-end-rps|2");
    assert_int_equal(c.ramp_up_strategy, RAMP_UP_EXPONENTIAL);
    config_done(&c);
    refuse("--ramp-up-strategy|linear", "--ramp-up-strategy", "--ramp-up-start-rps is missing");
    refuse("--ramp-up-strategy|linear|--ramp-up-start-rps|1", "--ramp-up-strategy",
           "--ramp-up-end-rps is missing");
    refuse("--ramp-up-start-rps|1", "--ramp-up-start-rps", "needs --ramp-up-strategy");
    refuse("--ramp-up-strategy|linear|--ramp-up-start-rps|1|--ramp-up-end-rps|2|"
           "--request-rate|5",
           "--ramp-up-strategy", "'5'");
    refuse("--ramp-up-strategy|linear|--ramp-up-start-rps|0|--ramp-up-end-rps|2",
           "--ramp-up-start-rps", "'0'");
    refuse("--ramp-up-strategy|linear|--ramp-up-start-rps|3|--ramp-up-end-rps|2",
           "--ramp-up-start-rps", "'3'");
    refuse("--ramp-up-strategy|linear|--ramp-up-start-rps|3|--ramp-up-end-rps|inf",
           "--ramp-up-end-rps", "'inf'");
    refuse("--ramp-up-strategy|cubic|--ramp-up-start-rps|1|--ramp-up-end-rps|2",
           "--ramp-up-strategy", "'cubic'");
}

static void test_percentiles_keep_their_order_and_are_named_once(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--metric-percentiles|99.9, 50,50,0,100");
    assert_int_equal(c.percentile_count, 4);
    assert_true(c.percentiles[0] == 99.9 && c.percentiles[1] == 50.0);
    assert_true(c.percentiles[2] == 0.0 && c.percentiles[3] == 100.0);
    assert_true(warned(&c, "'99.9, 50,50,0,100' names a percentile twice"));
    config_done(&c);
    accept(&c, "--temperature|0|--metric-percentiles|50,99,50.0,5e1,99.00");
    assert_int_equal(c.percentile_count, 2);
    assert_int_equal(c.warning_count, 1);
    config_done(&c);
    accept(&c, "--metric-percentiles|50,99");
    assert_false(warned(&c, "twice"));
    config_done(&c);
    refuse("--metric-percentiles|abc", "--metric-percentiles", "'abc'");
    refuse("--metric-percentiles|50,", "--metric-percentiles", "''");
    refuse("--metric-percentiles|150", "--metric-percentiles", "'150'");
    refuse("--metric-percentiles=-1", "--metric-percentiles", "'-1'");
    refuse("--metric-percentiles=nan", "--metric-percentiles", "'nan'");
}

static void test_percentile_metrics_ignore_unknown_names_with_a_warning(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--percentile-metrics|e2el,client_queue_time,foo");
    for (int i = 0; i < METRIC_COUNT; i++) {
        assert_int_equal(c.metric_selected[i], i == METRIC_E2EL || i == METRIC_CLIENT_QUEUE_TIME);
    }
    assert_true(warned(&c, "'foo'"));
    config_done(&c);
}

static void test_thresholds_of_the_timeline_are_two_rising_numbers(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--plot-timeline|--timeline-itl-thresholds|7.5, 1e2");
    assert_true(c.plot_timeline && !c.plot_dataset_stats);
    assert_true(c.itl_thresholds_ms[0] == 7.5 && c.itl_thresholds_ms[1] == 100.0);
    config_done(&c);
    accept(&c, "--plot-dataset-stats");
    assert_true(!c.plot_timeline && c.plot_dataset_stats);
    assert_true(c.itl_thresholds_ms[0] == 25.0 && c.itl_thresholds_ms[1] == 50.0);
    config_done(&c);
    refuse("--timeline-itl-thresholds|25", "--timeline-itl-thresholds", "'25' holds 1 number;");
    refuse("--timeline-itl-thresholds|1,2,3", "--timeline-itl-thresholds", "holds 3 numbers");
    refuse("--timeline-itl-thresholds|25,", "--timeline-itl-thresholds", "''");
    refuse("--timeline-itl-thresholds|25,x", "--timeline-itl-thresholds", "'x'");
    refuse("--timeline-itl-thresholds|0,50", "--timeline-itl-thresholds", "'0'");
    refuse("--timeline-itl-thresholds|25,inf", "--timeline-itl-thresholds", "'inf'");
    refuse("--timeline-itl-thresholds|25,nan", "--timeline-itl-thresholds", "'nan'");
    refuse("--timeline-itl-thresholds|50,25", "--timeline-itl-thresholds", "below the second");
    refuse("--timeline-itl-thresholds|50,50", "--timeline-itl-thresholds", "below the second");
}

static void test_goodput_limits_are_named_numbers(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--goodput|ttft:100|e2el:5000.5|--goodput|ttft:200");
    assert_true(c.goodput.any);
    assert_true(c.goodput.given[METRIC_TTFT] && c.goodput.given[METRIC_E2EL]);
    assert_false(c.goodput.given[METRIC_TPOT]);
    assert_true(c.goodput.limit_ms[METRIC_TTFT] == 200.0);
    assert_true(c.goodput.limit_ms[METRIC_E2EL] == 5000.5);
    config_done(&c);
    refuse("--goodput|foo:1", "--goodput", "'foo'");
    refuse("--goodput|itl:1", "--goodput", "'itl'");
    refuse("--goodput|ttft:abc", "--goodput", "'abc'");
    refuse("--goodput|ttft:-1", "--goodput", "'ttft:-1'");
    refuse("--goodput|ttft", "--goodput", "'ttft'");
    refuse("--goodput|ttft:1:2", "--goodput", "'1:2'");
    refuse("--goodput|ttft:nan", "--goodput", "'nan'");
}

static void test_range_ratio_is_a_number_or_an_object(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--random-range-ratio| 0.3 ");
    assert_true(c.random_range_ratio_input == 0.3 && c.random_range_ratio_output == 0.3);
    config_done(&c);
    accept(&c, "--random-range-ratio|{\"input\": 0.25, \"output\": 0}");
    assert_true(c.random_range_ratio_input == 0.25 && c.random_range_ratio_output == 0.0);
    config_done(&c);
    refuse("--random-range-ratio|1.0", "'1.0'", "no longer");
    refuse("--random-range-ratio|1.5", "'1.5'", "below 1");
    refuse("--random-range-ratio=-0.1", "'-0.1'", "at least 0");
    refuse("--random-range-ratio|x", "'x'", "neither a number nor JSON");
    refuse("--random-range-ratio|[1]", "'[1]'", "nor a JSON object");
    refuse("--random-range-ratio|{\"input\":0.1}", "--random-range-ratio", "'output'");
    refuse("--random-range-ratio|{\"input\":\"a\",\"output\":0}", "--random-range-ratio",
           "'input'");
    refuse("--random-range-ratio|{\"input\":0,\"output\":1}", "the ratio 'output'", "no longer");
}

static void test_general_lengths_win_over_the_data_sets_own(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--input-len|7|--random-input-len|9|--output-len|0|--custom-output-len|5");
    assert_int_equal(c.random_input_len, 7);
    assert_int_equal(c.random_output_len, 0);
    assert_int_equal(c.custom_output_len, 0);
    config_done(&c);
    accept(&c, "--random-input-len|9|--custom-output-len|-1");
    assert_int_equal(c.random_input_len, 9);
    assert_int_equal(c.random_output_len, 128);
    assert_int_equal(c.custom_output_len, -1);
    config_done(&c);
}

static void test_ignore_eos_is_forced_on_for_random_only(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--backend|openai-chat");
    assert_true(c.ignore_eos);
    config_done(&c);
    accept(&c, "--dataset-name|custom|--dataset-path|a.jsonl");
    assert_false(c.ignore_eos);
    config_done(&c);
    accept(&c, "--dataset-name|custom|--dataset-path|a.jsonl|--ignore-eos");
    assert_true(c.ignore_eos);
    config_done(&c);
}

static void test_data_sets_have_their_own_rules(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--dataset-name|custom|--dataset-path|a.jsonl|--skip-chat-template|"
               "--temperature|0");
    assert_int_equal(c.warning_count, 0);
    config_done(&c);
    refuse("--dataset-name|custom", "custom", "--dataset-path");
    refuse("--dataset-name|custom|--dataset-path|a.json", "--dataset-path", "'a.json'");
    refuse("--dataset-path|a.jsonl", "--dataset-path", "'a.jsonl'");
    refuse("--dataset-name|prefix_repetition|--dataset-path|a", "--dataset-path", "'a'");
    refuse("--dataset-name|burstgpt", "burstgpt", "--dataset-path");
    refuse("--dataset-name|random-mm", "random-mm", "openai-chat");
    refuse("--dataset-name|prefix_repetition|--num-prompts|3", "num-prefixes", "10");
    refuse("--self-timed", "--self-timed", "timed_trace");
    refuse("--dataset-name|timed_trace|--dataset-path|a|--request-rate|3", "--request-rate",
           "--no-self-timed");
    refuse("--dataset-name|timed_trace|--dataset-path|a|--backend|openai-chat", "timed_trace",
           "openai-chat");
    accept(&c, "--dataset-name|timed_trace|--dataset-path|a");
    assert_true(c.self_timed && c.ignore_eos);
    config_done(&c);
    accept(&c, "--dataset-name|timed_trace|--dataset-path|a|--self-timed|--no-self-timed");
    assert_false(c.self_timed);
    config_done(&c);
    refuse("--dataset-name|custom|--dataset-path|a.jsonl|--prompt-token-ids", "--prompt-token-ids",
           "custom");
    refuse("--random-cache-hit-fraction|0.5|--random-cache-ratio|0.5",
           "--random-cache-hit-fraction", "--prompt-token-ids");
    refuse("--random-cache-ratio|1.5", "--random-cache-ratio", "'1.5'");
    accept(&c, "--random-cache-hit-fraction|0.5");
    config_done(&c);
    refuse("--dataset-name|hf", "--dataset-name hf", "--dataset-path");
    refuse("--dataset-name|hf|--dataset-path|a/b|--hf-output-len|0", "--hf-output-len", "'0'");
    refuse("--dataset-name|hf|--dataset-path|a/b|--blazedit-max-distance|1.5",
           "--blazedit-max-distance", "'1.5'");
    accept(&c, "--dataset-name|hf|--dataset-path|a/b|--output-len|7|--asr-max-audio-len-sec|30");
    assert_true(c.hf_output_len == 7 && c.asr_max_audio_len_s == 30.0 && !c.no_stream);
    config_done(&c);
    refuse("--dataset-name|randon", "--dataset-name", "did you mean 'random'");
}

static void test_server_flags_are_checked(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--host|::1|--port|0");
    assert_true(c.address_given);
    config_done(&c);
    accept(&c, "--mock");
    assert_true(c.mock);
    assert_false(c.address_given);
    config_done(&c);
    refuse("--mock|--base-url|http://a", "--mock", "--base-url");
    refuse("--endpoint|v1/completions", "--endpoint", "'v1/completions'");
    refuse("--model|", "--model", "empty");
    refuse("--host|a\nb", "--host", "control character");
    refuse("--request-id-prefix|a\r\nX: y", "--request-id-prefix", "control character");
    refuse("--backend|tgi", "--backend", "'tgi'");
    refuse("--backend|vllm-poolin", "--backend", "'vllm-poolin'");
    refuse("--port|65536", "--port", "'65536'");
}

static void test_every_backend_of_the_python_tool_is_taken(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool pooling;
    } rows[] = {
        {"openai", false},
        {"vllm", false},
        {"openai-chat", false},
        {"openai-responses", false},
        {"openai-audio", false},
        {"openai-embeddings", true},
        {"openai-embeddings-chat", true},
        {"openai-embeddings-clip", true},
        {"openai-embeddings-vlm2vec", true},
        {"infinity-embeddings", true},
        {"infinity-embeddings-clip", true},
        {"vllm-pooling", true},
        {"vllm-rerank", true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config c;
        char line[128];
        snprintf(line, sizeof(line), "--backend|%s", rows[i].name);
        accept(&c, line);
        assert_string_equal(c.backend, rows[i].name);
        assert_int_equal(warned(&c, "--temperature=0"), !rows[i].pooling);
        /* random data and an API of OpenAI's that generates text (CLI.md 3, rule 13) */
        bool compatible = !rows[i].pooling && strcmp(rows[i].name, "openai-audio") != 0;
        assert_int_equal(c.ignore_eos, compatible);
        config_done(&c);
        snprintf(line, sizeof(line), "--backend|%s|--temperature|0.5", rows[i].name);
        if (!compatible) {
            refuse(line, "'temperature'", rows[i].name);
        }
        snprintf(line, sizeof(line), "--backend|%s|--lora-modules|a", rows[i].name);
        if (rows[i].pooling) {
            refuse(line, "--lora-modules", rows[i].name);
        }
    }
}

static void test_adapters_are_trimmed_names(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--lora-modules| a|b \t|c d|--lora-assignment|round-robin");
    assert_int_equal(c.lora_modules.count, 3);
    assert_string_equal(c.lora_modules.items[0], "a");
    assert_string_equal(c.lora_modules.items[1], "b");
    assert_string_equal(c.lora_modules.items[2], "c d");
    assert_true(c.lora_round_robin);
    config_done(&c);
    accept(&c, "--lora-modules|a|--lora-modules|b|--lora-assignment|random");
    assert_int_equal(c.lora_modules.count, 2);
    assert_false(c.lora_round_robin);
    config_done(&c);
    refuse("--lora-modules|a| ", "--lora-modules", "blank");
    refuse("--lora-modules|a|--lora-assignment|roundrobin", "--lora-assignment", "'roundrobin'");
}

static void test_steady_state_threshold_is_a_share(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--steady-state-threshold|1|--steady-state-min-window|0");
    assert_true(c.steady_state_min_window_s == 0.0);
    config_done(&c);
    refuse("--steady-state-threshold|0", "--steady-state-threshold", "'0'");
    refuse("--steady-state-threshold|1.1", "--steady-state-threshold", "'1.1'");
    refuse("--steady-state-min-window|-1", "--steady-state-min-window", "'-1'");
}

static void test_saving_follows_from_appending_and_idle_flags_are_named(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--append-result");
    assert_true(c.save_result && c.append_result);
    config_done(&c);
    accept(&c, "--save-detailed");
    assert_false(c.save_result);
    assert_true(warned(&c, "--save-detailed has no effect"));
    config_done(&c);
    accept(&c, "--tokenizer-mode|slow|--trust-remote-code|--use-beam-search|--no-stream");
    assert_true(warned(&c, "--tokenizer-mode: 'slow'"));
    assert_true(warned(&c, "--trust-remote-code has no effect"));
    assert_true(warned(&c, "--use-beam-search has no effect"));
    assert_true(warned(&c, "--no-stream has no effect"));
    assert_false(c.insecure);
    config_done(&c);
}

static void test_request_timeout_is_kept_in_nanoseconds(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "");
    assert_true(c.request_timeout_ns == UINT64_C(21600000000000));
    config_done(&c);
    accept(&c, "--request-timeout|0.25");
    assert_int_equal(c.request_timeout_ns, 250000000);
    config_done(&c);
    refuse("--request-timeout|0", "--request-timeout", "'0'");
}

int main(void)
{
    unsetenv("OPENAI_API_KEY");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_a_valid_run),
        cmocka_unit_test(test_request_id_prefix_is_bench_and_eight_hex_digits),
        cmocka_unit_test(test_sampling_flags_go_in_wire_order_as_python_writes_them),
        cmocka_unit_test(test_sampling_flags_need_a_generative_backend),
        cmocka_unit_test(test_headers_are_split_trimmed_kept_in_order_and_checked),
        cmocka_unit_test(test_secrets_of_headers_are_not_repeated_in_messages),
        cmocka_unit_test(test_a_word_behind_an_unquoted_header_asks_for_quotes),
        cmocka_unit_test(test_headers_of_the_program_itself_are_named),
        cmocka_unit_test(test_sampling_flags_that_plain_openai_leaves_out_are_named_once),
        cmocka_unit_test(test_token_ids_need_a_backend_that_takes_them),
        cmocka_unit_test(test_metadata_is_checked_before_the_run),
        cmocka_unit_test(test_api_key_comes_from_the_environment_unless_empty),
        cmocka_unit_test(test_extra_body_is_a_json_object),
        cmocka_unit_test(test_logprobs_are_not_negative),
        cmocka_unit_test(test_traffic_numbers_are_positive),
        cmocka_unit_test(test_ramp_up_needs_both_ends_and_no_rate),
        cmocka_unit_test(test_percentiles_keep_their_order_and_are_named_once),
        cmocka_unit_test(test_percentile_metrics_ignore_unknown_names_with_a_warning),
        cmocka_unit_test(test_thresholds_of_the_timeline_are_two_rising_numbers),
        cmocka_unit_test(test_goodput_limits_are_named_numbers),
        cmocka_unit_test(test_range_ratio_is_a_number_or_an_object),
        cmocka_unit_test(test_general_lengths_win_over_the_data_sets_own),
        cmocka_unit_test(test_ignore_eos_is_forced_on_for_random_only),
        cmocka_unit_test(test_data_sets_have_their_own_rules),
        cmocka_unit_test(test_server_flags_are_checked),
        cmocka_unit_test(test_every_backend_of_the_python_tool_is_taken),
        cmocka_unit_test(test_adapters_are_trimmed_names),
        cmocka_unit_test(test_steady_state_threshold_is_a_share),
        cmocka_unit_test(test_saving_follows_from_appending_and_idle_flags_are_named),
        cmocka_unit_test(test_request_timeout_is_kept_in_nanoseconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
