/* Tests of src/metrics/client: each rule of the verdict on both sides of its threshold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "metrics/client.h"

#include <string.h>

/* A calm run: kernel stamps, 0.2 ms receive lag, 0.1 ms send lag, no merged reads, CPU 10 %. */
static void calm(struct client_stats *c)
{
    *c = (struct client_stats){
        .reads = 1000,
        .kernel_stamps = 1000,
        .event_reads = 1000,
        .token_events = 1000,
        .longest_stall_ns = 2 * NS_PER_MS,
        .cpu_ns = NS_PER_S,
        .wall_ns = 10 * NS_PER_S,
        .threads = 1,
    };
    hist_add(&c->receive_lag, 200 * NS_PER_US);
    hist_add(&c->send_lag, 100 * NS_PER_US);
}

/* The only value of a histogram is its p99. */
static void only_value(struct hist *h, uint64_t value_ns)
{
    *h = (struct hist){0};
    hist_add(h, value_ns);
}

static const struct client_latencies usual = {.ttft_ms = 100, .itl_ms = 20, .e2el_ms = 400};

/* With the usual means. */
static void check(const struct client_stats *c, enum verdict want, const char *part)
{
    char rule[320];
    assert_int_equal(client_verdict(c, &usual, rule, sizeof(rule)), want);
    if (strstr(rule, part) == NULL)
        fail_msg("'%s' is not in '%s'", part, rule);
}

static void test_calm_and_empty_runs_are_clean(void **state)
{
    (void)state;
    struct client_stats c;
    calm(&c);
    check(&c, VERDICT_CLEAN, "none");
    c = (struct client_stats){0};
    check(&c, VERDICT_CLEAN, "none");
    assert_int_equal(client_stamp_source(&c), STAMP_KERNEL);
}

/* Slots idle for 5 % and half of a mean E2EL of 400 ms. */
static void test_idle_slots_of_unpaced_runs(void **state)
{
    (void)state;
    static const struct {
        uint64_t lag_ms;
        enum verdict verdict;
    } rows[] = {
        {19, VERDICT_CLEAN}, {21, VERDICT_SUSPECT}, {199, VERDICT_SUSPECT}, {201, VERDICT_INVALID}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client_stats c;
        calm(&c);
        only_value(&c.send_lag, rows[i].lag_ms * NS_PER_MS);
        check(&c, rows[i].verdict,
              rows[i].verdict == VERDICT_CLEAN ? "none" : "requests left late");
    }
}

static void test_send_lag(void **state)
{
    (void)state;
    static const struct {
        uint64_t lag_us;
        double ttft_ms;
        enum verdict verdict;
    } rows[] = {
        {4900, 100, VERDICT_CLEAN},    {5100, 100, VERDICT_SUSPECT}, /* 5 % of 100 ms */
        {50100, 100, VERDICT_INVALID}, {49900, 100, VERDICT_SUSPECT},
        {9900, 1000, VERDICT_CLEAN},   {10100, 1000, VERDICT_SUSPECT}, /* 10 ms */
        {900, 1, VERDICT_CLEAN},       {1100, 1, VERDICT_INVALID},     /* from 1 ms up */
        {9900, 0, VERDICT_CLEAN},      {10100, 0, VERDICT_SUSPECT},    /* TTFT unknown */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct client_stats c;
        char rule[320];
        struct client_latencies means = {.ttft_ms = rows[i].ttft_ms, .itl_ms = 20, .e2el_ms = 400};
        calm(&c);
        c.paced = true;
        only_value(&c.send_lag, rows[i].lag_us * NS_PER_US);
        assert_int_equal(client_verdict(&c, &means, rule, sizeof(rule)), rows[i].verdict);
        assert_int_equal(strstr(rule, "requests left late") != NULL,
                         rows[i].verdict != VERDICT_CLEAN);
    }
}

static void test_reads_without_kernel_stamps(void **state)
{
    (void)state;
    struct client_stats c;
    calm(&c);
    c.kernel_stamps = 990; /* 1 % is tolerated */
    check(&c, VERDICT_CLEAN, "none");
    assert_int_equal(client_stamp_source(&c), STAMP_MIXED);
    c.kernel_stamps = 980;
    check(&c, VERDICT_SUSPECT, "2.0% of the reads have no kernel timestamp");
    only_value(&c.receive_lag, 1900 * NS_PER_US);
    check(&c, VERDICT_SUSPECT, "receive lag p99 1.90 ms");
    only_value(&c.receive_lag, 2100 * NS_PER_US); /* more than a tenth of 20 ms */
    check(&c, VERDICT_INVALID, "limit 2.00 ms");
    c.kernel_stamps = 1000; /* with stamps the lag spoils nothing */
    check(&c, VERDICT_CLEAN, "none");
    c.kernel_stamps = 0;
    c.receive_lag = (struct hist){0};
    check(&c, VERDICT_SUSPECT, "the receive lag is unknown");
    assert_int_equal(client_stamp_source(&c), STAMP_USER);
}

