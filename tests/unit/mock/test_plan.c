/* Due times: the timer heap against a plain search, and the planned times and faults of requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "base/clock.h"
#include "mock/plan.h"
#include "mock/timers.h"

enum { TIMERS = 60 };

static uint64_t next_random(uint64_t *x)
{
    *x = *x * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return *x >> 33;
}

/* The set one that is earliest, the one set first among equals; -1 when none is set. */
static int earliest(const uint64_t *due, const uint64_t *order)
{
    int best = -1;
    for (int i = 0; i < TIMERS; i++) {
        if (due[i] != 0 &&
            (best < 0 || due[i] < due[best] || (due[i] == due[best] && order[i] < order[best])))
            best = i;
    }
    return best;
}

static void test_timers_come_in_the_order_of_a_plain_search(void **state)
{
    (void)state;
    struct mock_timers timers = {0};
    struct mock_timer all[TIMERS] = {0};
    uint64_t due[TIMERS] = {0}, order[TIMERS] = {0}, seed = 7, turn = 0;
    for (int step = 0; step < 20000; step++) {
        int i = (int)(next_random(&seed) % TIMERS);
        uint64_t what = next_random(&seed) % 4;
        if (what < 2) {
            due[i] = 1 + next_random(&seed) % 40;
            order[i] = turn++;
            mock_timers_set(&timers, &all[i], due[i]);
        } else if (what == 2) {
            due[i] = 0;
            mock_timers_clear(&timers, &all[i]);
        } else {
            int best = earliest(due, order);
            assert_int_equal(mock_timers_next(&timers), best < 0 ? UINT64_MAX : due[best]);
            uint64_t now = next_random(&seed) % 40;
            struct mock_timer *got = mock_timers_due(&timers, now);
            if (best < 0 || due[best] > now) {
                assert_null(got);
            } else {
                assert_ptr_equal(got, &all[best]);
                due[best] = 0;
            }
        }
    }
    mock_timers_done(&timers);
}

static void test_constant_times_are_exact(void **state)
{
    (void)state;
    struct mock_options o;
    struct mock_model m;
    struct mock_plan p;
    mock_options_init(&o);
    o.ttft_ns = 50 * NS_PER_MS;
    o.itl_ns = 10 * NS_PER_MS + 1;
    o.prefill_us_per_token = 2.5;
    o.itl_per_stream_us = 100;
    mock_model_init(&m, &o);
    mock_plan_init(&p, &m, 3, 10);
    assert_int_equal(p.fault, MOCK_FAULT_NONE);
    /* 50 ms and 1000 tokens of 2.5 us */
    assert_int_equal(mock_plan_ttft_ns(&p, &m, 1000), 52500000);
    /* 10.000001 ms and 8 streams of 100 us */
    assert_int_equal(mock_plan_gap_ns(&p, &m, 8), 10800001);
    mock_options_done(&o);
}

/* Mean and standard deviation over the mean of 40,000 gaps. */
static void measure(const char *dist, double sigma, double *mean, double *spread)
{
    struct mock_options o;
    struct mock_model m;
    struct mock_plan p;
    double sum = 0, squares = 0;
    const int n = 40000;
    mock_options_init(&o);
    o.itl_dist = dist;
    o.itl_sigma = sigma;
    o.itl_ns = NS_PER_MS;
    mock_model_init(&m, &o);
    mock_plan_init(&p, &m, 0, 1);
    for (int i = 0; i < n; i++) {
        double x = (double)mock_plan_gap_ns(&p, &m, 1) / 1e6;
        sum += x;
        squares += x * x;
    }
    *mean = sum / n;
    *spread = sqrt(squares / n - *mean * *mean);
    mock_options_done(&o);
}

/* Known moments of unit-mean variables; the bounds are six standard errors of the mean. */
static void test_distributions_have_their_mean_and_spread(void **state)
{
    (void)state;
    double mean, spread;
    measure("exponential", 0.25, &mean, &spread);
    assert_true(fabs(mean - 1) < 0.03 && fabs(spread - 1) < 0.05);
    measure("normal", 0.1, &mean, &spread);
    assert_true(fabs(mean - 1) < 0.003 && fabs(spread - 0.1) < 0.005);
    measure("lognormal", 0.5, &mean, &spread);
    /* sqrt(exp(0.25) - 1) = 0.53294 */
    assert_true(fabs(mean - 1) < 0.016 && fabs(spread - 0.53294) < 0.04);
}

