/* See footer.h.  The format: apache/parquet-format, parquet.thrift and Encryption.md; field numbers are those of
 * parquet.thrift.  Row groups are read in two steps, so that a file of many groups and columns costs little before the
 * rows of a group are wanted. */
#include "datasets/format/parquet/footer.h"

#include "datasets/format/parquet/thrift.h"

enum { TAIL_BYTES = 8, MAGIC_BYTES = 4, WIDTH_MAX = 1 << 24 };
enum { ELEMENTS_MAX = 1 << 20, GROUPS_MAX = 1 << 22 };

/* ConvertedType of parquet.thrift. */
enum {
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_ENUM = 4,
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_TIME_MILLIS = 7,
    CONVERTED_TIME_MICROS = 8,
    CONVERTED_TIMESTAMP_MILLIS = 9,
    CONVERTED_TIMESTAMP_MICROS = 10,
    CONVERTED_UINT_8 = 11,
    CONVERTED_UINT_64 = 14,
    CONVERTED_INT_8 = 15,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19,
};

static bool malformed(struct error *err, const char *what)
{
    return error_set(err, E_PARSE, "malformed Parquet footer: %s", what);
}

static bool too_many(struct error *err, const char *things, int limit)
{
    return error_set(err, E_LIMIT, "the Parquet footer has more than %d %s", limit, things);
}

/* ---- schema ------------------------------------------------------------------------------------------------------- */

static void read_decimal(struct thrift *t, struct pq_element *e)
{
    struct thrift_field f = {0};
    e->meaning = PQ_DECIMAL;
    e->scale = 0;
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            e->scale = (uint32_t)thrift_int(t, &f, 0, PQ_SCALE_MAX);
        else
            thrift_skip(t, &f);
    }
}

static void read_unit(struct thrift *t, struct pq_element *e)
{
    struct thrift_field f = {0};
    while (thrift_next(t, &f)) {
        if (f.id >= 1 && f.id <= 3)
            e->fraction = (uint32_t)f.id * 3;
        thrift_skip(t, &f);
    }
}

static void read_time(struct thrift *t, struct pq_element *e, enum pq_meaning meaning)
{
    struct thrift_field f = {0};
    e->fraction = 0;
    e->utc = false;
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            e->utc = thrift_bool(t, &f);
        else if (f.id == 2 && thrift_struct(t, &f))
            read_unit(t, e);
        else
            thrift_skip(t, &f);
    }
    /* A unit of the future: the numbers as they are stored. */
    e->meaning = e->fraction > 0 ? meaning : PQ_AS_STORED;
}

static void read_integer(struct thrift *t, struct pq_element *e)
{
    struct thrift_field f = {0};
    e->meaning = PQ_SIGNED;
    while (thrift_next(t, &f)) {
        if (f.id == 2 && !thrift_bool(t, &f))
            e->meaning = PQ_UNSIGNED;
        else if (f.id != 2)
            thrift_skip(t, &f);
    }
}

/* A union: one field, whose number says which.  False for one that is not known here. */
static bool read_logical(struct thrift *t, struct pq_element *e)
{
    static const enum pq_meaning plain[] = {
        [1] = PQ_TEXT,     [2] = PQ_MAP,   [3] = PQ_LIST,  [4] = PQ_TEXT,     [6] = PQ_DATE,
        [11] = PQ_NOTHING, [12] = PQ_TEXT, [14] = PQ_UUID, [15] = PQ_FLOAT16,
    };
    struct thrift_field f = {0};
    bool known = false;
    while (thrift_next(t, &f)) {
        if (!thrift_struct(t, &f))
            break;
        known = true;
        if (f.id == 5) {
            read_decimal(t, e);
        } else if (f.id == 7 || f.id == 8) {
            read_time(t, e, f.id == 7 ? PQ_TIME : PQ_TIMESTAMP);
        } else if (f.id == 10) {
            read_integer(t, e);
        } else {
            known = f.id > 0 && (size_t)f.id < sizeof(plain) / sizeof(plain[0]) &&
                    plain[f.id] != PQ_AS_STORED;
            if (known)
                e->meaning = plain[f.id];
            thrift_skip(t, &f);
        }
    }
    return known;
}

