/* multi_run.h - what --num-runs says in the end: the Rust tool's table over all runs, the confidence intervals, and one
 * result object whose figures are the means, with every run in it.
 * Threads: read-only.  Errors: none. */
#ifndef VB_OUTPUT_MULTI_RUN_H
#define VB_OUTPUT_MULTI_RUN_H

#include "base/buf.h"
#include "json/tree.h"

struct multi_run {
    const struct js_value *const *results; /* of the runs; NULL: not measured */
    const char *const *files;              /* where each was saved; NULL: it was not */
    size_t count;                          /* runs wanted */
    bool interrupted;
    const char *date;
};

void multi_run_heading(size_t runs, struct buf *out);
void multi_run_banner(size_t run, size_t runs, struct buf *out);
void multi_run_table(const struct multi_run *m, struct buf *out);
void multi_run_json(const struct multi_run *m, struct buf *out);
void multi_run_csv(const struct multi_run *m, struct buf *out);

#endif
