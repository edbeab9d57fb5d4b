/* report_priv.h - questions about a run report that console and result file answer alike; inside this room only.
 * Threads: pure functions.  Errors: none. */
#ifndef VB_OUTPUT_REPORT_PRIV_H
#define VB_OUTPUT_REPORT_PRIV_H

#include "base/buf.h"
#include "output/run_report.h"

/* Token figures mean something: a tokenizer was loaded or the server reported usage (METRICS 10). */
bool report_has_tokens(const struct run_report *report);
/* The metric was selected and can be shown in this run. */
bool report_shows_metric(const struct run_report *report, enum metric_id metric);
const struct series_stats *report_series(const struct run_report *report, enum metric_id metric);

/* Probes were sent and one at least was answered. */
bool report_has_probes(const struct run_report *report);
/* The client's verdict on its own figures. */
enum verdict report_verdict(const struct run_report *report, char *rule, size_t rule_cap);

/* Why a request failed, never empty for one; "" for a success. */
struct sv report_error_text(const struct record *r);
/* Appends a text that came from outside with the API key and all header values replaced by "***". */
void report_redact(const struct run_report *report, struct sv text, struct buf *out);

/* YYYYmmdd-HHMMSS in local time. */
void report_date(time_t when, char out[16]);

#endif