/* The older way to say what a value stands for; times of it are in UTC (LogicalTypes.md). */
static void apply_converted(int64_t converted, struct pq_element *e)
{
    if (converted == CONVERTED_UTF8 || converted == CONVERTED_ENUM || converted == CONVERTED_JSON)
        e->meaning = PQ_TEXT;
    else if (converted == CONVERTED_MAP || converted == CONVERTED_MAP_KEY_VALUE)
        e->meaning = PQ_MAP;
    else if (converted == CONVERTED_LIST)
        e->meaning = PQ_LIST;
    else if (converted == CONVERTED_DECIMAL)
        e->meaning = PQ_DECIMAL;
    else if (converted == CONVERTED_DATE)
        e->meaning = PQ_DATE;
    else if (converted == CONVERTED_TIME_MILLIS || converted == CONVERTED_TIME_MICROS)
        e->meaning = PQ_TIME;
    else if (converted == CONVERTED_TIMESTAMP_MILLIS || converted == CONVERTED_TIMESTAMP_MICROS)
        e->meaning = PQ_TIMESTAMP;
    else if (converted >= CONVERTED_UINT_8 && converted <= CONVERTED_UINT_64)
        e->meaning = PQ_UNSIGNED;
    else if (converted >= CONVERTED_INT_8 && converted <= CONVERTED_INT_64)
        e->meaning = PQ_SIGNED;
    bool millis = converted == CONVERTED_TIME_MILLIS || converted == CONVERTED_TIMESTAMP_MILLIS;
    e->fraction = millis ? 3 : 6;
    e->utc = true;
}

/* A meaning that the stored type cannot have is dropped: the value is given as it is stored. */
static bool meaning_fits(const struct pq_element *e)
{
    bool bytes = e->type == PQ_BYTE_ARRAY || e->type == PQ_FIXED;
    bool integer = e->type == PQ_INT32 || e->type == PQ_INT64;
    switch (e->meaning) {
    case PQ_TEXT:
        return bytes;
    case PQ_LIST:
    case PQ_MAP:
        return e->type == PQ_GROUP;
    case PQ_DECIMAL:
        return bytes || integer;
    case PQ_DATE:
        return e->type == PQ_INT32;
    case PQ_TIME:
        return e->type == (e->fraction == 3 ? PQ_INT32 : PQ_INT64);
    case PQ_TIMESTAMP:
        return e->type == PQ_INT64;
    case PQ_SIGNED:
    case PQ_UNSIGNED:
        return integer;
    case PQ_UUID:
        return e->type == PQ_FIXED && e->width == 16;
    case PQ_FLOAT16:
        return e->type == PQ_FIXED && e->width == 2;
    case PQ_NOTHING:
        return e->type != PQ_GROUP;
    case PQ_AS_STORED:
    case PQ_MEANING_COUNT:
        break;
    }
    return true;
}

/* fastparquet 2026.9.0 writes a boolean, which is the number, where it was told whether there are nulls. */
static enum pq_repetition read_repetition(struct thrift *t, const struct thrift_field *f)
{
    if (f->type == THRIFT_TRUE || f->type == THRIFT_FALSE)
        return thrift_bool(t, f) ? PQ_OPTIONAL : PQ_REQUIRED;
    return (enum pq_repetition)thrift_int(t, f, 0, PQ_REPETITION_COUNT - 1);
}

static void read_element(struct thrift *t, struct pq_element *e)
{
    struct thrift_field f = {0};
    struct pq_element logical = {0};
    bool has_logical = false;
    int64_t converted = -1;
    *e = (struct pq_element){.type = PQ_GROUP, .name = SV_LIT("")};
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            e->type = (enum pq_type)thrift_int(t, &f, 0, PQ_TYPE_COUNT - 1);
        else if (f.id == 2)
            e->width = (uint32_t)thrift_int(t, &f, 0, WIDTH_MAX);
        else if (f.id == 3)
            e->repetition = read_repetition(t, &f);
        else if (f.id == 4)
            e->name = thrift_binary(t, &f);
        else if (f.id == 5)
            e->children = (uint32_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 6)
            converted = thrift_int(t, &f, INT32_MIN, INT32_MAX);
        else if (f.id == 7)
            e->scale = (uint32_t)thrift_int(t, &f, 0, PQ_SCALE_MAX);
        else if (f.id == 10 && thrift_struct(t, &f))
            has_logical = read_logical(t, &logical);
        else
            thrift_skip(t, &f);
    }
    if (has_logical) {
        e->meaning = logical.meaning;
        e->fraction = logical.fraction;
        e->utc = logical.utc;
        if (logical.meaning == PQ_DECIMAL)
            e->scale = logical.scale;
    } else {
        apply_converted(converted, e);
    }
    /* Some writers give leaves a number of children, zero. */
    if (e->type != PQ_GROUP && e->children == 0 && !meaning_fits(e))
        e->meaning = PQ_AS_STORED;
    if (e->type == PQ_GROUP && !meaning_fits(e))
        e->meaning = PQ_AS_STORED;
}

