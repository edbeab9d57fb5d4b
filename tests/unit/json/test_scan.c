/* Tests of src/json/scan: RFC 8259 grammar, one call at a time and whole values at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json/scan.h"

#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const valid[] = {
    "0",
    "-0",
    "12",
    "-1.5",
    "1e5",
    "1E-5",
    "1.25e+10",
    "0.0",
    "true",
    "false",
    "null",
    "\"\"",
    "\"a\"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0041\\uD83d\\uDe00\"",
    "\"\\ud800\"",
    "\"\x7f\xff\xc3\xa9\"",
    "[]",
    "{}",
    "[ ]",
    "{ }",
    "[1]",
    "[1,2]",
    " [ 1 , \"x\" , null ] ",
    "{\"a\":1}",
    "{\"a\":1,\"a\":2}",
    "{\"\":{}}",
    "{ \"a\" : [ { \"b\" : [ ] } ] , \"c\" : -0.1e1 }",
    "\t\r\n 1\n",
    "[[[[]]],{}]",
    "[true,false,null]",
    "\"0123456789abcdef0123456789abcdef\"",
};

static const char *const malformed[] = {
    "",
    " ",
    "nul",
    "nulL",
    "True",
    "truefalse",
    "tru",
    "fals",
    "NaN",
    "Infinity",
    "-",
    "+1",
    "01",
    "-01",
    "1.",
    ".5",
    "1.e5",
    "1e",
    "1e+",
    "0x1",
    "1 2",
    "1,",
    "--1",
    "-a",
    "\"",
    "\"a",
    "\"\\\"",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\u12g4\"",
    "\"\\",
    "\"a\nb\"",
    "\"\x01\"",
    "\"0123456\x1f\"",
    "'a'",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1 2]",
    "[1}",
    "{",
    "}",
    "{\"a\"",
    "{\"a\":",
    "{\"a\":1",
    "{\"a\":1,",
    "{\"a\":1,}",
    "{,}",
    "{\"a\" 1}",
    "{\"a\":}",
    "{a:1}",
    "{1:1}",
    "{\"a\":1]",
    "{\"a\":1 \"b\":2}",
    "[1]]",
    "{}{}",
    "[\"\\u00\"]",
    "\xef\xbb\xbf[]",
    "[\v1]",
    "nullx",
};

static void test_valid_texts_are_complete(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(valid); i++) {
        if (!js_is_complete(sv_from(valid[i])))
            fail_msg("refused: %s", valid[i]);
        struct js_scan s;
        struct sv raw;
        js_scan_init(&s, sv_from(valid[i]));
        assert_true(js_scan_skip(&s, &raw) && js_scan_end(&s));
        assert_true(sv_eq(raw, sv_trim(sv_from(valid[i]))));
    }
}

static void test_malformed_texts_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(malformed); i++) {
        struct js_scan s;
        js_scan_init(&s, sv_from(malformed[i]));
        if (js_is_complete(sv_from(malformed[i])) || (js_scan_skip(&s, NULL) && js_scan_end(&s)))
            fail_msg("accepted: %s", malformed[i]);
    }
    assert_false(js_is_complete(sv_make(NULL, 0)));
    assert_false(js_is_complete(sv_make("\0", 1)));
    assert_false(js_is_complete(sv_make("\"a\0b\"", 5)));
}

/* The bytes after a cut lie outside the heap block, so that a sanitizer sees any read past the end. */
static void test_no_cut_of_a_text_is_complete(void **state)
{
    (void)state;
    struct sv whole =
        SV_LIT("{\"id\":\"cmpl-\\u00e9\",\"choices\":[{\"index\":0,\"text\":\"a \\\"b\\\" c\","
               "\"logprobs\":null,\"n\":[-1.5e+3,true,false]}],\"usage\":{}}");
    assert_true(js_is_complete(whole));
    for (size_t cut = 0; cut < whole.len; cut++) {
        char *part = malloc(cut > 0 ? cut : 1);
        memcpy(part, whole.ptr, cut);
        struct js_scan s;
        js_scan_init(&s, sv_make(part, cut));
        assert_false(js_is_complete(sv_make(part, cut)));
        assert_false(js_scan_skip(&s, NULL));
        assert_int_equal(js_scan_peek(&s), JS_BAD);
        assert_false(js_scan_end(&s));
        free(part);
    }
}

