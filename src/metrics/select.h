/* select.h - puts chosen ranks of a long series in place without sorting the rest and without further memory.
 * Use: select_ranks; then x[k] is what a full ascending sort would put there, for every rank k given.
 * Threads: safe.  Errors: none; NaN is not allowed. */
#ifndef VB_METRICS_SELECT_H
#define VB_METRICS_SELECT_H

#include <stddef.h>

/* The ranks (each below n) are sorted ascending in passing. */
void select_ranks(double *x, size_t n, size_t *ranks, size_t rank_count);

#endif
