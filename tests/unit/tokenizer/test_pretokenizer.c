/* Tests of the pre-tokenizers.  Expected pieces: the documentation and behaviour of HF tokenizers 0.23.3, regexes of
 * published tokenizer files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/pretokenizer.h"

#include <stdio.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char llama3[] =
    "{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,\"pattern\":{\"Regex\":"
    "\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?\\\\p{L}+|\\\\p{N}{1,3}|"
    " ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+\"}}";

static struct error last;

/* Pieces joined by '|'. */
static const char *run(const char *json, const char *text, struct buf *out)
{
    struct arena arena = {0};
    static struct scratch_pool pool; /* static: clang takes no {0} for atomic pointers */
    struct pretok_chain chain = {0};
    const struct piece_list *pieces;
    const struct js_value *value = js_parse(&arena, sv_from(json), "test", &last);
    buf_reset(out);
    assert_non_null(value);
    if (!pretok_load(&chain, value, &arena, &last)) {
        pretok_done(&chain);
        arena_done(&arena);
        return NULL;
    }
    struct scratch *scratch = scratch_take(&pool);
    assert_true(pretok_run(&chain, sv_from(text), scratch, &pieces, &last));
    for (size_t i = 0; i < pieces->count; i++) {
        if (i > 0)
            buf_add_char(out, '|');
        buf_add(out, pieces->items[i]);
    }
    scratch_give(&pool, scratch);
    scratch_pool_done(&pool);
    pretok_done(&chain);
    arena_done(&arena);
    return buf_cstr(out);
}

static void expect(const char *json, const char *text, const char *want)
{
    struct buf out = {0};
    const char *got = run(json, text, &out);
    assert_non_null(got);
    assert_string_equal(got, want);
    buf_done(&out);
}

static void expect_error(const char *json, const char *part)
{
    struct buf out = {0};
    assert_null(run(json, "x", &out));
    assert_non_null(strstr(last.message, part));
    buf_done(&out);
}

#define BYTE_LEVEL "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}"

static void test_byte_level_cuts_as_gpt2(void **state)
{
    (void)state;
    expect(BYTE_LEVEL, "Hello, it's  me", "Hello|,| it|'s| | me");
    expect(BYTE_LEVEL, "we'll they've I'd o'r", "we|'ll| they|'ve| I|'d| o|'|r");
    expect(BYTE_LEVEL, "''s", "''|s");
    expect(BYTE_LEVEL, "a1b22 33", "a|1|b|22| 33");
    expect(BYTE_LEVEL, "x \n\n", "x| \n\n");
    expect(BYTE_LEVEL, "x\n\ny", "x|\n|\n|y");
    expect(BYTE_LEVEL,
           "a\xC2\xA0\xE3\x80\x80"
           "b",
           "a|\xC2\xA0|\xE3\x80\x80|b");
    expect(BYTE_LEVEL,
           "a\xE1\xA0\x8E"
           "b",
           "a|\xE1\xA0\x8E|b"); /* U+180E is no space */
    expect(BYTE_LEVEL, " ", " ");
    expect(BYTE_LEVEL, "", "");
}

static void test_byte_level_prefix_space(void **state)
{
    (void)state;
    expect("{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"use_regex\":false}", "ab c",
           " ab c");
    expect("{\"type\":\"ByteLevel\",\"use_regex\":false}", " ab", " ab");
    expect("{\"type\":\"ByteLevel\",\"use_regex\":false}", "\tab", " \tab");
}

