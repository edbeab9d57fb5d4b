/* replay.h - a workload as a file: JSON lines, one request each, that give the same bytes again.
 * Keys of a line: "prompt" (or "messages"), "prompt_len", "output_len", "due_ns", "sequences", "media", "extra",
 * "file" {"name", "length_s", "data"}; those without use are left out.
 * Use: workload_save; the data set "workload" (replay_build) reads the file.
 * Threads: one owner.  Errors: struct error with the path. */
#ifndef VB_DATASETS_REPLAY_H
#define VB_DATASETS_REPLAY_H

#include "base/error.h"
#include "datasets/workload.h"

/* `due_ns`: times from the schedule, count of them, or NULL. */
bool workload_save(const struct workload *w, const uint64_t *due_ns, const char *path,
                   struct error *err);

#endif
