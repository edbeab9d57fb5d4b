/* Tests of the whole pipeline.  Ids and texts of tok-mini come from HF tokenizers 0.23.3 (Python wheel); the small
 * hand-made tokenizers follow that library's rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "tokenizer/load.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FFFD         "\xEF\xBF\xBD"

static struct tokenizer *mini;

static int load_mini(void **state)
{
    struct error err;
    (void)state;
    mini = tokenizer_load(TEST_DATA "/tok-mini", &err);
    return mini != NULL ? 0 : -1;
}

static int free_mini(void **state)
{
    (void)state;
    tokenizer_free(mini);
    return 0;
}

static const struct {
    const char *text;
    uint32_t ids[20];
    size_t count;
} encoded[] = {
    {"", {0}, 0},
    {"Hello, world!", {3831, 363, 11, 4022, 0}, 5},
    {"it's they'll I'm we've 'tis DON'T",
     {275, 913, 1842, 6639, 333, 6, 76, 803, 6776, 318, 83, 273, 400, 534, 6, 51},
     16},
    {"a  b   c\n\n  d\t e \n", {64, 220, 296, 256, 277, 1302, 314, 197, 311, 220, 198}, 11},
    {"   ", {258}, 1},
    {"x ", {87, 220}, 2},
    {"caf\xC3\xA9 na\xC3\xAFve \xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E \xF0\x9F\x98\x80",
     {756, 5760, 6813, 127, 107, 374, 5936, 5774, 5804, 5819},
     10},
    {"12345 \xC2\xBD \xE0\xA5\xA8 10,000.5",
     {1030, 3448, 20, 938, 121, 220, 156, 98, 101, 1735, 11, 3003, 13, 20},
     14},
    {"<|im_start|>user\nhi<|im_end|>", {8190, 1968, 198, 2890, 8191}, 5},
    {"<|endoftext|><|endoftext|>", {8189, 8189}, 2},
    {"\xC2\xA0\xE3\x80\x80\xE2\x80\x83x\xE1\xA0\x8Ey\xE2\x80\x8Bz",
     {126, 254, 3058, 222, 1635, 225, 87, 157, 254, 236, 88, 1635, 233, 89},
     14},
    {"foo(bar)[0] == {'k': \"v\"};",
     {4431, 7, 3938, 4083, 15, 60, 595, 4274, 74, 520, 379, 85, 1, 92, 26},
     15},
    {"' 's 'r 're", {6, 318, 82, 318, 81, 318, 263}, 7},
    {"\xCC\x81"
     "a\xCC\x81",
     {136, 223, 64, 136, 223},
     5},
    {"                                                                      x",
     {2368, 2368, 881, 1079},
     4},
};

static void expect_ids(const struct tokenizer *t, const char *text, bool special,
                       const uint32_t *want, size_t count)
{
    struct token_ids ids = {0};
    struct error err;
    assert_true(tokenizer_encode(t, sv_from(text), special, &ids, &err));
    assert_int_equal(ids.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids.items[i], want[i]);
    token_ids_done(&ids);
}

static void test_encode_equals_reference(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(encoded); i++)
        expect_ids(mini, encoded[i].text, false, encoded[i].ids, encoded[i].count);
}

static void test_long_word_equals_reference(void **state)
{
    (void)state;
    char text[97];
    uint32_t want[48];
    memset(text, 'a', 96);
    text[96] = '\0';
    for (size_t i = 0; i < 48; i++)
        want[i] = 7340;
    expect_ids(mini, text, true, want, 48);
}

static void expect_text(const struct tokenizer *t, const uint32_t *ids, size_t count, bool skip,
                        const char *want)
{
    struct buf out = {0};
    struct error err;
    buf_add_str(&out, "+"); /* decode appends */
    assert_true(tokenizer_decode(t, ids, count, skip, &out, &err));
    assert_string_equal(buf_cstr(&out) + 1, want);
    buf_done(&out);
}

