/* reply_priv.h - what the OpenAI APIs' stream events have in common: [DONE], errors, usage and metrics.
 * Use: an API's scan calls reply_scan with a function that reads the first element of `choices`.
 * Threads: pure.  Errors: malformed text gives SCAN_BAD. */
#ifndef VB_BACKENDS_REPLY_PRIV_H
#define VB_BACKENDS_REPLY_PRIV_H

#include "backends/backend.h"
#include "json/scan.h"

/* Reads one value, the first choice: sets event->text and event->reasoning; true when the chunk is a token chunk. It
 * must consume the value whatever its type is. */
typedef bool reply_choice_fn(struct js_scan *s, struct reply_event *event);

enum scan_result reply_scan(struct sv name, struct sv data, reply_choice_fn *read_choice,
                            struct reply_event *event);

/* Place of a raw key in a list of plain names (letters and '_', 4 at least), `count` when it is none of them. */
size_t reply_key(struct sv raw, const struct sv *names, size_t count);
/* Consumes any value; false for those that Python takes for false: null, false, 0, "", [] and {}. */
bool reply_truthy(struct js_scan *s);
/* Consumes any value; *text is the raw content of a string, empty when it is something else. */
bool reply_string(struct js_scan *s, struct sv *text);

#endif
