/* stats.h - statistics of a series of doubles, as numpy computes them.
 * Formulas: METRICS 2.1 of the specification: mean = sum/n (numpy's pairwise summation, so that the last bits agree
 * with numpy.mean), population standard deviation, median, percentile by linear interpolation
 * h = p/100*(n-1), v = x[lo] + (x[hi]-x[lo])*(h-lo) on the sorted series.
 * Threads: safe.  Errors: none; an empty series gives 0.0 everywhere. */
#ifndef VB_BASE_STATS_H
#define VB_BASE_STATS_H

#include <stddef.h>

double stats_sum(const double *x, size_t n); /* numpy's pairwise summation */
double stats_mean(const double *x, size_t n);
double stats_std(const double *x, size_t n);
/* These two need the series sorted ascending. p in 0..100. */
double stats_median(const double *sorted, size_t n);
double stats_percentile(const double *sorted, size_t n, double p);
/* Ascending; NaN is not allowed. */
void stats_sort(double *x, size_t n);

#endif
