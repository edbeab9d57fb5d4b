/* Probes: what one more small request meets while the load runs. */
#include "metrics/probe_stats.h"

#include "base/stats.h"

void probe_stats_make(double *latencies_s, size_t completed, uint64_t failed,
                      struct probe_stats *stats)
{
    stats_sort(latencies_s, completed);
    *stats = (struct probe_stats){
        .completed = completed,
        .failed = failed,
        .median_ms = stats_median(latencies_s, completed) * 1000.0,
        .p99_ms = stats_percentile(latencies_s, completed, 99.0) * 1000.0,
        .max_ms = completed > 0 ? latencies_s[completed - 1] * 1000.0 : 0.0,
    };
}
