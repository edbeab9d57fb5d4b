/* compare.h - two finished results side by side: the Rust tool's table, then what can be said for sure, as text, Markdown
 * and JUnit.
 * Use: compare_rows_make from two result objects; the mode fills tests and verdicts; then the writers.
 * Threads: read-only.  Errors: none. */
#ifndef VB_OUTPUT_COMPARE_H
#define VB_OUTPUT_COMPARE_H

#include "base/buf.h"
#include "json/tree.h"
#include "metrics/compare.h"

enum { COMPARE_ROWS = 20, COMPARE_STEADY_ROWS = 10 };

struct compare_row {
    const char *label;
    const char *key;
    bool lower_is_better;
    bool gated;    /* a regression of it counts */
    bool has_both; /* both results have the figure */
    double a;
    double b;
    struct compare_test test;
    enum compare_verdict verdict;
    size_t needed;   /* COMPARE_INCONCLUSIVE: samples a side that would tell; 0 unknown */
    bool regression; /* worse by more than the threshold */
};

struct compare_report {
    const char *file_a;
    const char *file_b;
    const struct js_value *a;
    const struct js_value *b;
    struct compare_row rows[COMPARE_ROWS];
    struct compare_row steady[COMPARE_STEADY_ROWS];
    bool has_steady;     /* both have a window */
    const char *unit;    /* what the tests count: "requests" or "runs"; NULL: nothing was tested */
    double shift;        /* difference that matters, a share */
    double threshold;    /* NaN: no gate */
    struct buf warnings; /* sentences, one a line */
};

void compare_rows_make(struct compare_report *r);

/* 100 * (b - a) / a; infinite when only a is 0. */
double compare_percent(double a, double b);
/* "better", "worse", "same", "inconclusive", "not tested". */
const char *compare_word(const struct compare_row *row);

void compare_text(const struct compare_report *r, struct buf *out);
void compare_markdown(const struct compare_report *r, struct buf *out);
/* One suite of a JUnit file, without the element around all suites. */
void compare_junit_suite(const struct compare_report *r, struct buf *out);
size_t compare_regressions(const struct compare_report *r);

#endif
