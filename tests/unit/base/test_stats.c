/* Tests of src/base/stats: bit for bit against numpy (tests/data/stats) and by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "base/stats.h"
#include "data/stats/vectors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_same(double got, double want)
{
    if (memcmp(&got, &want, sizeof(got)) != 0)
        fail_msg("%a is not %a", got, want);
}

/* The series of make_vectors.py. */
static double *draw_series(size_t n)
{
    struct mt19937 g;
    double *x = mem_array(n, sizeof(*x));
    py_seed(&g, n);
    for (size_t i = 0; i < n; i++)
        x[i] = py_random(&g) * 100;
    return x;
}

static void test_figures_equal_numpy_to_the_last_bit(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stats_vectors) / sizeof(stats_vectors[0]); i++) {
        const struct stats_vector *v = &stats_vectors[i];
        double *x = draw_series(v->n);
        assert_same(stats_sum(x, v->n), v->sum);
        assert_same(stats_mean(x, v->n), v->mean);
        assert_same(stats_std(x, v->n), v->std);
        stats_sort(x, v->n);
        assert_same(stats_median(x, v->n), v->median);
        for (size_t p = 0; p < sizeof(stats_percentiles) / sizeof(stats_percentiles[0]); p++)
            assert_same(stats_percentile(x, v->n, stats_percentiles[p]), v->percentile[p]);
        free(x);
    }
}

static void test_small_series_by_hand(void **state)
{
    (void)state;
    const double x[] = {1, 2, 3, 4};
    assert_same(stats_sum(x, 4), 10);
    assert_same(stats_mean(x, 4), 2.5);
    assert_same(stats_std(x, 4), sqrt(1.25)); /* population: (2.25 + 0.25 + 0.25 + 2.25) / 4 */
    assert_same(stats_median(x, 4), 2.5);
    assert_same(stats_median(x, 3), 2);
    assert_same(stats_percentile(x, 4, 0), 1);
    assert_same(stats_percentile(x, 4, 50), 2.5);
    assert_same(stats_percentile(x, 4, 75), 3.25);
    assert_same(stats_percentile(x, 4, 100), 4);
}

static void test_empty_series_gives_zeros(void **state)
{
    (void)state;
    assert_same(stats_sum(NULL, 0), 0);
    assert_same(stats_mean(NULL, 0), 0);
    assert_same(stats_std(NULL, 0), 0);
    assert_same(stats_median(NULL, 0), 0);
    assert_same(stats_percentile(NULL, 0, 99), 0);
    stats_sort(NULL, 0);
}

static int compare(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;
    return (*a > *b) - (*a < *b);
}

static void test_sort_agrees_with_qsort(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 63, 64, 65, 66, 1000, 5000};
    struct pcg64 g;
    pcg64_seed(&g, 5);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        size_t n = sizes[s];
        double *x = mem_array(n, sizeof(*x));
        double *twin = mem_array(n, sizeof(*twin));
        for (size_t i = 0; i < n; i++) {
            double size = exp(40 * pcg64_double(&g) - 20);
            x[i] = i % 7 == 0 ? 1.0 : pcg64_u32(&g) % 2 != 0 ? size : -size;
        }
        if (n > 4) {
            x[3] = HUGE_VAL;
            x[4] = -HUGE_VAL;
        }
        memcpy(twin, x, n * sizeof(*x));
        qsort(twin, n, sizeof(*twin), compare);
        stats_sort(x, n);
        assert_memory_equal(x, twin, n * sizeof(*x));
        free(x);
        free(twin);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_equal_numpy_to_the_last_bit),
        cmocka_unit_test(test_small_series_by_hand),
        cmocka_unit_test(test_empty_series_gives_zeros),
        cmocka_unit_test(test_sort_agrees_with_qsort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
