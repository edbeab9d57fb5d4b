/* Tests of src/base/num: expected texts are what Python 3.11 prints for repr() and format(). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/num.h"
#include "base/rng.h"

#include <math.h>
#include <stdio.h>

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static double of_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void test_double_prints_as_python_repr(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {24.0, "24.0"},
        {0.1, "0.1"},
        {0.3, "0.3"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1.0 / 3.0, "0.3333333333333333"},
        {2.0 / 3.0, "0.6666666666666666"},
        {100.0, "100.0"},
        {123456.789, "123456.789"},
        {0.0001, "0.0001"},
        {0.00012345, "0.00012345"},
        {0.00001, "1e-05"},
        {1.25e-7, "1.25e-07"},
        {1e15, "1000000000000000.0"},
        {9007199254740991.0, "9007199254740991.0"},
        {9007199254740993.0, "9007199254740992.0"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e16, "1e+16"},
        {1.2345e16, "1.2345e+16"},
        {1e22, "1e+22"},
        {1e23, "1e+23"},
        {9.5e-300, "9.5e-300"},
        {5e-324, "5e-324"},
        {1.5e-323, "1.5e-323"},
        {0x1p-44, "5.684341886080802e-14"}, /* %.16g misses: the interval is wider above */
        {0x1p-1022, "2.2250738585072014e-308"},
        {0x0.fffffffffffffp-1022, "2.225073858507201e-308"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
        {HUGE_VAL, "inf"},
        {-HUGE_VAL, "-inf"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[NUM_TEXT_MAX];
        size_t len = num_format_double(text, rows[i].value);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(len, strlen(text));
    }
    char text[NUM_TEXT_MAX];
    assert_int_equal(num_format_double(text, NAN), 3);
    assert_string_equal(text, "nan");
}

static void test_short_form_leaves_point_zero_out(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } rows[] = {{99.0, "99"},    {99.9, "99.9"},    {0.0, "0"},
                {100.0, "100"},  {0.5, "0.5"},      {-20.0, "-20"},
                {1e16, "1e+16"}, {HUGE_VAL, "inf"}, {12345678.0, "12345678"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[NUM_TEXT_MAX];
        assert_int_equal(num_format_short(text, rows[i].value), strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
}

static void test_fixed_rounds_the_exact_value_half_to_even(void **state)
{
    (void)state;
    static const struct {
        double value;
        int decimals;
        const char *text;
    } rows[] = {{0.125, 2, "0.12"},
                {0.375, 2, "0.38"},
                {2.675, 2, "2.67"}, /* is 2.67499... */
                {0.5, 0, "0"},
                {1.5, 0, "2"},
                {1234.5678, 2, "1234.57"},
                {-0.001, 2, "-0.00"},
                {1e22, 1, "10000000000000000000000.0"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[64];
        assert_int_equal(num_format_fixed(text, sizeof(text), rows[i].value, rows[i].decimals),
                         strlen(rows[i].text));
        assert_string_equal(text, rows[i].text);
    }
    char small[4];
    assert_int_equal(num_format_fixed(small, sizeof(small), 123.456, 2), 3);
    assert_string_equal(small, "123");
}

static void test_unsigned_prints_all_digits(void **state)
{
    (void)state;
    char text[NUM_TEXT_MAX];
    assert_int_equal(num_format_u64(text, 0), 1);
    assert_string_equal(text, "0");
    assert_int_equal(num_format_u64(text, UINT64_MAX), 20);
    assert_string_equal(text, "18446744073709551615");
    num_format_u64(text, 1000);
    assert_string_equal(text, "1000");
}

static void test_integers_parse_whole_text_only(void **state)
{
    (void)state;
    uint64_t u = 7;
    int64_t i = 7;
    assert_true(num_parse_u64(SV_LIT("18446744073709551615"), &u) && u == UINT64_MAX);
    assert_true(num_parse_u64(SV_LIT("+0042"), &u) && u == 42);
    assert_true(num_parse_u64(SV_LIT("-0"), &u) && u == 0);
    assert_true(num_parse_i64(SV_LIT("9223372036854775807"), &i) && i == INT64_MAX);
    assert_true(num_parse_i64(SV_LIT("-9223372036854775808"), &i) && i == INT64_MIN);
    assert_true(num_parse_i64(SV_LIT("-17"), &i) && i == -17);
    static const char *const bad[] = {"",    "-",    "+",   " 1",  "1 ",    "1.0",
                                      "1e3", "0x10", "--1", "+-1", "1_000", "18446744073709551616",
                                      "a"};
    for (size_t at = 0; at < sizeof(bad) / sizeof(bad[0]); at++) {
        u = 7;
        i = 7;
        assert_false(num_parse_u64(sv_from(bad[at]), &u));
        assert_false(num_parse_i64(sv_from(bad[at]), &i));
        assert_true(u == 7 && i == 7); /* outputs stay */
    }
    assert_false(num_parse_u64(SV_LIT("-1"), &u));
    assert_false(num_parse_i64(SV_LIT("9223372036854775808"), &i));
    assert_false(num_parse_i64(SV_LIT("-9223372036854775809"), &i));
    assert_false(num_parse_u64(sv_from(NULL), &u));
}

static void test_double_parses_correctly_rounded(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } rows[] = {
        {"0", 0.0},
        {"-0.0", -0.0},
        {"1.", 1.0},
        {".5", 0.5},
        {"+2.50", 2.5},
        {"1e3", 1000.0},
        {"1E+3", 1000.0},
        {"12e-1", 1.2},
        {"0.1", 0.1},
        {"1e22", 1e22},
        {"1e23", 1e23},
        {"123456789012345678901234567890", 0x1.8ee90ff6c373ep96},
        {"9007199254740993", 0x1p53}, /* half way, to even */
        {"9007199254740993.00000000000000000000000000000000000000000000000000000000000000000000001",
         0x1.0000000000001p53},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"4.9e-324", 0x1p-1074},
        {"2e-324", 0.0},
        {"1.7976931348623157e308", 0x1.fffffffffffffp1023},
        {"1e309", HUGE_VAL},
        {"-1e99999999999999999999", -HUGE_VAL},
        {"0e99999999999999999999", 0.0},
        {"1e-99999999999999999999", 0.0},
        {"inf", HUGE_VAL},
        {"-Infinity", -HUGE_VAL},
        {"+INF", HUGE_VAL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double value = 7;
        assert_true(num_parse_double(sv_from(rows[i].text), &value));
        if (bits_of(value) != bits_of(rows[i].value))
            fail_msg("'%s' gave %a, not %a", rows[i].text, value, rows[i].value);
    }
    double value = 7;
    assert_true(num_parse_double(SV_LIT("NaN"), &value) && isnan(value));
}

static void test_double_refuses_what_is_no_decimal(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     ".",     "-",    "e5",  "1e",  "1e+", "1.2.3",
                                      "0x10", "0x1p3", " 1",   "1 ",  "1_0", "1,5", "infi",
                                      "nano", "--1",   "1e5.", "+-1", "- 1", "1f",  "inf "};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        double value = 7;
        assert_false(num_parse_double(sv_from(bad[i]), &value));
        assert_true(value == 7);
    }
}

