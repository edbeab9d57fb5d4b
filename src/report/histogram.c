/* numpy's rule (numpy 2.3.5, lib/_histograms_impl.py): the range is the smallest to the largest value, widened by a half
 * on both sides when they are the same; edges are those of linspace; a bin holds its left edge, the last one both.
 * The bin is first computed by a division and then put right against the edges, so that rounding cannot place a value
 * beside the edge that is printed.
 *
 * Example: 0, 1, 30 give edges 0, 1, 2 ... 30, so that bins 0, 1 and 29 hold one value each. */
#include "report/histogram.h"

double histogram_edge(const struct histogram *h, size_t i)
{
    double step = (h->high - h->low) / HISTOGRAM_BINS;
    return i == HISTOGRAM_BINS ? h->high : (double)i * step + h->low;
}

static size_t bin_of(const struct histogram *h, double value)
{
    size_t i = (size_t)((value - h->low) / (h->high - h->low) * HISTOGRAM_BINS);
    if (i >= HISTOGRAM_BINS)
        i = HISTOGRAM_BINS - 1;
    if (i > 0 && value < histogram_edge(h, i))
        return i - 1;
    if (i != HISTOGRAM_BINS - 1 && value >= histogram_edge(h, i + 1))
        return i + 1;
    return i;
}

void histogram_make(struct histogram *h, const uint64_t *values, size_t count)
{
    *h = (struct histogram){.low = 0.0, .high = 1.0};
    if (count == 0)
        return;
    uint64_t low = values[0];
    uint64_t high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    double half = low == high ? 0.5 : 0.0;
    h->low = (double)low - half;
    h->high = (double)high + half;
    for (size_t i = 0; i < count; i++)
        h->counts[bin_of(h, (double)values[i])]++;
    for (size_t i = 0; i < HISTOGRAM_BINS; i++)
        h->most = h->counts[i] > h->most ? h->counts[i] : h->most;
}
