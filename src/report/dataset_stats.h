/* dataset_stats.h - the picture of --plot-dataset-stats: how long prompts and outputs of the requests are.
 * Use: dataset_stats_make to see the numbers, dataset_stats_png for the file's bytes.
 * Threads: read-only on the report.  Errors: none. */
#ifndef VB_REPORT_DATASET_STATS_H
#define VB_REPORT_DATASET_STATS_H

#include "base/buf.h"
#include "output/run_report.h"

/* One value for each request that was sent; on the heap. */
struct dataset_stats {
    uint64_t *prompt, *output, *total;
    size_t count;
    size_t failed;     /* of them: their output counts 0, as in results */
    size_t unfinished; /* the same for those that the end of the run cut off */
    bool pooling;      /* no output */
    uint64_t guessed;  /* output counts that nobody told: 1 each */
};

void dataset_stats_make(const struct run_report *report, struct dataset_stats *stats);
void dataset_stats_done(struct dataset_stats *stats);

/* Appends the PNG file: 2100 x 1500 pixels. */
bool dataset_stats_png(const struct dataset_stats *stats, struct buf *out, struct error *err);

#endif
