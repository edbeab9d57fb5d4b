/* Tests of src/base/hist: exact figures, bucket width, merge; a sorted list is the twin of the percentile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hist.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

static void test_empty_histogram_gives_zeros(void **state)
{
    (void)state;
    struct hist h = {0};
    assert_int_equal(hist_percentile_ns(&h, 50), 0);
    assert_true(hist_mean_ns(&h) == 0.0);
}

static void test_values_below_64_are_exact(void **state)
{
    (void)state;
    struct hist h = {0};
    for (uint64_t v = 0; v < 64; v++)
        hist_add(&h, v);
    assert_int_equal(h.count, 64);
    assert_int_equal(h.sum_ns, 2016); /* 63 * 64 / 2 */
    assert_int_equal(h.min_ns, 0);
    assert_int_equal(h.max_ns, 63);
    assert_true(hist_mean_ns(&h) == 31.5);
    for (uint64_t rank = 1; rank <= 64; rank++)
        assert_int_equal(hist_percentile_ns(&h, (double)rank / 64 * 100), rank - 1);
}

static void test_single_value_is_every_percentile(void **state)
{
    (void)state;
    struct hist h = {0};
    hist_add(&h, 123456789);
    assert_int_equal(hist_percentile_ns(&h, 0), 123456789);
    assert_int_equal(hist_percentile_ns(&h, 50), 123456789);
    assert_int_equal(hist_percentile_ns(&h, 100), 123456789);
}

static void test_values_past_the_range_keep_exact_extremes(void **state)
{
    (void)state;
    struct hist h = {0};
    hist_add(&h, UINT64_MAX / 4);
    hist_add(&h, UINT64_C(1) << 50);
    hist_add(&h, 1);
    assert_int_equal(h.max_ns, UINT64_MAX / 4);
    assert_int_equal(hist_percentile_ns(&h, 100), UINT64_MAX / 4);
    assert_int_equal(hist_percentile_ns(&h, 0), 1);
}

static int compare(const void *left, const void *right)
{
    const uint64_t *a = left;
    const uint64_t *b = right;
    return (*a > *b) - (*a < *b);
}

enum { VALUES = 20000 };

static void test_percentiles_are_within_one_sixtyfourth(void **state)
{
    (void)state;
    static uint64_t values[VALUES];
    static struct hist h, half[2];
    struct pcg64 g;
    pcg64_seed(&g, 9);
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = (uint64_t)exp(27 * pcg64_double(&g)); /* 1 ns to 9 minutes */
        hist_add(&h, values[i]);
        hist_add(&half[i % 2], values[i]);
    }
    qsort(values, VALUES, sizeof(values[0]), compare);
    hist_merge(&half[0], &half[1]);
    assert_memory_equal(&half[0], &h, sizeof(h));
    assert_int_equal(h.min_ns, values[0]);
    assert_int_equal(h.max_ns, values[VALUES - 1]);
    for (size_t rank = 1; rank <= VALUES; rank += 7) {
        uint64_t got = hist_percentile_ns(&h, ((double)rank - 0.5) / VALUES * 100);
        double want = (double)values[rank - 1];
        assert_true(fabs((double)got - want) <= want / 64);
    }
}

static void test_merge_with_empty_keeps_the_minimum(void **state)
{
    (void)state;
    struct hist h = {0}, empty = {0};
    hist_add(&h, 10);
    hist_merge(&h, &empty);
    assert_int_equal(h.min_ns, 10);
    hist_merge(&empty, &h);
    assert_int_equal(empty.min_ns, 10);
    assert_int_equal(empty.count, 1);
}

static void test_full_bucket_stays_full(void **state)
{
    (void)state;
    struct hist a = {0}, b = {0};
    hist_add(&a, 5);
    a.bucket[5] = UINT32_MAX;
    hist_add(&a, 5);
    assert_int_equal(a.bucket[5], UINT32_MAX);
    hist_add(&b, 5);
    hist_merge(&b, &a);
    assert_int_equal(b.bucket[5], UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_histogram_gives_zeros),
        cmocka_unit_test(test_values_below_64_are_exact),
        cmocka_unit_test(test_single_value_is_every_percentile),
        cmocka_unit_test(test_values_past_the_range_keep_exact_extremes),
        cmocka_unit_test(test_percentiles_are_within_one_sixtyfourth),
        cmocka_unit_test(test_merge_with_empty_keeps_the_minimum),
        cmocka_unit_test(test_full_bucket_stays_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
