/* Arrival times against numpy 2.4.6: numpy.random.seed(seed), gaps by numpy.random.gamma(b, 1/(rate*b)), summed and
 * scaled to (n/rate) as vllm bench serve 0.33.0 does, in ns rounded to the nearest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "load/schedule.h"

struct arrival_case {
    uint32_t seed;
    double rate;
    double burstiness;
    enum ramp_up ramp;
    size_t count;
    uint64_t due_ns[6];
};

static const struct arrival_case cases[] = {
    {0,
     20,
     1.0,
     RAMP_UP_NONE,
     6,
     {44616490, 115023598, 166779216, 210909480, 241801096, 300000000}},
    {7, 20, 0.5, RAMP_UP_NONE, 6, {1899107, 64584355, 88085938, 258070868, 285149702, 300000000}},
    {7, 20, 2.5, RAMP_UP_NONE, 6, {30741895, 54542364, 97557306, 177578747, 240548087, 300000000}},
    {0, 10, HUGE_VAL, RAMP_UP_NONE, 4, {100000000, 200000000, 300000000, 400000000}},
    {3,
     HUGE_VAL,
     1.0,
     RAMP_UP_LINEAR,
     6,
     {160056477, 262682131, 280775047, 308276597, 375986622, 432641285}},
    {3,
     HUGE_VAL,
     1.0,
     RAMP_UP_EXPONENTIAL,
     6,
     {160056477, 322554912, 352481428, 393549710, 478218805, 534873468}},
    {0, HUGE_VAL, 1.0, RAMP_UP_NONE, 3, {0, 0, 0}},
};

static void arrival_times_equal_numpys(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct arrival_case *c = &cases[k];
        struct config config = {
            .request_rate = c->rate,
            .burstiness = c->burstiness,
            .ramp_up_strategy = c->ramp,
            .ramp_up_start_rps = 5,
            .ramp_up_end_rps = 40,
        };
        struct mt19937 npl;
        uint64_t due[6];
        npl_seed(&npl, c->seed);
        schedule_fill(&config, &npl, due, c->count);
        for (size_t i = 0; i < c->count; i++)
            assert_int_equal(due[i], c->due_ns[i]);
    }
}

/* 1e-30 requests a second: due times of 1e39 ns, which no integer holds. */
static void what_is_due_in_ages_stays_far_away(void **state)
{
    (void)state;
    const uint64_t ten_years_ns = UINT64_C(315360000000000000);
    const double rates[] = {1e-30, 1e-300, 5e-324};
    for (size_t k = 0; k < 3; k++) {
        struct config config = {.request_rate = rates[k], .burstiness = 1.0};
        struct mt19937 npl;
        npl_seed(&npl, 0);
        uint64_t due_ns[3];
        schedule_fill(&config, &npl, due_ns, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_true(due_ns[i] > ten_years_ns);
            assert_true(due_ns[i] < UINT64_MAX / 2); /* room for the clock */
        }
    }
}

static void rates_of_a_ramp_start_and_end_where_asked(void **state)
{
    (void)state;
    struct config config = {
        .ramp_up_strategy = RAMP_UP_LINEAR, .ramp_up_start_rps = 2, .ramp_up_end_rps = 10};
    assert_true(schedule_rate(&config, 0, 5) == 2.0);
    assert_true(schedule_rate(&config, 2, 5) == 6.0);
    assert_true(schedule_rate(&config, 4, 5) == 10.0);
    assert_true(schedule_rate(&config, 0, 1) == 2.0);
    config.ramp_up_strategy = RAMP_UP_EXPONENTIAL;
    config.ramp_up_end_rps = 32;
    assert_true(schedule_rate(&config, 2, 5) == 8.0);
}

/* Even gaps: the last request of as many as are counted is due when the time is over. */
static void the_requests_of_a_duration_fill_it(void **state)
{
    (void)state;
    static uint64_t due[40000];
    struct mt19937 npl;
    struct config config = {.request_rate = 50, .burstiness = HUGE_VAL};
    assert_int_equal(schedule_count(&config, UINT64_C(3000000000)), 150);
    assert_int_equal(schedule_count(&config, 1), 1);
    config.request_rate = HUGE_VAL;
    config.ramp_up_start_rps = 20;
    config.ramp_up_end_rps = 400;
    for (enum ramp_up ramp = RAMP_UP_LINEAR; ramp <= RAMP_UP_EXPONENTIAL; ramp++) {
        config.ramp_up_strategy = ramp;
        size_t n = schedule_count(&config, UINT64_C(30000000000));
        assert_in_range(n, 1000, 12000);
        schedule_fill(&config, &npl, due, n);
        assert_true(due[n - 1] > UINT64_C(29900000000) && due[n - 1] < UINT64_C(30100000000));
    }
    config.ramp_up_end_rps = 20;
    assert_int_equal(schedule_count(&config, UINT64_C(2000000000)), 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrival_times_equal_numpys),
        cmocka_unit_test(what_is_due_in_ages_stays_far_away),
        cmocka_unit_test(rates_of_a_ramp_start_and_end_where_asked),
        cmocka_unit_test(the_requests_of_a_duration_fill_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
