/* histogram.h - counts in 30 bins of equal width, as numpy.histogram(values, bins=30) makes them.
 * Threads: pure functions.  Errors: none; without values every bin is empty and the range is 0 to 1. */
#ifndef VB_REPORT_HISTOGRAM_H
#define VB_REPORT_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum { HISTOGRAM_BINS = 30 };

struct histogram {
    double low, high;
    uint64_t counts[HISTOGRAM_BINS];
    uint64_t most; /* the largest of them */
};

void histogram_make(struct histogram *h, const uint64_t *values, size_t count);
/* Where bin i begins; i = HISTOGRAM_BINS is the end of the last. */
double histogram_edge(const struct histogram *h, size_t i);

#endif
