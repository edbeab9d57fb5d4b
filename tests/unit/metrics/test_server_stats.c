/* Speculative and diffusion decoding from counters, probes: the specification's worked cases and recorded runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "metrics/probe_stats.h"
#include "metrics/server_stats.h"

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-12 * fabs(wanted) + 1e-15)
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* METRICS 6: drafts 100, draft tokens 300, accepted 240: 80 %, 3.4; positions 90, 80, 70. */
static void test_worked_case_of_speculation(void **state)
{
    (void)state;
    struct server_counters before = {.has_speculation = true,
                                     .drafts = 50,
                                     .draft_tokens = 150,
                                     .accepted_tokens = 60,
                                     .positions = {{2, 5}, {0, 10}, {1, 7}},
                                     .position_count = 3};
    struct server_counters after = {.has_speculation = true,
                                    .drafts = 150,
                                    .draft_tokens = 450,
                                    .accepted_tokens = 300,
                                    .positions = {{0, 100}, {1, 87}, {2, 75}},
                                    .position_count = 3};
    struct server_stats s;
    server_stats_make(&before, &after, 1.0, &s);
    assert_true(s.has_speculation);
    assert_false(s.has_diffusion);
    assert_near(s.acceptance_rate, 80.0);
    assert_near(s.acceptance_length, 3.4);
    assert_int_equal(s.drafts, 100);
    assert_int_equal(s.draft_tokens, 300);
    assert_int_equal(s.accepted_tokens, 240);
    assert_int_equal(s.position_count, 3);
    assert_near(s.position_rates[0], 0.9);
    assert_near(s.position_rates[1], 0.8);
    assert_near(s.position_rates[2], 0.7);
}

/* METRICS 6: no drafts, 100 tokens, 80 accepted: 80 %, length 0, no positions. */
static void test_no_drafts_give_no_length_and_no_positions(void **state)
{
    (void)state;
    struct server_counters before = {.has_speculation = true};
    struct server_counters after = {.has_speculation = true,
                                    .draft_tokens = 100,
                                    .accepted_tokens = 80,
                                    .positions = {{0, 40}},
                                    .position_count = 1};
    struct server_stats s;
    server_stats_make(&before, &after, 1.0, &s);
    assert_near(s.acceptance_rate, 80.0);
    assert_true(s.acceptance_length == 0.0);
    assert_int_equal(s.position_count, 0);
}

static void test_counters_that_stand_or_are_missing_give_nothing(void **state)
{
    (void)state;
    struct server_counters some = {.has_speculation = true, .drafts = 5, .draft_tokens = 9};
    struct server_counters less = {.has_speculation = true, .drafts = 1, .draft_tokens = 3};
    struct server_counters none = {0};
    struct server_stats s;
    server_stats_make(&some, &some, 1.0, &s);
    assert_false(s.has_speculation);
    server_stats_make(&some, &less, 1.0, &s); /* started anew meanwhile */
    assert_false(s.has_speculation);
    server_stats_make(&none, &some, 1.0, &s);
    assert_false(s.has_speculation);
    server_stats_make(&some, &none, 1.0, &s);
    assert_false(s.has_speculation || s.has_diffusion);
}

/* A position of one page only: new ones count from 0, ones that went missing have 0. */
static void test_positions_are_the_union_of_both_pages_in_order(void **state)
{
    (void)state;
    struct server_counters before = {
        .has_speculation = true, .positions = {{7, 3}, {0, 10}}, .position_count = 2};
    struct server_counters after = {.has_speculation = true,
                                    .drafts = 10,
                                    .draft_tokens = 10,
                                    .positions = {{10, 5}, {0, 15}},
                                    .position_count = 2};
    struct server_stats s;
    server_stats_make(&before, &after, 1.0, &s);
    assert_int_equal(s.position_count, 3);
    assert_int_equal(s.positions[0], 0);
    assert_int_equal(s.positions[1], 7);
    assert_int_equal(s.positions[2], 10);
    assert_near(s.position_rates[0], 0.5);
    assert_true(s.position_rates[1] == 0.0);
    assert_near(s.position_rates[2], 0.5);
}

