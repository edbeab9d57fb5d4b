/* Logarithmic histogram.  Values below 32 have a bucket each; above, the position of the top bit picks a group of 32
 * buckets and the five bits below it the bucket: 100 = 1100100b has top bit 6, then 10010b = 18, so it lies in bucket
 * (6 - 5 + 1) * 32 + 18 = 82, which holds 100 and 101. */
#include "base/hist.h"

enum { SUB_COUNT = 1 << HIST_SUB_BITS };

static unsigned bucket_of(uint64_t value)
{
    if (value < SUB_COUNT)
        return (unsigned)value;
    unsigned top = 63u - (unsigned)__builtin_clzll(value);
    unsigned shift = top - HIST_SUB_BITS;
    unsigned index = ((shift + 1) << HIST_SUB_BITS) + (unsigned)(value >> shift & (SUB_COUNT - 1));
    return index < HIST_BUCKETS ? index : HIST_BUCKETS - 1;
}

static uint64_t bucket_middle(unsigned index)
{
    if (index < SUB_COUNT)
        return index;
    unsigned shift = (index >> HIST_SUB_BITS) - 1;
    uint64_t low = (uint64_t)(SUB_COUNT + (index & (SUB_COUNT - 1))) << shift;
    return low + ((UINT64_C(1) << shift) >> 1);
}

void hist_add(struct hist *h, uint64_t value_ns)
{
    if (h->count == 0 || value_ns < h->min_ns)
        h->min_ns = value_ns;
    if (value_ns > h->max_ns)
        h->max_ns = value_ns;
    h->count++;
    h->sum_ns += value_ns;
    uint32_t *bucket = &h->bucket[bucket_of(value_ns)];
    *bucket += *bucket != UINT32_MAX; /* full buckets stay full */
}

void hist_merge(struct hist *into, const struct hist *from)
{
    if (from->count == 0)
        return;
    if (into->count == 0 || from->min_ns < into->min_ns)
        into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns)
        into->max_ns = from->max_ns;
    into->count += from->count;
    into->sum_ns += from->sum_ns;
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (__builtin_add_overflow(into->bucket[i], from->bucket[i], &into->bucket[i]))
            into->bucket[i] = UINT32_MAX;
    }
}

uint64_t hist_percentile_ns(const struct hist *h, double p)
{
    if (h->count == 0)
        return 0;
    if (p >= 100.0)
        return h->max_ns;
    /* the smallest rank of which at least p percent of the values are not above */
    double share = p / 100.0 * (double)h->count;
    uint64_t rank = share > 0 ? (uint64_t)share : 0;
    rank += (double)rank < share;
    if (rank <= 1)
        return h->min_ns;
    uint64_t seen = 0;
    unsigned index = 0;
    for (; index < HIST_BUCKETS - 1; index++) {
        seen += h->bucket[index];
        if (seen >= rank)
            break;
    }
    uint64_t value = bucket_middle(index);
    if (value < h->min_ns)
        return h->min_ns;
    return value > h->max_ns ? h->max_ns : value;
}

double hist_mean_ns(const struct hist *h)
{
    return h->count > 0 ? (double)h->sum_ns / (double)h->count : 0.0;
}
