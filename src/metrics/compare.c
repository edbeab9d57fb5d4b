/* The bootstrap never sorts twice: the values of a series are sorted once, a resample is a count for each request, and
 * the percentiles of the resample are found by walking over the sorted values with these counts. */
#include "metrics/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "metrics/intervals.h"

enum { LEAST_REQUESTS = 30, MOST_RESAMPLES = 1000, LEAST_RESAMPLES = 200 };

static const double ALPHA = 0.05;
static const double POWER = 0.9;
/* The standard error of a p99 rests on the few values around it, about as many as lie beyond: taken as well known it gave
 * 5 false alarms in 100 comparisons of 368 requests, so its degrees of freedom are fewer. */
static const double P99_FREEDOM = 0.04;
static const double WORK = 4e8; /* values walked over a side: about a second */

void compare_samples_add(struct compare_samples *s, enum compare_series series, size_t request,
                         double value)
{
    struct compare_values *v = &s->series[series];
    if (v->count == v->cap) {
        v->cap = v->cap < 64 ? 64 : v->cap * 2;
        v->value = mem_resize(v->value, v->cap, sizeof(*v->value));
        v->request = mem_resize(v->request, v->cap, sizeof(*v->request));
    }
    v->value[v->count] = value;
    v->request[v->count++] = (uint32_t)request;
}

void compare_samples_done(struct compare_samples *s)
{
    for (size_t i = 0; i < COMPARE_SERIES_COUNT; i++) {
        free(s->series[i].value);
        free(s->series[i].request);
    }
    *s = (struct compare_samples){0};
}

/* ---- one side ---------------------------------------------------------------------------------------------------- */

struct pair {
    double value;
    uint32_t request;
};

static int by_value(const void *a, const void *b)
{
    double x = ((const struct pair *)a)->value;
    double y = ((const struct pair *)b)->value;
    return (x > y) - (x < y);
}

static void sort_values(struct compare_values *v)
{
    struct pair *pairs = mem_array(v->count + 1, sizeof(*pairs));
    for (size_t i = 0; i < v->count; i++)
        pairs[i] = (struct pair){v->value[i], v->request[i]};
    qsort(pairs, v->count, sizeof(*pairs), by_value);
    for (size_t i = 0; i < v->count; i++) {
        v->value[i] = pairs[i].value;
        v->request[i] = pairs[i].request;
    }
    free(pairs);
}

/* A rank's place between two values of the resample, met while walking upwards. */
struct mark {
    uint64_t rank;
    double share;
    double lower;
    bool has_lower;
};

static struct mark mark_at(double p, uint64_t weight)
{
    double at = p * (double)(weight - 1);
    struct mark m = {.rank = (uint64_t)at};
    m.share = at - (double)m.rank;
    return m;
}

/* The values of rank m->rank and the next, out of the walk's value that covers ranks [from, to). */
static void mark_meet(struct mark *m, double value, uint64_t from, uint64_t to, double *out)
{
    if (m->rank >= from && m->rank < to) {
        m->lower = value;
        m->has_lower = true;
        *out = value; /* right when the next rank has the same value, or does not exist */
    }
    if (m->has_lower && m->rank + 1 >= from && m->rank + 1 < to)
        *out = m->lower + (value - m->lower) * m->share;
}

/* Mean, median and 99th percentile (numpy's interpolation) of sorted values with counts by request; NULL: one each.
 * False when nothing is left. */
static bool weigh(const struct compare_values *v, const uint32_t *counts,
                  double out[COMPARE_STAT_COUNT])
{
    uint64_t weight = 0;
    double sum = 0.0;
    for (size_t i = 0; i < v->count; i++) {
        uint32_t c = counts != NULL ? counts[v->request[i]] : 1;
        weight += c;
        sum += c * v->value[i];
    }
    if (weight == 0)
        return false;
    struct mark median = mark_at(0.5, weight);
    struct mark p99 = mark_at(0.99, weight);
    uint64_t seen = 0;
    out[COMPARE_MEAN] = sum / (double)weight;
    for (size_t i = 0; i < v->count && seen <= p99.rank + 1; i++) {
        uint32_t c = counts != NULL ? counts[v->request[i]] : 1;
        if (seen + c > median.rank && seen <= median.rank + 1)
            mark_meet(&median, v->value[i], seen, seen + c, &out[COMPARE_MEDIAN]);
        if (seen + c > p99.rank)
            mark_meet(&p99, v->value[i], seen, seen + c, &out[COMPARE_P99]);
        seen += c;
    }
    return true;
}

struct side {
    struct compare_samples *samples;
    double value[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT];
    double log_var[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT]; /* over the resamples */
};

/* Running mean and sum of squares (Welford) of a logarithm over the resamples. */
struct spread {
    size_t n;
    double mean;
    double squares;
};