static void test_full_lists_of_different_positions_fit(void **state)
{
    (void)state;
    struct server_counters before = {.has_speculation = true,
                                     .position_count = SERVER_POSITIONS_MAX};
    struct server_counters after = {.has_speculation = true,
                                    .drafts = 1,
                                    .draft_tokens = 1,
                                    .position_count = SERVER_POSITIONS_MAX};
    for (size_t i = 0; i < SERVER_POSITIONS_MAX; i++) {
        before.positions[i].position = (int64_t)(2 * i);
        after.positions[i].position = (int64_t)(2 * i + 1);
    }
    struct server_stats s;
    server_stats_make(&before, &after, 1.0, &s);
    assert_int_equal(s.position_count, 2 * SERVER_POSITIONS_MAX);
    for (size_t i = 0; i < s.position_count; i++)
        assert_int_equal(s.positions[i], i);
}

/* Python's recorded run `diffusion`: 20 steps, 640 positions, 128 tokens in 0.0357 s: 4 canvases of 32 positions, each
 * with 4 denoising steps and one that commits. */
static void test_diffusion_equals_pythons_recorded_run(void **state)
{
    (void)state;
    struct server_counters before = {.has_diffusion = true,
                                     .denoising_steps = 50,
                                     .canvas_positions = 1600,
                                     .committed_tokens = 320};
    struct server_counters after = {.has_diffusion = true,
                                    .denoising_steps = 70,
                                    .canvas_positions = 2240,
                                    .committed_tokens = 448};
    struct server_stats s;
    server_stats_make(&before, &after, 0.03569352400018033, &s);
    assert_true(s.has_diffusion);
    assert_near(s.committed_throughput, 3586.0846914233884);
    assert_near(s.steps_per_canvas, 4.0);
    assert_near(s.committed_per_step, 8.0);
    assert_int_equal(s.committed_tokens, 128);
    assert_int_equal(s.denoising_steps, 16);
    assert_int_equal(s.canvas_positions, 640);
}

/* One step a canvas: none of them denoises; nothing is divided by 0. */
static void test_diffusion_without_denoising(void **state)
{
    (void)state;
    struct server_counters before = {.has_diffusion = true};
    struct server_counters after = {.has_diffusion = true,
                                    .denoising_steps = 4,
                                    .canvas_positions = 128,
                                    .committed_tokens = 128};
    struct server_stats s;
    server_stats_make(&before, &after, 0.0, &s);
    assert_true(s.has_diffusion);
    assert_true(s.committed_per_step == 0.0 && s.steps_per_canvas == 0.0);
    assert_true(isfinite(s.committed_throughput));
    after.canvas_positions = 0;
    server_stats_make(&before, &after, 1.0, &s);
    assert_false(s.has_diffusion);
}

/* 30, 10, 20 ms: median 20, p99 at rank 1.98 is 29.8, largest 30. */
static void test_probes_are_summed_up(void **state)
{
    (void)state;
    double latencies[] = {0.030, 0.010, 0.020};
    struct probe_stats p;
    probe_stats_make(latencies, 3, 2, &p);
    assert_int_equal(p.completed, 3);
    assert_int_equal(p.failed, 2);
    assert_near(p.median_ms, 20.0);
    assert_true(fabs(p.p99_ms - 29.8) < 1e-9);
    assert_near(p.max_ms, 30.0);
    probe_stats_make(NULL, 0, 1, &p);
    assert_int_equal(p.completed, 0);
    assert_true(p.median_ms == 0.0 && p.p99_ms == 0.0 && p.max_ms == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_case_of_speculation),
        cmocka_unit_test(test_no_drafts_give_no_length_and_no_positions),
        cmocka_unit_test(test_counters_that_stand_or_are_missing_give_nothing),
        cmocka_unit_test(test_positions_are_the_union_of_both_pages_in_order),
        cmocka_unit_test(test_full_lists_of_different_positions_fit),
        cmocka_unit_test(test_diffusion_equals_pythons_recorded_run),
        cmocka_unit_test(test_diffusion_without_denoising),
        cmocka_unit_test(test_probes_are_summed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