static void test_decode_equals_reference(void **state)
{
    static const uint32_t first[] = {4185, 5874, 475,  7628, 4080, 849,
                                     2569, 1854, 6091, 7685, 4039, 6238};
    static const uint32_t second[] = {2976, 3225, 6278, 4895, 353,  5917,
                                      6797, 2719, 2387, 4322, 1067, 5437};
    (void)state;
    expect_text(mini, first, 12, false,
                " seconds\xD0\xBE\xD1\x88 Mjoerqualname license mat directory "
                "Publiclyremain exceptionsurrent");
    expect_text(mini, second, 12, false,
                "air suffix blocking mightra\xC3\x9F"
                "egwinoutputprocess JanLIstyle");
}

static void test_decode_repairs_utf8_once_over_all_tokens(void **state)
{
    (void)state;
    expect_text(mini, (const uint32_t[]){171, 123}, 2, false, FFFD);
    expect_text(mini, (const uint32_t[]){171, 8191, 123, 121}, 4, false,
                FFFD "<|im_end|>" FFFD FFFD);
    expect_text(mini, (const uint32_t[]){171, 8191, 123, 121}, 4, true, FFFD);
}

static void test_decode_drops_unknown_ids_and_skipped_specials(void **state)
{
    (void)state;
    expect_text(mini, (const uint32_t[]){8190, 72, 9999, 8191}, 4, false,
                "<|im_start|>i<|im_end|>");
    expect_text(mini, (const uint32_t[]){8190, 72, 9999, 8191}, 4, true, "i");
    expect_text(mini, NULL, 0, false, "");
}

static void test_sizes_and_specials_of_mini(void **state)
{
    (void)state;
    assert_int_equal(tokenizer_vocab_size(mini), 8189);
    assert_int_equal(tokenizer_full_size(mini), 8192);
    assert_int_equal(tokenizer_special_count(mini), 0);
    assert_false(tokenizer_is_special(mini, 8188));
    assert_true(tokenizer_is_special(mini, 8189));  /* pad_token */
    assert_false(tokenizer_is_special(mini, 8190)); /* added, but no named one */
    assert_true(tokenizer_is_special(mini, 8191));  /* eos_token */
    assert_false(tokenizer_is_special(mini, 9999));
    assert_false(tokenizer_is_remote(mini));
    assert_non_null(strstr(tokenizer_describe(mini), "8189"));
}

static void test_invalid_utf8_is_read_with_repairs(void **state)
{
    struct token_ids a = {0};
    struct token_ids b = {0};
    struct error err;
    (void)state;
    assert_true(tokenizer_encode(mini, sv_from("x\xFFy"), false, &a, &err));
    assert_true(tokenizer_encode(mini, sv_from("x" FFFD "y"), false, &b, &err));
    assert_int_equal(a.count, b.count);
    assert_memory_equal(a.items, b.items, a.count * sizeof(*a.items));
    token_ids_done(&a);
    token_ids_done(&b);
}

/* Entries a b c d with ids 0-3, space 4; a tokenizer around the given parts. */
static struct tokenizer *small(const char *added, const char *rest, const char *config,
                               struct error *err)
{
    struct buf json = {0};
    buf_add_fmt(&json,
                "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"d\":3,"
                "\"\xC4\xA0\":4},\"merges\":[]},\"added_tokens\":[%s],\"pre_tokenizer\":"
                "{\"type\":\"ByteLevel\",\"add_prefix_space\":false},\"decoder\":"
                "{\"type\":\"ByteLevel\"}%s}",
                added, rest);
    struct tokenizer_files files = {
        .name = "small", .tokenizer_json = buf_sv(&json), .config_json = sv_from(config)};
    struct tokenizer *t = tokenizer_parse(&files, err);
    buf_done(&json);
    return t;
}

#define ADDED(id, content, flags) "{\"id\":" #id ",\"content\":\"" content "\"" flags "}"

