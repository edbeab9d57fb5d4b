/* See multi.h. */
#include "metrics/multi.h"

#include <math.h>

#include "base/stats.h"
#include "metrics/intervals.h"

void multi_stats_make(const double *x, size_t count, struct multi_stats *out)
{
    *out = (struct multi_stats){.count = count};
    if (count == 0)
        return;
    out->mean = stats_mean(x, count);
    out->std = stats_std(x, count);
    out->min = out->max = x[0];
    for (size_t i = 1; i < count; i++) {
        out->min = x[i] < out->min ? x[i] : out->min;
        out->max = x[i] > out->max ? x[i] : out->max;
    }
    out->has_cv = fabs(out->mean) > 0.0;
    out->cv = out->has_cv ? out->std / fabs(out->mean) : 0.0;
    out->has_interval = count > 1;
    if (!out->has_interval)
        return;
    double n = (double)count;
    double half = student_quantile(0.975, n - 1.0) * out->std / sqrt(n - 1.0);
    out->low = out->mean - half;
    out->high = out->mean + half;
}
