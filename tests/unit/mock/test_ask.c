/* What the server reads out of request bodies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mock/ask.h"

static void test_completion_fields_are_read(void **state)
{
    (void)state;
    struct mock_ask ask;
    assert_true(mock_ask_parse(
        &ask, false,
        SV_LIT("{\"model\":\"m\",\"prompt\":[5,6,7],\"max_tokens\":12,\"min_tokens\":3,"
               "\"ignore_eos\":true,\"stream\":true,\"logprobs\":null,\"unknown\":{\"a\":[1,2]},"
               "\"stream_options\":{\"include_usage\":true,\"continuous_usage_stats\":true}}")));
    assert_true(sv_eq(ask.model, SV_LIT("m")));
    assert_int_equal(ask.prompt_tokens, 3);
    assert_true(ask.has_max_tokens);
    assert_int_equal(ask.max_tokens, 12);
    assert_int_equal(ask.min_tokens, 3);
    assert_true(ask.ignore_eos && ask.stream && ask.include_usage && ask.continuous_usage);
    assert_false(ask.logprobs);
}

static void test_prompts_count_the_same_in_all_forms(void **state)
{
    (void)state;
    struct mock_ask ask;
    /* " the", " fox" */
    assert_true(mock_ask_parse(&ask, false, SV_LIT("{\"prompt\":\" the fox\"}")));
    assert_int_equal(ask.prompt_tokens, 2);
    assert_true(mock_ask_parse(&ask, false, SV_LIT("{\"prompt\":\" the\\u0020fox\"}")));
    assert_int_equal(ask.prompt_tokens, 2);
    assert_true(mock_ask_parse(&ask, false, SV_LIT("{\"prompt\":[\" the fox\"]}")));
    assert_int_equal(ask.prompt_tokens, 2);
    assert_true(mock_ask_parse(&ask, false, SV_LIT("{\"prompt\":[[1,2]]}")));
    assert_int_equal(ask.prompt_tokens, 2);
    assert_false(mock_ask_parse(&ask, false, SV_LIT("{\"prompt\":[\"a\",\"b\"]}")));
    assert_int_equal(ask.status, 400);
}

static void test_chat_prompts_count_marks_roles_and_text(void **state)
{
    (void)state;
    struct mock_ask ask;
    struct mock_tokens tokens = {0};
    /* start us er \n fox end \n, start as si st an t \n */
    const char *plain = "{\"messages\":[{\"role\":\"user\",\"content\":\" fox\"}]}";
    const char *parts = "{\"messages\":[{\"content\":[{\"type\":\"text\",\"text\":\" fox\"}],"
                        "\"role\":\"user\"}],\"max_completion_tokens\":4}";
    assert_true(mock_ask_parse(&ask, true, sv_from(plain)));
    assert_int_equal(ask.prompt_tokens, 14);
    assert_true(mock_ask_parse(&ask, true, sv_from(parts)));
    assert_int_equal(ask.prompt_tokens, 14);
    assert_int_equal(ask.max_tokens, 4);
    assert_true(mock_ask_tokenize(&ask, sv_from(plain), &tokens));
    assert_int_equal(tokens.count, 14);
    assert_int_equal(tokens.ids[0], MOCK_TOKEN_START);
    assert_int_equal(tokens.ids[5], MOCK_TOKEN_END);
    mock_tokens_done(&tokens);
}

static void test_wrong_types_name_the_parameter(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        const char *param;
    } rows[] = {
        {"{\"prompt\":\"a\",\"max_tokens\":-1}", "max_tokens"},
        {"{\"prompt\":\"a\",\"max_tokens\":0}", "max_tokens"},
        {"{\"prompt\":\"a\",\"max_tokens\":1.5}", "max_tokens"},
        {"{\"prompt\":\"a\",\"max_tokens\":\"8\"}", "max_tokens"},
        {"{\"prompt\":\"a\",\"stream\":1}", "stream"},
        {"{\"prompt\":\"a\",\"stream_options\":[]}", "stream_options"},
        {"{\"prompt\":\"a\",\"n\":2}", "n"},
        {"{\"prompt\":7}", "prompt"},
        {"{\"prompt\":[-7]}", "prompt"},
        {"{\"model\":null,\"prompt\":\"a\"}", "model"},
        {"{\"model\":\"m\"}", "prompt"},
        {"[]", NULL},
        {"", NULL},
        {"{\"prompt\":\"a\"", NULL},
        {"{\"prompt\":\"a\"} x", NULL},
        {"{\"prompt\":\"\\q\"}", NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mock_ask ask;
        assert_false(mock_ask_parse(&ask, false, sv_from(rows[i].body)));
        assert_int_equal(ask.status, 400);
        assert_true(ask.message[0] != '\0');
        if (rows[i].param == NULL)
            assert_null(ask.param);
        else
            assert_string_equal(ask.param, rows[i].param);
    }
}

static void test_detokenize_reads_ids(void **state)
{
    (void)state;
    struct mock_ask ask;
    struct buf text = {0};
    assert_true(
        mock_ask_detokenize(&ask, SV_LIT("{\"model\":\"m\",\"tokens\":[72,105,932]}"), &text));
    assert_true(sv_eq(buf_sv(&text), SV_LIT("Hi a")));
    assert_false(mock_ask_detokenize(&ask, SV_LIT("{\"tokens\":[\"a\"]}"), &text));
    assert_false(mock_ask_detokenize(&ask, SV_LIT("{}"), &text));
    buf_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completion_fields_are_read),
        cmocka_unit_test(test_prompts_count_the_same_in_all_forms),
        cmocka_unit_test(test_chat_prompts_count_marks_roles_and_text),
        cmocka_unit_test(test_wrong_types_name_the_parameter),
        cmocka_unit_test(test_detokenize_reads_ids),
    };
    return cmocka_run_group_tests_name("mock_ask", tests, NULL, NULL);
}
