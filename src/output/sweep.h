/* sweep.h - what a sweep says: its heading, the line above each point, the summary table, and the files about all of it.
 * Threads: read-only.  Errors: none. */
#ifndef VB_OUTPUT_SWEEP_H
#define VB_OUTPUT_SWEEP_H

#include "base/buf.h"
#include "json/tree.h"

enum sweep_kind { SWEEP_CONCURRENCY, SWEEP_RATE, SWEEP_MULTI_TURN };

struct sweep_report {
    enum sweep_kind kind;
    const double *values;
    const struct js_value *const *results; /* of the points; NULL: not measured */
    const char *const *files;              /* where each was saved; NULL: it was not */
    const bool *reused;
    size_t count;
    const double *percentiles; /* further columns */
    size_t percentile_count;
    bool interrupted;
    const char *date;
};

/* The key that is swept in result objects: "max_concurrency". */
const char *sweep_key(enum sweep_kind kind);
/* "concurrency=4", "rate=50", in summaries and, behind a dash, in file names. */
void sweep_label(enum sweep_kind kind, double value, struct buf *out);

void sweep_heading(enum sweep_kind kind, const double *values, size_t count, struct buf *out);
void sweep_banner(enum sweep_kind kind, double value, size_t point, size_t count, struct buf *out);
void sweep_table(const struct sweep_report *s, struct buf *out);
void sweep_json(const struct sweep_report *s, struct buf *out);
void sweep_csv(const struct sweep_report *s, struct buf *out);

#endif
