/* metrics_summarize against Python's own figures, hand-computed cases and a slow twin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "metrics/summary.h"

static const uint64_t BASE_NS = 5000 * NS_PER_S;
static const double P99[] = {99.0};

static uint64_t at(double seconds)
{
    return BASE_NS + (uint64_t)llround(seconds * 1e9);
}

/* A success with n token events at the given times; the server counted `tokens` of them, -1: it did not. */
static void success(struct record *r, struct record_slab *slab, double start, const double *times,
                    size_t n, int64_t tokens)
{
    record_init(r);
    r->due_ns = BASE_NS;
    r->start_ns = at(start);
    for (size_t i = 0; i < n; i++)
        record_event(r, slab, at(times[i]));
    r->end_ns = r->last_ns;
    r->usage_completion_tokens = tokens;
    r->sent = true;
    r->done = true;
}

static void failure(struct record *r, double start, double end, enum failure_kind kind)
{
    record_init(r);
    r->due_ns = BASE_NS;
    r->start_ns = at(start);
    r->end_ns = at(end);
    r->sent = true;
    r->done = true;
    r->failure = kind;
}

static struct summary_options options_for(double duration)
{
    return (struct summary_options){
        .start_ns = BASE_NS,
        .duration_ns = (uint64_t)llround(duration * 1e9),
        .percentiles = P99,
        .percentile_count = 1,
        .goodput_ttft_ms = HUGE_VAL,
        .goodput_tpot_ms = HUGE_VAL,
        .goodput_e2el_ms = HUGE_VAL,
        .has_tokenizer = true,
    };
}

static void assert_near(double got, double wanted)
{
    if (fabs(got - wanted) > 1e-6 * fabs(wanted) + 1e-12)
        fail_msg("got %.17g, wanted %.17g", got, wanted);
}

/* A run recorded with Python's vllm bench serve 0.33.0 (--save-detailed): its raw times and the figures it made of
 * them.  Our times are whole nanoseconds, hence the tolerance. */
static void test_figures_equal_pythons_on_a_recorded_run(void **state)
{
    (void)state;
    static const double start[4] = {0.0, 0.000349347, 0.005687186, 0.005891178};
    static const double ttft[4] = {0.023225490000186255, 0.02505073500014987, 0.021872496000014507,
                                   0.019542784999885043};
    static const double itl[4][5] = {
        {9.854999916569795e-06, 6.338999810395762e-06, 4.127000011067139e-06, 4.286000148567837e-06,
         0.0022188269999787735},
        {0.0022624620000897266, 0.0010697449997678632, 0.002429600000141363, 0.0011049770000681747,
         0.0025274350000472623},
        {0.00013927600002716645, 0.0021728499996243045, 0.0013299300003382086,
         0.0022668589999739197, 0.00424168399968039},
        {0.0022480600000562845, 0.0010749929997473373, 0.0024303510003846895, 0.0022583859999940614,
         0.0014756059999854187}};
    static const int64_t prompt[4] = {27, 35, 23, 27};
    struct record records[4];
    struct record_slab slab = {0};
    for (size_t i = 0; i < 4; i++) {
        double times[6] = {start[i] + ttft[i]};
        for (size_t k = 0; k < 5; k++)
            times[k + 1] = times[k] + itl[i][k];
        success(&records[i], &slab, start[i], times, 6, 6);
        records[i].usage_prompt_tokens = prompt[i];
    }
    struct summary_options options = options_for(0.0381180360000144);
    struct summary s;
    metrics_summarize(records, 4, &options, &s);

    assert_int_equal(s.completed, 4);
    assert_int_equal(s.failed, 0);
    assert_int_equal(s.total_input_tokens, 112);
    assert_int_equal(s.total_output_tokens, 24);
    assert_int_equal(s.output_from_usage, 4);
    assert_near(s.request_throughput, 104.9372008567936);
    assert_near(s.output_throughput, 629.6232051407616);
    assert_near(s.total_token_throughput, 3567.8648291309823);
    assert_near(s.input_throughput, 112 / 0.0381180360000144);
    assert_near(s.max_output_tokens_per_s, 24.0);
    assert_int_equal(s.max_concurrent_requests, 4);
    /* 1e-6 relative is 1.6 ns on the smallest of these. */
    assert_near(s.series[SERIES_TTFT].mean_ms, 22.42287650005892);
    assert_near(s.series[SERIES_TTFT].median_ms, 22.54899300010038);
    assert_near(s.series[SERIES_TTFT].std_ms, 2.0092084555422476);
    assert_near(s.series[SERIES_TTFT].percentiles_ms[0], 24.995977650150962);
    assert_near(s.series[SERIES_TPOT].mean_ms, 1.5637823999895772);
    assert_near(s.series[SERIES_TPOT].median_ms, 1.8881615000282181);
    assert_near(s.series[SERIES_TPOT].std_ms, 0.6464375468498045);
    assert_near(s.series[SERIES_TPOT].percentiles_ms[0], 2.0261405819319407);
    assert_int_equal(s.series[SERIES_ITL].count, 20);
    assert_near(s.series[SERIES_ITL].mean_ms, 1.5637823999895772);
    assert_near(s.series[SERIES_ITL].median_ms, 1.8242279998048616);
    assert_near(s.series[SERIES_ITL].std_ms, 1.1140834001303144);
    assert_near(s.series[SERIES_ITL].percentiles_ms[0], 3.9159766897500936);
    summary_done(&s);
    record_slab_done(&slab);
}

