/* Tests of the small parts of src/base: sv, buf, base64, arena, error, alloc. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

static void test_views_compare_and_cut(void **state)
{
    (void)state;
    struct sv v = SV_LIT("data: x");
    assert_true(sv_starts(v, SV_LIT("data:")));
    assert_false(sv_starts(SV_LIT("dat"), SV_LIT("data:")));
    assert_true(sv_ends(v, SV_LIT(" x")));
    assert_false(sv_ends(SV_LIT("x"), SV_LIT(" x")));
    assert_true(sv_eq(sv_skip(v, 6), SV_LIT("x")));
    assert_int_equal(sv_skip(v, 99).len, 0);
    assert_true(sv_eq_nocase(SV_LIT("Content-TYPE"), SV_LIT("content-type")));
    assert_false(sv_eq_nocase(SV_LIT("a"), SV_LIT("ab")));
    assert_false(sv_eq_nocase(SV_LIT("@"), SV_LIT("`"))); /* 32 apart, no letters */
    assert_true(sv_eq(sv_trim(SV_LIT(" \t\r\n\v\fab c \n")), SV_LIT("ab c")));
    assert_int_equal(sv_trim(SV_LIT("  ")).len, 0);
    assert_int_equal(sv_find(v, ':'), 4);
    assert_int_equal(sv_find(v, '!'), v.len);
    assert_int_equal(sv_find(sv_from(NULL), 'a'), 0);
    assert_true(sv_eq(sv_from(NULL), sv_make(NULL, 0)));
}

static void test_split_gives_empty_parts(void **state)
{
    (void)state;
    struct sv rest = SV_LIT("a,,b"), part;
    assert_true(sv_split(&rest, ',', &part) && sv_eq(part, SV_LIT("a")));
    assert_true(sv_split(&rest, ',', &part) && part.len == 0);
    assert_true(sv_split(&rest, ',', &part) && sv_eq(part, SV_LIT("b")));
    assert_false(sv_split(&rest, ',', &part));
    rest = SV_LIT("");
    assert_true(sv_split(&rest, ',', &part) && part.len == 0);
    assert_false(sv_split(&rest, ',', &part));
}

static void test_buffer_grows_and_consumes(void **state)
{
    (void)state;
    struct buf b = {0};
    for (int i = 0; i < 1000; i++)
        buf_add_char(&b, (char)('a' + i % 26));
    assert_int_equal(b.len, 1000);
    assert_int_equal(b.ptr[999], 'a' + 999 % 26);
    buf_consume(&b, 998);
    assert_true(sv_eq(buf_sv(&b), SV_LIT("kl"))); /* 998 % 26 = 10 */
    buf_add_fmt(&b, "-%d-%s", 42, "x");
    buf_add(&b, sv_make(NULL, 0));
    buf_add_str(&b, "!");
    assert_string_equal(buf_cstr(&b), "kl-42-x!");
    buf_reset(&b);
    buf_add_fmt(&b, "%0200d", 7); /* longer than its first guess of room */
    assert_int_equal(b.len, 200);
    char *text = buf_take(&b);
    assert_int_equal(strlen(text), 200);
    assert_null(b.ptr);
    free(text);
    buf_done(&b);
}

static void test_arena_pieces_stay_and_are_aligned(void **state)
{
    (void)state;
    struct arena a = {0};
    struct sv first = arena_copy(&a, SV_LIT("first"));
    for (int i = 0; i < 2000; i++) {
        unsigned char *piece = arena_alloc(&a, 1 + (size_t)i % 300);
        assert_int_equal((uintptr_t)piece % 16, 0);
        *piece = 1;
    }
    int *numbers = arena_array(&a, 3000000, sizeof(*numbers));
    for (size_t i = 0; i < 3000000; i++)
        assert_int_equal(numbers[i], 0);
    assert_string_equal(first.ptr, "first");
    assert_string_equal(arena_strdup(&a, "copy"), "copy");
    struct sv text = arena_fmt(&a, "%s-%d", "n", 5);
    assert_true(sv_eq(text, SV_LIT("n-5")));
    assert_true(a.total_bytes > 12000000);
    arena_done(&a);
    assert_null(a.chunks);
}

