/* Prompts against those that `vllm bench serve` 0.33.0 (Python) sent for the same flags, byte for byte.  The recorded
 * prompts are in tests/data/datasets, made with tests/data/tok-mini. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/num.h"
#include "dataset_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void load_tokenizer(struct fixture *f)
{
    f->tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &f->err);
    assert_non_null(f->tokenizer);
}

/* tok-mini with a post-processor that puts <|endoftext|> (8189) in front, which is also its bos_token. */
static void load_bos_tokenizer(struct fixture *f)
{
    static const char post[] =
        "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":"
        "\"<|endoftext|>\"}},{\"Sequence\":{\"id\":\"A\"}}],\"special_tokens\":"
        "{\"<|endoftext|>\":{\"ids\":[8189]}}},\"was\":";
    static const char config[] = "{\"bos_token\":\"<|endoftext|>\",\"eos_token\":\"<|im_end|>\","
                                 "\"pad_token\":\"<|endoftext|>\",\"add_bos_token\":true}";
    struct buf mini = {0};
    struct buf json = {0};
    assert_true(file_read(TEST_DATA "/tok-mini/tokenizer.json", &mini, &f->err));
    const char *key = memmem(mini.ptr, mini.len, "\"post_processor\":", 17);
    assert_non_null(key);
    size_t at = (size_t)(key - mini.ptr) + 17;
    buf_add(&json, sv_make(mini.ptr, at));
    buf_add_str(&json, post);
    buf_add(&json, sv_skip(buf_sv(&mini), at));
    buf_done(&mini);
    struct tokenizer_files files = {
        .name = "tok-mini-bos", .tokenizer_json = buf_sv(&json), .config_json = sv_from(config)};
    f->tokenizer = tokenizer_parse(&files, &f->err);
    assert_non_null(f->tokenizer);
    buf_done(&json);
}

static void expect_recorded(const struct fixture *f, const char *file)
{
    struct buf text = {0};
    struct buf prompt = {0};
    struct error err;
    struct sv line;
    size_t i = 0;
    assert_true(file_read(file, &text, &err));
    for (struct sv rest = buf_sv(&text); rest.len > 0 && sv_split(&rest, '\n', &line); i++) {
        uint64_t output;
        size_t space = sv_find(line, ' ');
        assert_true(num_parse_u64(sv_make(line.ptr, space), &output));
        assert_true(i < f->workload.count);
        buf_reset(&prompt);
        workload_prompt_write(&f->workload, &f->workload.requests[i].prompt, &prompt);
        struct sv want = sv_skip(line, space + 1);
        if (!sv_eq(want, buf_sv(&prompt)))
            fail_msg("%s, request %zu: got " SV_FMT, file, i, SV_ARG(buf_sv(&prompt)));
        assert_int_equal(prompt.len, f->workload.requests[i].prompt.json_bytes);
        assert_int_equal(output, f->workload.requests[i].output_len);
    }
    assert_int_equal(i, f->workload.count);
    buf_done(&text);
    buf_done(&prompt);
}

static const struct {
    const char *file;
    uint64_t num_prompts;
    uint64_t seed;
    uint64_t prefix;
    double ratio_in;
    double ratio_out;
    uint64_t total; /* prompt tokens: total_input_tokens of the recorded result */
} random_cases[] = {
    {"random", 4, 0, 0, 0.0, 0.0, 96},
    {"random_seed1", 4, 1, 0, 0.0, 0.0, 98}, /* "2 more tokens than expected" */
    {"random_prefix", 4, 0, 10, 0.0, 0.0, 136},
    {"random_range", 6, 0, 0, 0.5, 0.5, 134},
    {"random_range_json", 6, 0, 0, 0.3, 0.5, 137},
};

