/* Growing byte buffers. */
#include "base/buf.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

char *buf_reserve(struct buf *b, size_t more)
{
    size_t need;
    if (__builtin_add_overflow(b->len, more, &need))
        mem_exhausted((size_t)-1);
    if (need > b->cap || b->ptr == NULL) {
        size_t cap = b->cap < 64 ? 64 : b->cap + b->cap / 2;
        if (cap < need)
            cap = need;
        b->ptr = mem_resize(b->ptr, cap, 1);
        b->cap = cap;
    }
    return b->ptr + b->len;
}

void buf_add(struct buf *b, struct sv text)
{
    if (text.len == 0)
        return;
    memcpy(buf_reserve(b, text.len), text.ptr, text.len);
    b->len += text.len;
}

void buf_add_str(struct buf *b, const char *text)
{
    buf_add(b, sv_from(text));
}

void buf_add_char(struct buf *b, char c)
{
    *buf_reserve(b, 1) = c;
    b->len++;
}

void buf_add_vfmt(struct buf *b, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    buf_reserve(b, 64);
    int wanted = vsnprintf(b->ptr + b->len, b->cap - b->len, format, args);
    if (wanted > 0 && (size_t)wanted >= b->cap - b->len) {
        buf_reserve(b, (size_t)wanted + 1);
        vsnprintf(b->ptr + b->len, b->cap - b->len, format, again);
    }
    if (wanted > 0)
        b->len += (size_t)wanted;
    va_end(again);
}

void buf_add_fmt(struct buf *b, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    buf_add_vfmt(b, format, args);
    va_end(args);
}

const char *buf_cstr(struct buf *b)
{
    *buf_reserve(b, 1) = '\0';
    return b->ptr;
}

char *buf_take(struct buf *b)
{
    buf_cstr(b);
    char *text = b->ptr;
    *b = (struct buf){0};
    return text;
}

void buf_consume(struct buf *b, size_t n)
{
    if (n < b->len)
        memmove(b->ptr, b->ptr + n, b->len - n);
    b->len -= n;
}

void buf_done(struct buf *b)
{
    free(b->ptr);
    *b = (struct buf){0};
}