static void test_added_tokens_leftmost_then_longest(void **state)
{
    struct error err;
    (void)state;
    struct tokenizer *t =
        small(ADDED(5, "ab", "") "," ADDED(6, "abc", "") "," ADDED(7, "bcd", ""), "", NULL, &err);
    assert_non_null(t);
    expect_ids(t, "abcd", false, (const uint32_t[]){6, 3}, 2);
    expect_ids(t, "abd", false, (const uint32_t[]){5, 3}, 2);
    expect_ids(t, "dbcd", false, (const uint32_t[]){3, 7}, 2);
    tokenizer_free(t);
}

static void test_added_token_flags(void **state)
{
    struct error err;
    (void)state;
    struct tokenizer *t =
        small(ADDED(5, "<l>", ",\"lstrip\":true") "," ADDED(6, "<r>", ",\"rstrip\":true") "," ADDED(
                  7, "<w>", "") "," ADDED(8, "bb", ",\"single_word\":true"),
              "", NULL, &err);
    assert_non_null(t);
    expect_ids(t, "a \n<l> b", false, (const uint32_t[]){0, 5, 4, 1}, 4);
    expect_ids(t,
               "a <r> \xE3\x80\x80"
               "b",
               false, (const uint32_t[]){0, 4, 6, 1}, 4);
    expect_ids(t, "<r> <l>", false, (const uint32_t[]){6, 5}, 2);
    expect_ids(t, "bb abb bb-", false, (const uint32_t[]){8, 4, 0, 1, 1, 4, 8}, 7);
    tokenizer_free(t);
}

static void test_template_and_named_specials(void **state)
{
    struct error err;
    (void)state;
    struct tokenizer *t =
        small(ADDED(5, "<s>", ",\"special\":true") "," ADDED(6, "</s>", ",\"special\":true"),
              ",\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"},"
              "{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<s>\"}},"
              "{\"Sequence\":{\"id\":\"A\"}},{\"SpecialToken\":{\"id\":\"</s>\"}}],"
              "\"special_tokens\":{\"<s>\":{\"ids\":[5]},\"</s>\":{\"ids\":[6]}}}]}",
              "{\"bos_token\":{\"content\":\"<s>\"},\"additional_special_tokens\":[\"d\"]}", &err);
    assert_non_null(t);
    expect_ids(t, "ab", true, (const uint32_t[]){5, 0, 1, 6}, 4);
    expect_ids(t, "ab", false, (const uint32_t[]){0, 1}, 2);
    expect_ids(t, "", true, (const uint32_t[]){5, 6}, 2);
    assert_int_equal(tokenizer_special_count(t), 2);
    assert_true(tokenizer_is_special(t, 5));
    assert_true(tokenizer_is_special(t, 3));
    assert_false(tokenizer_is_special(t, 6));
    tokenizer_free(t);
}

/* transformers 5.20.2 and 5.24.0 give DeepSeek-V3's folder, whose configuration has the flag, no token in front. */
static void test_add_bos_token_of_config_leaves_a_tokenizer_json_alone(void **state)
{
    struct error err;
    (void)state;
    struct tokenizer *t = small(ADDED(5, "<s>", ",\"special\":true"), "",
                                "{\"bos_token\":\"<s>\",\"add_bos_token\":true}", &err);
    assert_non_null(t);
    expect_ids(t, "a", true, (const uint32_t[]){0}, 1);
    tokenizer_free(t);
}

/* transformers 5.20.2, all_special_ids of folders with nothing but a tokenizer.json: [] for GPT-2's, whose <|endoftext|> is
 * flagged as special, and [0] for a MiniLM's with padding by token 0. */
