/* Tests of the data set "random" beyond the recorded cases: id prompts, cache mode, a server's tokenizer, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dataset_fixture.h"

#include <stdlib.h>

static void init(struct fixture *f)
{
    fixture_init(f, "random");
    f->tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &f->err);
    assert_non_null(f->tokenizer);
}

static void expect_error(struct fixture *f, const char *part)
{
    assert_false(fixture_build(f));
    if (strstr(f->err.message, part) == NULL)
        fail_msg("got '%s'", f->err.message);
    assert_null(f->workload.requests);
    fixture_done(f);
}

/* The ids of a prompt, read back from its wire form. */
static size_t read_ids(const struct fixture *f, size_t request, uint32_t *ids, size_t cap)
{
    struct buf json = {0};
    size_t n = 0;
    workload_prompt_write(&f->workload, &f->workload.requests[request].prompt, &json);
    for (const char *at = buf_cstr(&json); *at != '\0'; at++) {
        if (*at == '[' || *at == ',')
            ids[n++] = 0;
        else if (*at >= '0' && *at <= '9')
            ids[n - 1] = ids[n - 1] * 10 + (uint32_t)(*at - '0');
        assert_true(n <= cap);
    }
    buf_done(&json);
    return n;
}

/* Fixed lengths draw nothing, so the offsets are the first draws, as for texts: the prompts of the
 * recorded case start with the same tokens. */
static void test_id_prompts_are_runs_from_the_same_offsets(void **state)
{
    struct fixture f;
    struct token_ids text_ids = {0};
    (void)state;
    init(&f);
    f.config.prompt_token_ids = true;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 4);
    /* "atorySTAR buglist..." is what the first run decodes to (tests/data/datasets/random.prompts). */
    assert_true(tokenizer_encode(f.tokenizer, SV_LIT("atorySTAR"), false, &text_ids, &f.err));
    for (size_t i = 0; i < 4; i++) {
        uint32_t ids[24];
        assert_int_equal(read_ids(&f, i, ids, 24), 24);
        for (size_t k = 1; k < 24; k++)
            assert_int_equal(ids[k], ids[0] + k);
        if (i == 0)
            assert_int_equal(ids[0], text_ids.items[0]);
        assert_int_equal(f.workload.requests[i].prompt_len, 24);
        assert_int_equal(f.workload.requests[i].output_len, 8);
        assert_true(f.workload.requests[i].due_offset_ns == UINT64_MAX);
    }
    token_ids_done(&text_ids);
    fixture_done(&f);
}

static void test_id_prompts_share_the_prefix(void **state)
{
    struct fixture f;
    uint32_t a[30];
    uint32_t b[30];
    (void)state;
    init(&f);
    f.config.prompt_token_ids = true;
    f.config.random_prefix_len = 6;
    assert_true(fixture_build(&f));
    assert_int_equal(read_ids(&f, 0, a, 30), 30);
    assert_int_equal(read_ids(&f, 3, b, 30), 30);
    assert_memory_equal(a, b, 6 * sizeof(*a));
    assert_int_not_equal(a[6], b[6]);
    assert_int_equal(f.workload.requests[0].prompt_len, 30);
    fixture_done(&f);
}

/* 24 tokens, ratio 0.75: warm prompts start with 18 shared ids (the recorded Rust run: 18 shared, then 6 in a row). */
static void test_cache_mode_has_warm_and_cold_prompts(void **state)
{
    struct fixture f;
    size_t warm = 0;
    (void)state;
    init(&f);
    f.config.prompt_token_ids = true;
    f.config.num_prompts = 400;
    f.config.random_cache_hit_fraction = 0.5;
    f.config.random_cache_ratio = 0.75;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.prefix_count, 18);
    for (size_t i = 0; i < 400; i++) {
        const struct prompt *p = &f.workload.requests[i].prompt;
        assert_true(p->prefix_len == 0 || p->prefix_len == 18);
        assert_int_equal(p->prefix_len + p->run_len, 24);
        warm += p->prefix_len > 0;
    }
    assert_in_range(warm, 150, 250);
    fixture_done(&f);
}

static void test_one_cache_flag_alone_is_off(void **state)
{
    struct fixture f;
    (void)state;
    init(&f);
    f.config.random_cache_ratio = 0.5;
    assert_true(fixture_build(&f));
    fixture_done(&f);
    init(&f);
    f.config.random_cache_ratio = 0.5;
    f.config.random_cache_hit_fraction = 0.5;
    expect_error(&f, "need --prompt-token-ids");
}

static void test_max_model_len_keeps_equality(void **state)
{
    struct fixture f;
    (void)state;
    init(&f);
    f.config.max_model_len = 32; /* 24 + 8 */
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.count, 4);
    fixture_done(&f);
    init(&f);
    f.config.max_model_len = 31;
    expect_error(&f, "--max-model-len 31");
}

