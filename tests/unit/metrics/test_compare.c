/* Tests of the tests: by simulation they must neither cry wolf nor sleep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "metrics/compare.h"

struct table {
    struct compare_test at[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT];
};

enum { GAPS = 4, RESAMPLES = 200 };

/* Skewed times as servers have them; the gaps of one answer share a factor of their own. */
static void simulate(struct compare_samples *s, struct pcg64 *g, size_t requests, double scale)
{
    *s = (struct compare_samples){.requests = requests};
    for (size_t i = 0; i < requests; i++) {
        double ttft = 50.0 * scale * exp(0.4 * pcg64_standard_normal(g));
        double pace = 10.0 * scale * exp(0.1 * pcg64_standard_normal(g));
        double total = ttft;
        for (int k = 0; k < GAPS; k++) {
            double gap = pace * exp(0.2 * pcg64_standard_normal(g));
            compare_samples_add(s, COMPARE_ITL, i, gap);
            total += gap;
        }
        compare_samples_add(s, COMPARE_TTFT, i, ttft);
        compare_samples_add(s, COMPARE_TPOT, i, (total - ttft) / GAPS);
        compare_samples_add(s, COMPARE_E2EL, i, total);
    }
}

static void run_pair(struct pcg64 *g, size_t requests, double scale, struct table *tests)
{
    struct compare_samples a;
    struct compare_samples b;
    struct compare_test *all[COMPARE_SERIES_COUNT * COMPARE_STAT_COUNT];
    size_t n = 0;
    simulate(&a, g, requests, 1.0);
    simulate(&b, g, requests, scale);
    compare_requests(&a, &b, RESAMPLES, tests->at);
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++)
        for (size_t j = 0; j < COMPARE_STAT_COUNT; j++)
            all[n++] = &tests->at[k][j];
    compare_adjust(all, n);
    compare_samples_done(&a);
    compare_samples_done(&b);
}

/* Any figure that differs is an alarm. */
static bool alarm_in(const struct table *tests)
{
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++)
        for (size_t j = 0; j < COMPARE_STAT_COUNT; j++) {
            enum compare_verdict v = compare_judge(&tests->at[k][j], 0.05);
            if (v == COMPARE_HIGHER || v == COMPARE_LOWER)
                return true;
        }
    return false;
}

static size_t false_alarms(size_t requests, size_t pairs)
{
    struct pcg64 g;
    size_t alarms = 0;
    pcg64_seed(&g, requests);
    for (size_t i = 0; i < pairs; i++) {
        struct table tests;
        run_pair(&g, requests, 1.0, &tests);
        alarms += alarm_in(&tests);
    }
    return alarms;
}

/* Without a p99, and with one at the least number of requests that it takes. */
static void test_equal_runs_raise_at_most_5_percent_false_alarms(void **state)
{
    (void)state;
    size_t pairs = getenv("VB_TEST_SLOW") != NULL ? 200 : 2000;
    size_t alarms = false_alarms(60, pairs);
    print_message("# 60 requests: %zu alarms in %zu pairs\n", alarms, pairs);
    if (alarms > pairs / 20)
        fail_msg("60 requests: %zu alarms in %zu pairs", alarms, pairs);
    alarms = false_alarms(368, pairs / 4);
    print_message("# 368 requests: %zu alarms in %zu pairs\n", alarms, pairs / 4);
    if (alarms > pairs / 80)
        fail_msg("368 requests: %zu alarms in %zu pairs", alarms, pairs / 4);
}

/* A pilot says how many requests are needed; that many find a shift of 5 % nine times in ten. */
static void check_power(enum compare_series series, enum compare_stat stat, size_t trials)
{
    struct pcg64 g;
    struct table tests;
    size_t found = 0;
    pcg64_seed(&g, 3);
    run_pair(&g, 400, 1.0, &tests);
    size_t needed = compare_needed(&tests.at[series][stat], 0.05, 12);
    assert_in_range(needed, 100, 20000);
    for (size_t i = 0; i < trials; i++) {
        run_pair(&g, needed, 1.05, &tests);
        found += compare_judge(&tests.at[series][stat], 0.05) == COMPARE_HIGHER;
    }
    print_message("# %zu requests: %zu of %zu shifts found\n", needed, found, trials);
    /* three standard errors of the share below 0.9 */
    double least = 0.9 - 3.0 * sqrt(0.09 / (double)trials);
    if ((double)found < least * (double)trials)
        fail_msg("%zu requests: %zu of %zu shifts found", needed, found, trials);
}

static void test_needed_samples_find_a_shift_of_5_percent_with_power_9_in_10(void **state)
{
    (void)state;
    bool slow = getenv("VB_TEST_SLOW") != NULL;
    check_power(COMPARE_E2EL, COMPARE_MEAN, slow ? 40 : 200);
    check_power(COMPARE_ITL, COMPARE_MEDIAN, slow ? 40 : 200);
    check_power(COMPARE_E2EL, COMPARE_P99, slow ? 5 : 25);
}

static void test_intervals_of_the_change_cover_93_to_97(void **state)
{
    (void)state;
    struct pcg64 g;
    size_t trials = getenv("VB_TEST_SLOW") != NULL ? 300 : 1500;
    size_t covered = 0;
    pcg64_seed(&g, 11);
    for (size_t i = 0; i < trials; i++) {
        struct table tests;
        run_pair(&g, 100, 1.1, &tests);
        const struct compare_test *t = &tests.at[COMPARE_E2EL][COMPARE_MEAN];
        covered += t->low <= 0.1 && 0.1 <= t->high;
    }
    if (covered * 100 < trials * 93 || covered * 100 > trials * 97)
        fail_msg("%zu of %zu intervals held the change", covered, trials);
}

