/* intervals.h - how far a figure can be trusted: quantiles of the normal and of Student's t distribution, and the sample
 * sizes below which a percentile has no interval at all.
 * Threads: pure functions.  Errors: none; arguments out of range give NaN. */
#ifndef VB_METRICS_INTERVALS_H
#define VB_METRICS_INTERVALS_H

#include <stddef.h>

/* P(Z <= z), and the z for which it is p (0 < p < 1). */
double normal_cdf(double z);
double normal_quantile(double p);
/* P(T <= t) for `df` > 0 degrees of freedom (need not be whole), and the t for which it is p. */
double student_cdf(double t, double df);
double student_quantile(double p, double df);

/* Samples from which on the p-th percentile (0 to 100) has a two-sided interval of this confidence between two of the
 * samples, whatever their distribution: below, the chance is more than (1 - confidence) / 2 that all samples lie on one
 * side of the percentile.  Example: p = 99, confidence 0.95: 0.99^n <= 0.025 from n = 368 on. */
size_t interval_least_samples(double p, double confidence);

#endif
