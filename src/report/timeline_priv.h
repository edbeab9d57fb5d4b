/* timeline_priv.h - what the page and its data share; inside this room only.
 * Threads: pure functions.  Errors: none. */
#ifndef VB_REPORT_TIMELINE_PRIV_H
#define VB_REPORT_TIMELINE_PRIV_H

#include "report/timeline.h"

/* Values of `state` in the page's data. */
enum row_state { ROW_OK, ROW_FAILED, ROW_OPEN };

enum row_state row_state(const struct record *r);
/* When the page lets a request end: its end, or what came last of it. */
uint64_t row_end_ns(const struct record *r);
/* A token came; what comes first of a pooling request is no token. */
bool row_has_token(const struct timeline *t, const struct record *r);
/* The longest interval between two tokens, 0 without any. */
uint64_t row_longest_ns(const struct record *r);

/* "ITL < 25 ms" and so on. */
void colour_name(const struct timeline *t, enum timeline_colour colour, char out[100]);

/* Appends why a request did not succeed, without secrets and cut where it is long. */
void row_outcome(const struct timeline *t, const struct record *r, struct buf *out);

#endif
