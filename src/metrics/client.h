/* client.h - what the client observed about itself during a run: how far its figures can be trusted.
 * The load engine fills it (one per worker, merged after the join); output shows it as `client` and `Measurement`.
 * Threads: one writer each.  Errors: none. */
#ifndef VB_METRICS_CLIENT_H
#define VB_METRICS_CLIENT_H

#include "base/hist.h"

#include <stdbool.h>
#include <stddef.h>

enum stamp_source { STAMP_KERNEL, STAMP_USER, STAMP_MIXED };

struct client_stats {
    struct hist receive_lag;  /* kernel arrival to our read, ns */
    struct hist send_lag;     /* due (and slot free) to first byte handed to the kernel, ns */
    struct hist connect_time; /* set-up of every connection opened (TCP, proxy, TLS), ns */
    uint64_t reads;           /* reads that brought response bytes */
    uint64_t kernel_stamps;   /* of them, with a kernel stamp */
    uint64_t event_reads;     /* reads that held at least one token event */
    uint64_t merged_reads;    /* of them, that held several */
    uint64_t token_events;
    uint64_t merged_events;    /* events in merged reads beyond each read's first */
    uint64_t longest_stall_ns; /* longest time a loop spent away from its poll call */
    uint64_t cpu_ns;           /* CPU time of the worker threads in the run */
    uint64_t wall_ns;          /* their wall time */
    uint64_t tls_handshakes;
    uint64_t tls_total_ns; /* what they took together */
    uint64_t tcp_retransmits;
    uint64_t connections;         /* opened */
    uint64_t reconnects;          /* stale pooled connection, sent again */
    uint64_t requests_connecting; /* requests that had to open a connection in their latency */
    uint64_t clock_steps;         /* steps of the wall clock that were corrected */
    unsigned threads;
    double dns_ms;       /* name look-up before the run */
    bool paced;          /* a request rate was asked for, so lateness bends the load */
    const char *address; /* the address that answered, "127.0.0.1:8000" or "[::1]:8000" */
};

void client_stats_merge(struct client_stats *into, const struct client_stats *from);
enum stamp_source client_stamp_source(const struct client_stats *c);

/* VERDICT_NONE: nothing was sent, so there is nothing to judge; client_verdict does not give it. */
enum verdict { VERDICT_CLEAN, VERDICT_SUSPECT, VERDICT_INVALID, VERDICT_NONE };

/* Judges a run.  `rule` gets the sentence of the worst rule that fired, cut to rule_cap - 1 bytes (320 always do), or
 * "none" when clean.  A mean of 0 means unknown.  The rules; shares of a latency count from 1 ms up:
 *   cause                                           suspect                        invalid
 *   reads without kernel stamp > 1 %                always                         lag p99 > 10 % of mean ITL
 *   paced runs: send lag p99                        > 10 ms or 5 % of mean TTFT    > 50 % of mean TTFT
 *   other runs: mean send lag                       > 5 % of mean E2EL             > 50 % of mean E2EL
 *   longest stall of a loop                         > 50 ms                        > 500 ms without kernel stamps
 *   merged reads > 1 %, lag p99 > 25 % of mean ITL  always                         never
 *   merged reads whatever the lag                   > 25 %                         never (the server may group tokens)
 *   CPU share of the workers from 100 ms up         > 85 %                         never
 * Receive lag with kernel stamps spoils no stamp and has no rule of its own.  Where no rate was asked for, a late send
 * bends no latency (the start is stamped at the send): it only leaves its slot idle, a burst at the start among them. */
struct client_latencies { /* means of the run */
    double ttft_ms;
    double itl_ms;
    double e2el_ms;
};
enum verdict client_verdict(const struct client_stats *c, const struct client_latencies *means,
                            char *rule, size_t rule_cap);
const char *verdict_name(enum verdict v);

#endif
