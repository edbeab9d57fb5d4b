/* buf.h - a growing byte buffer for text that is being put together.
 * Use: struct buf b = {0}; buf_add*(&b, ...); buf_sv(&b); buf_done(&b).  A zeroed struct is an empty buffer.
 * The view of buf_sv dies at the next buf_add or buf_done.  Threads: one owner.  Errors: none (see alloc.h). */
#ifndef VB_BASE_BUF_H
#define VB_BASE_BUF_H

#include "base/sv.h"

#include <stdarg.h>

struct buf {
    char *ptr;
    size_t len;
    size_t cap;
};

/* Room for `more` further bytes; returns where they go (then add to len). */
char *buf_reserve(struct buf *b, size_t more);

void buf_add(struct buf *b, struct sv text);
void buf_add_str(struct buf *b, const char *text);
void buf_add_char(struct buf *b, char c);
void buf_add_fmt(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_add_vfmt(struct buf *b, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

/* NUL-terminates (the NUL is not counted) and returns the text; valid until the next change. */
const char *buf_cstr(struct buf *b);

static inline struct sv buf_sv(const struct buf *b)
{
    return sv_make(b->ptr, b->len);
}

static inline void buf_reset(struct buf *b)
{
    b->len = 0;
}

/* Gives the heap block away, NUL-terminated; the buffer is empty afterwards. */
char *buf_take(struct buf *b);

/* Drops the first n bytes (n <= len). */
void buf_consume(struct buf *b, size_t n);

void buf_done(struct buf *b);

#endif
