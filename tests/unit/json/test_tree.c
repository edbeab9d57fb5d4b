/* Tests of src/json/tree; with jansson at hand its decoder is the judge of what is valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "json/tree.h"
#include "json/writer.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#endif

static void test_tree_gives_what_the_text_says(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err;
    const struct js_value *root = js_parse(
        &a,
        SV_LIT(" {\"name\":\"a\\u00e9\\u0000b\",\"n\":-12,\"x\":2.5,\"ok\":true,\"no\":false,"
               "\"nil\":null,\"list\":[1,[],{\"k\":\"v\"}],\"dup\":1,\"dup\":2,\"\\u006b\":3} "),
        "text", &err);
    assert_non_null(root);
    assert_int_equal(root->type, JS_OBJECT);
    assert_int_equal(root->count, 10);
    struct sv text;
    int64_t n;
    double x;
    bool flag;
    assert_true(js_as_sv(js_get(root, "name"), &text));
    assert_true(sv_eq(text, SV_LIT("a\xc3\xa9\0b")));
    assert_true(js_as_i64(js_get(root, "n"), &n) && n == -12);
    assert_true(js_as_double(js_get(root, "n"), &x) && x == -12.0);
    assert_true(js_as_double(js_get(root, "x"), &x) && x == 2.5);
    assert_false(js_as_i64(js_get(root, "x"), &n));
    assert_true(js_as_bool(js_get(root, "ok"), &flag) && flag);
    assert_true(js_as_bool(js_get(root, "no"), &flag) && !flag);
    assert_int_equal(js_get(root, "nil")->type, JS_NULL);
    assert_true(js_as_i64(js_get(root, "dup"), &n) && n == 2); /* the last wins */
    assert_true(js_as_i64(js_get(root, "k"), &n) && n == 3);   /* the name was escaped */
    const struct js_value *list = js_get_sv(root, SV_LIT("list"));
    assert_int_equal(list->count, 3);
    assert_true(js_as_i64(js_at(list, 0), &n) && n == 1);
    assert_int_equal(js_at(list, 1)->count, 0);
    assert_true(js_as_sv(js_get(js_at(list, 2), "k"), &text) && sv_eq(text, SV_LIT("v")));
    arena_done(&a);
}

static void test_wrong_questions_get_no_answer(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err;
    struct sv text;
    int64_t n;
    double x;
    bool flag;
    const struct js_value *list = js_parse(&a, SV_LIT("[\"1\",99999999999999999999]"), "t", &err);
    assert_null(js_get(list, "a"));
    assert_null(js_get(NULL, "a"));
    assert_null(js_at(list, 2));
    assert_null(js_at(NULL, 0));
    assert_null(js_at(js_at(list, 0), 0));
    assert_false(js_as_i64(js_at(list, 0), &n));
    assert_false(js_as_i64(js_at(list, 1), &n)); /* does not fit */
    assert_true(js_as_double(js_at(list, 1), &x) && x == 1e20);
    assert_false(js_as_double(js_at(list, 0), &x));
    assert_false(js_as_bool(js_at(list, 0), &flag));
    assert_false(js_as_sv(js_at(list, 1), &text));
    assert_false(js_as_sv(NULL, &text));
    assert_false(js_as_i64(NULL, &n));
    assert_false(js_as_double(NULL, &x));
    assert_false(js_as_bool(NULL, &flag));
    arena_done(&a);
}

static void test_errors_name_source_line_and_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *message;
    } rows[] = {
        {"{\n  \"a\": 1,\n  \"b\": x\n}", "file 'f': line 3, column 8: malformed JSON"},
        {"", "file 'f': line 1, column 1: the JSON text ends too early"},
        {"[1,\n2", "file 'f': line 2, column 2: the JSON text ends too early"},
        {"{} {}", "file 'f': line 1, column 4: malformed JSON"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct arena a = {0};
        struct error err = {0};
        assert_null(js_parse(&a, sv_from(rows[i].text), "file 'f'", &err));
        assert_int_equal(err.code, E_PARSE);
        assert_string_equal(err.message, rows[i].message);
        arena_done(&a);
    }
}

