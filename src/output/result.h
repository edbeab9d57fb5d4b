/* result.h - the result file: one JSON object on one line, Python's keys in Python's order, the Rust tool's extras
 * among them, ours at the end.  docs/results.md describes every key.
 * Use: result_save writes it as --save-result, --append-result, --result-dir and --result-filename say.
 * Threads: read-only on the report.  Errors: E_IO with the path in the message. */
#ifndef VB_OUTPUT_RESULT_H
#define VB_OUTPUT_RESULT_H

#include "base/buf.h"
#include "base/error.h"
#include "output/run_report.h"

/* Appends the object, without a newline. */
void result_json(const struct run_report *report, struct buf *out);

/* Adds the `client` object, which every result ends with. */
struct fields;
void result_client(struct fields *f, const struct run_report *report);

/* Appends the path that result_save would write: the folder, and the given or automatic file name. */
void result_path(const struct run_report *report, struct buf *path);

/* Whether the name comes from the program, not from --result-filename. */
bool result_name_is_automatic(const struct config *config);

/* Gives *path, which ends in `ending`, a number before that ending where a file of its name is there, *number or the
 * next free one (0: none is needed); the name is taken by an empty file.  True when a file was made. */
bool result_claim_name(struct buf *path, const char *ending, unsigned *number);

/* An automatic name that is taken gets -2, -3 ... before its extension; the name is taken by an empty file, which is to
 * be replaced.  The folder must be there.  True when a file was made.  Names that were given stay as they are. */
bool result_claim(const struct config *config, struct buf *path);

/* Saves when the configuration asks for it, else does nothing.  *path (may be NULL) gets the file's name on the heap,
 * NULL when nothing was saved; the caller frees it.  When the file cannot be written,
 * result_save_elsewhere has done its work. */
bool result_save(const struct run_report *report, char **path, struct error *err);

/* After *err says why a result's own place did not take it: writes it to "vllm-bench-result-<date>-<pid><ending>" in
 * $TMPDIR or /tmp and adds to the message where it is.  `ending`: ".json", "-sweep.csv" ... */
void result_save_elsewhere(time_t date, const char *ending, struct sv content, struct error *err);

#endif