static void test_stalls(void **state)
{
    (void)state;
    struct client_stats c;
    calm(&c);
    c.longest_stall_ns = 50 * NS_PER_MS;
    check(&c, VERDICT_CLEAN, "none");
    c.longest_stall_ns = 51 * NS_PER_MS;
    check(&c, VERDICT_SUSPECT, "a client loop stood still for 51 ms");
    c.longest_stall_ns = 501 * NS_PER_MS;
    check(&c, VERDICT_SUSPECT, "a client loop stood still for 501 ms");
    c.kernel_stamps = 0;
    check(&c, VERDICT_INVALID, "stood still for 501 ms");
}

static void test_merged_reads_never_make_a_run_invalid(void **state)
{
    (void)state;
    struct client_stats c;
    calm(&c);
    c.merged_reads = 200;
    c.merged_events = 150;
    check(&c, VERDICT_CLEAN, "none"); /* the client was quick: the server grouped them */
    c.merged_reads = 251;
    check(&c, VERDICT_SUSPECT, "the server or the network delivers tokens in groups");
    c.merged_reads = 20;
    c.merged_events = 20;
    only_value(&c.receive_lag, 5100 * NS_PER_US); /* more than a quarter of 20 ms */
    check(&c, VERDICT_SUSPECT, "while the client was slow");
    c.merged_events = 5; /* too few to move a figure */
    check(&c, VERDICT_CLEAN, "none");
    c.merged_reads = 1000;
    c.merged_events = 1000;
    check(&c, VERDICT_SUSPECT, "100.0% of the reads");
}

static void test_cpu_share(void **state)
{
    (void)state;
    struct client_stats c;
    calm(&c);
    c.cpu_ns = 85 * NS_PER_S / 10;
    check(&c, VERDICT_CLEAN, "none");
    c.cpu_ns = 87 * NS_PER_S / 10;
    check(&c, VERDICT_SUSPECT, "busy 87% of the time");
}

static void test_worst_rule_wins_and_equals_go_by_order(void **state)
{
    (void)state;
    struct client_stats c;
    calm(&c);
    c.cpu_ns = c.wall_ns;
    c.longest_stall_ns = 60 * NS_PER_MS;
    check(&c, VERDICT_SUSPECT, "stood still");
    c.paced = true;
    only_value(&c.send_lag, 60 * NS_PER_MS);
    check(&c, VERDICT_INVALID, "requests left late");
    char small[8];
    assert_int_equal(client_verdict(&c, &usual, small, sizeof(small)), VERDICT_INVALID);
    assert_string_equal(small, "request");
    assert_int_equal(client_verdict(&c, &usual, NULL, 0), VERDICT_INVALID);
}

static void test_merge_adds_up(void **state)
{
    (void)state;
    static struct client_stats a, b;
    calm(&a);
    calm(&b);
    b.longest_stall_ns = 9 * NS_PER_MS;
    b.address = "[::1]:8000";
    b.dns_ms = 1.5;
    b.merged_reads = 3;
    b.merged_events = 4;
    b.tcp_retransmits = 5;
    b.connections = 6;
    b.reconnects = 7;
    b.requests_connecting = 8;
    b.clock_steps = 9;
    hist_add(&b.connect_time, 10);
    client_stats_merge(&a, &b);
    assert_int_equal(a.reads, 2000);
    assert_int_equal(a.kernel_stamps, 2000);
    assert_int_equal(a.event_reads, 2000);
    assert_int_equal(a.token_events, 2000);
    assert_int_equal(a.receive_lag.count, 2);
    assert_int_equal(a.send_lag.count, 2);
    assert_int_equal(a.connect_time.count, 1);
    assert_int_equal(a.longest_stall_ns, 9 * NS_PER_MS);
    assert_int_equal(a.cpu_ns, 2 * NS_PER_S);
    assert_int_equal(a.wall_ns, 20 * NS_PER_S);
    assert_int_equal(a.merged_reads, 3);
    assert_int_equal(a.merged_events, 4);
    assert_int_equal(a.tcp_retransmits, 5);
    assert_int_equal(a.connections, 6);
    assert_int_equal(a.reconnects, 7);
    assert_int_equal(a.requests_connecting, 8);
    assert_int_equal(a.clock_steps, 9);
    assert_int_equal(a.threads, 2);
    assert_true(a.dns_ms == 1.5);
    assert_string_equal(a.address, "[::1]:8000");
}

static void test_verdicts_have_names(void **state)
{
    (void)state;
    assert_string_equal(verdict_name(VERDICT_CLEAN), "clean");
    assert_string_equal(verdict_name(VERDICT_SUSPECT), "suspect");
    assert_string_equal(verdict_name(VERDICT_INVALID), "invalid");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calm_and_empty_runs_are_clean),
        cmocka_unit_test(test_send_lag),
        cmocka_unit_test(test_idle_slots_of_unpaced_runs),
        cmocka_unit_test(test_reads_without_kernel_stamps),
        cmocka_unit_test(test_stalls),
        cmocka_unit_test(test_merged_reads_never_make_a_run_invalid),
        cmocka_unit_test(test_cpu_share),
        cmocka_unit_test(test_worst_rule_wins_and_equals_go_by_order),
        cmocka_unit_test(test_merge_adds_up),
        cmocka_unit_test(test_verdicts_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