/* The example of HF's documentation. */
static void test_split_behaviors(void **state)
{
    static const struct {
        const char *behavior;
        const char *want;
    } rows[] = {
        {"Removed", "the|final|countdown"},
        {"Isolated", "the|-|final|-|-|countdown"},
        {"MergedWithPrevious", "the-|final-|-|countdown"},
        {"MergedWithNext", "the|-final|-|-countdown"},
        {"Contiguous", "the|-|final|--|countdown"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char json[200];
        snprintf(json, sizeof(json),
                 "{\"type\":\"Split\",\"pattern\":{\"String\":\"-\"},\"behavior\":\"%s\"}",
                 rows[i].behavior);
        expect(json, "the-final--countdown", rows[i].want);
        snprintf(json, sizeof(json),
                 "{\"type\":\"Split\",\"pattern\":{\"Regex\":\"-\"},\"behavior\":\"%s\"}",
                 rows[i].behavior);
        expect(json, "the-final--countdown", rows[i].want);
    }
}

static void test_split_inverted_keeps_matches(void **state)
{
    (void)state;
    expect("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\d+\"},\"behavior\":\"Removed\","
           "\"invert\":true}",
           "a12b345c", "12|345");
}

static void test_split_by_empty_matches_cuts(void **state)
{
    (void)state;
    expect("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\b\"},\"behavior\":\"Isolated\"}",
           "ab cd", "ab| |cd");
}

static void test_llama3_pattern(void **state)
{
    (void)state;
    expect(llama3, "I'LL pay 12345\n\n  now", "I|'LL| pay| |123|45|\n\n| | now");
    expect(llama3, "foo(bar);\nx", "foo|(bar|);\n|x");
    expect(llama3,
           "a\xE1\xA0\x8E"
           "b",
           "a|\xE1\xA0\x8E"
           "b");
}

static void test_digits(void **state)
{
    (void)state;
    expect("{\"type\":\"Digits\",\"individual_digits\":false}",
           "a12\xC2\xBD"
           "b3",
           "a|12\xC2\xBD|b|3");
    expect("{\"type\":\"Digits\",\"individual_digits\":true}", "a12b", "a|1|2|b");
}

static void test_sequence_runs_in_order(void **state)
{
    (void)state;
    expect("{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":"
           "true},"
           "" BYTE_LEVEL "]}",
           "ab 12", "ab| |1|2");
}

static void test_unsupported_parts_are_named(void **state)
{
    (void)state;
    expect_error("{\"type\":\"UnicodeScripts\"}", "'UnicodeScripts'");
    expect_error("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[a&&b]\"},\"behavior\":\"Removed\"}",
                 "'&&'");
    expect_error("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":\"Removed\"}",
                 "'('");
    expect_error("{\"type\":\"Split\",\"pattern\":{\"Regex\":\"a\"},\"behavior\":\"Odd\"}",
                 "'Odd'");
    expect_error("{}", "no type");
}

static void test_regex_translation(void **state)
{
    static const struct {
        const char *in;
        const char *out;
    } rows[] = {
        {"\\s+", "[\\p{Z}\\t-\\r\\x{85}]+"},
        {"[^\\s\\p{Z}]", "[^\\p{Z}\\t-\\r\\x{85}\\p{Z}]"},
        {"a{1,3}", "a{1,3}"},
        {"a{1,3}+", "a+"},
        {"x{a}", "x{a}"},
        {"[]a]\\]", "[]a]\\]"},
        {"\\h", "[0-9A-Fa-f]"},
        {"[ab&&[^b]]*", "(?:(?=[^b])[ab])*"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        struct error err;
        assert_true(regex_translate(sv_from(rows[i].in), REGEX_ONIGURUMA, &out, &err));
        assert_string_equal(buf_cstr(&out), rows[i].out);
        buf_done(&out);
    }
}

/* U+31350 came with Unicode 15: a letter and Han for us, whatever the pattern library knows; U+3001 is no Han by script. */
static void test_classes_of_newer_unicode(void **state)
{
    (void)state;
    expect("{\"type\":\"Split\",\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"\\\\p{L}{2}\"}}",
           "a\xF0\xB1\x8D\x90.", "a\xF0\xB1\x8D\x90|.");
    expect(
        "{\"type\":\"Split\",\"behavior\":\"Isolated\",\"pattern\":{\"Regex\":\"[x\\\\p{Han}]\"}}",
        "\xF0\xB1\x8D\x90\xE3\x80\x81x", "\xF0\xB1\x8D\x90|\xE3\x80\x81|x");
}

/* HF tokenizers 0.23.3 (values of its documentation and of the binding). */
static void test_simple_kinds(void **state)
{
    (void)state;
    expect("{\"type\":\"Whitespace\"}", "Hello there, it's_1!", "Hello|there|,|it|'|s_1|!");
    expect("{\"type\":\"WhitespaceSplit\"}", " a  b,c ", "a|b,c");
    expect("{\"type\":\"BertPreTokenizer\"}", "Hey, you $5", "Hey|,|you|$|5");
    expect("{\"type\":\"Punctuation\"}", "a,,b", "a|,|,|b");
    expect("{\"type\":\"Punctuation\",\"behavior\":\"Contiguous\"}", "a,,b", "a|,,|b");
    expect("{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"-\"}", "a--b-", "a|b");
    expect("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"always\"}",
           "Hey you  x", "_Hey|_you|_|_x");
    expect("{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"never\",\"split\":"
           "false}",
           "Hey you", "Hey_you");
}

/* 100,000 letters exceed the JIT's stack: the interpreter takes over. */
static void test_long_piece_is_matched(void **state)
{
    (void)state;
    struct error err;
    struct regex_work work = {0};
    struct regex *re = regex_compile(sv_from("(?:(?!\\d)x?[a-w])*x"), REGEX_ONIGURUMA, &err);
    struct buf text = {0};
    size_t start;
    size_t end;
    assert_non_null(re);
    for (int i = 0; i < 100000; i++)
        buf_add_char(&text, 'a');
    buf_add_char(&text, 'x');
    assert_int_equal(regex_find(re, &work, buf_sv(&text), 0, &start, &end), REGEX_FOUND);
    assert_int_equal(start, 0);
    assert_int_equal(end, 100001);
    buf_done(&text);
    regex_work_done(&work);
    regex_free(re);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_level_cuts_as_gpt2),
        cmocka_unit_test(test_byte_level_prefix_space),
        cmocka_unit_test(test_split_behaviors),
        cmocka_unit_test(test_split_inverted_keeps_matches),
        cmocka_unit_test(test_split_by_empty_matches_cuts),
        cmocka_unit_test(test_llama3_pattern),
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_sequence_runs_in_order),
        cmocka_unit_test(test_unsupported_parts_are_named),
        cmocka_unit_test(test_regex_translation),
        cmocka_unit_test(test_classes_of_newer_unicode),
        cmocka_unit_test(test_simple_kinds),
        cmocka_unit_test(test_long_piece_is_matched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
