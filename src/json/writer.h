/* writer.h - writes JSON text into a buffer: compact, UTF-8 as is, commas placed by the writer.
 * Use: js_writer_init; js_begin_object; js_key, one value, ...; js_end_object.
 * Invalid UTF-8 in strings is replaced by U+FFFD so that the output is always valid.
 * Threads: one owner.  Errors: none; a wrong order of calls is a bug (assert). */
#ifndef VB_JSON_WRITER_H
#define VB_JSON_WRITER_H

#include "base/buf.h"

#include <stdint.h>

struct js_writer {
    struct buf *out;
    bool comma; /* the next key or element needs a comma first */
    int depth;
};

void js_writer_init(struct js_writer *w, struct buf *out);
void js_begin_object(struct js_writer *w);
void js_end_object(struct js_writer *w);
void js_begin_array(struct js_writer *w);
void js_end_array(struct js_writer *w);
void js_key(struct js_writer *w, const char *name);
void js_key_sv(struct js_writer *w, struct sv name);
void js_string(struct js_writer *w, struct sv text);
void js_cstring(struct js_writer *w, const char *text); /* NULL writes null */
void js_int(struct js_writer *w, int64_t value);
void js_uint(struct js_writer *w, uint64_t value);
/* As Python's repr: shortest that reads back, "24.0" for whole values; NaN is null, infinities the strings "inf" and
 * "-inf" (RULINGS: output is always valid JSON). */
void js_double(struct js_writer *w, double value);
void js_bool(struct js_writer *w, bool value);
void js_null(struct js_writer *w);
/* A text that is valid JSON already. */
void js_raw(struct js_writer *w, struct sv json);

/* The string escaped, without quotes: only '"', '\\' and control characters are escaped. */
void js_escape(struct buf *out, struct sv text);

#endif