static void test_strings_stop_at_every_offset(void **state)
{
    (void)state;
    static const char stops[] = {'"', '\\', '\x1f', '\0', '\x01'};
    for (size_t len = 0; len < 40; len++) {
        for (size_t i = 0; i < COUNT(stops); i++) {
            char text[64];
            struct js_scan s;
            struct sv raw = {0};
            bool escaped;
            text[0] = '"';
            memset(text + 1, (int)(0x20 + len * 5), len); /* 0x20 up to 0xe3 */
            for (size_t k = 1; k <= len; k++)
                text[k] = text[k] == '"' || text[k] == '\\' ? 'x' : text[k];
            text[len + 1] = stops[i];
            memcpy(text + len + 2, "\\\"\"", 3);
            js_scan_init(&s, sv_make(text, len + 5));
            bool good = js_scan_string(&s, &raw, &escaped);
            assert_int_equal(good, stops[i] == '"' || stops[i] == '\\');
            if (stops[i] == '"')
                assert_true(raw.len == len && !escaped);
            if (stops[i] == '\\')
                assert_true(raw.len == len + 2 && escaped); /* \\ and the quote after it */
            if (!good)
                assert_int_equal(js_scan_offset(&s), len + 1);
        }
    }
}

static void test_walk_of_an_event(void **state)
{
    (void)state;
    struct js_scan s;
    struct sv key, text, raw;
    bool first = true, first_choice = true, first_field = true, escaped;
    uint64_t tokens = 0;
    js_scan_init(&s, SV_LIT(" {\"id\" : \"x\", \"choices\":[{\"text\":\"h\\n\",\"i\":0},{}],"
                            "\"usage\":{\"n\":17},\"z\":true,\"y\":null} "));
    assert_true(js_scan_object(&s));
    assert_true(js_scan_member(&s, &first, &key) && sv_eq(key, SV_LIT("id")));
    assert_int_equal(js_scan_peek(&s), JS_STRING);
    assert_true(js_scan_skip(&s, &raw) && sv_eq(raw, SV_LIT("\"x\"")));
    assert_true(js_scan_member(&s, &first, &key) && sv_eq(key, SV_LIT("choices")));
    assert_true(js_scan_array(&s));
    assert_true(js_scan_element(&s, &first_choice));
    assert_true(js_scan_object(&s));
    assert_true(js_scan_member(&s, &first_field, &key));
    assert_true(js_scan_string(&s, &text, &escaped) && escaped && sv_eq(text, SV_LIT("h\\n")));
    assert_true(js_scan_member(&s, &first_field, &key));
    assert_true(js_scan_number(&s, &text) && sv_eq(text, SV_LIT("0")));
    assert_false(js_scan_member(&s, &first_field, &key));
    assert_true(js_scan_element(&s, &first_choice));
    assert_true(js_scan_skip(&s, &raw) && sv_eq(raw, SV_LIT("{}")));
    assert_false(js_scan_element(&s, &first_choice));
    assert_true(js_scan_member(&s, &first, &key));
    first_field = true;
    assert_true(js_scan_object(&s) && js_scan_member(&s, &first_field, &key));
    assert_true(js_scan_u64(&s, &tokens) && tokens == 17);
    assert_false(js_scan_member(&s, &first_field, &key));
    bool flag = false;
    assert_true(js_scan_member(&s, &first, &key) && js_scan_bool(&s, &flag) && flag);
    assert_true(js_scan_member(&s, &first, &key) && js_scan_null(&s));
    assert_false(js_scan_member(&s, &first, &key));
    assert_true(js_scan_end(&s));
}

static void test_errors_are_sticky_and_keep_their_place(void **state)
{
    (void)state;
    struct js_scan s;
    struct sv text;
    bool first = true, flag;
    js_scan_init(&s, SV_LIT("[1, x, 2]"));
    assert_true(js_scan_array(&s) && js_scan_element(&s, &first) && js_scan_skip(&s, NULL));
    assert_false(js_scan_element(&s, &first));
    assert_int_equal(js_scan_offset(&s), 4);
    assert_false(js_scan_element(&s, &first));
    assert_false(js_scan_skip(&s, NULL));
    assert_false(js_scan_number(&s, &text));
    assert_false(js_scan_null(&s));
    assert_false(js_scan_bool(&s, &flag));
    assert_false(js_scan_object(&s));
    assert_false(js_scan_end(&s));
    assert_int_equal(js_scan_offset(&s), 4);
}

static void test_a_value_of_another_type_is_an_error(void **state)
{
    (void)state;
    struct js_scan s;
    struct sv text;
    bool flag;
    js_scan_init(&s, SV_LIT("null"));
    assert_false(js_scan_bool(&s, &flag));
    assert_false(js_scan_end(&s));
    js_scan_init(&s, SV_LIT("{}"));
    assert_false(js_scan_array(&s));
    js_scan_init(&s, SV_LIT("\"1\""));
    assert_false(js_scan_number(&s, &text));
    js_scan_init(&s, SV_LIT("1"));
    assert_false(js_scan_string(&s, &text, &flag));
}

