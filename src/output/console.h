/* console.h - the printed summary of one run: failures, Python's table, the Rust tool's steady-state block, then our
 * own blocks (tokens by event, reasoning, prompt cache, queue time where a rate is set, Measurement).
 * Use: write the result file first, then console_print(&report, stdout, &err).
 * Threads: read-only on the report.  Errors: E_IO when the file cannot be written; a closed pipe is none (the program
 * ignores SIGPIPE). */
#ifndef VB_OUTPUT_CONSOLE_H
#define VB_OUTPUT_CONSOLE_H

#include "base/buf.h"
#include "base/error.h"
#include "output/run_report.h"

#include <stdio.h>

bool console_print(const struct run_report *report, FILE *file, struct error *err);

/* The parts of it, appended to *out. */
void console_failures(const struct run_report *report, struct buf *out);
void console_table(const struct run_report *report, struct buf *out);
void console_steady(const struct run_report *report, struct buf *out);
/* Tokens per event, reasoning, prompt cache: each when it says something. */
void console_tokens(const struct run_report *report, struct buf *out);
void console_queue(const struct run_report *report, struct buf *out);
void console_measurement(const struct run_report *report, struct buf *out);

#endif
