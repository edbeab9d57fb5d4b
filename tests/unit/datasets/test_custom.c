/* Tests of the data set "custom": what a line may hold, where faults are reported, order, repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "dataset_fixture.h"
#include "datasets/custom_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *text;
    bool per_line;
    const char *want; /* the whole message */
} faults[] = {
    {"{\"prompt\":\"a\"}\n{\"prompt\": \"cut off", false,
     "'f': line 2, column 20: malformed JSON, the line ends too early"},
    {"{\"prompt\":\"a\",}", false, "'f': line 1, column 15: malformed JSON at '}'"},
    {"\n{\"prompt\":\"\xC3\xA9\" x", false, "'f': line 2, column 15: malformed JSON at 'x'"},
    {"{\"prompt\":\"a\"} {}", false, "'f': line 1, column 16: malformed JSON at '{'"},
    {"{\"text\":\"a\"}", false, "'f': line 1: has no 'prompt'"},
    {"{\"prompt\":7}", false, "'f': line 1: 'prompt' is a number, not a string"},
    {"{\"prompt\":null}", false, "'f': line 1: 'prompt' is null, not a string"},
    {"[1]", false,
     "'f': line 1: holds a list, not an object; one {\"prompt\": ...} a line is expected"},
    {"{\"prompt\":\"a\xFF\"}", false, "'f': line 1, column 13: not valid UTF-8"},
    {"", false, "'f' has no rows; one {\"prompt\": ...} a line is expected"},
    {"\xEF\xBB\xBF\r\n \n", false, "'f' has no rows; one {\"prompt\": ...} a line is expected"},
    {"\xFF\xFE{", false, "'f' is UTF-16; save it as UTF-8"},
    {"{\"prompt\":\"a\"}", true,
     "'f': line 1: has no 'output_tokens'; --custom-output-len -1 needs it on every line"},
    {"{\"prompt\":\"a\",\"output_tokens\":\"5\"}", true,
     "'f': line 1: 'output_tokens' is a string, not a number"},
    {"{\"prompt\":\"a\",\"output_tokens\":0}", true,
     "'f': line 1: 'output_tokens' is 0, not a whole number from 1 on"},
    {"{\"prompt\":\"a\",\"output_tokens\":1.5}", true,
     "'f': line 1: 'output_tokens' is 1.5, not a whole number from 1 on"},
};

static void test_faults_name_the_place_and_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(faults); i++) {
        struct custom_rows rows = {0};
        struct error err = {0};
        assert_false(
            custom_rows_parse(sv_from(faults[i].text), "f", faults[i].per_line, &rows, &err));
        assert_string_equal(err.message, faults[i].want);
        custom_rows_done(&rows);
    }
}

static void test_good_lines_in_all_shapes(void **state)
{
    static const char text[] =
        "\xEF\xBB\xBF{\"prompt\":\"one\",\"output_tokens\":5}\r\n"
        "\n"
        " { \"output_tokens\" : 6.0 , \"x\":[{}], \"prompt\" : \"t\\u00e9\\n\" } \n"
        "{\"prompt\":\"first\",\"prompt\":\"last\",\"output_tokens\":7}";
    static const char *const prompts[] = {"one", "t\xC3\xA9\n", "last"};
    struct custom_rows rows = {0};
    struct error err;
    (void)state;
    assert_true(custom_rows_parse(sv_from(text), "f", true, &rows, &err));
    assert_int_equal(rows.count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        struct buf b = {0};
        custom_row_text(&rows.items[i], &b);
        assert_string_equal(buf_cstr(&b), prompts[i]);
        assert_int_equal(rows.items[i].output_tokens, 5 + i);
        buf_done(&b);
    }
    custom_rows_done(&rows);
}

static char path[64];

static void write_rows(const char *text)
{
    struct error err;
    snprintf(path, sizeof(path), "/tmp/test_custom.%ld.jsonl", (long)getpid());
    assert_true(file_write_atomic(path, sv_from(text), &err));
}