static void test_random_equals_python(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(random_cases); i++) {
        struct fixture f;
        char path[256];
        fixture_init(&f, "random");
        load_tokenizer(&f);
        f.config.num_prompts = random_cases[i].num_prompts;
        f.config.seed = random_cases[i].seed;
        f.config.random_prefix_len = random_cases[i].prefix;
        f.config.random_range_ratio_input = random_cases[i].ratio_in;
        f.config.random_range_ratio_output = random_cases[i].ratio_out;
        assert_true(fixture_build(&f));
        snprintf(path, sizeof(path), TEST_DATA "/datasets/%s.prompts", random_cases[i].file);
        expect_recorded(&f, path);
        uint64_t total = 0;
        for (size_t k = 0; k < f.workload.count; k++)
            total += f.workload.requests[k].prompt_len;
        assert_int_equal(total, random_cases[i].total);
        fixture_done(&f);
    }
}

static void test_surplus_is_reported_once(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f, "random");
    load_tokenizer(&f);
    f.config.seed = 1;
    assert_true(fixture_build(&f));
    assert_non_null(strstr(buf_cstr(&f.notices), "1 of 4 prompts"));
    assert_non_null(strstr(buf_cstr(&f.notices), "2 tokens too many"));
    fixture_done(&f);
}

static void test_random_with_bos_equals_python(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f, "random");
    load_bos_tokenizer(&f);
    assert_int_equal(tokenizer_special_count(f.tokenizer), 1);
    assert_true(fixture_build(&f));
    expect_recorded(&f, TEST_DATA "/datasets/random_bos.prompts");
    assert_int_equal(f.workload.requests[0].prompt_len, 23);
    fixture_done(&f);
}

static void test_custom_shuffled_equals_python(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f, "custom");
    load_tokenizer(&f);
    f.config.dataset_path = TEST_DATA "/datasets/custom.jsonl";
    f.config.num_prompts = 6;
    f.config.skip_chat_template = true;
    assert_true(fixture_build(&f));
    expect_recorded(&f, TEST_DATA "/datasets/custom_shuffle.prompts");
    assert_int_equal(f.notices.len, 0);
    fixture_done(&f);
}

static void test_custom_with_template_equals_python(void **state)
{
    struct fixture f;
    (void)state;
    fixture_init(&f, "custom");
    load_tokenizer(&f);
    f.config.dataset_path = TEST_DATA "/datasets/custom.jsonl";
    f.config.disable_shuffle = true;
    assert_true(fixture_build(&f));
    expect_recorded(&f, TEST_DATA "/datasets/custom_template.prompts");
    assert_int_equal(f.notices.len, 0);
    fixture_done(&f);
}

/* Files, their order, filters and templates. */
static void test_files_equal_python(void **state)
{
    static const struct {
        const char *name;
        const char *file;
        const char *prompts;
        bool shuffled;
        int64_t sharegpt_output_len;
    } cases[] = {
        {"sharegpt", "sharegpt.json", "sharegpt", true, -1},
        {"sharegpt", "sharegpt.json", "sharegpt_outlen", false, 7},
        {"spec_bench", "spec_bench.jsonl", "spec_bench", false, -1},
        {"speed_bench", "speed_bench.json", "speed_bench", false, -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f;
        char path[256];
        char prompts[256];
        fixture_init(&f, cases[i].name);
        load_tokenizer(&f);
        snprintf(path, sizeof(path), TEST_DATA "/datasets/%s", cases[i].file);
        snprintf(prompts, sizeof(prompts), TEST_DATA "/datasets/%s.prompts", cases[i].prompts);
        f.config.dataset_path = path;
        f.config.num_prompts = 4;
        f.config.disable_shuffle = !cases[i].shuffled;
        f.config.sharegpt_output_len = cases[i].sharegpt_output_len;
        f.config.spec_bench_output_len = 5;
        f.config.speed_bench_output_len = 5;
        assert_true(fixture_build(&f));
        expect_recorded(&f, prompts);
        fixture_done(&f);
    }
}

static bool has_prompt(const struct fixture *f, struct sv json)
{
    for (size_t i = 0; i < f->workload.count; i++)
        if (sv_eq(f->workload.requests[i].prompt.json, json))
            return true;
    return false;
}

static void test_prefix_repetition_equals_python(void **state)
{
    struct fixture f;
    struct buf text = {0};
    struct sv line;
    (void)state;
    fixture_init(&f, "prefix_repetition");
    load_tokenizer(&f);
    f.config.num_prompts = 4;
    f.config.prefix_repetition_prefix_len = 16;
    f.config.prefix_repetition_suffix_len = 8;
    f.config.prefix_repetition_num_prefixes = 2;
    f.config.prefix_repetition_output_len = 5;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 4);
    assert_true(f.workload.without_ids);
    assert_true(file_read(TEST_DATA "/datasets/prefix_repetition.prompts", &text, &f.err));
    for (struct sv rest = buf_sv(&text); rest.len > 0 && sv_split(&rest, '\n', &line);)
        assert_true(has_prompt(&f, sv_skip(line, 2)));
    buf_done(&text);
    fixture_done(&f);
}