/* TTFT 1, 2, 4, 8 s: percentiles 25, 50, 90, 99 are 1.75, 3, 6.8, 7.88 (METRICS 2.1). */
static void test_percentiles_interpolate_linearly_in_the_order_asked(void **state)
{
    (void)state;
    static const double p[] = {99, 25, 50, 90};
    struct record records[4];
    struct record_slab slab = {0};
    for (size_t i = 0; i < 4; i++) {
        double times[1] = {(double)(1u << i)};
        success(&records[i], &slab, 0.0, times, 1, 1);
    }
    struct summary_options options = options_for(8.0);
    options.percentiles = p;
    options.percentile_count = 4;
    struct summary s;
    metrics_summarize(records, 4, &options, &s);
    const struct series_stats *ttft = &s.series[SERIES_TTFT];
    assert_near(ttft->percentiles_ms[0], 7880);
    assert_near(ttft->percentiles_ms[1], 1750);
    assert_near(ttft->percentiles_ms[2], 3000);
    assert_near(ttft->percentiles_ms[3], 6800);
    assert_near(ttft->median_ms, 3000);
    assert_near(ttft->mean_ms, 3750);
    /* population: squares of -2.75 -1.75 .25 4.25 sum to 28.75; / 4 */
    assert_near(ttft->std_ms, 1000 * sqrt(28.75 / 4));
    /* One token each: no time per output token, no gap. */
    assert_int_equal(s.series[SERIES_TPOT].count, 0);
    assert_near(s.series[SERIES_TPOT].mean_ms, 0.0);
    assert_int_equal(s.series[SERIES_ITL].count, 0);
    summary_done(&s);
    record_slab_done(&slab);
}

