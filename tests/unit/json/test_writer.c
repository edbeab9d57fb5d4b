/* Tests of src/json/writer: commas, numbers as Python writes them, output that is valid for any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "json/scan.h"
#include "json/writer.h"

#include <math.h>

static void test_commas_and_nesting(void **state)
{
    (void)state;
    struct buf out = {0};
    struct js_writer w;
    js_writer_init(&w, &out);
    js_begin_object(&w);
    js_key(&w, "model");
    js_cstring(&w, "m");
    js_key(&w, "list");
    js_begin_array(&w);
    js_int(&w, -5);
    js_uint(&w, UINT64_MAX);
    js_int(&w, INT64_MIN);
    js_begin_array(&w);
    js_end_array(&w);
    js_begin_object(&w);
    js_end_object(&w);
    js_bool(&w, true);
    js_bool(&w, false);
    js_null(&w);
    js_raw(&w, SV_LIT("{\"k\":1}"));
    js_end_array(&w);
    js_key_sv(&w, SV_LIT("a\"b"));
    js_cstring(&w, NULL);
    js_key(&w, "empty");
    js_string(&w, sv_make(NULL, 0));
    js_end_object(&w);
    assert_string_equal(buf_cstr(&out),
                        "{\"model\":\"m\",\"list\":[-5,18446744073709551615,-9223372036854775808,"
                        "[],{},true,false,null,{\"k\":1}],\"a\\\"b\":null,\"empty\":\"\"}");
    assert_true(js_is_complete(buf_sv(&out)));
    assert_int_equal(w.depth, 0);
    buf_done(&out);
}

static void test_doubles_are_always_valid_json(void **state)
{
    (void)state;
    struct buf out = {0};
    struct js_writer w;
    js_writer_init(&w, &out);
    js_begin_array(&w);
    js_double(&w, 24);
    js_double(&w, 0.1);
    js_double(&w, 1e-7);
    js_double(&w, 1e300);
    js_double(&w, -0.0);
    js_double(&w, NAN);
    js_double(&w, HUGE_VAL);
    js_double(&w, -HUGE_VAL);
    js_end_array(&w);
    assert_string_equal(buf_cstr(&out), "[24.0,0.1,1e-07,1e+300,-0.0,null,\"inf\",\"-inf\"]");
    assert_true(js_is_complete(buf_sv(&out)));
    buf_done(&out);
}

/* Expected: json.dumps(bytes.decode("utf-8", errors="replace"), ensure_ascii=False) of Python. */
static void test_strings_are_escaped_as_little_as_possible(void **state)
{
    (void)state;
    const struct {
        struct sv text;
        const char *escaped;
    } rows[] = {
        {SV_LIT(""), ""},
        {SV_LIT("plain / text"), "plain / text"},
        {SV_LIT("\"\\\b\f\n\r\t"), "\\\"\\\\\\b\\f\\n\\r\\t"},
        {SV_LIT("\x01\x1f\x7f"), "\\u0001\\u001f\x7f"},
        {SV_LIT("a\0b"), "a\\u0000b"},
        {SV_LIT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {SV_LIT("\xff"), "\xef\xbf\xbd"},
        {SV_LIT("\x80x"), "\xef\xbf\xbdx"},
        {SV_LIT("\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
        {SV_LIT("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* surrogate */
        {SV_LIT("\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {SV_LIT("\xe2\x82"), "\xef\xbf\xbd"}, /* cut short: one mark */
        {SV_LIT("\xe2\x82"
                "A"),
         "\xef\xbf\xbd"
         "A"},
        {SV_LIT("\xf0\x9f\x98\"x"), "\xef\xbf\xbd\\\"x"},
        {SV_LIT("long enough for whole words \xc3\xa9 and more after it\n."),
         "long enough for whole words \xc3\xa9 and more after it\\n."},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf out = {0};
        js_escape(&out, rows[i].text);
        assert_string_equal(buf_cstr(&out), rows[i].escaped);
        buf_done(&out);
    }
}

static void test_escape_then_unescape_gives_the_text_back(void **state)
{
    (void)state;
    char text[128];
    for (int i = 0; i < 128; i++)
        text[i] = (char)i;
    for (size_t from = 0; from < 128; from++) {
        struct buf escaped = {0}, back = {0};
        js_escape(&escaped, sv_make(text + from, 128 - from));
        assert_true(js_unescape(buf_sv(&escaped), &back));
        assert_true(sv_eq(buf_sv(&back), sv_make(text + from, 128 - from)));
        buf_done(&escaped);
        buf_done(&back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commas_and_nesting),
        cmocka_unit_test(test_doubles_are_always_valid_json),
        cmocka_unit_test(test_strings_are_escaped_as_little_as_possible),
        cmocka_unit_test(test_escape_then_unescape_gives_the_text_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
