/* hub_files.h - the files of data sets that need no --dataset-path, from the hub's cache or the hub.
 * Use: hub_files_sharegpt, hub_files_speed_bench; *path (replaced, NUL-terminated) is the local file.
 * Threads: as dataset_build.  Errors: struct error; without a hub in the context --dataset-path is asked for. */
#ifndef VB_DATASETS_HUB_FILES_H
#define VB_DATASETS_HUB_FILES_H

#include "datasets/dataset.h"

/* The file of conversations that the peers load. */
bool hub_files_sharegpt(const struct dataset_context *context, struct buf *path, struct error *err);
/* The rows of one subset, as one JSON array. */
bool hub_files_speed_bench(const struct dataset_context *context, const char *subset,
                           struct buf *path, struct error *err);

#endif