static void test_max_model_len_drops_long_ones(void **state)
{
    struct fixture f;
    (void)state;
    init(&f);
    f.config.num_prompts = 100;
    f.config.random_range_ratio_input = 0.5; /* 12 to 36 */
    f.config.max_model_len = 32;
    f.config.prompt_token_ids = true;
    assert_true(fixture_build(&f));
    assert_in_range(f.workload.count, 20, 80);
    for (size_t i = 0; i < f.workload.count; i++)
        assert_true(f.workload.requests[i].prompt_len <= 24);
    assert_non_null(strstr(buf_cstr(&f.notices), "too long"));
    fixture_done(&f);
}

static void test_impossible_settings_are_refused(void **state)
{
    struct fixture f;
    (void)state;
    init(&f);
    f.config.random_input_len = 0;
    expect_error(&f, "--random-input-len 0 is too small");
    init(&f);
    f.config.num_prompts = 0;
    expect_error(&f, "--num-prompts");
    init(&f);
    f.config.dataset_path = "x.jsonl";
    expect_error(&f, "takes no --dataset-path");
    fixture_init(&f, "random");
    expect_error(&f, "needs a tokenizer");
    fixture_init(&f, "random");
    f.config.prompt_token_ids = true;
    expect_error(&f, "give --tokenizer");
    fixture_init(&f, "hf");
    expect_error(&f, "--dataset-path is needed");
}

static void test_no_prompt_but_a_prefix_is_fine(void **state)
{
    struct fixture f;
    (void)state;
    init(&f);
    f.config.random_input_len = 0;
    f.config.random_prefix_len = 5;
    f.config.prompt_token_ids = true;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.requests[2].prompt_len, 5);
    fixture_done(&f);
}

/* A server whose tokens are bytes: /detokenize makes letters of ids, /tokenize the ids of letters. */
static bool letters(void *user, const char *path, struct sv body, struct buf *reply,
                    struct error *err)
{
    unsigned *calls = user;
    (void)err;
    ++*calls;
    if (strcmp(path, "/tokenize") == 0) {
        const char *prompt = memmem(body.ptr, body.len, "\"prompt\":\"", 10);
        assert_non_null(prompt);
        buf_add_str(reply, "{\"tokens\":[");
        prompt += 10;
        for (bool first = true; *prompt != '"'; prompt++, first = false)
            buf_add_fmt(reply, first ? "%d" : ",%d", *prompt);
        buf_add_str(reply, "]}");
        return true;
    }
    struct buf copy = {0}; /* with a NUL behind it, as atoll wants */
    buf_add(&copy, body);
    const char *text = buf_cstr(&copy);
    buf_add_str(reply, "{\"prompt\":\"");
    for (size_t i = sv_find(body, '['); i < body.len; i++)
        if (text[i] == '[' || text[i] == ',')
            buf_add_char(reply, (char)('a' + atoll(text + i + 1) % 26));
    buf_add_str(reply, "\"}");
    buf_done(&copy);
    return true;
}

static void test_text_through_the_servers_tokenizer(void **state)
{
    struct fixture f;
    unsigned calls = 0;
    (void)state;
    fixture_init(&f, "random");
    struct tokenizer_server server = {letters, &calls, "http://h", 1};
    f.tokenizer = tokenizer_new_remote("m", &server, &f.err);
    assert_non_null(f.tokenizer);
    assert_true(fixture_build(&f));
    /* One probe, then for every prompt one detokenize and one tokenize, as the lengths agree. */
    assert_int_equal(calls, 1 + 2 * 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(f.workload.requests[i].prompt_len, 24);
        assert_int_equal(f.workload.requests[i].prompt.json.len, 26);
    }
    fixture_done(&f);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(dataset_canonical_name("random"), "random");
    assert_string_equal(dataset_canonical_name("custom_mm"), "custom_image");
    assert_string_equal(dataset_canonical_name("speed_bench"), "speed-bench");
    assert_string_equal(dataset_canonical_name("prefix-repetition"), "prefix_repetition");
    assert_null(dataset_canonical_name("nothing"));
}

static void test_who_needs_a_tokenizer(void **state)
{
    struct config config = {.dataset_name = "random", .skip_tokenizer_init = true};
    (void)state;
    assert_true(dataset_needs_tokenizer(&config));
    config.dataset_name = "custom";
    assert_false(dataset_needs_tokenizer(&config));
    config.skip_tokenizer_init = false;
    assert_true(dataset_needs_tokenizer(&config));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id_prompts_are_runs_from_the_same_offsets),
        cmocka_unit_test(test_id_prompts_share_the_prefix),
        cmocka_unit_test(test_cache_mode_has_warm_and_cold_prompts),
        cmocka_unit_test(test_one_cache_flag_alone_is_off),
        cmocka_unit_test(test_max_model_len_keeps_equality),
        cmocka_unit_test(test_max_model_len_drops_long_ones),
        cmocka_unit_test(test_impossible_settings_are_refused),
        cmocka_unit_test(test_no_prompt_but_a_prefix_is_fine),
        cmocka_unit_test(test_text_through_the_servers_tokenizer),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_who_needs_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
