/* compare_file.h - reads one result file for --compare: ours, Python's or the Rust tool's.
 * The whole file is one object, or a list whose last element counts, or lines of which the last that is not empty
 * counts.  Python's bare NaN and Infinity are accepted.
 * Use: compare_file_read; compare_file_done.
 * Threads: none shared.  Errors: struct error with the file's name. */
#ifndef VB_MODES_COMPARE_FILE_H
#define VB_MODES_COMPARE_FILE_H

#include "base/buf.h"
#include "json/tree.h"
#include "metrics/compare.h"

struct compare_file {
    const char *path;
    struct arena arena;
    struct buf text;
    const struct js_value *result; /* without the values of single requests */
    bool has_samples;
    struct compare_samples samples;
    const struct js_value *runs; /* list, of a summary of --num-runs; else NULL */
};

bool compare_file_read(struct compare_file *f, const char *path, struct error *err);
void compare_file_done(struct compare_file *f);

#endif