static void test_errors_collect_context(void **state)
{
    (void)state;
    struct error err;
    assert_false(error_set(&err, E_PARSE, "line %d: bad", 3));
    assert_false(error_context(&err, "reading '%s'", "f"));
    assert_string_equal(err.message, "reading 'f': line 3: bad");
    assert_int_equal(err.code, E_PARSE);
    assert_false(error_sys(&err, E_IO, ENOENT, "cannot open '%s'", "g"));
    assert_string_equal(err.message, "cannot open 'g': No such file or directory");
    assert_int_equal(err.sys, ENOENT);
    assert_int_equal(error_exit_status(E_USAGE), 2);
    assert_int_equal(error_exit_status(E_INTERRUPTED), 130);
    assert_string_equal(error_title(E_GATE), "gate not met");
    assert_string_equal(error_title(E_COUNT), "unknown error");
}

static void test_long_messages_are_cut_with_dots(void **state)
{
    (void)state;
    struct error err;
    error_set(&err, E_IO, "%02000d", 1);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_string_equal(err.message + sizeof(err.message) - 4, "...");
    error_context(&err, "here");
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    assert_true(strncmp(err.message, "here: 0", 7) == 0);
    assert_string_equal(err.message + sizeof(err.message) - 4, "...");
}

static void test_heap_helpers(void **state)
{
    (void)state;
    CLEANUP(mem_free_ptr) char *text = mem_strndup("abcdef", 3);
    assert_string_equal(text, "abc");
    assert_null(mem_strdup(NULL));
    struct {
        int *items;
        size_t count, cap;
    } list = {0};
    for (int i = 0; i < 100; i++) {
        MEM_GROW(list.items, list.count, list.cap);
        list.items[list.count++] = i;
    }
    assert_int_equal(list.items[99], 99);
    int *moved = TAKE(list.items);
    assert_null(list.items);
    free(moved);
    int *one = mem_new(int);
    assert_int_equal(*one, 0);
    free(one);
}

static void test_clock_never_goes_back(void **state)
{
    (void)state;
    uint64_t before = clock_mono_ns();
    assert_true(clock_sleep_until_ns(before + NS_PER_MS));
    assert_true(clock_mono_ns() >= before + NS_PER_MS);
    assert_true(clock_real_ns() > UINT64_C(1500000000) * NS_PER_S);
    uint64_t thread_ns = clock_thread_cpu_ns();
    assert_true(clock_process_cpu_ns() >= thread_ns);
}

static void test_rows_are_found_by_name(void **state)
{
    static const struct {
        const char *name;
        char value;
    } rows[] = {{"one", 1}, {"on", 2}, {"", 3}};
    (void)state;
    assert_ptr_equal(SV_ROW(SV_LIT("on"), rows), &rows[1]);
    assert_ptr_equal(SV_ROW(SV_LIT(""), rows), &rows[2]);
    assert_null(SV_ROW(SV_LIT("two"), rows));
}

static void test_base64_gives_the_vectors_of_the_rfc(void **state)
{
    static const char *const cases[][2] = {
        /* RFC 4648, section 10; then every kind of digit */
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xFB\xEF\xBE\xFF\x01", "++++/wE="},
    };
    static const char *const bad[] = {"Zg",   "Zg=",  "Z===",    "====",     "=",      "Zm9*",
                                      "=Zm9", "Zm=9", "Zm9\xC0", "Zg==Zg==", "Zm9v\n", " Zm9"};
    struct buf back = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf out = {0};
        buf_reset(&back);
        base64_add(&out, sv_from(cases[i][0]));
        assert_string_equal(buf_cstr(&out), cases[i][1]);
        assert_true(base64_read(&back, buf_sv(&out)));
        assert_string_equal(buf_cstr(&back), cases[i][0]);
        buf_done(&out);
    }
    buf_reset(&back);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(base64_read(&back, sv_from(bad[i])));
        assert_int_equal(back.len, 0);
    }
    assert_true(base64_read(&back, SV_LIT("Zm9v")) && base64_read(&back, SV_LIT("YmFy")));
    assert_string_equal(buf_cstr(&back), "foobar");
    buf_done(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_views_compare_and_cut),
        cmocka_unit_test(test_split_gives_empty_parts),
        cmocka_unit_test(test_buffer_grows_and_consumes),
        cmocka_unit_test(test_arena_pieces_stay_and_are_aligned),
        cmocka_unit_test(test_errors_collect_context),
        cmocka_unit_test(test_long_messages_are_cut_with_dots),
        cmocka_unit_test(test_heap_helpers),
        cmocka_unit_test(test_rows_are_found_by_name),
        cmocka_unit_test(test_base64_gives_the_vectors_of_the_rfc),
        cmocka_unit_test(test_clock_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