/* The fewest digits that printf's rounding needs to read back; the shortest may do with fewer, never with more. */
static int digits_needed(double value)
{
    for (int digits = 1; digits < 17; digits++) {
        char text[64];
        double back;
        snprintf(text, sizeof(text), "%.*e", digits - 1, value);
        if (num_parse_double(sv_from(text), &back) && back == value)
            return digits;
    }
    return 17;
}

static int digits_printed(const char *text)
{
    int count = 0;
    int zeros = 0;
    for (; *text != '\0' && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (*text == '0' && count == 0))
            continue;
        count++;
        zeros = *text == '0' ? zeros + 1 : 0;
    }
    return count - zeros;
}

static void check_round_trip(double value)
{
    char text[NUM_TEXT_MAX];
    double back;
    num_format_double(text, value);
    if (!num_parse_double(sv_from(text), &back) || bits_of(back) != bits_of(value))
        fail_msg("%a printed as '%s'", value, text);
    if (digits_printed(text) > digits_needed(value))
        fail_msg("%a printed as '%s', %d digits would do", value, text, digits_needed(value));
}

static void test_random_doubles_print_shortest_and_read_back(void **state)
{
    (void)state;
    struct pcg64 g;
    pcg64_seed(&g, 20240601);
    for (int i = 0; i < 20000; i++) {
        double any = of_bits(pcg64_u64(&g));
        if (isfinite(any))
            check_round_trip(fabs(any));
        check_round_trip(pcg64_double(&g));
        check_round_trip((double)pcg64_integers(&g, 0, 1000000000) / 1e6);
        check_round_trip(of_bits(pcg64_u64(&g) >> 12)); /* below the normal range */
    }
}

static void test_powers_of_two_and_neighbours_read_back(void **state)
{
    (void)state;
    for (uint64_t exponent = 0; exponent < 0x7ff; exponent++) {
        uint64_t bits = exponent << 52;
        check_round_trip(of_bits(bits > 0 ? bits - 1 : 0));
        check_round_trip(of_bits(bits));
        check_round_trip(of_bits(bits + 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_double_prints_as_python_repr),
        cmocka_unit_test(test_short_form_leaves_point_zero_out),
        cmocka_unit_test(test_fixed_rounds_the_exact_value_half_to_even),
        cmocka_unit_test(test_unsigned_prints_all_digits),
        cmocka_unit_test(test_integers_parse_whole_text_only),
        cmocka_unit_test(test_double_parses_correctly_rounded),
        cmocka_unit_test(test_double_refuses_what_is_no_decimal),
        cmocka_unit_test(test_random_doubles_print_shortest_and_read_back),
        cmocka_unit_test(test_powers_of_two_and_neighbours_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