static void test_unsigned_refuses_what_does_not_fit_but_goes_on(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
        uint64_t value;
    } rows[] = {{"0", true, 0},    {"18446744073709551615", true, UINT64_MAX},
                {"-1", false, 0},  {"18446744073709551616", false, 0},
                {"1.0", false, 0}, {"1e3", false, 0},
                {"-0", false, 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct js_scan s;
        uint64_t value = 7;
        js_scan_init(&s, sv_from(rows[i].text));
        assert_int_equal(js_scan_u64(&s, &value), rows[i].good);
        assert_int_equal(value, rows[i].good ? rows[i].value : 7);
        assert_true(js_scan_end(&s)); /* a valid number is no malformed text */
    }
    struct js_scan s;
    uint64_t value;
    js_scan_init(&s, SV_LIT("1.x"));
    assert_false(js_scan_u64(&s, &value));
    assert_false(js_scan_end(&s));
}

static void test_depth_is_limited_to_128(void **state)
{
    (void)state;
    char text[2 * (JS_MAX_DEPTH + 1)];
    for (size_t depth = JS_MAX_DEPTH; depth <= JS_MAX_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_int_equal(js_is_complete(sv_make(text, 2 * depth)), depth == JS_MAX_DEPTH);
    }
    struct buf mixed = {0}; /* objects and arrays in turn, past one word of the bit stack */
    for (int i = 0; i < 50; i++)
        buf_add_str(&mixed, "{\"a\":[");
    for (int i = 0; i < 50; i++)
        buf_add_str(&mixed, "]}");
    assert_true(js_is_complete(buf_sv(&mixed)));
    mixed.ptr[mixed.len - 40] = mixed.ptr[mixed.len - 40] == ']' ? '}' : ']';
    assert_false(js_is_complete(buf_sv(&mixed)));
    buf_done(&mixed);
}

static void test_escapes_resolve_to_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *raw;
        const char *text; /* NULL: refused */
    } rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"a\\u0041\\u00e9\\u20AC", "aA\xc3\xa9\xe2\x82\xac"},
        {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"},
        {"\\udbff\\udfff", "\xf4\x8f\xbf\xbf"},
        {"\\ud83d", "\xef\xbf\xbd"},
        {"\\ud83dx", "\xef\xbf\xbdx"},
        {"\\ude00\\ud83d", "\xef\xbf\xbd\xef\xbf\xbd"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd"
                           "A"},
        {"\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"\\ud83d\\n", "\xef\xbf\xbd\n"},
        {"\xc3\xa9", "\xc3\xa9"},
        {"x\\", NULL},
        {"x\\q", NULL},
        {"\\u12", NULL},
        {"\\u12G4", NULL},
        {"\\ud83d\\u12", NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct buf out = {0};
        buf_add_str(&out, "<");
        bool good = js_unescape(sv_from(rows[i].raw), &out);
        assert_int_equal(good, rows[i].text != NULL);
        if (good)
            assert_string_equal(buf_cstr(&out) + 1, rows[i].text);
        else
            assert_int_equal(out.len, 1); /* nothing was added */
        buf_done(&out);
    }
    struct buf nul = {0};
    assert_true(js_unescape(SV_LIT("a\\u0000b"), &nul));
    assert_int_equal(nul.len, 3);
    assert_memory_equal(nul.ptr, "a\0b", 3);
    buf_done(&nul);
    struct buf none = {0};
    assert_true(js_unescape(sv_make(NULL, 0), &none));
}

static void test_keys_compare_resolved(void **state)
{
    (void)state;
    assert_true(js_key_is(SV_LIT("usage"), SV_LIT("usage")));
    assert_true(js_key_is(SV_LIT("us\\u0061ge"), SV_LIT("usage")));
    assert_true(js_key_is(SV_LIT("a\\/b"), SV_LIT("a/b")));
    assert_true(js_key_is(SV_LIT("\\ud83d\\ude00"), SV_LIT("\xf0\x9f\x98\x80")));
    assert_true(js_key_is(sv_make("", 0), SV_LIT("")));
    assert_false(js_key_is(SV_LIT("usage"), SV_LIT("usag")));
    assert_false(js_key_is(SV_LIT("us\\u0061g"), SV_LIT("usage")));
    assert_false(js_key_is(SV_LIT("us\\u0061gex"), SV_LIT("usage")));
    assert_false(js_key_is(SV_LIT("a\\nb"), SV_LIT("a\\nb")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid_texts_are_complete),
        cmocka_unit_test(test_malformed_texts_are_refused),
        cmocka_unit_test(test_no_cut_of_a_text_is_complete),
        cmocka_unit_test(test_strings_stop_at_every_offset),
        cmocka_unit_test(test_walk_of_an_event),
        cmocka_unit_test(test_errors_are_sticky_and_keep_their_place),
        cmocka_unit_test(test_a_value_of_another_type_is_an_error),
        cmocka_unit_test(test_unsigned_refuses_what_does_not_fit_but_goes_on),
        cmocka_unit_test(test_depth_is_limited_to_128),
        cmocka_unit_test(test_escapes_resolve_to_utf8),
        cmocka_unit_test(test_keys_compare_resolved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
