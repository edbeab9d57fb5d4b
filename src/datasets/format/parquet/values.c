/* See values.h.  The encodings: Encodings.md of apache/parquet-format. */
#include "datasets/format/parquet/values.h"

#include "base/alloc.h"

#include <stdlib.h>

static unsigned width_of(const struct pq_element *e)
{
    static const unsigned widths[PQ_TYPE_COUNT] = {
        [PQ_INT32] = 4, [PQ_INT64] = 8, [PQ_INT96] = 12, [PQ_FLOAT] = 4, [PQ_DOUBLE] = 8,
    };
    return e->type == PQ_FIXED ? e->width : widths[e->type];
}

static bool short_of(struct error *err)
{
    return error_set(err, E_PARSE, "the values end before their number is reached");
}

static size_t rest(const struct pq_values *v)
{
    return (size_t)(v->end - v->at);
}

static uint64_t little(const uint8_t *at, unsigned width)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

/* A value of fixed width at `at`. */
static void give_fixed(const struct pq_values *v, const uint8_t *at, struct pq_value *value)
{
    if (v->type == PQ_INT96 || v->type == PQ_FIXED)
        value->bytes = sv_make((const char *)at, v->width);
    else
        value->bits = little(at, v->width);
}

/* ---- one function an encoding ------------------------------------------------------------------------------------- */

static bool next_plain(struct pq_values *v, struct pq_value *value, struct error *err)
{
    if (v->type == PQ_BOOLEAN) {
        if (v->at == v->end)
            return short_of(err);
        value->bits = *v->at >> v->bit & 1;
        v->bit = (v->bit + 1) % 8;
        v->at += v->bit == 0;
        return true;
    }
    if (v->type != PQ_BYTE_ARRAY) {
        if (rest(v) < v->width)
            return short_of(err);
        give_fixed(v, v->at, value);
        v->at += v->width;
        return true;
    }
    if (rest(v) < 4)
        return short_of(err);
    size_t size = little(v->at, 4);
    v->at += 4;
    if (size > rest(v))
        return error_set(err, E_PARSE, "a value of %zu bytes, but the page has only %zu more", size,
                         rest(v));
    value->bytes = sv_make((const char *)v->at, size);
    v->at += size;
    return true;
}

static bool next_indexed(struct pq_values *v, struct pq_value *value, struct error *err)
{
    uint32_t index;
    if (!pq_runs_next(&v->runs, &index))
        return short_of(err);
    if (index >= v->dictionary->count)
        return error_set(err, E_PARSE, "entry %u of a dictionary that has %zu", index,
                         v->dictionary->count);
    *value = v->dictionary->values[index];
    return true;
}

static bool next_run_boolean(struct pq_values *v, struct pq_value *value, struct error *err)
{
    uint32_t bit;
    if (!pq_runs_next(&v->runs, &bit))
        return short_of(err);
    value->bits = bit;
    return true;
}

static bool next_delta(struct pq_values *v, struct pq_value *value, struct error *err)
{
    if (!pq_delta_next(&v->delta, &value->bits))
        return short_of(err);
    if (v->type == PQ_INT32)
        value->bits &= UINT32_MAX;
    return true;
}

/* The next length of packed ones, at most `most`. */
static bool next_length(struct pq_delta *lengths, size_t most, size_t *length, struct error *err)
{
    uint64_t got;
    if (!pq_delta_next(lengths, &got))
        return short_of(err);
    if (got > most)
        return error_set(err, E_PARSE, "a length of %lld where at most %zu is possible",
                         (long long)got, most);
    *length = got;
    return true;
}

static bool next_delta_length(struct pq_values *v, struct pq_value *value, struct error *err)
{
    size_t length = 0;
    if (!next_length(&v->delta, rest(v), &length, err))
        return false;
    value->bytes = sv_make((const char *)v->at, length);
    v->at += length;
    return true;
}

