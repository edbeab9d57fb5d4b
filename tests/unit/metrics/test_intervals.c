/* Quantiles against printed tables, and intervals against what they promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/rng.h"
#include "metrics/intervals.h"
#include "metrics/multi.h"

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("wanted %.10f, got %.10f", want, got);
}

/* Any table of the t distribution. */
static void test_quantiles_are_those_of_the_tables(void **state)
{
    (void)state;
    near(normal_quantile(0.975), 1.959964, 1e-6);
    near(normal_quantile(0.5), 0.0, 1e-9);
    near(normal_quantile(0.9), 1.281552, 1e-6);
    near(student_quantile(0.975, 1), 12.7062, 1e-4);
    near(student_quantile(0.975, 2), 4.302653, 1e-6);
    near(student_quantile(0.975, 4), 2.776445, 1e-6);
    near(student_quantile(0.975, 9), 2.262157, 1e-6);
    near(student_quantile(0.975, 30), 2.042272, 1e-6);
    near(student_quantile(0.025, 9), -2.262157, 1e-6);
    near(student_quantile(0.995, 5), 4.032143, 1e-6);
    near(student_quantile(0.975, 1e6), 1.959966, 1e-5);
    near(student_cdf(1.0, 1), 0.75, 1e-12); /* Cauchy: 1/2 + atan(1)/pi */
    near(student_cdf(0.0, 7), 0.5, 1e-12);
}

static void test_quantiles_out_of_range_are_no_numbers(void **state)
{
    (void)state;
    assert_true(isnan(normal_quantile(0.0)));
    assert_true(isnan(student_quantile(1.0, 3)));
    assert_true(isnan(student_quantile(0.9, 0)));
}

/* 0.99^367 = 0.0250077, 0.99^368 = 0.0247576; 0.5^5 = 0.03125, 0.5^6 = 0.015625. */
static void test_a_percentile_needs_values_on_both_sides(void **state)
{
    (void)state;
    assert_int_equal(interval_least_samples(99.0, 0.95), 368);
    assert_int_equal(interval_least_samples(1.0, 0.95), 368);
    assert_int_equal(interval_least_samples(50.0, 0.95), 6);
    assert_int_equal(interval_least_samples(90.0, 0.95), 36);
}

static void test_figures_over_runs(void **state)
{
    (void)state;
    const double x[] = {2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
    struct multi_stats s;
    multi_stats_make(x, 8, &s);
    near(s.mean, 5.0, 1e-12);
    near(s.std, 2.0, 1e-12); /* population */
    near(s.min, 2.0, 0);
    near(s.max, 9.0, 0);
    near(s.cv, 0.4, 1e-12);
    /* t(0.975, 7) = 2.364624; s / sqrt(n) = 2 / sqrt(7) */
    near(s.high - s.mean, 2.364624 * 2.0 / sqrt(7.0), 1e-5);
    near(s.mean - s.low, s.high - s.mean, 1e-12);
    multi_stats_make(x, 1, &s);
    assert_false(s.has_interval);
    multi_stats_make(x, 0, &s);
    assert_int_equal(s.count, 0);
    assert_false(s.has_cv);
}

/* 4,000 experiments of n runs each: the share whose interval holds the true mean.  The share's own standard error is
 * 0.34 %, so 93 to 97 % is a wide gate for a right formula and a narrow one for a wrong one. */
static void test_intervals_of_95_percent_cover_93_to_97(void **state)
{
    (void)state;
    static const size_t sizes[] = {2, 3, 5, 10, 30};
    struct pcg64 g;
    pcg64_seed(&g, 7);
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        int covered = 0;
        for (int i = 0; i < 4000; i++) {
            double x[30];
            struct multi_stats s;
            for (size_t j = 0; j < sizes[k]; j++)
                x[j] = 100.0 + 8.0 * pcg64_standard_normal(&g);
            multi_stats_make(x, sizes[k], &s);
            covered += s.low <= 100.0 && 100.0 <= s.high;
        }
        if (covered < 3720 || covered > 3880)
            fail_msg("%zu runs: %d of 4000 intervals held the mean", sizes[k], covered);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_are_those_of_the_tables),
        cmocka_unit_test(test_quantiles_out_of_range_are_no_numbers),
        cmocka_unit_test(test_a_percentile_needs_values_on_both_sides),
        cmocka_unit_test(test_figures_over_runs),
        cmocka_unit_test(test_intervals_of_95_percent_cover_93_to_97),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