static void test_output_count_comes_from_usage_else_text_else_one(void **state)
{
    (void)state;
    static const double times[3] = {0.1, 0.2, 0.3};
    struct record_slab slab = {0};
    struct record r;
    success(&r, &slab, 0.0, times, 3, 12);
    assert_int_equal(record_output_tokens(&r, true), 12);
    assert_true(record_event_weight(&r, true) == 4.0);
    r.usage_completion_tokens = 0; /* as good as none */
    r.text_tokens = 9;
    assert_int_equal(record_output_tokens(&r, true), 9);
    assert_true(record_event_weight(&r, true) == 3.0);
    assert_int_equal(record_output_tokens(&r, false), 1);
    assert_true(record_event_weight(&r, false) == 1.0);
    r.text_tokens = -1;
    assert_int_equal(record_output_tokens(&r, true), 1);
    r.usage_completion_tokens = 12;
    r.failure = FAILURE_CLOSED_EARLY;
    assert_int_equal(record_output_tokens(&r, true), 0);
    /* A failure keeps its first token, not a latency. */
    assert_near(record_ttft_s(&r), 0.1);
    assert_true(record_latency_s(&r) == 0.0);
    record_slab_done(&slab);
}

static void test_servers_prompt_count_replaces_the_clients(void **state)
{
    (void)state;
    struct record r;
    record_init(&r);
    r.prompt_len = 32;
    assert_int_equal(record_input_tokens(&r), 32);
    r.usage_prompt_tokens = 9;
    assert_int_equal(record_input_tokens(&r), 9);
}

static void test_failures_count_by_kind_and_add_nothing_to_totals(void **state)
{
    (void)state;
    static const double times[2] = {0.5, 1.0};
    struct record_slab slab = {0};
    struct record records[5];
    success(&records[0], &slab, 0.0, times, 2, 2);
    records[0].prompt_len = 10;
    records[0].usage_cached_tokens = 4;
    failure(&records[1], 0.0, 0.5, FAILURE_CONNECT);
    failure(&records[2], 0.0, 0.5, FAILURE_HTTP_STATUS);
    failure(&records[3], 0.0, 0.5, FAILURE_HTTP_STATUS);
    records[3].prompt_len = 99;
    record_init(&records[4]); /* never sent */
    struct summary_options options = options_for(2.0);
    struct summary s;
    metrics_summarize(records, 5, &options, &s);
    assert_int_equal(s.requested, 5);
    assert_int_equal(s.sent, 4);
    assert_int_equal(s.completed, 1);
    assert_int_equal(s.failed, 3);
    assert_int_equal(s.failures[FAILURE_CONNECT], 1);
    assert_int_equal(s.failures[FAILURE_HTTP_STATUS], 2);
    assert_int_equal(s.total_input_tokens, 10);
    assert_int_equal(s.total_output_tokens, 2);
    assert_true(s.has_cached_tokens);
    assert_int_equal(s.total_cached_tokens, 4);
    assert_near(s.request_throughput, 0.5);
    assert_near(s.total_token_throughput, 6.0);
    /* Failed requests were in flight too: all four at once. */
    assert_int_equal(s.exact_max_concurrent_requests, 4);
    summary_done(&s);
    record_slab_done(&slab);
}

static void test_unfinished_request_counts_as_interrupted(void **state)
{
    (void)state;
    struct record r;
    record_init(&r);
    r.start_ns = at(1.0);
    r.sent = true;
    struct summary_options options = options_for(2.0);
    struct summary s;
    metrics_summarize(&r, 1, &options, &s);
    assert_int_equal(s.failed, 1);
    assert_int_equal(s.failures[FAILURE_INTERRUPTED], 1);
    summary_done(&s);
}

