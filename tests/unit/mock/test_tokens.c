/* The mock tokenizer: ids by the rules of its header, and that text and ids give each other back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mock/tokens.h"

static void check_ids(const char *text, const uint32_t *ids, size_t count)
{
    struct mock_tokens tokens = {0};
    assert_int_equal(mock_tokens_encode(sv_from(text), &tokens), count);
    assert_int_equal(mock_tokens_encode(sv_from(text), NULL), count);
    assert_int_equal(tokens.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(tokens.ids[i], ids[i]);
    mock_tokens_done(&tokens);
}

static void test_ids_follow_the_rules(void **state)
{
    (void)state;
    check_ids("", NULL, 0);
    check_ids("A", (const uint32_t[]){65}, 1);
    check_ids("\xc3\xa9", (const uint32_t[]){0xc3, 0xa9}, 2);
    /* pairs: 256 + 26 * first + second; te = 19, 4; st = 18, 19 */
    check_ids("test", (const uint32_t[]){256 + 26 * 19 + 4, 256 + 26 * 18 + 19}, 2);
    check_ids("abc", (const uint32_t[]){256 + 1, 'c'}, 2);
    /* " a" is the first word, " about" the second */
    check_ids(" a about", (const uint32_t[]){932, 933}, 2);
    check_ids(" aQ", (const uint32_t[]){932, 'Q'}, 2);
    check_ids("  a", (const uint32_t[]){' ', 932}, 2);
}

static void test_longest_word_wins(void **state)
{
    (void)state;
    struct mock_tokens tokens = {0};
    /* " the", " them", " then" are words; " thenn" is " then" and "n" */
    assert_int_equal(mock_tokens_encode(SV_LIT(" then"), &tokens), 1);
    assert_int_equal(mock_tokens_encode(SV_LIT(" thenn"), &tokens), 2);
    assert_int_equal(tokens.ids[1], tokens.ids[0]);
    assert_int_equal(tokens.ids[2], 'n');
    mock_tokens_done(&tokens);
}

static void test_every_id_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (uint32_t id = 0; id < MOCK_TOKEN_MEDIA; id++) {
        struct buf text = {0};
        struct mock_tokens back = {0};
        mock_tokens_decode(id, &text);
        assert_int_equal(mock_tokens_encode(buf_sv(&text), &back), 1);
        assert_int_equal(back.ids[0], id);
        mock_tokens_done(&back);
        buf_done(&text);
    }
}

static void test_ids_past_the_end_begin_again(void **state)
{
    (void)state;
    struct buf text = {0};
    mock_tokens_decode(MOCK_TOKENS_COUNT + (uint64_t)'x', &text);
    assert_true(sv_eq(buf_sv(&text), SV_LIT("x")));
    buf_done(&text);
}

static void test_words_in_any_order_are_one_token_each(void **state)
{
    (void)state;
    struct buf text = {0};
    for (size_t i = 0; i < 2000; i++)
        buf_add(&text, mock_tokens_word(i * 37));
    assert_int_equal(mock_tokens_encode(buf_sv(&text), NULL), 2000);
    buf_done(&text);
}

static uint64_t next_random(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *x >> 33;
}

/* As a client does it: tokenize, cut or fill up to the wanted length, detokenize, until it fits. */
static void test_random_prompts_settle(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int prompt = 0; prompt < 50; prompt++) {
        struct mock_tokens ids = {0};
        int rounds = 0;
        const size_t want = 300;
        for (size_t i = 0; i < want; i++)
            mock_tokens_add(&ids, (uint32_t)(next_random(&seed) % MOCK_TOKENS_COUNT));
        for (;;) {
            struct buf text = {0};
            for (size_t i = 0; i < ids.count; i++)
                mock_tokens_decode(ids.ids[i], &text);
            ids.count = 0;
            mock_tokens_encode(buf_sv(&text), &ids);
            buf_done(&text);
            if (ids.count == want)
                break;
            assert_true(++rounds < 10);
            while (ids.count < want)
                mock_tokens_add(&ids, (uint32_t)(next_random(&seed) % MOCK_TOKENS_COUNT));
            ids.count = want;
        }
        mock_tokens_done(&ids);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_follow_the_rules),
        cmocka_unit_test(test_longest_word_wins),
        cmocka_unit_test(test_every_id_has_a_text_of_its_own),
        cmocka_unit_test(test_ids_past_the_end_begin_again),
        cmocka_unit_test(test_words_in_any_order_are_one_token_each),
        cmocka_unit_test(test_random_prompts_settle),
    };
    return cmocka_run_group_tests_name("mock_tokens", tests, NULL, NULL);
}
