/* Tests of the tokenizer that asks the server: what is posted, what is understood. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/remote_cache.h"
#include "tokenizer/tokenizer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* A server that answers with a fixed text. */
struct fake {
    const char *reply; /* NULL: the request fails */
    char path[32];
    struct buf body;
    unsigned calls;
};

static bool post(void *user, const char *path, struct sv body, struct buf *reply, struct error *err)
{
    struct fake *fake = user;
    fake->calls++;
    assert_true(strlen(path) < sizeof(fake->path));
    memcpy(fake->path, path, strlen(path) + 1);
    buf_reset(&fake->body);
    buf_add(&fake->body, body);
    if (fake->reply == NULL)
        return error_set(err, E_SERVER, "HTTP 404");
    buf_add_str(reply, fake->reply);
    return true;
}

static struct tokenizer *ask(const char *model, struct fake *fake, struct error *err)
{
    struct tokenizer_server server = {post, fake, "http://h:1/p", 1};
    return tokenizer_new_remote(model, &server, err);
}

static void test_probe_estimates_the_vocabulary(void **state)
{
    struct fake fake = {.reply = "{\"count\":2,\"tokens\":[100000,70000]}"};
    struct error err;
    (void)state;
    struct tokenizer *t = ask("m", &fake, &err);
    assert_non_null(t);
    assert_string_equal(fake.path, "/tokenize");
    assert_string_equal(buf_cstr(&fake.body), "{\"model\":\"m\",\"prompt\":\"test\"}");
    assert_int_equal(tokenizer_vocab_size(t), 200000);
    assert_true(tokenizer_is_remote(t));
    assert_false(tokenizer_is_special(t, 0));
    assert_int_equal(tokenizer_special_count(t), 0);
    tokenizer_free(t);
    fake.reply = "{\"tokens\":[5]}";
    t = ask("m", &fake, &err);
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
    struct tokenizer *t = ask("a\"b", &fake, &err);
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
        assert_null(ask("m", &fake, &err));
        assert_int_equal(err.code, E_SERVER);
        buf_done(&fake.body);
    }
}

static void test_an_answer_that_makes_no_sense_is_shown(void **state)
{
    struct fake fake = {.reply = "<html>\n\xFF nginx\x1b[2J</html>"};
    struct error err = {0};
    char long_reply[600];
    (void)state;
    assert_null(ask("m", &fake, &err));
    assert_string_equal(err.message,
                        "tokenizing on the server: POST http://h:1/p/tokenize: HTTP 200, but the "
                        "answer has no usable 'tokens': '<html> \xEF\xBF\xBD nginx [2J</html>'");
    memset(long_reply, 'x', sizeof(long_reply));
    memcpy(long_reply + 199, "\xC3\xA4", 2); /* a character across the cut goes as a whole */
    long_reply[599] = '\0';
    fake.reply = long_reply;
    assert_null(ask("m", &fake, &err));
    const char *shown = strstr(err.message, "'xxx");
    assert_non_null(shown);
    assert_int_equal(strlen(shown), 1 + 199 + 3 + 1);
    assert_string_equal(shown + 198, "xx...'");
    buf_done(&fake.body);
}

