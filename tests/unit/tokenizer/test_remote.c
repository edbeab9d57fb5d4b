/* Tests of the tokenizer that asks the server: what is posted, what is understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/tokenizer.h"

/* A server that answers with a fixed text. */
struct fake {
    const char *reply; /* NULL: the request fails */
    char path[32];
    struct buf body;
};

static bool post(void *user, const char *path, struct sv body, struct buf *reply, struct error *err)
{
    struct fake *fake = user;
    assert_true(strlen(path) < sizeof(fake->path));
    memcpy(fake->path, path, strlen(path) + 1);
    buf_reset(&fake->body);
    buf_add(&fake->body, body);
    if (fake->reply == NULL)
        return error_set(err, E_SERVER, "HTTP 404");
    buf_add_str(reply, fake->reply);
    return true;
}

static void test_probe_estimates_the_vocabulary(void **state)
{
    struct fake fake = {.reply = "{\"count\":2,\"tokens\":[100000,70000]}"};
    struct error err;
    (void)state;
    struct tokenizer *t = tokenizer_new_remote("m", post, &fake, &err);
    assert_non_null(t);
    assert_string_equal(fake.path, "/tokenize");
    assert_string_equal(buf_cstr(&fake.body), "{\"model\":\"m\",\"prompt\":\"test\"}");
    assert_int_equal(tokenizer_vocab_size(t), 200000);
    assert_true(tokenizer_is_remote(t));
    assert_false(tokenizer_is_special(t, 0));
    assert_int_equal(tokenizer_special_count(t), 0);
    tokenizer_free(t);
    fake.reply = "{\"tokens\":[5]}";
    t = tokenizer_new_remote("m", post, &fake, &err);
    assert_non_null(t);
    assert_int_equal(tokenizer_full_size(t), 131072);
    tokenizer_free(t);
    buf_done(&fake.body);
}

static void test_encode_and_decode_ask_the_server(void **state)
{
    struct fake fake = {.reply = "{\"tokens\":[1]}"};
    struct error err;
    struct token_ids ids = {0};
    struct buf text = {0};
    (void)state;
    struct tokenizer *t = tokenizer_new_remote("a\"b", post, &fake, &err);
    assert_non_null(t);
    fake.reply = " { \"other\" : [9], \"tokens\" : [7, 8 , 9] } ";
    assert_true(tokenizer_encode(t, sv_from("x\ny"), false, &ids, &err));
    assert_string_equal(buf_cstr(&fake.body), "{\"model\":\"a\\\"b\",\"prompt\":\"x\\ny\","
                                              "\"add_special_tokens\":false}");
    assert_int_equal(ids.count, 3);
    assert_int_equal(ids.items[2], 9);
    fake.reply = "{\"prompt\":\"caf\\u00e9\"}";
    assert_true(tokenizer_decode(t, ids.items, ids.count, false, &text, &err));
    assert_string_equal(fake.path, "/detokenize");
    assert_string_equal(buf_cstr(&fake.body), "{\"model\":\"a\\\"b\",\"tokens\":[7,8,9]}");
    assert_string_equal(buf_cstr(&text), "caf\xC3\xA9");
    buf_done(&text);
    buf_done(&fake.body);
    token_ids_done(&ids);
    tokenizer_free(t);
}

static void test_bad_answers_are_errors(void **state)
{
    static const char *const replies[] = {NULL,
                                          "",
                                          "[]",
                                          "{}",
                                          "{\"tokens\":3}",
                                          "{\"tokens\":[-1]}",
                                          "{\"tokens\":[1",
                                          "{\"tokens\":[\"a\"]}"};
    (void)state;
    for (size_t i = 0; i < sizeof(replies) / sizeof(replies[0]); i++) {
        struct fake fake = {.reply = replies[i]};
        struct error err = {0};
        assert_null(tokenizer_new_remote("m", post, &fake, &err));
        assert_int_equal(err.code, E_SERVER);
        buf_done(&fake.body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_estimates_the_vocabulary),
        cmocka_unit_test(test_encode_and_decode_ask_the_server),
        cmocka_unit_test(test_bad_answers_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