static void test_depth_is_limited_to_128(void **state)
{
    (void)state;
    char text[2 * (JS_MAX_DEPTH + 1)];
    struct arena a = {0};
    struct error err;
    memset(text, '[', JS_MAX_DEPTH + 1);
    memset(text + JS_MAX_DEPTH + 1, ']', JS_MAX_DEPTH + 1);
    assert_null(js_parse(&a, sv_make(text, sizeof(text)), "t", &err));
    assert_non_null(strstr(err.message, "nested deeper than 128 levels"));
    assert_non_null(js_parse(&a, sv_make(text + 1, sizeof(text) - 2), "t", &err));
    arena_done(&a);
}

static void write_back(struct buf *out, const struct js_value *value)
{
    struct js_writer w;
    js_writer_init(&w, out);
    js_write_value(&w, value);
}

static void test_tree_writes_back_compact_and_in_order(void **state)
{
    (void)state;
    struct arena a = {0};
    struct error err;
    struct buf out = {0};
    write_back(&out, js_parse(&a,
                              SV_LIT(" { \"b\" : [ 1.50 , -0 , 1E5 , \"\\u00e9\\n\\/\" ] ,"
                                     " \"a\" : { } , \"c\" : [ true , false , null ] } "),
                              "t", &err));
    assert_string_equal(buf_cstr(&out),
                        "{\"b\":[1.50,-0,1E5,\"\xc3\xa9\\n/\"],\"a\":{},\"c\":[true,false,null]}");
    buf_done(&out);
    arena_done(&a);
}

#ifdef HAVE_JANSSON
/* One byte of a valid text is replaced, many times over: both readers must agree on every result.  jansson checks
 * UTF-8 and \u0000 more strictly than the grammar, so texts stay ASCII and without that escape; it reads numbers into
 * doubles, so none is large. */
static void test_acceptance_agrees_with_jansson(void **state)
{
    (void)state;
    static const char seed[] =
        "{\"id\":\"c-1\",\"choices\":[{\"text\":\"a\\n\\u00e9\",\"n\":-1.5e1,"
        "\"x\":[true,false,null,{}]}]}";
    static const char letters[] = "{}[]\",:\\ 0123456789.eE+-truefalsnu\tx\n\x01";
    struct pcg64 g;
    size_t accepted = 0;
    pcg64_seed(&g, 11);
    for (int i = 0; i < 30000; i++) {
        char text[sizeof(seed)];
        struct arena a = {0};
        struct error err;
        memcpy(text, seed, sizeof(seed));
        for (int64_t edits = pcg64_integers(&g, 1, 4); edits > 0; edits--)
            text[pcg64_integers(&g, 0, sizeof(seed) - 1)] =
                letters[pcg64_integers(&g, 0, sizeof(letters) - 1)];
        bool ours = js_parse(&a, sv_make(text, sizeof(seed) - 1), "t", &err) != NULL;
        json_error_t why;
        json_t *theirs = json_loadb(text, sizeof(seed) - 1, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
        if (ours != (theirs != NULL) && strstr(why.text, "overflow") == NULL)
            fail_msg("%s: ours %d, jansson '%s'", text, ours, why.text);
        accepted += ours;
        json_decref(theirs);
        arena_done(&a);
    }
    assert_true(accepted > 1000 && accepted < 29000);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree_gives_what_the_text_says),
        cmocka_unit_test(test_wrong_questions_get_no_answer),
        cmocka_unit_test(test_errors_name_source_line_and_column),
        cmocka_unit_test(test_depth_is_limited_to_128),
        cmocka_unit_test(test_tree_writes_back_compact_and_in_order),
#ifdef HAVE_JANSSON
        cmocka_unit_test(test_acceptance_agrees_with_jansson),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
