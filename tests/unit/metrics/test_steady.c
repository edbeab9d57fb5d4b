/* The steady-state window: the worked cases of the specification with the three repairs (closing instant, longest
 * plateau, failures hold slots), and a slow twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "metrics/summary.h"

static const uint64_t BASE_NS = 7000 * NS_PER_S;
static const double PERCENTILES[] = {50.0, 99.9};

enum { MAX_REQUESTS = 128 };

struct run {
    struct record records[MAX_REQUESTS];
    size_t count;
    struct record_slab slab;
    struct summary_options options;
    struct summary summary;
};

static uint64_t at(double seconds)
{
    return BASE_NS + (uint64_t)llround(seconds * 1e9);
}

static void begin(struct run *run, uint64_t concurrency, double threshold, double duration)
{
    memset(run, 0, sizeof(*run));
    run->options = (struct summary_options){
        .start_ns = BASE_NS,
        .duration_ns = (uint64_t)llround(duration * 1e9),
        .percentiles = PERCENTILES,
        .percentile_count = 2,
        .goodput_ttft_ms = HUGE_VAL,
        .goodput_tpot_ms = HUGE_VAL,
        .goodput_e2el_ms = HUGE_VAL,
        .has_tokenizer = true,
        .steady_state = true,
        .max_concurrency = concurrency,
        .steady_threshold = threshold,
        .steady_min_window_s = 0.0,
    };
}

/* A success with one token event at its end. */
static struct record *add(struct run *run, double start, double end)
{
    struct record *r = &run->records[run->count++];
    record_init(r);
    r->start_ns = at(start);
    record_event(r, &run->slab, at(end));
    r->end_ns = at(end);
    r->usage_completion_tokens = 1;
    r->sent = true;
    r->done = true;
    return r;
}

static const struct steady_state *judge(struct run *run)
{
    metrics_summarize(run->records, run->count, &run->options, &run->summary);
    return &run->summary.steady;
}

static void done(struct run *run)
{
    summary_done(&run->summary);
    record_slab_done(&run->slab);
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9 * fabs(wanted) + 1e-9)
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

static void test_window_spans_from_reaching_to_leaving_the_threshold(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 10, 1.0, 39.0);
    for (int i = 0; i < 10; i++)
        add(&run, i, i + 30);
    add(&run, 15, 20);
    const struct steady_state *st = judge(&run);
    assert_true(st->found);
    assert_near(st->start_s, 9);
    assert_near(st->end_s, 30);
    assert_near(st->duration_s, 21);
    assert_int_equal(st->observed_peak, 11);
    assert_int_equal(st->threshold_abs, 10);
    assert_int_equal(st->requests_started, 2);   /* at 9 and 15 */
    assert_int_equal(st->requests_completed, 2); /* at 20, and at the closing instant 30 */
    assert_int_equal(st->requests_total, 11);
    assert_int_equal(st->gaps, 0);
    assert_false(st->has_warning);
    done(&run);
}

static void test_two_overlapping_requests(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 2, 1.0, 5.0);
    add(&run, 0, 5);
    add(&run, 1, 5);
    const struct steady_state *st = judge(&run);
    assert_near(st->start_s, 1);
    assert_near(st->end_s, 5);
    assert_int_equal(st->observed_peak, 2);
    done(&run);
}

/* Three equal requests of ten seconds, tokens at 2 4 6 8 10.  The Rust tool counts none of the completions and 12 of
 * the 15 tokens, because all happen at the closing instant. */
static void test_completions_at_the_closing_instant_count(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 3, 1.0, 10.0);
    for (int i = 0; i < 3; i++) {
        struct record *r = &run.records[run.count++];
        record_init(r);
        r->start_ns = at(0);
        for (int k = 1; k <= 5; k++)
            record_event(r, &run.slab, at(2 * k));
        r->end_ns = at(10);
        r->prompt_len = 10;
        r->usage_completion_tokens = 5;
        r->sent = true;
        r->done = true;
    }
    const struct steady_state *st = judge(&run);
    assert_near(st->start_s, 0);
    assert_near(st->end_s, 10);
    assert_int_equal(st->requests_started, 3);
    assert_int_equal(st->requests_completed, 3);
    assert_near(st->request_throughput, 0.3);
    assert_near(st->output_throughput, 1.5);
    assert_near(st->input_throughput, 3.0);
    assert_near(st->total_token_throughput, 4.5);
    assert_near(st->mean_ttft_ms, 2000);
    assert_near(st->percentiles_ttft_ms[1], 2000);
    assert_near(st->mean_tpot_ms, 2000); /* (10 - 2) / 4 */
    done(&run);
}

