/* reply_priv.h - what the replies have in common: [DONE], errors, usage and metrics.
 * Use: the scan of an API with chunks calls reply_scan with a function that reads the first element of `choices`; others
 * use the readers of single members.
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

/* What a reply says of an error. */
struct reply_problem {
    bool error;        /* `error` is there and not empty */
    struct sv text;    /* its message, or its JSON text */
    bool is_string;    /* text is raw string content */
    struct sv message; /* raw content of "message" beside it; the caller's to read */
};

/* Every field to "not said". */
void reply_event_init(struct reply_event *event);
enum scan_result reply_set_error(struct reply_event *event, struct sv text, bool is_string);

/* Each consumes one value, of any type: `usage` (names of chat/completions and of responses), `metrics`, `error`; a
 * count: a number that is whole and not negative, else -1. */
void reply_read_usage(struct js_scan *s, struct reply_event *event);
void reply_read_metrics(struct js_scan *s, struct reply_event *event);
void reply_read_error(struct js_scan *s, struct reply_problem *problem);
int64_t reply_count(struct js_scan *s);

/* Consumes an object's brace; anything else is stepped over and gives false. */
bool reply_enter_object(struct js_scan *s);
/* Without JSON's white space at both ends. */
struct sv reply_trim(struct sv v);

/* Place of a raw key in a list of plain names (letters and '_', 4 at least), `count` when it is none of them. */
size_t reply_key(struct sv raw, const struct sv *names, size_t count);
/* Consumes any value; false for those that Python takes for false: null, false, 0, "", [] and {}. */
bool reply_truthy(struct js_scan *s);
/* Consumes any value; *text is the raw content of a string, empty when it is something else. */
bool reply_string(struct js_scan *s, struct sv *text);

#endif
