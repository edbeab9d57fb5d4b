/* detail.h - the per-request part of a result object: arrays in data set order, one element a request, seconds.
 * Threads: read-only on the report.  Errors: none. */
#ifndef VB_OUTPUT_DETAIL_H
#define VB_OUTPUT_DETAIL_H

#include "json/writer.h"
#include "output/fields.h"
#include "output/run_report.h"

/* input_lens to errors: Python's place in the order, with --save-detailed only. */
void detail_requests(struct fields *f, const struct run_report *report);
/* server_queue_times and server_ttfts, each when any request has one. */
void detail_server_times(struct fields *f, const struct run_report *report);
/* failed_requests, when there are any. */
void detail_failures(struct fields *f, const struct run_report *report);
/* Our own arrays, inside the object `client`. */
void detail_client(struct js_writer *w, const struct run_report *report);

#endif