static void test_end_makes_room_for_a_start_at_the_same_instant(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 2, 1.0, 10.0);
    add(&run, 0, 5);
    add(&run, 0, 5);
    add(&run, 5, 10);
    const struct steady_state *st = judge(&run);
    assert_int_equal(st->observed_peak, 2);
    assert_near(st->end_s, 5);
    assert_int_equal(st->requests_completed, 2);
    assert_near(st->request_throughput, 0.4);
    done(&run);
}

static void test_turnover_of_slots_does_not_end_the_plateau(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 2, 1.0, 10.0);
    /* Two slots, each refilled 20 ms after its request ended. */
    for (int i = 0; i < 5; i++) {
        add(&run, 2 * i, 2 * i + 1.98);
        add(&run, 2 * i + 0.5, 2 * i + 2.48);
    }
    const struct steady_state *st = judge(&run);
    assert_near(st->start_s, 0.5);
    assert_near(st->end_s, 9.98);
    assert_int_equal(st->gaps, 0);
    assert_int_equal(st->requests_started, 9);
    done(&run);
}

/* 10 s at two, 30 s at one, 40 s at two: only the last stretch is steady. */
static void test_longest_plateau_wins_and_the_gap_is_reported(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 2, 1.0, 80.0);
    add(&run, 0, 10);
    add(&run, 0, 80);
    add(&run, 40, 80);
    const struct steady_state *st = judge(&run);
    assert_near(st->start_s, 40);
    assert_near(st->end_s, 80);
    assert_int_equal(st->gaps, 1);
    assert_near(st->gap_s, 30);
    assert_true(st->has_warning);
    assert_string_equal(st->warning, "concurrency fell below the threshold 1 time (30.0s in all); "
                                     "the longest plateau is shown");
    assert_int_equal(st->requests_completed, 2);
    done(&run);
}

static void test_failed_request_holds_its_slot_until_it_ends(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 2, 1.0, 20.0);
    add(&run, 0, 20);
    struct record *bad = add(&run, 0, 15);
    bad->failure = FAILURE_CLOSED_EARLY;
    const struct steady_state *st = judge(&run);
    assert_true(st->found);
    assert_near(st->end_s, 15);
    assert_int_equal(st->requests_total, 1);
    assert_int_equal(st->requests_started, 1);
    assert_int_equal(st->requests_completed, 0);
    done(&run);
}

static void test_output_counts_tokens_not_chunks(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 1, 1.0, 4.0);
    struct record *r = add(&run, 0, 2);
    record_event(r, &run.slab, at(4));
    r->end_ns = at(4);
    r->usage_completion_tokens = 8; /* four a chunk */
    const struct steady_state *st = judge(&run);
    assert_near(st->output_throughput, 2.0);
    done(&run);
}

static void test_threshold_is_rounded_up_but_not_by_a_rounding_error(void **state)
{
    (void)state;
    static const struct {
        uint64_t concurrency;
        double threshold;
        uint64_t wanted;
    } CASES[] = {{4, 0.95, 4}, {20, 0.95, 19}, {100, 0.55, 55},
                 {4, 0.5, 2},  {3, 0.1, 1},    {1, 0.01, 1}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        static struct run run;
        begin(&run, CASES[i].concurrency, CASES[i].threshold, 1.0);
        add(&run, 0, 1);
        assert_int_equal(judge(&run)->threshold_abs, CASES[i].wanted);
        done(&run);
    }
}

static void test_concurrency_never_reached_gives_no_window(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 3, 1.0, 5.0);
    add(&run, 0, 5);
    add(&run, 0, 5);
    assert_false(judge(&run)->found);
    assert_int_equal(run.summary.steady.observed_peak, 2);
    done(&run);
}

