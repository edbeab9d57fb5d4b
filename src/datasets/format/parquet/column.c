/* See column.h.  Pages: README.md and parquet.thrift of apache/parquet-format.  A page of version 1 is packed as a
 * whole, levels and values; in version 2 the levels stand before the packed values. */
#include "datasets/format/parquet/column.h"

#include "datasets/format/parquet/codec.h"
#include "datasets/format/parquet/thrift.h"

#include <zlib.h>

enum { DATA_PAGE = 0, INDEX_PAGE = 1, DICTIONARY_PAGE = 2, DATA_PAGE_V2 = 3 };

struct page {
    int type;
    size_t unpacked_bytes;
    size_t packed_bytes;
    bool has_crc;
    uint32_t crc;
    bool has_head; /* the header of its type */
    size_t values;
    int encoding;
    int def_encoding; /* version 1 */
    int rep_encoding;
    size_t def_bytes; /* version 2 */
    size_t rep_bytes;
    bool packed;
};

bool pq_column_error(const struct pq_column *c, struct error *err)
{
    return error_context(err, "column '" SV_FMT "', row group %zu, page %zu", SV_ARG(c->leaf->path),
                         c->group, c->page);
}

/* ---- page headers ------------------------------------------------------------------------------------------------- */

/* The header of a page's type: the first four fields of versions 1 and of dictionaries agree. */
static void read_head_v1(struct thrift *t, struct page *page)
{
    struct thrift_field f = {0};
    page->has_head = true;
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            page->values = (size_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 2)
            page->encoding = (int)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 3 && page->type == DATA_PAGE)
            page->def_encoding = (int)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 4 && page->type == DATA_PAGE)
            page->rep_encoding = (int)thrift_int(t, &f, 0, INT32_MAX);
        else
            thrift_skip(t, &f);
    }
}

static void read_head_v2(struct thrift *t, struct page *page)
{
    struct thrift_field f = {0};
    page->has_head = true;
    while (thrift_next(t, &f)) {
        if (f.id == 1)
            page->values = (size_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 4)
            page->encoding = (int)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 5)
            page->def_bytes = (size_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 6)
            page->rep_bytes = (size_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 7)
            page->packed = thrift_bool(t, &f);
        else
            thrift_skip(t, &f);
    }
}

static bool read_header(struct thrift *t, struct page *page)
{
    struct thrift_field f = {0};
    *page = (struct page){.type = -1, .packed = true};
    while (thrift_next(t, &f)) {
        bool head_v1 =
            (f.id == 5 && page->type == DATA_PAGE) || (f.id == 7 && page->type == DICTIONARY_PAGE);
        if (f.id == 1)
            page->type = (int)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 2)
            page->unpacked_bytes = (size_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 3)
            page->packed_bytes = (size_t)thrift_int(t, &f, 0, INT32_MAX);
        else if (f.id == 4) {
            page->crc = (uint32_t)thrift_int(t, &f, INT32_MIN, INT32_MAX);
            page->has_crc = true;
        } else if (head_v1 && thrift_struct(t, &f))
            read_head_v1(t, page);
        else if (f.id == 8 && page->type == DATA_PAGE_V2 && thrift_struct(t, &f))
            read_head_v2(t, page);
        else
            thrift_skip(t, &f);
    }
    return !t->bad && page->type >= 0;
}

static bool check_page(const struct pq_column *c, const struct page *page, struct sv bytes,
                       struct error *err)
{
    if (page->type != INDEX_PAGE && !page->has_head)
        return error_set(err, E_PARSE, "its header says nothing of its values");
    /* What is not packed takes no memory. */
    if (page->type != INDEX_PAGE && c->chunk.codec != PQ_UNCOMPRESSED &&
        page->unpacked_bytes > c->page_limit)
        return error_set(err, E_LIMIT, "the page has %zu bytes unpacked, the limit is %zu",
                         page->unpacked_bytes, c->page_limit);
    if (page->has_crc && page->crc != (uint32_t)crc32_z(0, (const Bytef *)bytes.ptr, bytes.len))
        return error_set(err, E_PARSE, "the page's checksum is wrong: the file is damaged");
    return true;
}

/* ---- pages -------------------------------------------------------------------------------------------------------- */

