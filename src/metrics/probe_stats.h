/* probe_stats.h - figures of the probes: small requests sent one after the other beside the load (METRICS 2.4).
 * Threads: pure function.  Errors: none. */
#ifndef VB_METRICS_PROBE_STATS_H
#define VB_METRICS_PROBE_STATS_H

#include <stddef.h>
#include <stdint.h>

struct probe_stats {
    uint64_t completed;
    uint64_t failed;
    double median_ms; /* end-to-end latency of the completed ones; 0 without any */
    double p99_ms;
    double max_ms;
};

/* The latencies, seconds, are sorted in passing. */
void probe_stats_make(double *latencies_s, size_t completed, uint64_t failed,
                      struct probe_stats *stats);

#endif
