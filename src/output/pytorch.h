/* pytorch.h - the record file for PyTorch's benchmark database, written beside a result file as Python's tool does when
 * the environment variable SAVE_TO_PYTORCH_BENCHMARK_FORMAT is set (to anything but "" and "0").
 * Threads: read-only on the report.  Errors: E_IO with the path in the message. */
#ifndef VB_OUTPUT_PYTORCH_H
#define VB_OUTPUT_PYTORCH_H

#include "base/buf.h"
#include "base/error.h"
#include "output/run_report.h"

bool pytorch_wanted(void);

/* Appends the list of records, one a latency statistic that stands in the result object `result`; empty when it has
 * none of them. */
void pytorch_json(const struct run_report *report, struct sv result, struct buf *out);

/* Writes PATH-WITHOUT-EXTENSION.pytorch.json for the result that went to `path`; nothing when there are no records. */
bool pytorch_save(const struct run_report *report, const char *path, struct sv result,
                  struct error *err);

#endif