/* False: too many. */
static bool read_schema(struct thrift *t, const struct thrift_field *f, struct arena *arena,
                        struct pq_footer *out)
{
    size_t count = thrift_list(t, f, THRIFT_STRUCT);
    if (count > ELEMENTS_MAX)
        return false;
    out->elements = arena_array(arena, count + 1, sizeof(*out->elements));
    out->element_count = count;
    for (size_t i = 0; i < count && !t->bad; i++)
        read_element(t, &out->elements[i]);
    return true;
}

/* ---- row groups --------------------------------------------------------------------------------------------------- */

static void read_group(struct thrift *t, struct pq_group *group)
{
    struct thrift_field f = {0};
    *group = (struct pq_group){0};
    while (thrift_next(t, &f)) {
        if (f.id == 3) {
            group->rows = (uint64_t)thrift_int(t, &f, 0, INT64_MAX);
            continue;
        }
        const uint8_t *from = t->at;
        thrift_skip(t, &f);
        if (f.id == 1 && f.type == THRIFT_LIST && !t->bad)
            group->columns = sv_make((const char *)from, (size_t)(t->at - from));
    }
}

/* False: too many. */
static bool read_groups(struct thrift *t, const struct thrift_field *f, struct arena *arena,
                        struct pq_footer *out)
{
    size_t count = thrift_list(t, f, THRIFT_STRUCT);
    if (count > GROUPS_MAX)
        return false;
    out->groups = arena_array(arena, count + 1, sizeof(*out->groups));
    out->group_count = count;
    for (size_t i = 0; i < count && !t->bad; i++)
        read_group(t, &out->groups[i]);
    return true;
}

static bool read_fields(struct thrift *t, struct arena *arena, struct pq_footer *out,
                        struct error *err)
{
    struct thrift_field f = {0};
    bool has_rows = false;
    while (thrift_next(t, &f)) {
        if (f.id == 2) {
            if (!read_schema(t, &f, arena, out))
                return too_many(err, "schema elements", ELEMENTS_MAX);
        } else if (f.id == 3) {
            out->rows = (uint64_t)thrift_int(t, &f, 0, INT64_MAX);
            has_rows = true;
        } else if (f.id == 4) {
            if (!read_groups(t, &f, arena, out))
                return too_many(err, "row groups", GROUPS_MAX);
        } else {
            thrift_skip(t, &f);
        }
    }
    if (t->bad)
        return malformed(err, "it breaks off or holds a value out of its range");
    if (out->element_count == 0)
        return malformed(err, "it has no schema");
    uint64_t rows = 0;
    for (size_t i = 0; i < out->group_count; i++) {
        if (__builtin_add_overflow(rows, out->groups[i].rows, &rows))
            return malformed(err, "the row groups have too many rows");
    }
    if (has_rows && rows != out->rows)
        return error_set(err, E_PARSE,
                         "malformed Parquet footer: it promises %llu rows, its row groups %llu",
                         (unsigned long long)out->rows, (unsigned long long)rows);
    out->rows = rows;
    return true;
}

