/* Tokens per event, inter-token latency by tokens, reasoning, prompt cache: hand-computed, and against a slow twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/stats.h"
#include "metrics/summary.h"

static const uint64_t BASE_NS = 5000 * NS_PER_S;
static const double PERCENTILES[] = {50.0, 99.0};

struct run {
    struct record records[8];
    size_t count;
    struct record_slab slab;
    struct summary_options options;
    struct summary summary;
};

static void begin(struct run *run)
{
    *run = (struct run){.options = {.start_ns = BASE_NS,
                                    .duration_ns = 10 * NS_PER_S,
                                    .percentiles = PERCENTILES,
                                    .percentile_count = 2,
                                    .has_tokenizer = true}};
}

static struct record *add(struct run *run)
{
    struct record *r = &run->records[run->count++];
    record_init(r);
    r->due_ns = r->start_ns = BASE_NS;
    r->sent = r->done = true;
    return r;
}

/* A token event; running -1: the event does not say how many tokens there are by now. */
static void event(struct run *run, struct record *r, uint64_t at_ms, int64_t running)
{
    if (running >= 0)
        record_event_counted(r, &run->slab, BASE_NS + at_ms * NS_PER_MS, running);
    else
        record_event(r, &run->slab, BASE_NS + at_ms * NS_PER_MS);
    r->end_ns = r->last_ns;
}

static const struct per_token *summarize(struct run *run)
{
    metrics_summarize(run->records, run->count, &run->options, &run->summary);
    return &run->summary.per_token;
}

static void end(struct run *run)
{
    summary_done(&run->summary);
    record_slab_done(&run->slab);
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-9 * fabs(wanted) + 1e-12)
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* Events at 100, 140, 160 ms that bring 1, 4, 2 tokens: 4 x 10 ms and 2 x 10 ms; by chunks the gaps are 40 and 20 ms. */
static void test_a_gap_is_spread_over_the_tokens_it_brought(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 100, 1);
    event(&run, r, 140, 5);
    event(&run, r, 160, 7);
    r->usage_completion_tokens = 7;
    const struct per_token *p = summarize(&run);
    assert_int_equal(record_token_source(r, true), TOKENS_RUNNING);
    assert_int_equal(p->requests[TOKENS_RUNNING], 1);
    assert_int_equal(p->itl.count, 6);
    assert_near(p->itl.mean_ms, 10.0);
    assert_near(p->itl.median_ms, 10.0);
    assert_true(p->itl.std_ms < 1e-9);
    assert_near(p->mean_tokens_per_event, 7.0 / 3.0);
    assert_int_equal(p->max_tokens_per_event, 4);
    /* Python's figures stay by events; time per output token is right by its definition. */
    assert_near(run.summary.series[SERIES_ITL].mean_ms, 30.0);
    assert_near(run.summary.series[SERIES_TPOT].mean_ms, 10.0);
    end(&run);
}

/* 40 ms bring 4 tokens, 30 ms bring 1: values 10 10 10 10 30; mean 14, std sqrt((4*16+256)/5) = 8, p99: rank 3.96. */
static void test_statistics_count_every_token(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 0, 2);
    event(&run, r, 40, 6);
    event(&run, r, 70, 7);
    r->usage_completion_tokens = 7;
    const struct per_token *p = summarize(&run);
    assert_int_equal(p->itl.count, 5);
    assert_near(p->itl.mean_ms, 14.0);
    assert_near(p->itl.std_ms, 8.0);
    assert_near(p->itl.percentiles_ms[0], 10.0);
    assert_near(p->itl.percentiles_ms[1], 10.0 + 20.0 * 0.96);
    end(&run);
}

/* Without running counts 10 tokens on 4 events are 3 2 3 2: ceil(2.5 k) is 0 3 5 8 10. */
static void test_without_running_counts_the_output_is_spread_evenly(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 10, -1);
    event(&run, r, 30, -1);
    event(&run, r, 60, -1);
    event(&run, r, 70, -1);
    r->usage_completion_tokens = 10;
    const struct per_token *p = summarize(&run);
    assert_int_equal(p->requests[TOKENS_SPREAD], 1);
    assert_int_equal(p->max_tokens_per_event, 3);
    assert_near(p->mean_tokens_per_event, 2.5);
    /* 20 ms for 2, 30 ms for 3, 10 ms for 2: 10 10 10 10 10 5 5 */
    assert_int_equal(p->itl.count, 7);
    assert_near(p->itl.mean_ms, 60.0 / 7.0);
    assert_near(p->itl.median_ms, 10.0);
    end(&run);
}