/* The page's bytes unpacked: in `room`, or in the file where nothing is packed. */
static bool unpack(const struct pq_column *c, struct sv *bytes, size_t size, struct buf *room,
                   struct error *err)
{
    /* Writers of pages of nulls leave the packed bytes out, or pack nothing. */
    if (size == 0) {
        bytes->len = 0;
        return true;
    }
    if (c->chunk.codec == PQ_UNCOMPRESSED)
        return bytes->len == size ||
               error_set(err, E_PARSE, "%zu bytes where %zu are promised", bytes->len, size);
    if (!pq_unpack(c->chunk.codec, *bytes, size, room, err))
        return false;
    *bytes = buf_sv(room);
    return true;
}

static bool open_dictionary(struct pq_column *c, const struct page *page, struct sv bytes,
                            struct error *err)
{
    if (c->has_dictionary)
        return error_set(err, E_PARSE, "a second dictionary page");
    if (page->encoding != PQ_PLAIN && page->encoding != PQ_PLAIN_DICTIONARY)
        return error_set(err, E_UNSUPPORTED, "a dictionary in encoding %d is not supported",
                         page->encoding);
    if (!unpack(c, &bytes, page->unpacked_bytes, &c->unpacked_dictionary, err) ||
        !pq_dictionary_start(&c->dictionary, c->leaf->node->element, bytes, page->values, err))
        return false;
    c->has_dictionary = true;
    return true;
}

/* Levels of version 1: runs behind their length, or packed bits without one. */
static bool open_levels(struct pq_runs *runs, int encoding, unsigned max, size_t values,
                        struct sv *bytes, struct error *err)
{
    unsigned width = pq_bit_width(max);
    size_t size = 0;
    if (max == 0)
        return true;
    if (encoding == PQ_BIT_PACKED) {
        size = (values * width + 7) / 8;
    } else if (encoding == PQ_RLE) {
        for (size_t i = 0; i < 4 && i < bytes->len; i++)
            size |= (size_t)(unsigned char)bytes->ptr[i] << (8 * i);
        *bytes = sv_skip(*bytes, 4);
    } else {
        return error_set(err, E_UNSUPPORTED, "levels in encoding %d are not supported", encoding);
    }
    if (size > bytes->len)
        return error_set(err, E_PARSE, "levels of %zu bytes, but the page has only %zu more", size,
                         bytes->len);
    if (encoding == PQ_RLE)
        pq_runs_start(runs, width, sv_make(bytes->ptr, size));
    else
        pq_packed_start(runs, width, sv_make(bytes->ptr, size));
    *bytes = sv_skip(*bytes, size);
    return true;
}

static bool open_v1(struct pq_column *c, const struct page *page, struct sv *bytes,
                    struct error *err)
{
    const struct pq_node *node = c->leaf->node;
    return unpack(c, bytes, page->unpacked_bytes, &c->unpacked, err) &&
           open_levels(&c->reps, page->rep_encoding, node->rep, page->values, bytes, err) &&
           open_levels(&c->defs, page->def_encoding, node->def, page->values, bytes, err);
}

static bool open_v2(struct pq_column *c, const struct page *page, struct sv *bytes,
                    struct error *err)
{
    size_t levels = page->rep_bytes + page->def_bytes;
    if (levels > bytes->len || levels > page->unpacked_bytes)
        return error_set(err, E_PARSE, "levels of %zu bytes in a page of %zu, unpacked %zu", levels,
                         bytes->len, page->unpacked_bytes);
    pq_runs_start(&c->reps, pq_bit_width(c->leaf->node->rep), sv_make(bytes->ptr, page->rep_bytes));
    pq_runs_start(&c->defs, pq_bit_width(c->leaf->node->def),
                  sv_make(bytes->ptr + page->rep_bytes, page->def_bytes));
    *bytes = sv_skip(*bytes, levels);
    size_t size = page->unpacked_bytes - levels;
    if (!page->packed)
        return bytes->len == size ||
               error_set(err, E_PARSE, "%zu bytes where %zu are promised", bytes->len, size);
    return unpack(c, bytes, size, &c->unpacked, err);
}

static bool open_data(struct pq_column *c, const struct page *page, struct sv bytes,
                      struct error *err)
{
    if (page->values > c->chunk_left)
        return error_set(err, E_PARSE, "the page has %zu values, its column only %llu more",
                         page->values, (unsigned long long)c->chunk_left);
    bool opened =
        page->type == DATA_PAGE ? open_v1(c, page, &bytes, err) : open_v2(c, page, &bytes, err);
    if (!opened || !pq_values_start(&c->values, c->leaf->node->element, page->encoding, bytes,
                                    c->has_dictionary ? &c->dictionary : NULL, err))
        return false;
    c->chunk_left -= page->values;
    c->page_left = page->values;
    return true;
}

