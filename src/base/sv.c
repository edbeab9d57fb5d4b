/* Views on text: the few operations that are not one comparison. */
#include "base/sv.h"

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static bool blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool sv_eq_nocase(struct sv a, struct sv b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i]))
            return false;
    }
    return true;
}

struct sv sv_trim(struct sv v)
{
    while (v.len > 0 && blank(v.ptr[0])) {
        v.ptr++;
        v.len--;
    }
    while (v.len > 0 && blank(v.ptr[v.len - 1]))
        v.len--;
    return v;
}

size_t sv_find(struct sv v, char c)
{
    const char *at = v.len > 0 ? memchr(v.ptr, c, v.len) : NULL;
    return at != NULL ? (size_t)(at - v.ptr) : v.len;
}

bool sv_split(struct sv *rest, char sep, struct sv *part)
{
    if (rest->ptr == NULL)
        return false;
    size_t at = sv_find(*rest, sep);
    *part = sv_make(rest->ptr, at);
    if (at == rest->len)
        *rest = sv_make(NULL, 0);
    else
        *rest = sv_skip(*rest, at + 1);
    return true;
}

const void *sv_row(struct sv name, const void *table, size_t rows, size_t row_size)
{
    const char *row = table;
    for (size_t i = 0; i < rows; i++, row += row_size) {
        const char *of_row;
        memcpy(&of_row, row, sizeof(of_row));
        if (sv_eq(name, sv_from(of_row)))
            return row;
    }
    return NULL;
}