static int remove_rows(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void init(struct fixture *f, uint64_t num_prompts)
{
    write_rows(
        "{\"prompt\":\"r0\",\"output_tokens\":10}\n{\"prompt\":\"r1\",\"output_tokens\":11}\n"
        "{\"prompt\":\"r2\",\"output_tokens\":12}\n");
    fixture_init(f, "custom");
    f->config.dataset_path = path;
    f->config.skip_chat_template = true;
    f->config.num_prompts = num_prompts;
    f->tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &f->err);
    assert_non_null(f->tokenizer);
}

/* Rows by their digit. */
static void expect_order(struct fixture *f, const char *digits)
{
    assert_int_equal(f->workload.count, strlen(digits));
    for (size_t i = 0; i < f->workload.count; i++) {
        assert_int_equal(f->workload.requests[i].prompt.json.len, 4);
        assert_int_equal(f->workload.requests[i].prompt.json.ptr[2], digits[i]);
    }
    fixture_done(f);
}

/* vLLM 0.33.0 draws a repeat with random.choice.  CPython 3.11: random.seed(3); x = [0, 1, 2]; random.shuffle(x) ->
 * [1, 2, 0]; random.seed(3); [random.choice(x) for _ in range(4)] -> [1, 0, 0, 1]. */
static void test_shuffle_and_repeats_equal_python(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 7);
    f.config.seed = 3;
    assert_true(fixture_build(&f));
    assert_non_null(strstr(buf_cstr(&f.notices), "4 are repeated"));
    expect_order(&f, "1201001");
}

/* random.seed(0); [random.choice([0, 1, 2]) for _ in range(5)] -> [1, 1, 0, 1, 2]. */
static void test_repeats_without_shuffle_equal_python(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 8);
    f.config.disable_shuffle = true;
    assert_true(fixture_build(&f));
    expect_order(&f, "01211012");
}

static void test_no_oversample_sends_what_there_is(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 8);
    f.config.disable_shuffle = true;
    f.config.no_oversample = true;
    assert_true(fixture_build(&f));
    assert_non_null(strstr(buf_cstr(&f.notices), "--no-oversample"));
    expect_order(&f, "012");
}

static void test_zero_prompts_stands_for_all_rows(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 0);
    f.config.disable_shuffle = true;
    assert_true(fixture_build(&f));
    expect_order(&f, "012");
}

static void test_output_length_per_line(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 2);
    f.config.disable_shuffle = true;
    f.config.custom_output_len = -1;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.requests[0].output_len, 10);
    assert_int_equal(f.workload.requests[1].output_len, 11);
    assert_int_equal(f.workload.requests[1].prompt_len, 2); /* "r", "1" */
    expect_order(&f, "01");
}

static void test_without_tokenizer_lengths_are_one(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 2);
    tokenizer_free(f.tokenizer);
    f.tokenizer = NULL;
    f.config.skip_tokenizer_init = true;
    assert_true(fixture_build(&f));
    assert_int_equal(f.workload.requests[0].prompt_len, 1);
    assert_int_equal(f.workload.requests[0].output_len, 1);
    fixture_done(&f);
}

static void expect_error(struct fixture *f, const char *part)
{
    assert_false(fixture_build(f));
    if (strstr(f->err.message, part) == NULL)
        fail_msg("got '%s'", f->err.message);
    fixture_done(f);
}

static void test_bad_settings_are_refused(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 2);
    f.config.dataset_path = NULL;
    expect_error(&f, "needs --dataset-path");
    init(&f, 2);
    f.config.dataset_path = "rows.json";
    expect_error(&f, ".jsonl files only");
    init(&f, 2);
    f.config.dataset_path = "/nonexistent.jsonl";
    expect_error(&f, "/nonexistent.jsonl");
    init(&f, 2);
    f.config.custom_output_len = 0;
    expect_error(&f, "--custom-output-len");
    init(&f, 2);
    f.config.prompt_token_ids = true;
    expect_error(&f, "--prompt-token-ids");
}

static struct tokenizer *with_template(const char *config, struct error *err)
{
    struct buf json = {0};
    assert_true(file_read(TEST_DATA "/tok-mini/tokenizer.json", &json, err));
    struct tokenizer_files files = {
        .name = "t", .tokenizer_json = buf_sv(&json), .config_json = sv_from(config)};
    struct tokenizer *t = tokenizer_parse(&files, err);
    buf_done(&json);
    return t;
}

