/* The client's judgement on itself.  Every rule is a function that looks at one cause of wrong figures and answers with
 * a verdict and a sentence; the worst verdict wins, of equals the one that stands first in the table.
 * With kernel stamps a busy client still knows when bytes arrived, so its lag alone spoils nothing; what it can spoil
 * is the load (late sends), the order of its loop (stalls) and the stamps that merged reads lose. */
#include "metrics/client.h"

#include <stdarg.h>
#include <stdio.h>

/* Thresholds; times in ms, shares of 1. */
#define SEND_LAG_SUSPECT_MS      10.0
#define SEND_LAG_SUSPECT_OF_TTFT 0.05
#define SEND_LAG_INVALID_OF_TTFT 0.50
#define IDLE_SUSPECT_OF_E2EL     0.05
#define IDLE_INVALID_OF_E2EL     0.50
#define RELATIVE_FLOOR_MS        1.0 /* below it no share of a small latency makes a rule fire */
#define USER_LAG_INVALID_OF_ITL  0.10
#define USER_STAMPS_TOLERATED    0.01
#define MERGED_SUSPECT           0.01
#define MERGED_CLIENT_LAG_OF_ITL 0.25
#define MERGED_ANYHOW_SUSPECT    0.25
#define STALL_SUSPECT_MS         50.0
#define STALL_INVALID_MS         500.0
#define CPU_SUSPECT              0.85
#define CPU_JUDGED_FROM_MS       100.0 /* of wall time: shorter runs are all set-up */

void client_stats_merge(struct client_stats *into, const struct client_stats *from)
{
    hist_merge(&into->receive_lag, &from->receive_lag);
    hist_merge(&into->send_lag, &from->send_lag);
    hist_merge(&into->connect_time, &from->connect_time);
    into->tls_handshakes += from->tls_handshakes;
    into->tls_total_ns += from->tls_total_ns;
    into->reads += from->reads;
    into->kernel_stamps += from->kernel_stamps;
    into->event_reads += from->event_reads;
    into->merged_reads += from->merged_reads;
    into->token_events += from->token_events;
    into->merged_events += from->merged_events;
    if (from->longest_stall_ns > into->longest_stall_ns)
        into->longest_stall_ns = from->longest_stall_ns;
    into->cpu_ns += from->cpu_ns;
    into->wall_ns += from->wall_ns;
    into->tcp_retransmits += from->tcp_retransmits;
    into->connections += from->connections;
    into->reconnects += from->reconnects;
    into->requests_connecting += from->requests_connecting;
    into->clock_steps += from->clock_steps;
    into->threads += from->threads;
    into->paced |= from->paced;
    if (from->dns_ms > into->dns_ms)
        into->dns_ms = from->dns_ms;
    if (into->address == NULL)
        into->address = from->address;
}

enum stamp_source client_stamp_source(const struct client_stats *c)
{
    if (c->kernel_stamps == c->reads)
        return STAMP_KERNEL;
    return c->kernel_stamps == 0 ? STAMP_USER : STAMP_MIXED;
}

/* What the rules look at, and where they put their sentence. */
struct facts {
    const struct client_stats *stats;
    double ttft_ms;
    double itl_ms;
    double e2el_ms;
    double send_lag_ms;    /* p99 */
    double receive_lag_ms; /* p99; negative when no read had a kernel stamp */
    double stall_ms;
    double user_share; /* of the reads, without a kernel stamp */
    char text[320];
};

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0.0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

__attribute__((format(printf, 3, 4))) static enum verdict say(struct facts *f, enum verdict verdict,
                                                              const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof(f->text), format, args);
    va_end(args);
    return verdict;
}