/* Limits are inclusive; one token means a time per token of 0 (METRICS 2). */
static void test_goodput_limits_are_inclusive(void **state)
{
    (void)state;
    static const double slow[3] = {0.5, 1.0, 1.5}; /* ttft 500, tpot 500, e2el 1500 ms */
    static const double fast[1] = {0.25};
    struct record_slab slab = {0};
    struct record records[2];
    success(&records[0], &slab, 0.0, slow, 3, 3);
    success(&records[1], &slab, 0.0, fast, 1, 1);
    struct summary_options options = options_for(2.0);
    struct summary s;
    static const struct {
        double ttft, tpot, e2el, goodput;
    } CASES[] = {
        {500, HUGE_VAL, HUGE_VAL, 1.0},
        {499.9, HUGE_VAL, HUGE_VAL, 0.5},
        {HUGE_VAL, 500, 1500, 1.0},
        {HUGE_VAL, 499.9, HUGE_VAL, 0.5},
        {HUGE_VAL, 500, 1499.9, 0.5},
        {HUGE_VAL, 0, HUGE_VAL, 0.5},
        {0, 0, 0, 0.0},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        options.goodput_given = true;
        options.goodput_ttft_ms = CASES[i].ttft;
        options.goodput_tpot_ms = CASES[i].tpot;
        options.goodput_e2el_ms = CASES[i].e2el;
        metrics_summarize(records, 2, &options, &s);
        assert_near(s.request_goodput, CASES[i].goodput);
        summary_done(&s);
    }
    record_slab_done(&slab);
}

static void test_no_requests_and_no_time_give_zeros(void **state)
{
    (void)state;
    struct summary_options options = options_for(0.0);
    options.steady_state = true;
    options.max_concurrency = 4;
    options.steady_threshold = 0.95;
    options.steady_min_window_s = -1;
    struct summary s;
    metrics_summarize(NULL, 0, &options, &s);
    assert_true(s.request_throughput == 0.0);
    assert_true(s.max_output_tokens_per_s == 0.0);
    assert_int_equal(s.exact_max_concurrent_requests, 0);
    assert_false(s.steady.found);
    for (size_t i = 0; i < SERIES_COUNT; i++) {
        assert_true(s.series[i].mean_ms == 0.0);
        assert_true(s.series[i].std_ms == 0.0);
        assert_true(s.series[i].percentiles_ms[0] == 0.0);
    }
    summary_done(&s);

    /* A success in a run of no length: huge, but finite. */
    static const double times[1] = {0.0};
    struct record_slab slab = {0};
    struct record r;
    success(&r, &slab, 0.0, times, 1, 1);
    metrics_summarize(&r, 1, &options, &s);
    assert_true(isfinite(s.request_throughput));
    assert_near(s.request_throughput, 1e9);
    summary_done(&s);
    record_slab_done(&slab);
}

/* Due at 0, 0, 1 s; started at 0, 2, 2 s: waits 0, 2, 1 s. */
static void test_queue_time_runs_from_due_to_start(void **state)
{
    (void)state;
    static const double times[3] = {3.0, 3.0, 3.0};
    static const double start[3] = {0, 2, 2};
    static const double due[3] = {0, 0, 1};
    struct record_slab slab = {0};
    struct record records[3];
    for (size_t i = 0; i < 3; i++) {
        success(&records[i], &slab, start[i], &times[i], 1, 1);
        records[i].due_ns = at(due[i]);
    }
    struct summary_options options = options_for(3.0);
    struct summary s;
    metrics_summarize(records, 3, &options, &s);
    assert_near(s.mean_queue_ms, 1000.0);
    assert_near(s.p99_queue_ms, 1980.0); /* h = 1.98 between 1 and 2 s */
    assert_near(s.series[SERIES_CLIENT_QUEUE_TIME].median_ms, 1000.0);
    /* latencies 3, 1, 1 and waits 0, 2, 1: 3, 3, 2 s */
    assert_near(s.series[SERIES_E2EL_INCLUDING_CLIENT_QUEUE].mean_ms, 8000.0 / 3);
    summary_done(&s);
    record_slab_done(&slab);
}

/* Ten requests, each of 10 tokens in 3 events within the second: 100 tokens, though 30 times 10/3 is not. */
static void test_the_exact_peak_of_whole_tokens_is_whole(void **state)
{
    (void)state;
    static const double times[3] = {0.1, 0.2, 0.3};
    struct record_slab slab = {0};
    struct record records[10];
    for (size_t i = 0; i < 10; i++)
        success(&records[i], &slab, 0.0, times, 3, 10);
    struct summary_options options = options_for(1.0);
    struct summary s;
    metrics_summarize(records, 10, &options, &s);
    assert_true(s.exact_max_output_tokens_per_s == 100.0);
    summary_done(&s);
    record_slab_done(&slab);
}