static void test_rerank_equals_the_reference(void **state)
{
    (void)state;
    for (int reranker = 0; reranker < 2; reranker++) {
        struct fixture f;
        struct buf text = {0};
        struct sv line;
        size_t i = 0;
        fixture_init(&f, "random-rerank");
        load_tokenizer(&f);
        f.config.num_prompts = 9;
        f.config.seed = 2;
        f.config.random_input_len = 40;
        f.config.random_range_ratio_input = 0.2;
        f.config.random_batch_size = 4;
        f.config.no_reranker = reranker == 0;
        assert_true(fixture_build(&f));
        assert_true(file_read(reranker == 1 ? TEST_DATA "/datasets/rerank.prompts"
                                            : TEST_DATA "/datasets/no_reranker.prompts",
                              &text, &f.err));
        for (struct sv rest = buf_sv(&text); rest.len > 0 && sv_split(&rest, '\n', &line); i++) {
            uint64_t total;
            size_t space = sv_find(line, ' ');
            const struct request *r = &f.workload.requests[i];
            assert_true(num_parse_u64(sv_make(line.ptr, space), &total));
            assert_true(i < f.workload.count);
            assert_true(sv_eq(r->prompt.json, sv_skip(line, space + 1)));
            assert_int_equal(r->prompt_len, total);
            assert_int_equal(r->output_len, 0);
        }
        assert_int_equal(i, f.workload.count);
        buf_done(&text);
        fixture_done(&f);
    }
}

static void test_burstgpt_rows_are_drawn_as_numpy_draws_them(void **state)
{
    struct buf text = {0};
    struct error err;
    struct sv line;
    (void)state;
    assert_true(file_read(TEST_DATA "/datasets/burstgpt.rows", &text, &err));
    for (struct sv rest = buf_sv(&text); rest.len > 0 && sv_split(&rest, '\n', &line);) {
        struct fixture f;
        struct sv part;
        fixture_init(&f, "burstgpt");
        load_tokenizer(&f);
        assert_true(sv_split(&line, ' ', &part));
        assert_true(num_parse_u64(part, &f.config.seed));
        f.config.num_prompts = 1;
        for (size_t i = 0; i < line.len; i++)
            f.config.num_prompts += line.ptr[i] == ' ';
        f.config.dataset_path = TEST_DATA "/datasets/burstgpt.csv";
        assert_true(fixture_build(&f));
        for (size_t i = 0; sv_split(&line, ' ', &part); i++) {
            uint64_t input;
            uint64_t output;
            size_t colon = sv_find(part, ':');
            assert_true(num_parse_u64(sv_make(part.ptr, colon), &input));
            assert_true(num_parse_u64(sv_skip(part, colon + 1), &output));
            assert_int_equal(f.workload.requests[i].prompt_len, input);
            assert_int_equal(f.workload.requests[i].output_len, output);
        }
        fixture_done(&f);
    }
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_equals_python),
        cmocka_unit_test(test_surplus_is_reported_once),
        cmocka_unit_test(test_random_with_bos_equals_python),
        cmocka_unit_test(test_custom_shuffled_equals_python),
        cmocka_unit_test(test_custom_with_template_equals_python),
        cmocka_unit_test(test_files_equal_python),
        cmocka_unit_test(test_prefix_repetition_equals_python),
        cmocka_unit_test(test_rerank_equals_the_reference),
        cmocka_unit_test(test_burstgpt_rows_are_drawn_as_numpy_draws_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
