/* stats.h - what a workload is made of, for --dry-run: lengths, what prompts share, memory.
 * Use: workload_stats_write appends lines.  Threads: one owner, several inside.  Errors: none. */
#ifndef VB_DATASETS_STATS_H
#define VB_DATASETS_STATS_H

#include "datasets/workload.h"

/* Histograms of input and output lengths, the part of the prompts that an earlier prompt begins with, and sizes. */
void workload_stats_write(const struct workload *w, struct buf *out);

#endif