static void test_template_beyond_this_version_is_reported(void **state)
{
    struct fixture f;
    (void)state;
    init(&f, 1);
    f.config.skip_chat_template = false;
    f.config.disable_shuffle = true;
    tokenizer_free(f.tokenizer);
    f.tokenizer = with_template("{\"chat_template\":\"{% bogus %}\"}", &f.err);
    assert_true(fixture_build(&f));
    assert_non_null(strstr(buf_cstr(&f.notices), "beyond this version ("));
    expect_order(&f, "0");
    init(&f, 1);
    f.config.skip_chat_template = false;
    f.config.disable_shuffle = true;
    tokenizer_free(f.tokenizer);
    f.tokenizer = with_template("{}", &f.err);
    assert_true(fixture_build(&f));
    assert_non_null(strstr(buf_cstr(&f.notices), "no chat template"));
    expect_order(&f, "0");
}

/* transformers 5.20.2: tok.apply_chat_template([{"role": "user", "content": "r0"}], add_generation_prompt=True,
 * tokenize=False, **kwargs) with the tokenizer of tests/data/tok-mini. */
static void test_arguments_of_the_template_equal_transformers(void **state)
{
    static const char *const rows[][2] = {
        {"{\"chat_template\":\"{{ messages[0].content }}/{{ mode }}/{{ eos_token }}\",\"mode\":3}",
         "\"r0/3/<|im_end|>\""},
        {"{\"chat_template\":\"{{ mode }}{{ eos_token }}\",\"mode\":[1,\"a\"],\"eos_token\":\"E\"}",
         "\"[1, 'a']E\""},
        {"{\"x\":1,\"padding\":true,\"max_length\":1,\"chat_template\":null}",
         "\"<|im_start|>user\\nr0<|im_end|>\\n<|im_start|>assistant\\n\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        init(&f, 1);
        f.config.disable_shuffle = true;
        f.config.skip_chat_template = false;
        f.config.chat_template_kwargs = rows[i][0];
        assert_true(fixture_build(&f));
        struct sv json = f.workload.requests[0].prompt.json;
        if (!sv_eq(json, sv_from(rows[i][1])))
            fail_msg("row %zu: %.*s", i, (int)json.len, json.ptr);
        assert_int_equal(f.notices.len, 0);
        fixture_done(&f);
    }
}

static void test_arguments_that_python_refuses_are_refused(void **state)
{
    static const char *const rows[][2] = {
        {"{\"continue_final_message\":true}", "'continue_final_message' does not go with"},
        {"{\"tokenize\":true}", "'tokenize' cannot be given"},
        {"{\"messages\":1}", "'messages' cannot be given"},
        {"{\"tools\":[1]}", "'tools' must be a list of objects"},
        {"{\"chat_template\":7}", "'chat_template' must be the text of a template"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fixture f;
        init(&f, 1);
        f.config.skip_chat_template = false;
        f.config.chat_template_kwargs = rows[i][0];
        assert_false(fixture_build(&f));
        assert_int_equal(f.err.code, E_CONFIG);
        assert_non_null(strstr(f.err.message, "--chat-template-kwargs: "));
        assert_non_null(strstr(f.err.message, rows[i][1]));
        fixture_done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments_of_the_template_equal_transformers),
        cmocka_unit_test(test_arguments_that_python_refuses_are_refused),
        cmocka_unit_test(test_faults_name_the_place_and_the_reason),
        cmocka_unit_test(test_good_lines_in_all_shapes),
        cmocka_unit_test(test_shuffle_and_repeats_equal_python),
        cmocka_unit_test(test_repeats_without_shuffle_equal_python),
        cmocka_unit_test(test_no_oversample_sends_what_there_is),
        cmocka_unit_test(test_zero_prompts_stands_for_all_rows),
        cmocka_unit_test(test_output_length_per_line),
        cmocka_unit_test(test_without_tokenizer_lengths_are_one),
        cmocka_unit_test(test_bad_settings_are_refused),
        cmocka_unit_test(test_template_beyond_this_version_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, remove_rows);
}