static void test_too_few_values_for_a_p99_give_a_reason_and_no_number(void **state)
{
    (void)state;
    struct pcg64 g;
    struct table tests;
    pcg64_seed(&g, 5);
    run_pair(&g, 367, 1.0, &tests);
    assert_false(tests.at[COMPARE_E2EL][COMPARE_P99].available);
    assert_string_equal(tests.at[COMPARE_E2EL][COMPARE_P99].reason,
                        "a p99 needs 368 values a run, there are 367");
    assert_int_equal(compare_judge(&tests.at[COMPARE_E2EL][COMPARE_P99], 0.05),
                     COMPARE_INCONCLUSIVE);
    assert_int_equal(compare_needed(&tests.at[COMPARE_E2EL][COMPARE_P99], 0.05, 12), 368);
    assert_true(tests.at[COMPARE_E2EL][COMPARE_MEAN].available);
    run_pair(&g, 29, 1.0, &tests);
    assert_false(tests.at[COMPARE_E2EL][COMPARE_MEAN].available);
    assert_string_equal(tests.at[COMPARE_E2EL][COMPARE_MEAN].reason,
                        "needs 30 requests a run, there are 29");
}

static void test_same_and_inconclusive_are_told_apart(void **state)
{
    (void)state;
    struct compare_test t = {.available = true, .p = 0.5, .low = -0.02, .high = 0.03, .least = 30};
    assert_int_equal(compare_judge(&t, 0.05), COMPARE_SAME);
    assert_int_equal(compare_judge(&t, 0.025), COMPARE_INCONCLUSIVE);
    t.p = 0.01;
    t.change = 0.01;
    assert_int_equal(compare_judge(&t, 0.05), COMPARE_HIGHER);
    t.change = -0.01;
    assert_int_equal(compare_judge(&t, 0.05), COMPARE_LOWER);
}

/* p = 0.01, 0.02, 0.03, 0.04 of four tests: times 4, 3, 2, 1, never falling. */
static void test_holms_rule(void **state)
{
    (void)state;
    struct compare_test t[5] = {{.available = true, .p = 0.04},
                                {.available = true, .p = 0.01},
                                {.p = 0.0},
                                {.available = true, .p = 0.03},
                                {.available = true, .p = 0.02}};
    struct compare_test *all[5] = {&t[0], &t[1], &t[2], &t[3], &t[4]};
    compare_adjust(all, 5);
    assert_true(fabs(t[1].p - 0.04) < 1e-12);
    assert_true(fabs(t[4].p - 0.06) < 1e-12);
    assert_true(fabs(t[3].p - 0.06) < 1e-12);
    assert_true(fabs(t[0].p - 0.06) < 1e-12);
}

/* Welch's example with hand-made figures: means 10 and 11, relative variances of the means 1/300 and 1/363. */
static void test_repeated_runs_are_compared_by_their_figures(void **state)
{
    (void)state;
    const double a[] = {9.0, 10.0, 11.0};
    const double b[] = {10.0, 11.0, 12.0};
    struct compare_test t;
    compare_runs(a, 3, b, 3, &t);
    assert_true(t.available);
    assert_true(fabs(t.change - 0.1) < 1e-9);
    assert_true(fabs(t.unit_var - 3.0 * (1.0 / 300 + 1.0 / 363)) < 1e-9);
    assert_true(t.p > 0.2 && t.p < 0.35); /* t = 1.22 with 4 degrees of freedom */
    compare_runs(a, 1, b, 3, &t);
    assert_false(t.available);
    const double c[] = {10.0, 10.0};
    compare_runs(c, 2, c, 2, &t);
    assert_true(t.p > 0.999);
}

/* Resamples aside, the three statistics are numpy's: 1..5 with 2 twice as heavy is {1, 2, 2, 3, 4, 5}. */
static void test_the_change_is_that_of_the_figures(void **state)
{
    (void)state;
    struct compare_samples a = {.requests = 40};
    struct compare_samples b = {.requests = 40};
    struct table tests;
    for (size_t i = 0; i < 40; i++) {
        compare_samples_add(&a, COMPARE_E2EL, i, (double)(i + 1));
        compare_samples_add(&b, COMPARE_E2EL, i, 2.0 * (double)(i + 1));
    }
    compare_requests(&a, &b, 0, tests.at);
    assert_true(fabs(tests.at[COMPARE_E2EL][COMPARE_MEAN].change - 1.0) < 1e-9);
    assert_true(fabs(tests.at[COMPARE_E2EL][COMPARE_MEDIAN].change - 1.0) < 1e-9);
    assert_false(tests.at[COMPARE_TTFT][COMPARE_MEAN].available);
    assert_string_equal(tests.at[COMPARE_TTFT][COMPARE_MEAN].reason, "no values");
    compare_samples_done(&a);
    compare_samples_done(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_runs_raise_at_most_5_percent_false_alarms),
        cmocka_unit_test(test_needed_samples_find_a_shift_of_5_percent_with_power_9_in_10),
        cmocka_unit_test(test_intervals_of_the_change_cover_93_to_97),
        cmocka_unit_test(test_too_few_values_for_a_p99_give_a_reason_and_no_number),
        cmocka_unit_test(test_same_and_inconclusive_are_told_apart),
        cmocka_unit_test(test_holms_rule),
        cmocka_unit_test(test_repeated_runs_are_compared_by_their_figures),
        cmocka_unit_test(test_the_change_is_that_of_the_figures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