static void test_a_file_alone_names_no_special_token_but_its_padding(void **state)
{
    struct error err;
    (void)state;
    for (int padded = 0; padded < 2; padded++) {
        struct tokenizer *t = small(
            ADDED(5, "<e>", ",\"special\":true") "," ADDED(6, "<p>", ",\"special\":true"),
            padded != 0 ? ",\"padding\":{\"strategy\":{\"Fixed\":4},\"pad_token\":\"<p>\"}" : "",
            NULL, &err);
        assert_non_null(t);
        assert_false(tokenizer_is_special(t, 5));
        assert_int_equal(tokenizer_is_special(t, 6), padded != 0);
        tokenizer_free(t);
    }
}

/* transformers 5.24.0 with Gemma 3's folder, whose configuration names no mask_token: <mask> is in all_special_ids. */
static void test_gemma_class_names_its_mask_token(void **state)
{
    struct error err;
    (void)state;
    for (int gemma = 0; gemma < 2; gemma++) {
        struct tokenizer *t = small(ADDED(5, "<mask>", ""), "",
                                    gemma != 0 ? "{\"tokenizer_class\":\"GemmaTokenizerFast\"}"
                                               : "{\"tokenizer_class\":\"Qwen2Tokenizer\"}",
                                    &err);
        assert_non_null(t);
        assert_int_equal(tokenizer_is_special(t, 5), gemma != 0);
        tokenizer_free(t);
    }
}

static void test_nfc_runs_before_normalized_added_tokens(void **state)
{
    struct error err;
    (void)state;
    struct tokenizer *t = small(ADDED(5, "\xC3\xA9", ",\"normalized\":true"),
                                ",\"normalizer\":{\"type\":\"NFC\"}", NULL, &err);
    assert_non_null(t);
    expect_ids(t,
               "ae\xCC\x81"
               "b",
               false, (const uint32_t[]){0, 5, 1}, 3);
    tokenizer_free(t);
}

static void test_unsupported_and_broken_files_are_named(void **state)
{
    static const struct {
        const char *json;
        const char *part;
    } rows[] = {
        {"{\"model\":{\"type\":\"Odd\",\"vocab\":{}}}", "model 'Odd'"},
        {"{\"model\":{\"type\":\"Unigram\"}}", "no vocab"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", "entry 0"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",-1]],\"unk_id\":1}}", "unk_id"},
        {"{\"model\":{\"type\":\"BPE\",\"dropout\":0.1,\"vocab\":{\"a\":0},\"merges\":[]}}",
         "dropout"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{}}}", "vocab is empty"},
        {"{\"model\":{\"merges\":[],\"vocab\":{\"a\":-1}}}", "'a'"},
        {"{\"model\":{\"merges\":[],\"vocab\":{\"a\":0,\"b\":0}}}", "same id"},
        {"{\"model\":{\"merges\":[],\"vocab\":{\"a\":99999999}}}", "'a'"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", "merge 0"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[\"ab\"]}}", "merge 0"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]},\"normalizer\":{\"type\":\"Odd\"}}",
         "'Odd'"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]},\"decoder\":{\"type\":\"CTC\"}}", "'CTC'"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]},\"pre_tokenizer\":{\"type\":\"Odd\"}}",
         "'Odd'"},
        {"{\"model\":{\"vocab\":{\"a\":0},\"merges\":[]},\"post_processor\":{\"type\":\"Odd\"}}",
         "'Odd'"},
        {"[]", "object"},
        {"{", "tokenizer.json"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err = {0};
        struct tokenizer_files files = {.name = "x", .tokenizer_json = sv_from(rows[i].json)};
        assert_null(tokenizer_parse(&files, &err));
        if (strstr(err.message, rows[i].part) == NULL)
            fail_msg("%s: got '%s'", rows[i].json, err.message);
    }
}

/* The added tokens "ab" (the model's own entry), "c" and "q" must not change what the merges make. */
static const char late_json[] =
    "{\"model\":{\"type\":\"BPE\",\"ignore_merges\":true,"
    "\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"abc\":4},\"merges\":[\"a b\",\"ab c\"%s]},"
    "\"added_tokens\":[{\"id\":5,\"content\":\"q\",\"normalized\":true},"
    "{\"id\":6,\"content\":\"Aa\",\"normalized\":true}],"
    "\"normalizer\":{\"type\":\"Lowercase\"}}";