static void test_faults_are_the_same_for_the_same_index(void **state)
{
    (void)state;
    struct mock_options o;
    struct mock_model m;
    unsigned hits = 0;
    mock_options_init(&o);
    o.drop_after = 3;
    o.drop_rate = 0.25;
    mock_model_init(&m, &o);
    for (uint64_t i = 0; i < 4000; i++) {
        struct mock_plan a, b;
        mock_plan_init(&a, &m, i, 10);
        mock_plan_init(&b, &m, i, 10);
        assert_int_equal(a.fault, b.fault);
        if (a.fault == MOCK_FAULT_DROP)
            assert_int_equal(a.after, 3);
        hits += a.fault == MOCK_FAULT_DROP;
    }
    /* 1000 expected, standard deviation 27.4 */
    assert_true(hits > 1000 - 165 && hits < 1000 + 165);
    mock_options_done(&o);
}

static void test_a_rate_of_one_always_hits_and_one_of_zero_never(void **state)
{
    (void)state;
    struct mock_options o;
    struct mock_model m;
    struct mock_plan p;
    mock_options_init(&o);
    o.garbage_rate = 1;
    o.stall_after = 2;
    o.stall_rate = 0;
    mock_model_init(&m, &o);
    for (uint64_t i = 0; i < 1000; i++) {
        mock_plan_init(&p, &m, i, 8);
        assert_int_equal(p.fault, MOCK_FAULT_GARBAGE);
        assert_int_equal(p.after, 4);
    }
    mock_options_done(&o);
}

static void test_early_ends_are_geometric_and_keep_their_bounds(void **state)
{
    (void)state;
    struct mock_options o;
    struct mock_model m;
    double sum = 0;
    mock_options_init(&o);
    mock_model_init(&m, &o);
    assert_int_equal(mock_plan_tokens(&m, 0, 0, 77), 77);
    o.eos_rate = 0.1;
    for (uint64_t i = 0; i < 10000; i++) {
        uint64_t n = mock_plan_tokens(&m, i, 0, 1000000);
        assert_true(n >= 1);
        sum += (double)n;
        n = mock_plan_tokens(&m, i, 5, 20);
        assert_true(n >= 5 && n <= 20);
    }
    /* mean 1 / 0.1 = 10, standard error sqrt(90) / 100 = 0.095 */
    assert_true(fabs(sum / 10000 - 10) < 0.6);
    mock_options_done(&o);
}

static void test_options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct mock_options o;
    struct error err;
    mock_options_init(&o);
    assert_true(mock_options_check(&o, &err));
    o.error_rate = 1.5;
    assert_false(mock_options_check(&o, &err));
    mock_options_init(&o);
    o.itl_dist = "uniform";
    assert_false(mock_options_check(&o, &err));
    mock_options_init(&o);
    o.crlf = o.cr = true;
    assert_false(mock_options_check(&o, &err));
    mock_options_init(&o);
    o.split = 7;
    o.coalesce = 4;
    assert_false(mock_options_check(&o, &err));
    mock_options_init(&o);
    o.usage = "sometimes";
    assert_false(mock_options_check(&o, &err));
    assert_int_equal(err.code, E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timers_come_in_the_order_of_a_plain_search),
        cmocka_unit_test(test_constant_times_are_exact),
        cmocka_unit_test(test_distributions_have_their_mean_and_spread),
        cmocka_unit_test(test_faults_are_the_same_for_the_same_index),
        cmocka_unit_test(test_a_rate_of_one_always_hits_and_one_of_zero_never),
        cmocka_unit_test(test_early_ends_are_geometric_and_keep_their_bounds),
        cmocka_unit_test(test_options_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests_name("mock_plan", tests, NULL, NULL);
}