static uint32_t little(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

bool pq_footer_read(struct sv file, struct arena *arena, struct pq_footer *out, struct error *err)
{
    *out = (struct pq_footer){0};
    if (file.len < MAGIC_BYTES + TAIL_BYTES)
        return error_set(err, E_PARSE, "not a Parquet file: it has %zu bytes, the least is %d",
                         file.len, MAGIC_BYTES + TAIL_BYTES);
    const char *tail = file.ptr + file.len - TAIL_BYTES;
    struct sv magic = sv_make(tail + 4, MAGIC_BYTES);
    if (sv_eq(magic, SV_LIT("PARE")))
        return error_set(err, E_UNSUPPORTED, "encrypted Parquet files are not supported");
    if (!sv_starts(file, SV_LIT("PAR1")))
        return error_set(err, E_PARSE, "not a Parquet file: it does not begin with 'PAR1'");
    if (!sv_eq(magic, SV_LIT("PAR1")))
        return error_set(err, E_PARSE,
                         "not a whole Parquet file: it does not end with 'PAR1'; was it cut off?");
    uint32_t size = little(tail);
    if (size > file.len - MAGIC_BYTES - TAIL_BYTES)
        return error_set(err, E_PARSE,
                         "malformed Parquet file: a footer of %u bytes in a file of %zu", size,
                         file.len);
    out->data_end = file.len - TAIL_BYTES - size;
    struct thrift t = thrift_over(sv_make(tail - size, size));
    return read_fields(&t, arena, out, err);
}

/* ---- column chunks ------------------------------------------------------------------------------------------------ */

struct place {
    uint64_t data;
    uint64_t dictionary;
    uint64_t bytes;
};

static void read_column_data(struct thrift *t, struct pq_chunk *chunk, struct place *place)
{
    struct thrift_field f = {0};
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            chunk->type = (enum pq_type)thrift_int(t, &f, 0, PQ_TYPE_COUNT - 1);
        else if (f.id == 4)
            chunk->codec = (int)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 5)
            chunk->values = (uint64_t)thrift_int(t, &f, 0, INT64_MAX);
        else if (f.id == 7)
            place->bytes = (uint64_t)thrift_int(t, &f, 0, INT64_MAX);
        else if (f.id == 9)
            place->data = (uint64_t)thrift_int(t, &f, 0, INT64_MAX);
        else if (f.id == 11)
            place->dictionary = (uint64_t)thrift_int(t, &f, 0, INT64_MAX);
        else
            thrift_skip(t, &f);
    }
}

/* False when it lies outside the file. */
static bool read_chunk(struct thrift *t, uint64_t data_end, struct pq_chunk *chunk)
{
    struct thrift_field f = {0};
    struct place place = {0};
    bool has_data = false;
    *chunk = (struct pq_chunk){0};
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            chunk->elsewhere = thrift_binary(t, &f).len > 0;
        else if (f.id == 3 && thrift_struct(t, &f)) {
            read_column_data(t, chunk, &place);
            has_data = true;
        } else {
            chunk->encrypted = chunk->encrypted || f.id == 8;
            thrift_skip(t, &f);
        }
    }
    if (chunk->elsewhere || chunk->encrypted)
        return true;
    /* Some writers say 0 where there is no dictionary. */
    bool dictionary = place.dictionary > 0 && place.dictionary < place.data;
    chunk->offset = dictionary ? place.dictionary : place.data;
    chunk->bytes = place.bytes;
    return has_data && chunk->offset <= data_end && chunk->bytes <= data_end - chunk->offset;
}

bool pq_chunks_read(const struct pq_footer *footer, size_t group, size_t count,
                    struct pq_chunk *chunks, struct error *err)
{
    struct thrift t = thrift_over(footer->groups[group].columns);
    struct thrift_field f = {.type = THRIFT_LIST};
    size_t found = footer->groups[group].columns.len > 0 ? thrift_list(&t, &f, THRIFT_STRUCT) : 0;
    if (found != count)
        return error_set(err, E_PARSE,
                         "malformed Parquet footer: row group %zu has %zu columns, the schema %zu",
                         group, found, count);
    for (size_t i = 0; i < count; i++) {
        bool inside = read_chunk(&t, footer->data_end, &chunks[i]);
        if (t.bad)
            return error_set(err, E_PARSE,
                             "malformed Parquet footer: row group %zu, column %zu breaks off or "
                             "holds a value out of its range",
                             group, i);
        if (!inside)
            return error_set(err, E_PARSE,
                             "malformed Parquet footer: row group %zu, column %zu lies outside the "
                             "file",
                             group, i);
    }
    return true;
}