static struct tokenizer *late_parse(bool late, const char *more, struct error *err)
{
    char json[sizeof(late_json) + 32];
    snprintf(json, sizeof(json), late_json, more);
    struct tokenizer_files files = {.name = "x", .tokenizer_json = sv_from(json), .late = late};
    return tokenizer_parse(&files, err);
}

static void test_late_merges_make_the_same_tokens(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        struct error err = {0};
        struct token_ids ids = {0};
        struct tokenizer *t = late_parse(late != 0, "", &err);
        assert_non_null(t);
        assert_int_equal(tokenizer_vocab_size(t), 5);
        assert_int_equal(tokenizer_full_size(t), 7);
        assert_true(tokenizer_encode(t, sv_from("abcabqcab"), false, &ids, &err));
        static const uint32_t expected[] = {4, 3, 5, 2, 3};
        assert_int_equal(ids.count, COUNT(expected));
        assert_memory_equal(ids.items, expected, sizeof(expected));
        token_ids_done(&ids);
        tokenizer_free(t);
    }
}

static void test_late_merges_of_absent_tokens_fail_the_texts(void **state)
{
    struct error err = {0};
    (void)state;
    assert_null(late_parse(false, ",\"q c\"", &err));
    struct tokenizer *t = late_parse(true, ",\"q c\"", &err);
    assert_non_null(t);
    for (int i = 0; i < 2; i++) {
        struct token_ids ids = {0};
        err = (struct error){0};
        assert_false(tokenizer_encode(t, sv_from("abc"), false, &ids, &err));
        assert_non_null(strstr(err.message, "tokenizer 'x'"));
        assert_non_null(strstr(err.message, "merge 2"));
        assert_int_equal(ids.count, 0);
        token_ids_done(&ids);
    }
    tokenizer_free(t);
}

static void test_missing_file_is_named(void **state)
{
    struct error err = {0};
    (void)state;
    assert_null(tokenizer_load("/nonexistent/tok", &err));
    assert_int_equal(err.code, E_IO);
    assert_non_null(strstr(err.message, "/nonexistent/tok"));
}

static void test_free_of_nothing(void **state)
{
    (void)state;
    tokenizer_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_equals_reference),
        cmocka_unit_test(test_long_word_equals_reference),
        cmocka_unit_test(test_decode_equals_reference),
        cmocka_unit_test(test_decode_repairs_utf8_once_over_all_tokens),
        cmocka_unit_test(test_decode_drops_unknown_ids_and_skipped_specials),
        cmocka_unit_test(test_sizes_and_specials_of_mini),
        cmocka_unit_test(test_invalid_utf8_is_read_with_repairs),
        cmocka_unit_test(test_added_tokens_leftmost_then_longest),
        cmocka_unit_test(test_added_token_flags),
        cmocka_unit_test(test_template_and_named_specials),
        cmocka_unit_test(test_add_bos_token_of_config_leaves_a_tokenizer_json_alone),
        cmocka_unit_test(test_a_file_alone_names_no_special_token_but_its_padding),
        cmocka_unit_test(test_gemma_class_names_its_mask_token),
        cmocka_unit_test(test_nfc_runs_before_normalized_added_tokens),
        cmocka_unit_test(test_unsupported_and_broken_files_are_named),
        cmocka_unit_test(test_late_merges_make_the_same_tokens),
        cmocka_unit_test(test_late_merges_of_absent_tokens_fail_the_texts),
        cmocka_unit_test(test_missing_file_is_named),
        cmocka_unit_test(test_free_of_nothing),
    };
    return cmocka_run_group_tests(tests, load_mini, free_mini);
}