/* A closing event without a token: its gap belongs to no token and is dropped; inside a stream it goes to the next. */
static void test_events_without_tokens_hand_their_gap_on(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *spread = add(&run); /* 3 tokens on 4 events: 1 1 1 0 */
    event(&run, spread, 10, -1);
    event(&run, spread, 20, -1);
    event(&run, spread, 30, -1);
    event(&run, spread, 95, -1);
    spread->usage_completion_tokens = 3;
    struct record *counted = add(&run); /* 0 1 0 2 tokens */
    event(&run, counted, 10, 0);
    event(&run, counted, 20, 1);
    event(&run, counted, 30, 1);
    event(&run, counted, 50, 3);
    counted->usage_completion_tokens = 3;
    const struct per_token *p = summarize(&run);
    /* 10, 10 of the first; 30 ms for two tokens of the second: 15, 15 */
    assert_int_equal(p->itl.count, 4);
    assert_near(p->itl.mean_ms, 12.5);
    assert_near(p->itl.median_ms, 12.5);
    assert_near(p->mean_tokens_per_event, 6.0 / 8.0);
    end(&run);
}

static void test_one_token_an_event_gives_the_ordinary_figures(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    for (size_t i = 0; i < 3; i++) {
        struct record *r = add(&run);
        for (uint64_t k = 0; k < 5; k++)
            event(&run, r, 10 + k * k * (i + 1), -1);
        r->usage_completion_tokens = 5;
    }
    const struct per_token *p = summarize(&run);
    const struct series_stats *itl = &run.summary.series[SERIES_ITL];
    assert_int_equal(p->itl.count, itl->count);
    assert_true(p->itl.mean_ms == itl->mean_ms && p->itl.std_ms == itl->std_ms);
    assert_true(p->itl.percentiles_ms[1] == itl->percentiles_ms[1]);
    assert_true(p->itl.percentiles_ms != itl->percentiles_ms);
    assert_true(p->mean_tokens_per_event == 1.0);
    assert_int_equal(p->max_tokens_per_event, 1);
    end(&run);
}

/* A server that writes 0 into every event, one whose count is far from the final one, one that counts in a part of the
 * events only, one that counts backwards. */
static void test_running_counts_that_do_not_add_up_are_not_believed(void **state)
{
    (void)state;
    static const int64_t COUNTS[4][3] = {{0, 0, 0}, {1, 2, 3}, {2, -1, 6}, {4, 2, 6}};
    for (size_t i = 0; i < 4; i++) {
        struct run run;
        begin(&run);
        struct record *r = add(&run);
        for (uint64_t k = 0; k < 3; k++)
            event(&run, r, 10 * (k + 1), COUNTS[i][k]);
        r->usage_completion_tokens = 6;
        assert_int_equal(record_token_source(r, true), TOKENS_SPREAD);
        const struct per_token *p = summarize(&run);
        assert_int_equal(p->itl.count, 4); /* 2 2 2 tokens */
        assert_near(p->itl.mean_ms, 5.0);
        end(&run);
    }
    /* The final count may name one token more (the stop token). */
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 10, 2);
    event(&run, r, 20, 5);
    r->usage_completion_tokens = 6;
    assert_int_equal(record_token_source(r, true), TOKENS_RUNNING);
    end(&run);
}

static void test_a_claim_of_a_billion_tokens_costs_no_memory(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    for (uint64_t k = 0; k < 4; k++)
        event(&run, r, 10 * (k + 1), -1);
    r->usage_completion_tokens = INT64_C(4000000000000000);
    const struct per_token *p = summarize(&run);
    assert_int_equal(p->max_tokens_per_event, UINT64_C(1000000000000000));
    assert_near(p->itl.mean_ms, 10.0 / 1e15);
    end(&run);
}

static void test_nobody_counted_means_one_token_an_event(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 10, -1);
    event(&run, r, 30, -1);
    const struct per_token *p = summarize(&run);
    assert_int_equal(p->requests[TOKENS_UNKNOWN], 1);
    assert_near(p->itl.mean_ms, 20.0);
    end(&run);
}

