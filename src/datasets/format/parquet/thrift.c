/* See thrift.h.  The protocol: Apache Thrift, "Thrift Compact protocol encoding": a field is one byte with the step of
 * its id and its type, integers are zigzag varints, booleans lie in the type. */
#include "datasets/format/parquet/thrift.h"

enum { DEPTH_MAX = 32 };

struct thrift thrift_over(struct sv bytes)
{
    const uint8_t *at = (const uint8_t *)bytes.ptr;
    return (struct thrift){at, bytes.len > 0 ? at + bytes.len : at, false};
}

/* Nothing more can be read. */
static void fail(struct thrift *t)
{
    t->bad = true;
    t->at = t->end;
}

static size_t left(const struct thrift *t)
{
    return (size_t)(t->end - t->at);
}

static uint8_t byte(struct thrift *t)
{
    if (t->at == t->end) {
        t->bad = true;
        return 0;
    }
    return *t->at++;
}

static uint64_t varint(struct thrift *t)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t b = byte(t);
        value |= (uint64_t)(b & 0x7F) << shift;
        if ((b & 0x80) == 0)
            return value;
    }
    fail(t);
    return 0;
}

static int64_t zigzag(struct thrift *t)
{
    uint64_t raw = varint(t);
    return (int64_t)(raw >> 1 ^ (0 - (raw & 1)));
}

static enum thrift_type type_of(struct thrift *t, unsigned code)
{
    if (code > THRIFT_STOP && code < THRIFT_TYPE_COUNT)
        return (enum thrift_type)code;
    fail(t);
    return THRIFT_STOP;
}

bool thrift_next(struct thrift *t, struct thrift_field *f)
{
    uint8_t head = byte(t);
    if (t->bad || head == THRIFT_STOP)
        return false;
    f->type = type_of(t, head & 0x0F);
    int64_t id = head >> 4 != 0 ? (int64_t)f->id + (head >> 4) : zigzag(t);
    if (id < INT16_MIN || id > INT16_MAX)
        fail(t);
    else
        f->id = (int)id;
    return !t->bad;
}

int64_t thrift_int(struct thrift *t, const struct thrift_field *f, int64_t min, int64_t max)
{
    int64_t value = 0;
    if (f->type == THRIFT_I8)
        value = (int8_t)byte(t);
    else if (f->type >= THRIFT_I16 && f->type <= THRIFT_I64)
        value = zigzag(t);
    else
        fail(t);
    if (!t->bad && value >= min && value <= max)
        return value;
    fail(t);
    return 0;
}

bool thrift_bool(struct thrift *t, const struct thrift_field *f)
{
    if (f->type != THRIFT_TRUE && f->type != THRIFT_FALSE)
        fail(t);
    return f->type == THRIFT_TRUE;
}

static struct sv binary(struct thrift *t)
{
    uint64_t size = varint(t);
    if (size > left(t))
        fail(t);
    if (t->bad)
        return SV_LIT("");
    struct sv bytes = sv_make((const char *)t->at, size);
    t->at += size;
    return bytes;
}

struct sv thrift_binary(struct thrift *t, const struct thrift_field *f)
{
    if (f->type != THRIFT_BINARY)
        fail(t);
    return t->bad ? SV_LIT("") : binary(t);
}

bool thrift_struct(struct thrift *t, const struct thrift_field *f)
{
    if (f->type != THRIFT_STRUCT)
        fail(t);
    return !t->bad;
}

/* Head of a list or set; every element takes a byte at least. */
static size_t list_head(struct thrift *t, enum thrift_type *element)
{
    uint8_t head = byte(t);
    uint64_t count = head >> 4;
    if (count == 15)
        count = varint(t);
    /* Of an empty list some writers leave the type out. */
    *element = count > 0 ? type_of(t, head & 0x0F) : THRIFT_STRUCT;
    if (count > left(t))
        fail(t);
    return t->bad ? 0 : count;
}

size_t thrift_list(struct thrift *t, const struct thrift_field *f, enum thrift_type element)
{
    enum thrift_type found = THRIFT_STOP;
    if (f->type != THRIFT_LIST)
        fail(t);
    size_t count = t->bad ? 0 : list_head(t, &found);
    if (count > 0 && found != element)
        fail(t);
    return t->bad ? 0 : count;
}

static void skip_value(struct thrift *t, enum thrift_type type, int depth);

static void skip_list(struct thrift *t, int depth)
{
    enum thrift_type element;
    size_t count = list_head(t, &element);
    for (size_t i = 0; i < count && !t->bad; i++) {
        if (element == THRIFT_TRUE || element == THRIFT_FALSE)
            byte(t); /* as an element a boolean takes a byte */
        else
            skip_value(t, element, depth);
    }
}

static void skip_map(struct thrift *t, int depth)
{
    uint64_t count = varint(t);
    if (count == 0)
        return;
    uint8_t types = byte(t);
    enum thrift_type key = type_of(t, types >> 4);
    enum thrift_type value = type_of(t, types & 0x0F);
    if (count > left(t))
        fail(t);
    for (uint64_t i = 0; i < count && !t->bad; i++) {
        skip_value(t, key, depth);
        skip_value(t, value, depth);
    }
}

static void skip_fields(struct thrift *t, int depth)
{
    struct thrift_field f = {0};
    while (thrift_next(t, &f))
        skip_value(t, f.type, depth);
}

static void skip_value(struct thrift *t, enum thrift_type type, int depth)
{
    if (depth >= DEPTH_MAX) {
        fail(t);
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE:
        break;
    case THRIFT_I8:
        byte(t);
        break;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64:
        varint(t);
        break;
    case THRIFT_DOUBLE:
        if (left(t) < 8)
            fail(t);
        else
            t->at += 8;
        break;
    case THRIFT_BINARY:
        binary(t);
        break;
    case THRIFT_LIST:
    case THRIFT_SET:
        skip_list(t, depth + 1);
        break;
    case THRIFT_MAP:
        skip_map(t, depth + 1);
        break;
    case THRIFT_STRUCT:
        skip_fields(t, depth + 1);
        break;
    case THRIFT_STOP:
    case THRIFT_TYPE_COUNT:
        fail(t);
        break;
    }
}

void thrift_skip(struct thrift *t, const struct thrift_field *f)
{
    skip_value(t, f->type, 0);
}