static void test_what_was_asked_is_not_asked_again(void **state)
{
    struct fake fake = {.reply = "{\"tokens\":[5,6,70000]}"};
    struct error err = {0};
    struct token_ids ids = {0};
    struct buf text = {0};
    (void)state;
    struct tokenizer *t = ask("m", &fake, &err);
    assert_non_null(t);
    for (int i = 0; i < 3; i++)
        assert_true(tokenizer_encode(t, sv_from("x"), false, &ids, &err));
    assert_int_equal(fake.calls, 2); /* the probe, then once */
    assert_int_equal(ids.count, 9);
    assert_int_equal(ids.items[8], 70000);
    assert_true(tokenizer_encode(t, sv_from("x"), true, &ids, &err));
    assert_int_equal(fake.calls, 3); /* another question */
    fake.reply = "{\"tokens\":[]}";
    assert_true(tokenizer_encode(t, sv_from(""), false, &ids, &err));
    fake.reply = "{\"prompt\":\"y\"}";
    assert_true(tokenizer_decode(t, ids.items, 1, false, &text, &err));
    assert_true(tokenizer_decode(t, ids.items, 1, true, &text, &err));
    assert_true(tokenizer_decode(t, ids.items, 2, false, &text, &err));
    assert_int_equal(fake.calls, 6);
    assert_string_equal(buf_cstr(&text), "yyy");
    fake.reply = NULL; /* a failure is not kept, what was appended before stays */
    assert_false(tokenizer_encode(t, sv_from("z"), false, &ids, &err));
    assert_int_equal(ids.count, 12);
    fake.reply = "{\"tokens\":[1]}";
    assert_true(tokenizer_encode(t, sv_from("z"), false, &ids, &err));
    tokenizer_free(t);
    token_ids_done(&ids);
    buf_done(&text);
    buf_done(&fake.body);
}

/* A server that answers a question only once `wanted` are under way; the token is the prompt's first letter. */
struct gathering {
    pthread_mutex_t lock;
    pthread_cond_t all;
    unsigned wanted, waiting, most, calls;
};

static bool gather(void *user, const char *path, struct sv body, struct buf *reply,
                   struct error *err)
{
    struct gathering *g = user;
    struct timespec end;
    (void)path;
    (void)err;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 20;
    pthread_mutex_lock(&g->lock);
    g->calls++;
    g->waiting++;
    g->most = g->waiting > g->most ? g->waiting : g->most;
    if (g->waiting >= g->wanted)
        pthread_cond_broadcast(&g->all);
    while (g->most < g->wanted && pthread_cond_timedwait(&g->all, &g->lock, &end) == 0)
        continue;
    g->waiting--;
    pthread_mutex_unlock(&g->lock);
    const char *prompt = memmem(body.ptr, body.len, "\"prompt\":\"", 10);
    assert_non_null(prompt);
    buf_add_fmt(reply, "{\"tokens\":[%d]}", prompt[10]);
    return true;
}

static void test_as_many_questions_at_a_time_as_connections(void **state)
{
    enum { TEXTS = 24 };
    struct gathering g = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = PTHREAD_COND_INITIALIZER};
    struct tokenizer_server server = {gather, &g, "http://h", 4};
    struct error err = {0};
    struct sv texts[TEXTS];
    struct token_ids ids[TEXTS] = {{0}};
    (void)state;
    struct tokenizer *t = tokenizer_new_remote("m", &server, &err);
    assert_non_null(t);
    assert_int_equal(tokenizer_connections(t), 4);
    g.wanted = 4;
    for (size_t i = 0; i < TEXTS; i++)
        texts[i] = sv_make(&"abcdefghijklmnopqrstuvwxyz"[i], 1);
    assert_true(tokenizer_encode_many(t, texts, TEXTS, false, 0, ids, &err));
    assert_int_equal(g.most, 4);
    assert_int_equal(g.calls, 1 + TEXTS);
    for (size_t i = 0; i < TEXTS; i++) {
        assert_int_equal(ids[i].count, 1);
        assert_int_equal(ids[i].items[0], 'a' + (int)i);
        token_ids_done(&ids[i]);
    }
    tokenizer_free(t);
}

/* ---- the cache ---------------------------------------------------------------------------------------------------- */

static bool knows(struct remote_cache *c, const char *key, const char *answer)
{
    struct buf got = {0};
    bool found = remote_cache_get(c, sv_from(key), &got);
    if (found)
        assert_string_equal(buf_cstr(&got), answer);
    buf_done(&got);
    return found;
}