/* A value is the beginning of the one before and an end of its own. */
static bool next_delta_bytes(struct pq_values *v, struct pq_value *value, struct error *err)
{
    size_t kept = 0;
    size_t added = 0;
    if (!next_length(&v->prefix, v->text.len, &kept, err) ||
        !next_length(&v->delta, rest(v), &added, err))
        return false;
    if (v->type == PQ_FIXED && kept + added != v->width)
        return error_set(err, E_PARSE, "a value of %zu bytes where all have %u", kept + added,
                         v->width);
    v->text.len = kept;
    buf_add(&v->text, sv_make((const char *)v->at, added));
    v->at += added;
    value->bytes = v->text.len > 0 ? buf_sv(&v->text) : SV_LIT("");
    return true;
}

/* The first bytes of all values, then the second bytes, and so on; `at` walks along the first bytes. */
static bool next_split(struct pq_values *v, struct pq_value *value, struct error *err)
{
    if (v->left == 0)
        return short_of(err);
    v->left--;
    char *to = buf_reserve(&v->text, v->width);
    for (unsigned i = 0; i < v->width; i++)
        to[i] = (char)v->at[i * v->stride];
    v->at++;
    give_fixed(v, (const uint8_t *)to, value);
    return true;
}

typedef bool next_fn(struct pq_values *v, struct pq_value *value, struct error *err);

bool pq_values_next(struct pq_values *v, struct pq_value *value, struct error *err)
{
    static next_fn *const encodings[] = {
        [PQ_PLAIN] = next_plain,
        [PQ_PLAIN_DICTIONARY] = next_indexed,
        [PQ_RLE] = next_run_boolean,
        [PQ_DELTA_BINARY_PACKED] = next_delta,
        [PQ_DELTA_LENGTH_BYTE_ARRAY] = next_delta_length,
        [PQ_DELTA_BYTE_ARRAY] = next_delta_bytes,
        [PQ_RLE_DICTIONARY] = next_indexed,
        [PQ_BYTE_STREAM_SPLIT] = next_split,
    };
    return encodings[v->encoding](v, value, err);
}

/* ---- beginnings --------------------------------------------------------------------------------------------------- */

static bool unfit(const struct pq_values *v, struct error *err)
{
    static const char *const names[] = {
        "PLAIN",          "encoding 1",          "PLAIN_DICTIONARY",        "RLE",
        "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
        "RLE_DICTIONARY", "BYTE_STREAM_SPLIT",
    };
    static const char *const types[] = {"BOOLEAN", "INT32",  "INT64",      "INT96",
                                        "FLOAT",   "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"};
    if (v->encoding < 0 || (size_t)v->encoding >= sizeof(names) / sizeof(names[0]))
        return error_set(err, E_UNSUPPORTED, "values in encoding %d are not supported",
                         v->encoding);
    return error_set(err, E_UNSUPPORTED, "values of type %s in encoding %s are not supported",
                     types[v->type], names[v->encoding]);
}

static bool start_indexed(struct pq_values *v, struct sv bytes, struct error *err)
{
    if (v->dictionary == NULL)
        return error_set(err, E_PARSE,
                         "its values are entries of a dictionary, but no dictionary "
                         "page came before");
    /* A page of nulls alone may be empty. */
    unsigned width = bytes.len > 0 ? (unsigned char)bytes.ptr[0] : 0;
    if (width > 32)
        return error_set(err, E_PARSE, "dictionary entries of %u bits, at most 32", width);
    pq_runs_start(&v->runs, width, sv_skip(bytes, 1));
    return true;
}

static bool start_runs(struct pq_values *v, struct sv bytes, struct error *err)
{
    size_t size = bytes.len < 4 ? 0 : little((const uint8_t *)bytes.ptr, 4);
    bytes = sv_skip(bytes, 4);
    if (size > bytes.len)
        return error_set(err, E_PARSE, "runs of %zu bytes, but the page has only %zu more", size,
                         bytes.len);
    pq_runs_start(&v->runs, 1, sv_make(bytes.ptr, size));
    return true;
}

