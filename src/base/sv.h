/* sv.h - borrowed text: a pointer and a length, passed by value, never NUL-terminated.
 * A view never outlives the owner of its bytes; the header that hands it out says who that is.
 * Threads: plain values.  Errors: none. */
#ifndef VB_BASE_SV_H
#define VB_BASE_SV_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct sv {
    const char *ptr;
    size_t len;
};

/* For printf's "%.*s". */
#define SV_FMT    "%.*s"
#define SV_ARG(v) (int)(v).len, (v).ptr

#define SV_LIT(text) ((struct sv){(text), sizeof(text) - 1})

static inline struct sv sv_make(const char *ptr, size_t len)
{
    return (struct sv){ptr, len};
}

/* NULL gives the empty view. */
static inline struct sv sv_from(const char *text)
{
    return (struct sv){text, text != NULL ? strlen(text) : 0};
}

static inline bool sv_eq(struct sv a, struct sv b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static inline bool sv_starts(struct sv v, struct sv prefix)
{
    return v.len >= prefix.len && (prefix.len == 0 || memcmp(v.ptr, prefix.ptr, prefix.len) == 0);
}

static inline bool sv_ends(struct sv v, struct sv suffix)
{
    return v.len >= suffix.len &&
           (suffix.len == 0 || memcmp(v.ptr + v.len - suffix.len, suffix.ptr, suffix.len) == 0);
}

/* The view from byte `from` on; empty when `from` is past the end. */
static inline struct sv sv_skip(struct sv v, size_t from)
{
    return from >= v.len ? sv_make(v.ptr + v.len, 0) : sv_make(v.ptr + from, v.len - from);
}

/* ASCII letters compare without case. */
bool sv_eq_nocase(struct sv a, struct sv b);

/* Without leading and trailing blanks (space, \t, \r, \n, \v, \f). */
struct sv sv_trim(struct sv v);

/* The row of a table that has this name; NULL when there is none.  The first member of a row is its name, a
 * `const char *`. */
const void *sv_row(struct sv name, const void *table, size_t rows, size_t row_size);
#define SV_ROW(name, table)                                                                        \
    sv_row((name), (table), sizeof(table) / sizeof((table)[0]), sizeof((table)[0]))

/* Position of the first `c`, or v.len. */
size_t sv_find(struct sv v, char c);

/* Takes the part before the first `sep` off *rest; false when *rest is exhausted.
 * "a,,b" gives "a", "", "b"; "" gives one empty part; a view with a NULL pointer gives nothing. */
bool sv_split(struct sv *rest, char sep, struct sv *part);

#endif
