/* plots.h - the files of --plot-timeline and --plot-dataset-stats, beside the result file and named after it.
 * Use: plots_write after the result was saved (or not); read the outcomes; plots_done.  With a result "x.json" the files
 * are "x.timeline.html" and "x.dataset_stats.png" (Python's names); without saving the name that the result would have
 * had is used, and an automatic one that is taken gets -2, -3 ...
 * Threads: main thread only.  Errors: an outcome each; the other plot is written all the same. */
#ifndef VB_REPORT_PLOTS_H
#define VB_REPORT_PLOTS_H

#include "base/error.h"
#include "report/timeline.h"

enum plot { PLOT_TIMELINE, PLOT_DATASET_STATS, PLOT_COUNT };

struct plot_outcome {
    bool wanted;
    bool written;
    char *path; /* on the heap; NULL when not wanted */
    struct error error;
};

struct plots_place {
    const char *saved;  /* where the result was saved; NULL: it was not */
    const char *suffix; /* goes before the ending where runs share one result file; NULL: none */
};

void plots_write(const struct run_report *report, const struct timeline_talks *talks,
                 const struct plots_place *place, struct plot_outcome outcomes[PLOT_COUNT]);
void plots_done(struct plot_outcome outcomes[PLOT_COUNT]);

/* "Timeline", "Data set statistics": what messages call it. */
const char *plot_name(enum plot plot);

#endif
