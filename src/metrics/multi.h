/* multi.h - one figure over several runs: what it was on average, how much it varied, how well the average is known.
 * Threads: pure functions.  Errors: none; a figure of fewer than two runs has no interval. */
#ifndef VB_METRICS_MULTI_H
#define VB_METRICS_MULTI_H

#include <stdbool.h>
#include <stddef.h>

struct multi_stats {
    size_t count;
    double mean;
    double std; /* population form, as the peers print it */
    double min;
    double max;
    bool has_cv; /* the mean is not 0 */
    double cv;   /* std / |mean|, a share */
    /* 95 % confidence interval of the mean over such runs: mean -+ t(0.975, n - 1) * s / sqrt(n), s with n - 1. */
    bool has_interval;
    double low;
    double high;
};

void multi_stats_make(const double *x, size_t count, struct multi_stats *out);

#endif