static void spread_add(struct spread *s, double x)
{
    double d = x - s->mean;
    s->mean += d / (double)++s->n;
    s->squares += d * (x - s->mean);
}

static void resample(const struct compare_samples *s, struct pcg64 *g, uint32_t *counts)
{
    for (size_t i = 0; i < s->requests; i++)
        counts[i] = 0;
    for (size_t i = 0; i < s->requests; i++)
        counts[(uint64_t)pcg64_u32(g) * s->requests >> 32]++;
}

static size_t resample_count(const struct compare_samples *s)
{
    size_t values = s->requests;
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++)
        values += s->series[k].count;
    double wanted = WORK / ((double)values + 1.0);
    return wanted > MOST_RESAMPLES    ? MOST_RESAMPLES
           : wanted < LEAST_RESAMPLES ? LEAST_RESAMPLES
                                      : (size_t)wanted;
}

static void measure_side(struct side *side, struct compare_samples *samples, size_t resamples,
                         uint64_t seed)
{
    struct spread spread[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT] = {0};
    struct pcg64 g;
    *side = (struct side){.samples = samples};
    pcg64_seed(&g, seed);
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++) {
        sort_values(&samples->series[k]);
        weigh(&samples->series[k], NULL, side->value[k]);
    }
    if (samples->requests < LEAST_REQUESTS)
        return;
    uint32_t *counts = mem_array(samples->requests, sizeof(*counts));
    for (size_t r = resamples > 0 ? resamples : resample_count(samples); r > 0; r--) {
        double x[COMPARE_STAT_COUNT] = {0};
        resample(samples, &g, counts);
        for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++) {
            if (!weigh(&samples->series[k], counts, x))
                continue;
            for (size_t j = 0; j < COMPARE_STAT_COUNT; j++)
                if (x[j] > 0.0)
                    spread_add(&spread[k][j], log(x[j]));
        }
    }
    free(counts);
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++)
        for (size_t j = 0; j < COMPARE_STAT_COUNT; j++)
            if (spread[k][j].n > 1)
                side->log_var[k][j] = spread[k][j].squares / (double)(spread[k][j].n - 1);
}

/* ---- two sides --------------------------------------------------------------------------------------------------- */

/* From the difference of two logarithms and its standard error. */
static void fill(struct compare_test *t, double difference, double error, double df)
{
    double reach = student_quantile(0.975, df) * error;
    t->available = true;
    t->df = df;
    t->change = expm1(difference);
    t->low = expm1(difference - reach);
    t->high = expm1(difference + reach);
    if (error > 0.0)
        t->p = 2.0 * student_cdf(-fabs(difference) / error, df);
    else
        t->p = fabs(difference) > 1e-12 ? 0.0 : 1.0;
}

static void test_figure(const struct side *a, const struct side *b, size_t k, size_t j,
                        struct compare_test *t)
{
    *t = (struct compare_test){.least = LEAST_REQUESTS};
    size_t requests =
        a->samples->requests < b->samples->requests ? a->samples->requests : b->samples->requests;
    size_t values = a->samples->series[k].count < b->samples->series[k].count
                        ? a->samples->series[k].count
                        : b->samples->series[k].count;
    size_t least = j == COMPARE_P99 ? interval_least_samples(99.0, 1.0 - ALPHA) : LEAST_REQUESTS;
    /* The gaps of one answer are many values of one request. */
    if (k != COMPARE_ITL)
        t->least = least;
    if (values == 0)
        snprintf(t->reason, sizeof(t->reason), "no values");
    else if (requests < LEAST_REQUESTS)
        snprintf(t->reason, sizeof(t->reason), "needs %d requests a run, there are %zu",
                 LEAST_REQUESTS, requests);
    else if (values < least)
        snprintf(t->reason, sizeof(t->reason), "%s needs %zu values a run, there are %zu",
                 j == COMPARE_P99 ? "a p99" : "it", least, values);
    else if (!(a->value[k][j] > 0.0) || !(b->value[k][j] > 0.0))
        snprintf(t->reason, sizeof(t->reason), "a value is 0");
    if (t->reason[0] != '\0')
        return;
    double var_a = a->log_var[k][j];
    double var_b = b->log_var[k][j];
    t->freedom = j == COMPARE_P99 ? P99_FREEDOM : 1.0;
    t->unit_var = var_a * (double)a->samples->requests + var_b * (double)b->samples->requests;
    fill(t, log(b->value[k][j] / a->value[k][j]), sqrt(var_a + var_b),
         t->freedom * (double)(requests - 1));
}