static enum verdict judge_user_stamps(struct facts *f)
{
    double limit = larger(USER_LAG_INVALID_OF_ITL * f->itl_ms, RELATIVE_FLOOR_MS);
    if (f->user_share <= USER_STAMPS_TOLERATED)
        return VERDICT_CLEAN;
    if (f->receive_lag_ms > limit)
        return say(
            f, VERDICT_INVALID,
            "%.1f%% of the reads have no kernel timestamp and the receive lag p99 is %.2f ms "
            "(limit %.2f ms, a tenth of the mean ITL); run where the kernel stamps packets, "
            "or lower the concurrency per thread",
            100 * f->user_share, f->receive_lag_ms, limit);
    if (f->receive_lag_ms < 0)
        return say(
            f, VERDICT_SUSPECT,
            "the kernel gave no receive timestamps, so arrivals are stamped when they are read "
            "and the receive lag is unknown (longest stall of a loop %.2f ms); run where the "
            "kernel stamps packets",
            f->stall_ms);
    return say(f, VERDICT_SUSPECT,
               "%.1f%% of the reads have no kernel timestamp and are stamped when they are read "
               "(receive lag p99 %.2f ms); run where the kernel stamps packets",
               100 * f->user_share, f->receive_lag_ms);
}

/* Without a rate: the share of its time that a slot stood idle before it was used again. */
static enum verdict judge_idle_slots(struct facts *f)
{
    double lag_ms = hist_mean_ns(&f->stats->send_lag) / 1e6;
    double suspect = larger(IDLE_SUSPECT_OF_E2EL * f->e2el_ms, RELATIVE_FLOOR_MS);
    if (f->stats->paced || f->e2el_ms <= 0 || lag_ms <= suspect)
        return VERDICT_CLEAN;
    bool invalid = lag_ms > larger(IDLE_INVALID_OF_E2EL * f->e2el_ms, RELATIVE_FLOOR_MS);
    return say(f, invalid ? VERDICT_INVALID : VERDICT_SUSPECT,
               "requests left late: mean send lag %.2f ms is more than %.0f%% of the mean E2EL "
               "(%.2f ms), so fewer were in flight than asked for; add --client-threads or lower "
               "the concurrency",
               lag_ms, 100 * (invalid ? IDLE_INVALID_OF_E2EL : IDLE_SUSPECT_OF_E2EL), f->e2el_ms);
}

static enum verdict judge_send_lag(struct facts *f)
{
    if (!f->stats->paced)
        return VERDICT_CLEAN;
    double invalid = larger(SEND_LAG_INVALID_OF_TTFT * f->ttft_ms, RELATIVE_FLOOR_MS);
    double suspect = larger(SEND_LAG_SUSPECT_OF_TTFT * f->ttft_ms, RELATIVE_FLOOR_MS);
    if (f->ttft_ms > 0 && f->send_lag_ms > invalid)
        return say(
            f, VERDICT_INVALID,
            "requests left late: send lag p99 %.2f ms is more than half of the mean TTFT "
            "(%.2f ms), so the load was not the one asked for; add --client-threads or lower "
            "the rate",
            f->send_lag_ms, f->ttft_ms);
    if (f->send_lag_ms > SEND_LAG_SUSPECT_MS)
        return say(f, VERDICT_SUSPECT,
                   "requests left late: send lag p99 %.2f ms is more than %.0f ms; add "
                   "--client-threads or lower the rate",
                   f->send_lag_ms, SEND_LAG_SUSPECT_MS);
    if (f->ttft_ms > 0 && f->send_lag_ms > suspect)
        return say(f, VERDICT_SUSPECT,
                   "requests left late: send lag p99 %.2f ms is more than %.0f%% of the mean TTFT "
                   "(%.2f ms); add --client-threads or lower the rate",
                   f->send_lag_ms, 100 * SEND_LAG_SUSPECT_OF_TTFT, f->ttft_ms);
    return VERDICT_CLEAN;
}

static enum verdict judge_stall(struct facts *f)
{
    if (f->stall_ms > STALL_INVALID_MS && f->user_share > USER_STAMPS_TOLERATED)
        return say(
            f, VERDICT_INVALID,
            "a client loop stood still for %.0f ms (limit %.0f ms without kernel timestamps), "
            "so what arrived meanwhile is stamped too late; free a core for the client",
            f->stall_ms, STALL_INVALID_MS);
    if (f->stall_ms > STALL_SUSPECT_MS)
        return say(
            f, VERDICT_SUSPECT,
            "a client loop stood still for %.0f ms (limit %.0f ms), so sends were late and "
            "reads were merged meanwhile; free a core for the client or add --client-threads",
            f->stall_ms, STALL_SUSPECT_MS);
    return VERDICT_CLEAN;
}

