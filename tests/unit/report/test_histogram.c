/* Bins against numpy.histogram(values, bins=30) of numpy 2.3.5, and axis marks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/histogram.h"
#include "report/ticks.h"

struct row {
    uint64_t values[10];
    size_t count;
    /* the bins that hold something, and what */
    struct {
        size_t bin;
        uint64_t count;
    } full[10];
    double low, second, eighteenth, high; /* edges 0, 1, 17 and 30 as numpy prints them */
};

static const struct row ROWS[] = {
    {{0, 1, 30}, 3, {{0, 1}, {1, 1}, {29, 1}}, 0.0, 1.0, 17.0, 30.0},
    {{5, 5, 5}, 3, {{15, 3}}, 4.5, 4.533333333333333, 5.066666666666666, 5.5},
    {{7}, 1, {{15, 1}}, 6.5, 6.533333333333333, 7.066666666666666, 7.5},
    {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
     10,
     {{0, 1}, {3, 1}, {6, 1}, {10, 1}, {13, 1}, {16, 1}, {20, 1}, {23, 1}, {26, 1}, {29, 1}},
     1.0,
     1.3,
     6.1,
     10.0},
    {{24, 26, 28, 36}, 4, {{0, 1}, {5, 1}, {10, 1}, {29, 1}}, 24.0, 24.4, 30.8, 36.0},
    {{532, 3401, 3400, 1000, 1531, 2041, 2966},
     7,
     {{0, 1}, {4, 1}, {10, 1}, {15, 1}, {25, 1}, {29, 2}},
     532.0,
     627.6333333333333,
     2157.766666666667,
     3401.0},
    {{0, 0, 1}, 3, {{0, 2}, {29, 1}}, 0.0, 0.03333333333333333, 0.5666666666666667, 1.0},
    {{3, 1000000, 999999, 500001},
     4,
     {{0, 1}, {14, 1}, {29, 2}},
     3.0,
     33336.23333333333,
     566667.9666666666,
     1000000.0},
};

static void test_bins_are_those_of_numpy(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        const struct row *row = &ROWS[i];
        uint64_t expected[HISTOGRAM_BINS] = {0};
        struct histogram h;
        for (size_t k = 0; k < 10; k++)
            if (row->full[k].count > 0)
                expected[row->full[k].bin] = row->full[k].count;
        histogram_make(&h, row->values, row->count);
        for (size_t k = 0; k < HISTOGRAM_BINS; k++)
            if (h.counts[k] != expected[k])
                fail_msg("row %zu, bin %zu: %d, numpy has %d", i, k, (int)h.counts[k],
                         (int)expected[k]);
        assert_true(histogram_edge(&h, 0) == row->low && histogram_edge(&h, 30) == row->high);
        assert_true(histogram_edge(&h, 1) == row->second);
        assert_true(histogram_edge(&h, 17) == row->eighteenth);
    }
}

static void test_no_value_leaves_every_bin_empty(void **state)
{
    (void)state;
    struct histogram h;
    histogram_make(&h, NULL, 0);
    assert_int_equal(h.most, 0);
    assert_true(h.low == 0.0 && h.high == 1.0);
}

/* Every value lies between the edges of its bin, whatever rounding does. */
static void test_no_value_lies_beside_its_bin(void **state)
{
    (void)state;
    for (uint64_t high = 2; high < 3000; high = high * 7 / 5 + 1) {
        for (uint64_t v = 0; v <= high; v++) {
            uint64_t values[3] = {0, high, v};
            struct histogram h;
            size_t bin = 0;
            histogram_make(&h, values, 3);
            for (size_t i = 0; i < HISTOGRAM_BINS; i++)
                if (histogram_edge(&h, i) <= (double)v)
                    bin = i;
            assert_true(h.counts[bin] >= 1);
            assert_int_equal(
                h.counts[0] + h.counts[29] + (bin != 0 && bin != 29 ? h.counts[bin] : 0), 3);
        }
    }
}

static void test_axis_marks_are_round(void **state)
{
    (void)state;
    char text[NUM_TEXT_MAX];
    assert_true(ticks_step(1, 6) == 1 && ticks_step(0.5, 6) == 1);
    assert_true(ticks_step(7, 6) == 2 && ticks_step(31, 6) == 10 && ticks_step(29, 6) == 5);
    assert_true(ticks_step(120000, 6) == 20000);
    ticks_text(-0.0, 1, text);
    assert_string_equal(text, "0");
    ticks_text(500, 500, text);
    assert_string_equal(text, "500");
    ticks_text(40000, 20000, text);
    assert_string_equal(text, "40k");
    ticks_text(1500000, 500000, text);
    assert_string_equal(text, "1.5M");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bins_are_those_of_numpy),
        cmocka_unit_test(test_no_value_leaves_every_bin_empty),
        cmocka_unit_test(test_no_value_lies_beside_its_bin),
        cmocka_unit_test(test_axis_marks_are_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