/* Two requests one after the other in the same second: the peers see 2 at once, in truth it is 1.  Four tokens ride in
 * every chunk: 2 chunks in the first second are 8 tokens. */
static void test_peaks_keep_the_peers_figures_and_add_exact_ones(void **state)
{
    (void)state;
    static const double a[2] = {0.1, 0.3};
    static const double b[2] = {1.5, 2.4};
    struct record_slab slab = {0};
    struct record records[2];
    success(&records[0], &slab, 0.0, a, 2, 8);
    success(&records[1], &slab, 0.3, b, 2, 8);
    struct summary_options options = options_for(3.0);
    struct summary s;
    metrics_summarize(records, 2, &options, &s);
    assert_int_equal(s.max_concurrent_requests, 2);
    assert_int_equal(s.exact_max_concurrent_requests, 1);
    assert_near(s.max_output_tokens_per_s, 2.0);
    assert_near(s.exact_max_output_tokens_per_s, 8.0);
    summary_done(&s);
    record_slab_done(&slab);
}

/* The slow twin below draws from this (a textbook linear congruential generator). */
static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

enum { TWIN_REQUESTS = 60, TWIN_EVENTS = 12 };

struct twin {
    struct record records[TWIN_REQUESTS];
    double times[TWIN_REQUESTS][TWIN_EVENTS];
    size_t events[TWIN_REQUESTS];
    double start[TWIN_REQUESTS];
};

static void make_twin(struct twin *t, struct record_slab *slab, uint64_t seed)
{
    for (size_t i = 0; i < TWIN_REQUESTS; i++) {
        t->start[i] = 10 * draw(&seed);
        t->events[i] = 1 + (size_t)(draw(&seed) * TWIN_EVENTS);
        double now = t->start[i];
        for (size_t k = 0; k < t->events[i]; k++) {
            now += draw(&seed);
            t->times[i][k] = now;
        }
        success(&t->records[i], slab, t->start[i], t->times[i], t->events[i],
                (int64_t)(t->events[i] * (1 + i % 3)));
        if (i % 7 == 3)
            t->records[i].failure = FAILURE_CLOSED_EARLY;
    }
}

/* The k-th smallest by counting, O(n^2). */
static double kth(const double *x, size_t n, size_t k)
{
    for (size_t i = 0; i < n; i++) {
        size_t less = 0;
        size_t equal = 0;
        for (size_t j = 0; j < n; j++) {
            less += x[j] < x[i];
            equal += x[j] == x[i];
        }
        if (less <= k && k < less + equal)
            return x[i];
    }
    return -1;
}

static void assert_series(const struct series_stats *got, const double *x, size_t n)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
    assert_int_equal(got->count, n);
    assert_near(got->mean_ms, 1000 * sum / (double)n);
    assert_near(got->std_ms, 1000 * sqrt(squares / (double)n));
    double h = 0.99 * (double)(n - 1);
    double lo = kth(x, n, (size_t)floor(h));
    double hi = kth(x, n, (size_t)ceil(h));
    assert_near(got->percentiles_ms[0], 1000 * (lo + (hi - lo) * (h - floor(h))));
}