static bool open_page(struct pq_column *c, struct error *err)
{
    struct page page;
    size_t room = (size_t)(c->end - c->at);
    struct thrift t = thrift_over(sv_make((const char *)c->at, room));
    if (room == 0)
        return error_set(err, E_PARSE, "the column ends with %llu values missing",
                         (unsigned long long)c->chunk_left);
    if (!read_header(&t, &page))
        return error_set(err, E_PARSE, "malformed page header");
    struct sv bytes = sv_make((const char *)t.at, page.packed_bytes);
    if (page.packed_bytes > (size_t)(t.end - t.at))
        return error_set(err, E_PARSE, "the page has %zu bytes, its column only %zu more",
                         page.packed_bytes, (size_t)(t.end - t.at));
    c->at = t.at + page.packed_bytes;
    if (!check_page(c, &page, bytes, err))
        return false;
    if (page.type == INDEX_PAGE)
        return true;
    if (page.type == DICTIONARY_PAGE)
        return open_dictionary(c, &page, bytes, err);
    if (page.type == DATA_PAGE || page.type == DATA_PAGE_V2)
        return open_data(c, &page, bytes, err);
    return error_set(err, E_UNSUPPORTED, "pages of type %d are not supported", page.type);
}

/* ---- columns ------------------------------------------------------------------------------------------------------ */

bool pq_column_open(struct pq_column *c, const struct pq_leaf *leaf, const struct pq_chunk *chunk,
                    size_t group, struct sv file, struct error *err)
{
    pq_dictionary_done(&c->dictionary);
    c->leaf = leaf;
    c->chunk = *chunk;
    c->group = group;
    c->page = 0;
    c->pages = 0;
    c->has_dictionary = false;
    c->peeked = false;
    c->page_left = 0;
    c->chunk_left = chunk->values;
    if (chunk->encrypted)
        return error_set(err, E_UNSUPPORTED, "column '" SV_FMT "' is encrypted; not supported",
                         SV_ARG(leaf->path));
    if (chunk->elsewhere)
        return error_set(err, E_UNSUPPORTED,
                         "column '" SV_FMT "' lies in another file; not supported",
                         SV_ARG(leaf->path));
    if (chunk->type != leaf->node->element->type)
        return error_set(
            err, E_PARSE, "column '" SV_FMT "', row group %zu: its type is %d, in the schema %d",
            SV_ARG(leaf->path), group, (int)chunk->type, (int)leaf->node->element->type);
    c->at = (const uint8_t *)file.ptr + chunk->offset;
    c->end = c->at + chunk->bytes;
    return true;
}

/* A level from its runs; 0 where there are none. */
static bool next_level(struct pq_runs *runs, unsigned max, unsigned *level, const char *what,
                       struct error *err)
{
    uint32_t got = 0;
    if (max > 0 && !pq_runs_next(runs, &got))
        return error_set(err, E_PARSE, "malformed %s levels", what);
    if (got > max)
        return error_set(err, E_PARSE, "a %s level of %u, at most %u is possible", what, got, max);
    *level = got;
    return true;
}

bool pq_column_peek(struct pq_column *c, bool *ended, struct error *err)
{
    const struct pq_node *node = c->leaf->node;
    *ended = false;
    if (c->peeked)
        return true;
    while (c->page_left == 0) {
        if (c->chunk_left == 0) {
            *ended = true;
            c->rep = 0;
            c->def = 0;
            return true;
        }
        c->page = c->pages++;
        if (!open_page(c, err))
            return pq_column_error(c, err);
    }
    if (!next_level(&c->reps, node->rep, &c->rep, "repetition", err) ||
        !next_level(&c->defs, node->def, &c->def, "definition", err))
        return pq_column_error(c, err);
    c->peeked = true;
    return true;
}

bool pq_column_take(struct pq_column *c, struct pq_value *value, struct error *err)
{
    c->peeked = false;
    c->page_left--;
    if (c->def < c->leaf->node->def || pq_values_next(&c->values, value, err))
        return true;
    return pq_column_error(c, err);
}

void pq_column_done(struct pq_column *c)
{
    pq_dictionary_done(&c->dictionary);
    pq_values_done(&c->values);
    buf_done(&c->unpacked);
    buf_done(&c->unpacked_dictionary);
    *c = (struct pq_column){0};
}
