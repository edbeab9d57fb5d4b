/* thrift.h - reads Thrift's compact protocol in place, as far as Parquet's footer and page headers use it.
 * Use: struct thrift t = thrift_over(bytes); then for a structure
 *     struct thrift_field f = {0};
 *     while (thrift_next(&t, &f))
 *         if (f.id == 1) x = thrift_int(&t, &f, 0, INT32_MAX); else thrift_skip(&t, &f);
 * Every field must be read or skipped.  Views point into the bytes.
 * Threads: a cursor belongs to one thread.  Errors: sticky `bad`; after it every call gives zero or false. */
#ifndef VB_DATASETS_THRIFT_H
#define VB_DATASETS_THRIFT_H

#include "base/sv.h"

#include <stdint.h>

enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_I8,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_TYPE_COUNT
};

struct thrift {
    const uint8_t *at;
    const uint8_t *end;
    bool bad;
};

struct thrift_field {
    int id;
    enum thrift_type type;
};

struct thrift thrift_over(struct sv bytes);

/* Steps to the next field of a structure; *f is zero before the first.  False at the end and when malformed. */
bool thrift_next(struct thrift *t, struct thrift_field *f);

/* The value of the field just found.  Bad when it has another type or is out of [min, max]. */
int64_t thrift_int(struct thrift *t, const struct thrift_field *f, int64_t min, int64_t max);
bool thrift_bool(struct thrift *t, const struct thrift_field *f);
struct sv thrift_binary(struct thrift *t, const struct thrift_field *f);
bool thrift_struct(struct thrift *t, const struct thrift_field *f);
/* The number of elements, which the caller reads one after the other (structures from a zeroed field on).  Never more
 * than there are bytes left. */
size_t thrift_list(struct thrift *t, const struct thrift_field *f, enum thrift_type element);
void thrift_skip(struct thrift *t, const struct thrift_field *f);

#endif
