/* Tests of the formats beside tokenizer.json: rank files, their Python patterns, SentencePiece, built-in encodings.
 * Ids of the built-in encodings: tiktoken 0.14.0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base64.h"
#include "tokenizer/load.h"
#include "tokenizer/python_pattern.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void expect(const struct tokenizer *t, const char *text, const uint32_t *want, size_t count)
{
    struct token_ids ids = {0};
    struct buf back = {0};
    struct error err;
    assert_true(tokenizer_encode(t, sv_from(text), false, &ids, &err));
    assert_int_equal(ids.count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ids.items[i], want[i]);
    assert_true(tokenizer_decode(t, ids.items, ids.count, false, &back, &err));
    assert_string_equal(buf_cstr(&back), text);
    token_ids_done(&ids);
    buf_done(&back);
}

static void test_built_in_encodings(void **state)
{
    static const struct {
        const char *name;
        uint32_t size;
        uint32_t hello[4];
        uint32_t end_of_text;
    } rows[] = {
        {"cl100k_base", 100277, {9906, 11, 1917, 0}, 100257},
        {"o200k_base", 200275, {13225, 11, 2375, 0}, 199999},
        {"o200k_harmony", 201088, {13225, 11, 2375, 0}, 199999},
        {"p50k_base", 50281, {15496, 11, 995, 0}, 50256},
        {"r50k_base", 50257, {15496, 11, 995, 0}, 50256},
        {"gpt2", 50257, {15496, 11, 995, 0}, 50256},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct error err;
        struct tokenizer *t = tokenizer_resolve(rows[i].name, TOKENIZER_PLAIN, NULL, &err);
        assert_non_null(t);
        assert_int_equal(tokenizer_vocab_size(t), rows[i].size);
        expect(t, "Hello, world!", rows[i].hello, 4);
        expect(t, "<|endoftext|>", &rows[i].end_of_text, 1);
        tokenizer_free(t);
    }
}

static void test_nothing_of_this_name(void **state)
{
    (void)state;
    struct error err;
    bool missing = false;
    assert_null(tokenizer_resolve("no/such-model", TOKENIZER_SERVE, &missing, &err));
    assert_true(missing);
    assert_non_null(strstr(err.message, "no/such-model"));
}

static void test_python_patterns(void **state)
{
    static const char *const rows[][2] = {
        {"pat_str = r\"\"\"a|b\"c\"\"\"\n", "a|b\"c"},
        {"x = 1\nself.pat_str = 'a\\'b'\n", "a\\'b"},
        {"pat_str = \"|\".join(\n  [\n    r'[a]+',  # first\n    # r'no',\n    r\"\"\"b\"\"\",\n  "
         "])\n",
         "[a]+|b"},
        {"nothing here", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        python_pattern(sv_from(rows[i][0]), &out);
        assert_string_equal(buf_cstr(&out), rows[i][1]);
        buf_done(&out);
    }
}

/* All bytes, then "ab" and "abc"; the pattern is the text's own. */
static void test_rank_file(void **state)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (void)state;
    struct buf file = {0};
    struct error err;
    for (unsigned i = 0; i < 256; i++)
        buf_add_fmt(&file, "%c%c== %u\n", digits[i >> 2], digits[(i & 3) << 4], i);
    buf_add_str(&file, "YWI= 256\n\nYWJj 257\n");
    struct tokenizer_files files = {.name = "x", .tokenizer_json = buf_sv(&file)};
    files.python[0] = sv_from("pat_str = r'[a-c]+|.'");
    files.config_json =
        sv_from("{\"added_tokens_decoder\":{\"258\":{\"content\":\"<end>\",\"special\":true}}}");
    struct tokenizer *t = tiktoken_parse(&files, &err);
    assert_non_null(t);
    assert_int_equal(tokenizer_full_size(t), 258 + 256);
    expect(t, "abcab.a", (const uint32_t[]){257, 256, '.', 'a'}, 4);
    expect(t, "<end><|reserved_token_1|>", (const uint32_t[]){258, 259}, 2);
    assert_true(tokenizer_is_special(t, 258));
    assert_true(tokenizer_is_special(t, 0xFF)); /* no text of its own */
    assert_false(tokenizer_is_special(t, 'a'));
    tokenizer_free(t);
    files.tokenizer_json = sv_from("YWI= x\n");
    assert_null(tiktoken_parse(&files, &err));
    assert_non_null(strstr(err.message, "line 1"));
    files.tokenizer_json = sv_from("YWI= 1\n");
    assert_null(tiktoken_parse(&files, &err));
    assert_non_null(strstr(err.message, "0x00"));
    buf_done(&file);
}

