/* Statistics with numpy's order of additions.  Sums are pairwise: up to 128 values by eight accumulators, longer
 * series split near the middle at a multiple of eight; that fixes every rounding, so results agree with numpy to the
 * last bit (built without fused multiply-add, see meson.build). */
#include "base/stats.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRWISE_BLOCK = 128, ACCUMULATORS = 8, SMALL_SORT = 64 };

/* What is summed: the values, or their squared distances from `centre`. */
static inline double term(double x, bool squares, double centre)
{
    double distance = x - centre;
    return squares ? distance * distance : x;
}

static inline double block_sum(const double *x, size_t n, bool squares, double centre)
{
    if (n < ACCUMULATORS) {
        double sum = -0.0; /* so that a sum of negative zeros stays one */
        for (size_t i = 0; i < n; i++)
            sum += term(x[i], squares, centre);
        return sum;
    }
    double r[ACCUMULATORS];
    for (size_t j = 0; j < ACCUMULATORS; j++)
        r[j] = term(x[j], squares, centre);
    size_t whole = n - n % ACCUMULATORS;
    for (size_t i = ACCUMULATORS; i < whole; i += ACCUMULATORS) {
        for (size_t j = 0; j < ACCUMULATORS; j++)
            r[j] += term(x[i + j], squares, centre);
    }
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (size_t i = whole; i < n; i++)
        sum += term(x[i], squares, centre);
    return sum;
}

static double pairwise(const double *x, size_t n, bool squares, double centre)
{
    if (n <= PAIRWISE_BLOCK)
        return squares ? block_sum(x, n, true, centre) : block_sum(x, n, false, 0.0);
    size_t half = n / 2;
    half -= half % ACCUMULATORS;
    double left = pairwise(x, half, squares, centre);
    return left + pairwise(x + half, n - half, squares, centre);
}

double stats_sum(const double *x, size_t n)
{
    return n > 0 ? pairwise(x, n, false, 0.0) : 0.0;
}

double stats_mean(const double *x, size_t n)
{
    return n > 0 ? stats_sum(x, n) / (double)n : 0.0;
}

double stats_std(const double *x, size_t n)
{
    return n > 0 ? sqrt(pairwise(x, n, true, stats_mean(x, n)) / (double)n) : 0.0;
}

double stats_median(const double *sorted, size_t n)
{
    if (n == 0)
        return 0.0;
    double upper = sorted[n / 2];
    return n % 2 != 0 ? upper : (sorted[n / 2 - 1] + upper) / 2.0;
}

double stats_percentile(const double *sorted, size_t n, double p)
{
    if (n == 0)
        return 0.0;
    double at = p / 100.0 * (double)(n - 1);
    if (!(at > 0.0))
        return sorted[0];
    if (at >= (double)(n - 1))
        return sorted[n - 1];
    size_t lower = (size_t)at;
    double share = at - (double)lower;
    double a = sorted[lower];
    double b = sorted[lower + 1];
    /* numpy interpolates from the nearer end, so that share = 1 would give b exactly */
    return share < 0.5 ? a + (b - a) * share : b - (b - a) * (1.0 - share);
}

static void sort_small(double *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        double value = x[i];
        size_t at = i;
        for (; at > 0 && x[at - 1] > value; at--)
            x[at] = x[at - 1];
        x[at] = value;
    }
}

/* Bits of a double as an integer of the same order: negative numbers turned over, the others above them. */
static uint64_t order_key(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits ^ ((bits >> 63) != 0 ? UINT64_MAX : UINT64_C(1) << 63);
}

static double order_value(uint64_t key)
{
    uint64_t bits = key ^ ((key >> 63) != 0 ? UINT64_C(1) << 63 : UINT64_MAX);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* One stable pass over the byte at `shift`; false (nothing moved) when that byte is the same everywhere. */
static bool radix_pass(const uint64_t *from, uint64_t *to, size_t n, unsigned shift)
{
    size_t place[256] = {0};
    for (size_t i = 0; i < n; i++)
        place[from[i] >> shift & 0xff]++;
    if (place[from[0] >> shift & 0xff] == n)
        return false;
    size_t next = 0;
    for (size_t i = 0; i < 256; i++) {
        size_t count = place[i];
        place[i] = next;
        next += count;
    }
    for (size_t i = 0; i < n; i++)
        to[place[from[i] >> shift & 0xff]++] = from[i];
    return true;
}

/* Long series are sorted by radix: ten million gaps in well under a second, where a comparison sort takes several. */
void stats_sort(double *x, size_t n)
{
    if (n <= SMALL_SORT) {
        sort_small(x, n);
        return;
    }
    uint64_t *keys = mem_array(n, 2 * sizeof(*keys));
    uint64_t *from = keys;
    uint64_t *to = keys + n;
    for (size_t i = 0; i < n; i++)
        from[i] = order_key(x[i]);
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (radix_pass(from, to, n, shift)) {
            uint64_t *swap = from;
            from = to;
            to = swap;
        }
    }
    for (size_t i = 0; i < n; i++)
        x[i] = order_value(from[i]);
    free(keys);
}