void compare_requests(struct compare_samples *a, struct compare_samples *b, size_t resamples,
                      struct compare_test tests[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT])
{
    struct side side_a;
    struct side side_b;
    measure_side(&side_a, a, resamples, 1);
    measure_side(&side_b, b, resamples, 2);
    for (size_t k = 0; k < COMPARE_SERIES_COUNT; k++)
        for (size_t j = 0; j < COMPARE_STAT_COUNT; j++)
            test_figure(&side_a, &side_b, k, j, &tests[k][j]);
}

void compare_as(const struct compare_test *like, double a, double b, struct compare_test *test)
{
    *test = *like;
    if (!like->available || !(a > 0.0) || !(b > 0.0))
        return;
    double reach = (log1p(like->high) - log1p(like->low)) / 2.0;
    fill(test, log(b / a), reach / student_quantile(0.975, like->df), like->df);
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* Variance of the mean, relative to the mean squared. */
static double relative_error2(const double *x, size_t n, double mean)
{
    double squares = 0.0;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    return squares / (double)(n - 1) / (double)n / (mean * mean);
}

void compare_runs(const double *a, size_t a_count, const double *b, size_t b_count,
                  struct compare_test *t)
{
    *t = (struct compare_test){.least = 2, .freedom = 2.0};
    if (a_count < 2 || b_count < 2) {
        snprintf(t->reason, sizeof(t->reason), "needs 2 runs a side, there are %zu and %zu",
                 a_count, b_count);
        return;
    }
    double mean_a = mean_of(a, a_count);
    double mean_b = mean_of(b, b_count);
    if (!(mean_a > 0.0) || !(mean_b > 0.0)) {
        snprintf(t->reason, sizeof(t->reason), "a value is 0");
        return;
    }
    double var_a = relative_error2(a, a_count, mean_a);
    double var_b = relative_error2(b, b_count, mean_b);
    double sum = var_a + var_b;
    double df =
        sum > 0.0
            ? sum * sum /
                  (var_a * var_a / (double)(a_count - 1) + var_b * var_b / (double)(b_count - 1))
            : (double)(a_count + b_count - 2);
    t->unit_var = var_a * (double)a_count + var_b * (double)b_count;
    fill(t, log(mean_b / mean_a), sqrt(sum), df);
}

/* ---- all tests of a comparison ----------------------------------------------------------------------------------- */

static int by_p(const void *a, const void *b)
{
    double x = (*(struct compare_test *const *)a)->p;
    double y = (*(struct compare_test *const *)b)->p;
    return (x > y) - (x < y);
}

void compare_adjust(struct compare_test *const *tests, size_t count)
{
    struct compare_test **order = mem_array(count + 1, sizeof(struct compare_test *));
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (tests[i]->available)
            order[n++] = tests[i];
    qsort(order, n, sizeof(struct compare_test *), by_p);
    double floor_p = 0.0;
    for (size_t i = 0; i < n; i++) {
        double p = order[i]->p * (double)(n - i);
        p = p > 1.0 ? 1.0 : p;
        floor_p = p > floor_p ? p : floor_p;
        order[i]->p = floor_p;
    }
    free(order);
}

enum compare_verdict compare_judge(const struct compare_test *t, double shift)
{
    if (!t->available)
        return t->least > 0 ? COMPARE_INCONCLUSIVE : COMPARE_UNTESTED;
    if (t->p <= ALPHA)
        return t->change > 0.0 ? COMPARE_HIGHER : COMPARE_LOWER;
    return t->low > -shift && t->high < shift ? COMPARE_SAME : COMPARE_INCONCLUSIVE;
}

/* What a variance found with `df` degrees of freedom has to be multiplied with so that it is too small once in ten times
 * only: df over the 10 % point of chi-squared, by Wilson's and Hilferty's formula; and some for the resampling. */
static double variance_margin(double df)
{
    double spread = 2.0 / (9.0 * df);
    double root = 1.0 - spread + normal_quantile(0.1) * sqrt(spread);
    double floor_root = 0.4; /* df of about 1: beyond the formula */
    root = root > floor_root ? root : floor_root;
    return 1.07 / (root * root * root);
}

size_t compare_needed(const struct compare_test *t, double shift, size_t family)
{
    if (!t->available)
        return t->least;
    double step = log1p(shift);
    double tests = family > 0 ? (double)family : 1.0;
    double alpha = ALPHA / (2.0 * tests);
    double reach = normal_quantile(1.0 - alpha) + normal_quantile(POWER);
    double unit_var = t->unit_var * variance_margin(t->df);
    double n = 0.0;
    /* With n the degrees of freedom are known, and with them how far to reach: settles within a few rounds. */
    for (int round = 0; round < 8; round++) {
        n = ceil(reach * reach * unit_var / (step * step)) + 1.0;
        n = n > (double)t->least ? n : (double)t->least;
        double df = t->freedom * (n - 1.0);
        reach = student_quantile(1.0 - alpha, df) + student_quantile(POWER, df);
    }
    return (size_t)n;
}