static void check_twin_series(const struct twin *t, const struct summary *s)
{
    double ttft[TWIN_REQUESTS];
    double e2el[TWIN_REQUESTS];
    double tpot[TWIN_REQUESTS];
    double itl[TWIN_REQUESTS * TWIN_EVENTS];
    size_t n = 0;
    size_t tpots = 0;
    size_t itls = 0;
    for (size_t i = 0; i < TWIN_REQUESTS; i++) {
        if (i % 7 == 3)
            continue;
        size_t last = t->events[i] - 1;
        size_t tokens = t->events[i] * (1 + i % 3);
        ttft[n] = t->times[i][0] - t->start[i];
        e2el[n++] = t->times[i][last] - t->start[i];
        if (tokens > 1)
            tpot[tpots++] = (t->times[i][last] - t->times[i][0]) / (double)(tokens - 1);
        for (size_t k = 0; k < last; k++)
            itl[itls++] = t->times[i][k + 1] - t->times[i][k];
    }
    assert_series(&s->series[SERIES_TTFT], ttft, n);
    assert_series(&s->series[SERIES_E2EL], e2el, n);
    assert_series(&s->series[SERIES_TPOT], tpot, tpots);
    assert_series(&s->series[SERIES_ITL], itl, itls);
}

static void check_twin_peaks(const struct twin *t, const struct summary *s)
{
    double first = HUGE_VAL;
    for (size_t i = 0; i < TWIN_REQUESTS; i++)
        if (i % 7 != 3)
            first = fmin(first, t->start[i]);
    double chunks = 0;
    double tokens = 0;
    uint64_t touching = 0;
    for (int second = 0; second < 60; second++) {
        double c = 0;
        double w = 0;
        uint64_t touch = 0;
        for (size_t i = 0; i < TWIN_REQUESTS; i++) {
            if (i % 7 == 3)
                continue;
            for (size_t k = 0; k < t->events[i]; k++) {
                if ((int)floor(t->times[i][k] - first) != second)
                    continue;
                c += 1;
                w += (double)(1 + i % 3);
            }
            touch += floor(t->start[i] - first) <= second &&
                     second <= floor(t->times[i][t->events[i] - 1] - first);
        }
        chunks = fmax(chunks, c);
        tokens = fmax(tokens, w);
        touching = touch > touching ? touch : touching;
    }
    uint64_t exact = 0;
    for (size_t i = 0; i < TWIN_REQUESTS; i++) {
        uint64_t now = 0;
        for (size_t j = 0; j < TWIN_REQUESTS; j++)
            now += t->start[j] <= t->start[i] && t->start[i] < t->times[j][t->events[j] - 1];
        exact = now > exact ? now : exact;
    }
    assert_near(s->max_output_tokens_per_s, chunks);
    assert_near(s->exact_max_output_tokens_per_s, tokens);
    assert_int_equal(s->max_concurrent_requests, touching);
    assert_int_equal(s->exact_max_concurrent_requests, exact);
}

static void test_slow_twin_agrees_on_random_runs(void **state)
{
    (void)state;
    static struct twin t;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct record_slab slab = {0};
        struct summary_options options = options_for(25.0);
        struct summary s;
        make_twin(&t, &slab, seed);
        metrics_summarize(t.records, TWIN_REQUESTS, &options, &s);
        check_twin_series(&t, &s);
        check_twin_peaks(&t, &s);
        summary_done(&s);
        record_slab_done(&slab);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures_equal_pythons_on_a_recorded_run),
        cmocka_unit_test(test_percentiles_interpolate_linearly_in_the_order_asked),
        cmocka_unit_test(test_output_count_comes_from_usage_else_text_else_one),
        cmocka_unit_test(test_servers_prompt_count_replaces_the_clients),
        cmocka_unit_test(test_failures_count_by_kind_and_add_nothing_to_totals),
        cmocka_unit_test(test_unfinished_request_counts_as_interrupted),
        cmocka_unit_test(test_goodput_limits_are_inclusive),
        cmocka_unit_test(test_no_requests_and_no_time_give_zeros),
        cmocka_unit_test(test_queue_time_runs_from_due_to_start),
        cmocka_unit_test(test_the_exact_peak_of_whole_tokens_is_whole),
        cmocka_unit_test(test_peaks_keep_the_peers_figures_and_add_exact_ones),
        cmocka_unit_test(test_slow_twin_agrees_on_random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