static void test_the_cache_drops_what_was_not_used_for_longest(void **state)
{
    struct remote_cache c;
    char key[16];
    (void)state;
    remote_cache_init(&c, 4096);
    assert_false(knows(&c, "k0", ""));
    for (int i = 0; i < 10; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        remote_cache_put(&c, sv_from(key), sv_from("value"));
    }
    size_t each = c.bytes / 10;
    assert_true(knows(&c, "k0", "value"));
    remote_cache_put(&c, sv_from("k1"), sv_from("another")); /* the first answer stays */
    assert_true(knows(&c, "k1", "value"));
    assert_int_equal(c.count, 10);
    for (int i = 10; i < 100; i++) {
        snprintf(key, sizeof(key), "K%d", i);
        remote_cache_put(&c, sv_from(key), sv_from("val"));
        assert_true(c.bytes <= 4096);
        assert_true(knows(&c, "k0", "value")); /* used all the time */
    }
    assert_false(knows(&c, "k2", ""));
    assert_false(knows(&c, "k1", ""));
    assert_true(knows(&c, "K99", "val"));
    assert_true(c.bytes > 4096 - 2 * each); /* and not one more than is needed */
    remote_cache_done(&c);
}

static void test_the_cache_keeps_no_giants(void **state)
{
    struct remote_cache c;
    char *large = calloc(1, 2000);
    (void)state;
    remote_cache_init(&c, 8000);
    memset(large, 'x', 1999);
    remote_cache_put(&c, sv_from("small"), sv_from(""));
    remote_cache_put(&c, sv_from("large"), sv_from(large));
    remote_cache_put(&c, sv_from(large), sv_from("large"));
    assert_int_equal(c.count, 1);
    assert_true(knows(&c, "small", ""));
    remote_cache_done(&c);
    remote_cache_init(&c, 0);
    remote_cache_put(&c, sv_from("a"), sv_from("b"));
    assert_false(knows(&c, "a", ""));
    remote_cache_done(&c);
    free(large);
}

static void test_the_cache_grows_with_its_entries(void **state)
{
    struct remote_cache c;
    char key[16];
    (void)state;
    remote_cache_init(&c, 1 << 22);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 5000; i++) {
            snprintf(key, sizeof(key), "%d", i);
            if (round == 0)
                remote_cache_put(&c, sv_from(key), sv_from(key));
            else
                assert_true(knows(&c, key, key));
        }
    }
    assert_int_equal(c.count, 5000);
    remote_cache_done(&c);
}

static void *hammer(void *cache)
{
    char key[16];
    for (int i = 0; i < 4000; i++) {
        snprintf(key, sizeof(key), "%d", i * 7919 % 300);
        struct buf got = {0};
        if (!remote_cache_get(cache, sv_from(key), &got))
            remote_cache_put(cache, sv_from(key), sv_from(key));
        else if (!sv_eq(buf_sv(&got), sv_from(key)))
            return cache;
        buf_done(&got);
    }
    return NULL;
}

static void test_threads_share_the_cache(void **state)
{
    struct remote_cache c;
    pthread_t threads[4];
    (void)state;
    remote_cache_init(&c, 10000);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &c), 0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_true(c.bytes <= 10000);
    remote_cache_done(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe_estimates_the_vocabulary),
        cmocka_unit_test(test_encode_and_decode_ask_the_server),
        cmocka_unit_test(test_bad_answers_are_errors),
        cmocka_unit_test(test_an_answer_that_makes_no_sense_is_shown),
        cmocka_unit_test(test_what_was_asked_is_not_asked_again),
        cmocka_unit_test(test_as_many_questions_at_a_time_as_connections),
        cmocka_unit_test(test_the_cache_drops_what_was_not_used_for_longest),
        cmocka_unit_test(test_the_cache_keeps_no_giants),
        cmocka_unit_test(test_the_cache_grows_with_its_entries),
        cmocka_unit_test(test_threads_share_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
