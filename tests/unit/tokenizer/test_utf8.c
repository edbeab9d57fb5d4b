/* Tests of src/tokenizer/utf8: Unicode 15, table 3-7 and 3.9 (substitution of maximal subparts). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FFFD         "\xEF\xBF\xBD"

static void test_every_code_point_reads_back(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
        if (cp >= 0xD800 && cp <= 0xDFFF)
            continue;
        struct buf b = {0};
        uint32_t back;
        uint32_t again;
        utf8_add(&b, cp);
        assert_int_equal(utf8_decode(b.ptr, b.ptr + b.len, &back), (int)b.len);
        assert_int_equal(utf8_next(b.ptr, &again), b.len);
        assert_int_equal(back, cp);
        assert_int_equal(again, cp);
        buf_done(&b);
    }
}

static const struct {
    const char *in;
    const char *out;
} lossy[] = {
    /* Unicode 15, table 3-8 to 3-11 */
    {"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82"
     "A",
     FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"},
    {"\xED\xA0\x80\xED\xBF\xBF\xED\xAF"
     "A",
     FFFD FFFD FFFD FFFD FFFD FFFD FFFD FFFD "A"},
    {"\xF4\x91\x92\x93\xFF"
     "A\x80\xBF"
     "B",
     FFFD FFFD FFFD FFFD FFFD "A" FFFD FFFD "B"},
    {"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF"
     "A",
     FFFD FFFD FFFD FFFD "A"},
    {"caf\xC3\xA9", "caf\xC3\xA9"},
    {"", ""},
    {"\xF0\x9F\x98", FFFD},
};

static void test_lossy_replaces_maximal_subparts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(lossy); i++) {
        struct buf b = {0};
        utf8_add_lossy(&b, sv_from(lossy[i].in));
        assert_string_equal(buf_cstr(&b), lossy[i].out);
        buf_done(&b);
    }
}

static void test_first_invalid_is_found_at_every_place(void **state)
{
    (void)state;
    char text[33];
    for (size_t at = 0; at < 32; at++) {
        memset(text, 'x', 32);
        text[at] = '\x80';
        assert_int_equal(utf8_first_invalid(sv_make(text, 32)), at);
    }
}

/* White_Space of PropList.txt: 25 code points. */
static void test_white_space_has_25_code_points(void **state)
{
    (void)state;
    unsigned n = 0;
    for (uint32_t cp = 0; cp <= 0x10FFFF; cp++)
        n += unicode_is_space(cp);
    assert_int_equal(n, 25);
    assert_false(unicode_is_space(0x180E));
    assert_false(unicode_is_space(0x200B));
    assert_true(unicode_is_space(0x3000));
}

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(unicode_flags('a'), UC_LL | UC_WORD);
    assert_int_equal(unicode_flags(0x65E5) & (UC_L | UC_HAN), UC_LO | UC_HAN);
    assert_true((unicode_flags('7') & UC_N) != 0);
    assert_int_equal(unicode_flags(0xBD) & (UC_N | UC_ND | UC_NUMERIC), UC_N | UC_NUMERIC);
    assert_int_equal(unicode_flags(0x301) & (UC_L | UC_N | UC_M | UC_SPACE), UC_M);
    assert_int_equal(unicode_flags('\n'), UC_SPACE);
    assert_int_equal(unicode_flags(0x31350) & UC_LO, UC_LO); /* Unicode 15 */
    assert_int_equal(unicode_flags(0x110000), 0);
    assert_true(unicode_is_word('_'));
    assert_false(unicode_is_word('-'));
}

static void test_ascii_table_equals_the_large_one(void **state)
{
    (void)state;
    for (uint32_t cp = 0; cp < 128; cp++)
        assert_int_equal(unicode_flags(cp), unicode_flags_beyond_ascii(cp));
}

/* Unicode's NormalizationTest style rows: source, NFC, NFD. */
static void test_normal_forms(void **state)
{
    static const char *const rows[][3] = {
        {"e\xCC\x81\xE2\x84\xAB", "\xC3\xA9\xC3\x85",
         "e\xCC\x81"
         "A\xCC\x8A"},
        {"\xE1\x84\x80\xE1\x85\xA1x", "\xEA\xB0\x80x", "\xE1\x84\x80\xE1\x85\xA1x"},
        {"xa\xCC\xA7\xCC\x81y\xCC\x88z", "x\xC3\xA1\xCC\xA7y\xCC\x88z", NULL},
    };
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct buf b = {0};
        assert_false(unicode_is_plain(UNICODE_NFC, sv_from(rows[i][0])));
        unicode_normalize(UNICODE_NFC, sv_from(rows[i][0]), &b);
        if (i < 2)
            assert_string_equal(buf_cstr(&b), rows[i][1]);
        buf_reset(&b);
        if (rows[i][2] != NULL) {
            unicode_normalize(UNICODE_NFD, sv_from(rows[i][0]), &b);
            assert_string_equal(buf_cstr(&b), rows[i][2]);
        }
        buf_done(&b);
    }
    assert_true(unicode_is_plain(UNICODE_NFC, sv_from("caf\xC3\xA9 \xE6\x97\xA5")));
}

/* HF tokenizers 0.23.3: no rule for the final sigma, dotted I becomes two. */
static void test_lower_case(void **state)
{
    (void)state;
    struct buf b = {0};
    unicode_lower('Q', &b);
    unicode_lower(0x3A3, &b);
    unicode_lower(0x130, &b);
    unicode_lower(0x1E9E, &b);
    unicode_lower(0x65E5, &b);
    assert_string_equal(buf_cstr(&b), "q\xCF\x83i\xCC\x87\xC3\x9F\xE6\x97\xA5");
    buf_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point_reads_back),
        cmocka_unit_test(test_lossy_replaces_maximal_subparts),
        cmocka_unit_test(test_first_invalid_is_found_at_every_place),
        cmocka_unit_test(test_white_space_has_25_code_points),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_ascii_table_equals_the_large_one),
        cmocka_unit_test(test_normal_forms),
        cmocka_unit_test(test_lower_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
