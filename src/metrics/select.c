/* Quickselect for several ranks at once: a partition splits the series and the ranks, and parts without a rank are left
 * as they are.  The gaps of a large run are ten million values of which a summary reads a dozen; a sort would need as
 * much memory again.
 *
 * Example: ranks 0 and 3 of {5, 1, 4, 2}: pivot 4 splits into {2, 1} and {4, 5}; the left part finds rank 0, the right
 * part rank 3. */
#include "metrics/select.h"

#include <stdlib.h>

#include "base/stats.h"

/* Parts this short are sorted. */
enum { SMALL = 48 };

static int compare_ranks(const void *a, const void *b)
{
    size_t x = *(const size_t *)a;
    size_t y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static double median3(double a, double b, double c)
{
    if (a < b)
        return b < c ? b : (a < c ? c : a);
    return a < c ? a : (b < c ? c : b);
}

/* The median of three medians of values spread over the part: right for sorted and for periodic series. */
static double choose_pivot(const double *x, size_t n)
{
    size_t step = n / 9;
    return median3(median3(x[0], x[step], x[2 * step]),
                   median3(x[3 * step], x[4 * step], x[5 * step]),
                   median3(x[6 * step], x[7 * step], x[n - 1]));
}

/* Hoare's partition: afterwards all of x[0..cut) are <= pivot and all of x[cut..n) are >= pivot, 0 < cut < n.  Values
 * equal to the pivot are swapped too, so that a series of equal values is halved. */
static size_t partition(double *x, size_t n, double pivot)
{
    size_t i = 0;
    size_t j = n;
    for (;;) {
        while (x[i] < pivot)
            i++;
        do
            j--;
        while (x[j] > pivot);
        if (i >= j)
            break;
        double swap = x[i];
        x[i++] = x[j];
        x[j] = swap;
    }
    /* The pivot was the only smallest value: it makes a part of its own. */
    return i > 0 ? i : 1;
}

/* `base` is the rank of x[0]; every rank given lies in the part. */
static void select_part(double *x, size_t n, size_t base, const size_t *ranks, size_t rank_count,
                        unsigned depth)
{
    if (rank_count == 0)
        return;
    if (n <= SMALL || depth == 0) {
        stats_sort(x, n);
        return;
    }
    size_t cut = partition(x, n, choose_pivot(x, n));
    size_t left = 0;
    while (left < rank_count && ranks[left] - base < cut)
        left++;
    select_part(x, cut, base, ranks, left, depth - 1);
    select_part(x + cut, n - cut, base + cut, ranks + left, rank_count - left, depth - 1);
}

void select_ranks(double *x, size_t n, size_t *ranks, size_t rank_count)
{
    qsort(ranks, rank_count, sizeof(*ranks), compare_ranks);
    /* A series that the pivots split badly again and again is sorted in the end. */
    enum { DEPTH = 100 };
    select_part(x, n, 0, ranks, rank_count, DEPTH);
}
