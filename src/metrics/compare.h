/* compare.h - do two runs differ?  Tests on what single requests took, or on the figures of repeated runs.
 *
 * Requests: the bootstrap.  A run's requests are drawn anew with replacement (whole requests, so that the gaps of one
 * answer stay together); what a mean or percentile varies by over the resamples is its standard error.  Compared are
 * logarithms, so that a change is a ratio; the chance of such a change between equal runs is Student's, and Holm's rule
 * keeps the chance of any false alarm among all figures of a comparison at 5 %.
 * Repeated runs: Welch's t test.
 *
 * Use: fill two struct compare_samples (or two lists of figures); compare_requests / compare_runs, compare_adjust over
 * all tests of the comparison, compare_judge each.
 * Threads: pure functions.  Errors: none; a figure that cannot be tested says why in `reason`. */
#ifndef VB_METRICS_COMPARE_H
#define VB_METRICS_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum compare_series { COMPARE_TTFT, COMPARE_TPOT, COMPARE_ITL, COMPARE_E2EL, COMPARE_SERIES_COUNT };
enum compare_stat { COMPARE_MEAN, COMPARE_MEDIAN, COMPARE_P99, COMPARE_STAT_COUNT };

/* Values of one series, each with the request (from 0) that it belongs to. */
struct compare_values {
    double *value;
    uint32_t *request;
    size_t count;
    size_t cap;
};

struct compare_samples {
    size_t requests; /* successes */
    struct compare_values series[COMPARE_SERIES_COUNT];
};

void compare_samples_add(struct compare_samples *s, enum compare_series series, size_t request,
                         double value);
void compare_samples_done(struct compare_samples *s);

enum compare_verdict {
    COMPARE_UNTESTED,     /* one figure each: nothing says how far it would vary */
    COMPARE_INCONCLUSIVE, /* the data cannot tell */
    COMPARE_SAME,         /* any difference is smaller than the one looked for */
    COMPARE_HIGHER,
    COMPARE_LOWER,
};

struct compare_test {
    bool available;
    char reason[120]; /* of !available */
    double change;    /* b / a - 1 */
    double low;       /* 95 % interval of it, by itself */
    double high;
    double
        p; /* of such a change between equal runs; after compare_adjust for the whole comparison */
    double unit_var; /* of log(b / a), per request (or run) on each side */
    double freedom;  /* degrees of freedom of the standard error, per request (or run) */
    double df;       /* those of this test */
    size_t least;    /* samples a side below which the figure cannot be tested */
};

/* `tests`: COMPARE_SERIES_COUNT rows of COMPARE_STAT_COUNT.  The same data give the same result.  `resamples`: of each
 * run; 0: as many as a second or two allows, from 200 to 1000. */
void compare_requests(struct compare_samples *a, struct compare_samples *b, size_t resamples,
                      struct compare_test tests[COMPARE_SERIES_COUNT][COMPARE_STAT_COUNT]);
void compare_runs(const double *a, size_t a_count, const double *b, size_t b_count,
                  struct compare_test *test);

/* A figure that a and b give once each, but which varies as much as the tested one does: in a closed loop the throughput
 * is the concurrency over the mean latency. */
void compare_as(const struct compare_test *like, double a, double b, struct compare_test *test);

/* Holm's adjustment of the p of those available. */
void compare_adjust(struct compare_test *const *tests, size_t count);

/* After compare_adjust; `shift`: the smallest difference that matters, a share such as 0.05. */
enum compare_verdict compare_judge(const struct compare_test *test, double shift);

/* Samples (requests, runs) a side that find a change by `shift` with a chance of 0.9 among `family` tests. */
size_t compare_needed(const struct compare_test *test, double shift, size_t family);

#endif