/* Tokens in seconds: 6 in second 0 and 2 in second 1 by the running count; spread evenly it would be 4 and 4. */
static void test_exact_peak_uses_running_counts(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 100, 6);
    event(&run, r, 1500, 8);
    r->usage_completion_tokens = 8;
    summarize(&run);
    assert_near(run.summary.exact_max_output_tokens_per_s, 6.0);
    assert_near(run.summary.max_output_tokens_per_s, 1.0);
    end(&run);
}

/* The window 1 s to 5 s (C = 2) has the second event of each record: 3 tokens each by the running count; 6 in 4 s. */
static void test_steady_state_uses_running_counts(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    run.options.steady_state = true;
    run.options.max_concurrency = 2;
    run.options.steady_threshold = 1.0;
    run.options.steady_min_window_s = 0;
    for (size_t i = 0; i < 2; i++) {
        struct record *r = add(&run);
        r->start_ns = BASE_NS + i * NS_PER_S;
        event(&run, r, 900 + 100 * i, 1);
        event(&run, r, 5000, 4);
        r->usage_completion_tokens = 4;
    }
    summarize(&run);
    assert_true(run.summary.steady.found);
    assert_near(run.summary.steady.output_throughput, 6.0 / 4.0);
    end(&run);
}

/* Slow twin: every token written out, then the plain statistics. */
static void test_slow_twin_agrees_on_random_streams(void **state)
{
    (void)state;
    enum { MOST = 4000 };
    uint64_t seed = 7;
    for (int round = 0; round < 200; round++) {
        struct run run;
        static double x[MOST];
        size_t n = 0;
        begin(&run);
        for (size_t i = 0; i < 8; i++) {
            struct record *r = add(&run);
            uint64_t now = 0, gap = 0;
            int64_t running = 0;
            for (size_t k = 0; k < 40; k++) {
                seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                uint64_t step = seed >> 60;
                uint64_t tokens = (seed >> 50) % 6;
                now += step;
                gap += step;
                for (uint64_t t = 0; running > 0 && t < tokens; t++)
                    x[n++] = (double)gap / 1000.0 / (double)tokens;
                gap = tokens > 0 ? 0 : gap;
                running += (int64_t)tokens;
                event(&run, r, now, running);
            }
            r->usage_completion_tokens = running;
        }
        const struct per_token *p = summarize(&run);
        assert_int_equal(p->itl.count, n);
        assert_near(p->itl.mean_ms, 1000 * stats_mean(x, n));
        assert_near(p->itl.std_ms, 1000 * stats_std(x, n));
        stats_sort(x, n);
        assert_near(p->itl.median_ms, 1000 * stats_median(x, n));
        assert_near(p->itl.percentiles_ms[1], 1000 * stats_percentile(x, n, 99.0));
        end(&run);
    }
}

/* Reasoning at 100 and 200 ms, the answer from 300 ms on; beside it an answer without reasoning at 50 ms. */
static void test_reasoning_share_and_time_to_the_answer(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *thinks = add(&run);
    for (uint64_t k = 1; k <= 4; k++)
        event(&run, thinks, 100 * k, -1);
    thinks->reasoning_events = 2;
    thinks->answer_first_ns = BASE_NS + 300 * NS_PER_MS;
    thinks->answer_text = true;
    struct record *answers = add(&run);
    event(&run, answers, 50, -1);
    answers->answer_first_ns = BASE_NS + 50 * NS_PER_MS;
    answers->answer_text = true;
    summarize(&run);
    const struct reasoning *r = &run.summary.reasoning;
    assert_int_equal(r->requests, 1);
    assert_int_equal(r->without_answer, 0);
    assert_int_equal(r->events, 2);
    assert_near(r->event_share, 2.0 / 5.0);
    assert_int_equal(r->ttfa.count, 2);
    assert_near(r->ttfa.mean_ms, 175.0);
    /* The first token of any channel stays what TTFT means. */
    assert_near(run.summary.series[SERIES_TTFT].mean_ms, 75.0);
    end(&run);
}

/* Cut off while it still reasons: the one empty event at the end is no answer.  With a second one (a tool call) it is. */
static void test_an_empty_closing_event_after_reasoning_is_no_answer(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 100, -1);
    event(&run, r, 200, -1);
    r->reasoning_events = 1;
    r->answer_first_ns = BASE_NS + 200 * NS_PER_MS;
    assert_true(record_ttfa_s(r) < 0.0);
    summarize(&run);
    assert_int_equal(run.summary.reasoning.without_answer, 1);
    assert_int_equal(run.summary.reasoning.ttfa.count, 0);
    event(&run, r, 300, -1);
    assert_near(record_ttfa_s(r), 0.2);
    end(&run);
}