static void write_tekken(struct buf *file)
{
    buf_add_str(file, "{\"config\":{\"pattern\":\"[a-z]+|.\",\"default_vocab_size\":277,"
                      "\"default_num_special_tokens\":20},\"vocab\":[");
    for (unsigned i = 0; i < 258; i++) { /* the last is beyond the vocabulary's size */
        struct buf bytes = {0};
        struct buf text = {0};
        if (i < 256)
            buf_add_char(&bytes, (char)i);
        else
            buf_add_str(&bytes, i == 256 ? "ab" : "abc");
        base64_add(&text, buf_sv(&bytes));
        buf_add_fmt(file, "%s{\"rank\":%u,\"token_bytes\":\"%s\",\"token_str\":null}",
                    i > 0 ? "," : "", i, buf_cstr(&text));
        buf_done(&bytes);
        buf_done(&text);
    }
    buf_add_str(file, "]}");
}

/* mistral_common 1.13.1: Tekkenizer puts the special tokens first, reads no text as one, and begins with <s>; the names
 * are those that it gives files without a list. */
static void test_tekken_file(void **state)
{
    (void)state;
    struct buf file = {0};
    struct buf text = {0};
    struct error err = {0};
    write_tekken(&file);
    struct tokenizer_files files = {.name = "x", .tokenizer_json = buf_sv(&file)};
    struct tokenizer *t = tekken_parse(&files, &err);
    if (t == NULL)
        fail_msg("%s", err.message);
    assert_int_equal(tokenizer_vocab_size(t), 277);
    assert_int_equal(tokenizer_full_size(t), 277);
    assert_int_equal(tokenizer_special_count(t), 1);
    expect(t, "abc<s>", (const uint32_t[]){20 + 256, 20 + 'c', 20 + '<', 20 + 's', 20 + '>'}, 5);
    for (uint32_t id = 0; id < 277; id++)
        assert_int_equal(tokenizer_is_special(t, id), id < 20);
    assert_true(tokenizer_decode(t, (const uint32_t[]){1, 276, 10, 14, 19}, 5, false, &text, &err));
    assert_string_equal(buf_cstr(&text), "<s>ab[IMG][PREFIX][TOOL_CONTENT]");
    buf_reset(&text);
    assert_true(tokenizer_decode(t, (const uint32_t[]){1, 276, 2}, 3, true, &text, &err));
    assert_string_equal(buf_cstr(&text), "ab");
    tokenizer_free(t);
    files.file_only = true; /* the ranks alone, as tiktoken reads them */
    t = tekken_parse(&files, &err);
    assert_non_null(t);
    expect(t, "abc", (const uint32_t[]){256, 'c'}, 2);
    assert_int_equal(tokenizer_special_count(t), 0);
    tokenizer_free(t);
    buf_done(&text);
    buf_done(&file);
}

static void add_piece(struct buf *file, const char *text, double score, char kind)
{
    float value = (float)score;
    size_t n = strlen(text);
    buf_add_char(file, 0x0A);
    buf_add_char(file, (char)(n + 9));
    buf_add_char(file, 0x0A);
    buf_add_char(file, (char)n);
    buf_add_str(file, text);
    buf_add_char(file, 0x15);
    buf_add(file, sv_make((const char *)&value, 4));
    buf_add_char(file, 0x18);
    buf_add_char(file, kind);
}

/* Pieces and kinds as a trainer would write them; model type 1 is Unigram, 2 BPE. */
static void test_sentencepiece(void **state)
{
    (void)state;
    for (char type = 1; type <= 2; type++) {
        struct buf file = {0};
        struct error err;
        add_piece(&file, "<unk>", 0, 2);
        add_piece(&file, "<s>", 0, 3);
        add_piece(&file, "\xE2\x96\x81", -3, 1);
        add_piece(&file, "a", -4, 1);
        add_piece(&file, "b", -5, 1);
        add_piece(&file, "ab", -1, 1);
        add_piece(&file,
                  "\xE2\x96\x81"
                  "ab",
                  -2, 1);
        buf_add(&file, sv_make("\x12\x02\x18", 3));
        buf_add_char(&file, type);
        struct tokenizer_files files = {.name = "x", .tokenizer_json = buf_sv(&file)};
        struct tokenizer *t = sentencepiece_parse(&files, &err);
        assert_non_null(t);
        expect(t, "ab b ab", (const uint32_t[]){6, 2, 4, 6}, 4);
        struct token_ids ids = {0};
        assert_true(tokenizer_encode(t, sv_from("  ab  xy<s> "), true, &ids, &err));
        /* extra spaces go; x, y, <, s, > are unknown, side by side one token */
        static const uint32_t want[] = {1, 6, 2, 0};
        assert_int_equal(ids.count, 4);
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(ids.items[i], want[i]);
        token_ids_done(&ids);
        tokenizer_free(t);
        buf_done(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_encodings), cmocka_unit_test(test_nothing_of_this_name),
        cmocka_unit_test(test_python_patterns),    cmocka_unit_test(test_rank_file),
        cmocka_unit_test(test_tekken_file),        cmocka_unit_test(test_sentencepiece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