/* One block of packed integers, and where it ends. */
static bool start_delta(struct pq_delta *d, struct sv *bytes, struct error *err)
{
    const uint8_t *end = NULL;
    if (bytes->len == 0) { /* a page of nulls alone */
        *d = (struct pq_delta){0};
        return true;
    }
    if (!pq_delta_start(d, *bytes) || !pq_delta_find_end(d, &end))
        return error_set(err, E_PARSE, "malformed packed integers");
    *bytes = sv_skip(*bytes, (size_t)(end - (const uint8_t *)bytes->ptr));
    return true;
}

static bool start_split(struct pq_values *v, struct sv bytes, struct error *err)
{
    if (bytes.len % v->width != 0)
        return error_set(err, E_PARSE, "%zu bytes of values that have %u each", bytes.len,
                         v->width);
    v->left = v->stride = bytes.len / v->width;
    return true;
}

bool pq_values_start(struct pq_values *v, const struct pq_element *element, int encoding,
                     struct sv bytes, const struct pq_dictionary *dictionary, struct error *err)
{
    v->type = element->type;
    v->width = width_of(element);
    v->encoding = encoding;
    v->dictionary = dictionary;
    v->bit = 0;
    buf_reset(&v->text);
    bool ok = false;
    bool integer = v->type == PQ_INT32 || v->type == PQ_INT64;
    if (encoding == PQ_PLAIN)
        ok = true;
    else if (encoding == PQ_PLAIN_DICTIONARY || encoding == PQ_RLE_DICTIONARY)
        ok = start_indexed(v, bytes, err);
    else if (encoding == PQ_RLE && v->type == PQ_BOOLEAN)
        ok = start_runs(v, bytes, err);
    else if ((encoding == PQ_DELTA_BINARY_PACKED && integer) ||
             (encoding == PQ_DELTA_LENGTH_BYTE_ARRAY && v->type == PQ_BYTE_ARRAY))
        ok = start_delta(&v->delta, &bytes, err);
    else if (encoding == PQ_DELTA_BYTE_ARRAY && (v->type == PQ_BYTE_ARRAY || v->type == PQ_FIXED))
        ok = start_delta(&v->prefix, &bytes, err) && start_delta(&v->delta, &bytes, err);
    else if (encoding == PQ_BYTE_STREAM_SPLIT && v->width > 0 && v->type != PQ_INT96)
        ok = start_split(v, bytes, err);
    else
        ok = unfit(v, err);
    v->at = (const uint8_t *)bytes.ptr;
    v->end = v->at + bytes.len;
    return ok;
}

void pq_values_done(struct pq_values *v)
{
    buf_done(&v->text);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------- */

bool pq_dictionary_start(struct pq_dictionary *d, const struct pq_element *element, struct sv bytes,
                         size_t count, struct error *err)
{
    struct pq_values v = {0};
    size_t least = element->type == PQ_BYTE_ARRAY ? 4 : width_of(element);
    if (element->type == PQ_BOOLEAN)
        return error_set(err, E_UNSUPPORTED, "dictionaries of booleans are not supported");
    if (count > bytes.len / least)
        return error_set(err, E_PARSE, "a dictionary of %zu entries in %zu bytes", count,
                         bytes.len);
    bool ok = pq_values_start(&v, element, PQ_PLAIN, bytes, NULL, err);
    d->values = mem_array(count > 0 ? count : 1, sizeof(*d->values));
    d->count = count;
    for (size_t i = 0; ok && i < count; i++)
        ok = next_plain(&v, &d->values[i], err);
    pq_values_done(&v);
    if (!ok)
        pq_dictionary_done(d);
    return ok;
}

void pq_dictionary_done(struct pq_dictionary *d)
{
    free(d->values);
    *d = (struct pq_dictionary){0};
}
