/* hist.h - fixed-size histogram of nanosecond values for the hot path: no allocation, no floating point per value.
 * Buckets are logarithmic with 32 steps per power of two from 1 ns to 2^40 ns (18 minutes), so a percentile is right
 * to about 2.2 % (1/45); min, max, sum and count are exact.
 * Use: zeroed struct; hist_add; hist_merge after join; hist_percentile_ns.  Threads: one writer. Errors: none. */
#ifndef VB_BASE_HIST_H
#define VB_BASE_HIST_H

#include <stdint.h>

enum { HIST_SUB_BITS = 5, HIST_BUCKETS = (41 - HIST_SUB_BITS + 1) << HIST_SUB_BITS };

struct hist {
    uint64_t count;
    uint64_t sum_ns;
    uint64_t min_ns; /* valid when count > 0 */
    uint64_t max_ns;
    uint32_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t value_ns);
void hist_merge(struct hist *into, const struct hist *from);
/* p in 0..100; the middle of the bucket, never outside min..max; 0 when empty.  p = 100 gives max exactly. */
uint64_t hist_percentile_ns(const struct hist *h, double p);
double hist_mean_ns(const struct hist *h);

#endif