/* 30 of 50 and 0 of 50 output tokens were reasoning, by the server's word; the stream shows none of it. */
static void test_reported_reasoning_tokens_count_without_events(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    for (size_t i = 0; i < 3; i++) {
        struct record *r = add(&run);
        event(&run, r, 100, -1);
        r->answer_first_ns = r->first_ns;
        r->answer_text = true;
        r->usage_completion_tokens = 50;
        r->usage_reasoning_tokens = i == 0 ? 30 : i == 1 ? 0 : -1;
    }
    summarize(&run);
    const struct reasoning *r = &run.summary.reasoning;
    assert_int_equal(r->requests, 1);
    assert_true(r->has_tokens);
    assert_int_equal(r->tokens, 30);
    assert_near(r->token_share, 0.3);
    assert_int_equal(r->events, 0);
    assert_true(r->event_share == 0.0);
    assert_int_equal(r->ttfa.count, 3);
    end(&run);
}

static void test_without_reasoning_there_is_nothing_to_say(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    struct record *r = add(&run);
    event(&run, r, 100, -1);
    r->answer_first_ns = r->first_ns;
    summarize(&run);
    assert_int_equal(run.summary.reasoning.requests, 0);
    assert_true(run.summary.reasoning.event_share == 0.0);
    assert_int_equal(run.summary.reasoning.ttfa.count, 0);
    end(&run);
}

/* 30 of 100 and 10 of 300 tokens cached; a third request says nothing and stays out of the share. */
static void test_cached_share_is_of_the_requests_that_tell(void **state)
{
    (void)state;
    static const int64_t INPUT[3] = {100, 300, 500};
    static const int64_t CACHED[3] = {30, 10, -1};
    struct run run;
    begin(&run);
    for (size_t i = 0; i < 3; i++) {
        struct record *r = add(&run);
        event(&run, r, 10, -1);
        r->usage_prompt_tokens = INPUT[i];
        r->usage_cached_tokens = CACHED[i];
    }
    summarize(&run);
    assert_int_equal(run.summary.total_cached_tokens, 40);
    assert_near(run.summary.cached_token_share, 0.1);
    assert_int_equal(run.summary.input_from_usage, 3);
    end(&run);
}

/* 12 s and 8 s of sound in a run of 10 s. */
static void test_rtfx_is_sound_per_second(void **state)
{
    (void)state;
    struct run run;
    begin(&run);
    for (size_t i = 0; i < 3; i++) {
        struct record *r = add(&run);
        event(&run, r, 10, -1);
        r->input_audio_s = i == 0 ? 12.0 : 8.0;
        r->failure = i == 2 ? FAILURE_CLOSED_EARLY : FAILURE_NONE;
    }
    summarize(&run);
    assert_near(run.summary.rtfx, 2.0);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_gap_is_spread_over_the_tokens_it_brought),
        cmocka_unit_test(test_statistics_count_every_token),
        cmocka_unit_test(test_without_running_counts_the_output_is_spread_evenly),
        cmocka_unit_test(test_events_without_tokens_hand_their_gap_on),
        cmocka_unit_test(test_one_token_an_event_gives_the_ordinary_figures),
        cmocka_unit_test(test_running_counts_that_do_not_add_up_are_not_believed),
        cmocka_unit_test(test_a_claim_of_a_billion_tokens_costs_no_memory),
        cmocka_unit_test(test_nobody_counted_means_one_token_an_event),
        cmocka_unit_test(test_exact_peak_uses_running_counts),
        cmocka_unit_test(test_steady_state_uses_running_counts),
        cmocka_unit_test(test_slow_twin_agrees_on_random_streams),
        cmocka_unit_test(test_reasoning_share_and_time_to_the_answer),
        cmocka_unit_test(test_an_empty_closing_event_after_reasoning_is_no_answer),
        cmocka_unit_test(test_reported_reasoning_tokens_count_without_events),
        cmocka_unit_test(test_without_reasoning_there_is_nothing_to_say),
        cmocka_unit_test(test_cached_share_is_of_the_requests_that_tell),
        cmocka_unit_test(test_rtfx_is_sound_per_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
