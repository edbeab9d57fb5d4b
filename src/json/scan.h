/* scan.h - reads JSON in place: a cursor over one text, no tree, no allocation, no copies.
 * Use: js_scan_init; then js_scan_peek and one function for the type found; js_scan_end at last.
 *     struct js_scan s; struct sv key; bool first = true;
 *     js_scan_init(&s, text);
 *     if (js_scan_object(&s))
 *         while (js_scan_member(&s, &first, &key))
 *             if (sv_eq(key, SV_LIT("usage"))) read_usage(&s); else js_scan_skip(&s, NULL);
 *     if (!js_scan_end(&s)) malformed();
 * Strict RFC 8259 (no NaN, no trailing commas, no control characters in strings, valid \u pairs are not demanded);
 * nesting at most JS_MAX_DEPTH.  Views point into the text given to js_scan_init.
 * Threads: a cursor belongs to one thread.  Errors: sticky; after one every call answers false, js_scan_end too. */
#ifndef VB_JSON_SCAN_H
#define VB_JSON_SCAN_H

#include "base/buf.h"
#include "base/sv.h"

#include <stdint.h>

enum { JS_MAX_DEPTH = 128 };

enum js_type {
    JS_BAD, /* malformed, or the text has ended */
    JS_NULL,
    JS_BOOL,
    JS_NUMBER,
    JS_STRING,
    JS_ARRAY,
    JS_OBJECT,
};

struct js_scan {
    const char *at;
    const char *end;
    const char *start;
    bool bad;
};

void js_scan_init(struct js_scan *s, struct sv text);

/* Type of the next value, after white space; nothing is consumed but white space. */
enum js_type js_scan_peek(struct js_scan *s);

/* Consume '{' or '['; false (and sticky bad) when the next value is of another type. */
bool js_scan_object(struct js_scan *s);
bool js_scan_array(struct js_scan *s);

/* Next member: *key is the raw key (between the quotes, escapes not resolved; compare with sv_eq after js_key_plain
 * where escapes matter), the cursor stands before its value.  False at '}' (consumed) and on error.
 * *first starts as true and is the caller's. */
bool js_scan_member(struct js_scan *s, bool *first, struct sv *key);
/* Next array element; false at ']' (consumed) and on error. */
bool js_scan_element(struct js_scan *s, bool *first);

/* One string; *raw is what stands between the quotes, *escaped says whether it holds a backslash. */
bool js_scan_string(struct js_scan *s, struct sv *raw, bool *escaped);
/* One number as text, one unsigned integer, one boolean, null.  js_scan_u64 consumes a valid number that is negative,
 * fractional or past 2^64 and answers false without making the text malformed: see js_scan_end. */
bool js_scan_number(struct js_scan *s, struct sv *text);
bool js_scan_u64(struct js_scan *s, uint64_t *value);
bool js_scan_bool(struct js_scan *s, bool *value);
bool js_scan_null(struct js_scan *s);

/* One whole value of any type, validated; *raw (may be NULL) gets its text without surrounding white space. */
bool js_scan_skip(struct js_scan *s, struct sv *raw);

/* True when no error was met and only white space is left. */
bool js_scan_end(struct js_scan *s);

/* Byte offset of the cursor: where a malformed text broke. */
size_t js_scan_offset(const struct js_scan *s);

/* True when the text is exactly one valid JSON value (white space around it allowed). */
bool js_is_complete(struct sv text);

/* Appends the UTF-8 of a raw string.  A lone surrogate becomes U+FFFD.  False on a bad escape. */
bool js_unescape(struct sv raw, struct buf *out);

/* Does the raw key equal the plain text `name`?  Resolves escapes when there are any. */
bool js_key_is(struct sv raw_key, struct sv name);

#endif
