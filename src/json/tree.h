/* tree.h - a JSON text as a tree, for files and cold replies.
 * Use: js_parse, then js_get / js_at / js_as_*.  The tree lives in the arena and points nowhere else: the text may go
 * away.  Strings are resolved UTF-8 (NUL bytes allowed, lengths count); numbers keep their text.  Duplicate keys: the
 * last wins in js_get (as Python's json).
 * Threads: read-only after parsing.  Errors: struct error with line and column, code E_PARSE. */
#ifndef VB_JSON_TREE_H
#define VB_JSON_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include "json/scan.h"

struct js_value {
    enum js_type type;
    bool boolean;                 /* JS_BOOL */
    struct sv text;               /* JS_STRING: resolved; JS_NUMBER: as written */
    struct sv key;                /* resolved name, when a member of an object */
    size_t count;                 /* JS_ARRAY, JS_OBJECT */
    const struct js_value *first; /* first child */
    const struct js_value *next;  /* next sibling */
};

/* Parses exactly one value.  `what` names the source in messages ("file 'x.json'"). NULL on failure. */
const struct js_value *js_parse(struct arena *arena, struct sv text, const char *what,
                                struct error *err);

/* Member of an object by name; NULL when absent or `object` is NULL or no object. */
const struct js_value *js_get(const struct js_value *object, const char *name);
const struct js_value *js_get_sv(const struct js_value *object, struct sv name);
/* Element of an array; NULL when out of range or no array.  Linear: iterate with first/next in loops. */
const struct js_value *js_at(const struct js_value *array, size_t index);

/* Conversions: false when the value is NULL, of another type, or does not fit. */
bool js_as_i64(const struct js_value *value, int64_t *out);
bool js_as_double(const struct js_value *value, double *out);
bool js_as_bool(const struct js_value *value, bool *out);
bool js_as_sv(const struct js_value *value, struct sv *out);

struct js_writer;
/* Writes the value back, compact, keys in order. */
void js_write_value(struct js_writer *w, const struct js_value *value);

#endif