static void test_short_window_is_warned_of_in_the_peers_words(void **state)
{
    (void)state;
    static struct run run;
    begin(&run, 1, 0.95, 12.5);
    run.options.steady_min_window_s = -1; /* max(10, 0.1 * 12.5) */
    add(&run, 0, 5);
    const struct steady_state *st = judge(&run);
    assert_true(st->has_warning);
    assert_string_equal(st->warning,
                        "steady-state window is 5.0s (40.0% of run); may not be representative");
    done(&run);

    begin(&run, 1, 0.95, 12.5);
    run.options.steady_min_window_s = 5.0;
    add(&run, 0, 5);
    assert_false(judge(&run)->has_warning);
    done(&run);
}

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static size_t in_flight(const struct run *run, uint64_t time_ns)
{
    size_t n = 0;
    for (size_t i = 0; i < run->count; i++)
        n += run->records[i].start_ns <= time_ns && time_ns < run->records[i].end_ns;
    return n;
}

/* The earliest start or end after time_ns. */
static uint64_t next_edge(const struct run *run, uint64_t time_ns)
{
    uint64_t next = UINT64_MAX;
    for (size_t i = 0; i < run->count; i++) {
        const struct record *r = &run->records[i];
        if (r->start_ns > time_ns && r->start_ns < next)
            next = r->start_ns;
        if (r->end_ns > time_ns && r->end_ns < next)
            next = r->end_ns;
    }
    return next;
}

/* Walks from edge to edge counting anew at each. */
static void slow_window(const struct run *run, size_t threshold, uint64_t *up, uint64_t *down)
{
    uint64_t from = 0;
    uint64_t to = 0;
    *up = *down = 0;
    for (uint64_t t = next_edge(run, 0); t != UINT64_MAX; t = next_edge(run, t)) {
        if (in_flight(run, t) < threshold)
            continue;
        if (from == 0 || t - to > 100 * NS_PER_MS)
            from = t;
        to = next_edge(run, t);
        if (to - from > *down - *up) {
            *up = from;
            *down = to;
        }
    }
}

static void test_slow_twin_finds_the_same_window(void **state)
{
    (void)state;
    static struct run run;
    size_t windows = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        uint64_t s = seed;
        begin(&run, 6, 1.0, 20.0);
        uint64_t first = UINT64_MAX;
        for (int i = 0; i < 50; i++) {
            double start = 10 * draw(&s);
            struct record *r = add(&run, start, start + 0.001 + 2 * draw(&s));
            r->failure = i % 5 == 0 ? FAILURE_TIMEOUT : FAILURE_NONE;
            first = r->start_ns < first ? r->start_ns : first;
        }
        uint64_t up = 0;
        uint64_t down = 0;
        slow_window(&run, 6, &up, &down);
        const struct steady_state *st = judge(&run);
        if (up == down) {
            assert_false(st->found);
        } else {
            windows++;
            assert_near(st->start_s, (double)(up - first) / 1e9);
            assert_near(st->end_s, (double)(down - first) / 1e9);
            uint64_t started = 0;
            uint64_t completed = 0;
            for (size_t i = 0; i < run.count; i++) {
                const struct record *r = &run.records[i];
                started += record_ok(r) && r->start_ns >= up && r->start_ns < down;
                completed += record_ok(r) && r->end_ns > up && r->end_ns <= down;
            }
            assert_int_equal(st->requests_started, started);
            assert_int_equal(st->requests_completed, completed);
        }
        done(&run);
    }
    assert_true(windows > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_spans_from_reaching_to_leaving_the_threshold),
        cmocka_unit_test(test_two_overlapping_requests),
        cmocka_unit_test(test_completions_at_the_closing_instant_count),
        cmocka_unit_test(test_end_makes_room_for_a_start_at_the_same_instant),
        cmocka_unit_test(test_turnover_of_slots_does_not_end_the_plateau),
        cmocka_unit_test(test_longest_plateau_wins_and_the_gap_is_reported),
        cmocka_unit_test(test_failed_request_holds_its_slot_until_it_ends),
        cmocka_unit_test(test_output_counts_tokens_not_chunks),
        cmocka_unit_test(test_threshold_is_rounded_up_but_not_by_a_rounding_error),
        cmocka_unit_test(test_concurrency_never_reached_gives_no_window),
        cmocka_unit_test(test_short_window_is_warned_of_in_the_peers_words),
        cmocka_unit_test(test_slow_twin_finds_the_same_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