/* Merged reads of a slow client lose stamps; those of a quick one were sent together by the server.  Neither makes a
 * run invalid: the two cannot be told apart with certainty. */
static enum verdict judge_merged(struct facts *f)
{
    double reads = ratio(f->stats->merged_reads, f->stats->event_reads);
    double events = ratio(f->stats->merged_events, f->stats->token_events);
    double lag = f->receive_lag_ms >= 0 ? f->receive_lag_ms : f->stall_ms;
    double limit = larger(MERGED_CLIENT_LAG_OF_ITL * f->itl_ms, RELATIVE_FLOOR_MS);
    if (reads > MERGED_SUSPECT && events > MERGED_SUSPECT && lag > limit)
        return say(
            f, VERDICT_SUSPECT,
            "%.1f%% of the reads held several token events while the client was slow (lag "
            "%.2f ms), so %.1f%% of the events are stamped too late; add --client-threads or "
            "lower the concurrency",
            100 * reads, lag, 100 * events);
    if (reads > MERGED_ANYHOW_SUSPECT)
        return say(
            f, VERDICT_SUSPECT,
            "%.1f%% of the reads held several token events although the client was quick: the "
            "server or the network delivers tokens in groups; trust TPOT and throughput, not "
            "the ITL percentiles",
            100 * reads);
    return VERDICT_CLEAN;
}

static enum verdict judge_cpu(struct facts *f)
{
    double share = ratio(f->stats->cpu_ns, f->stats->wall_ns);
    if (share <= CPU_SUSPECT || (double)f->stats->wall_ns / 1e6 < CPU_JUDGED_FROM_MS)
        return VERDICT_CLEAN;
    return say(
        f, VERDICT_SUSPECT,
        "the client's worker threads were busy %.0f%% of the time (limit %.0f%%), so the client "
        "may have been the bottleneck; add --client-threads or another machine",
        100 * share, 100 * CPU_SUSPECT);
}

enum verdict client_verdict(const struct client_stats *c, const struct client_latencies *means,
                            char *rule, size_t rule_cap)
{
    typedef enum verdict judge_fn(struct facts * f);
    static judge_fn *const rules[] = {judge_user_stamps, judge_send_lag, judge_idle_slots,
                                      judge_stall,       judge_merged,   judge_cpu};
    struct facts f = {
        .stats = c,
        .ttft_ms = means->ttft_ms,
        .itl_ms = means->itl_ms,
        .e2el_ms = means->e2el_ms,
        .send_lag_ms = (double)hist_percentile_ns(&c->send_lag, 99) / 1e6,
        .receive_lag_ms =
            c->receive_lag.count > 0 ? (double)hist_percentile_ns(&c->receive_lag, 99) / 1e6 : -1.0,
        .stall_ms = (double)c->longest_stall_ns / 1e6,
        .user_share =
            c->reads > c->kernel_stamps ? ratio(c->reads - c->kernel_stamps, c->reads) : 0.0,
    };
    enum verdict worst = VERDICT_CLEAN;
    if (rule_cap > 0)
        snprintf(rule, rule_cap, "none");
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        enum verdict verdict = rules[i](&f);
        if (verdict <= worst)
            continue;
        worst = verdict;
        if (rule_cap > 0)
            snprintf(rule, rule_cap, "%s", f.text);
    }
    return worst;
}

const char *verdict_name(enum verdict v)
{
    static const char *const names[] = {
        [VERDICT_CLEAN] = "clean",
        [VERDICT_SUSPECT] = "suspect",
        [VERDICT_INVALID] = "invalid",
        [VERDICT_NONE] = "none",
    };
    return v <= VERDICT_NONE ? names[v] : "unknown";
}
