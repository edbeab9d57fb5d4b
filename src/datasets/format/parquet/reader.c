/* See datasets/format/parquet.h.  A row is put together from its columns' levels (the record assembly of the Dremel
 * paper): the tree of the schema is walked, and at each optional or repeated node the definition level of the first
 * column below says whether there is something.  All other columns below must say the same: every null is exactly one
 * level short of its node, and every value comes with the repetition level of the place in the row where it is read. */
#include "datasets/format/parquet.h"

#include "base/alloc.h"
#include "base/file.h"
#include "datasets/format/parquet/column.h"
#include "datasets/format/parquet/scalar.h"
#include "json/writer.h"

#include <stdlib.h>

#define PAGE_BYTES_DEFAULT ((size_t)1 << 30)
#define ROW_BYTES_DEFAULT  ((size_t)512 << 20)

struct parquet {
    char *name;
    struct file_map map; /* empty for bytes of the caller */
    struct sv bytes;
    struct parquet_options options;
    struct arena arena; /* footer and schema */
    struct pq_footer footer;
    struct pq_schema schema;
    struct pq_column *columns; /* one for each leaf */
    struct pq_chunk *chunks;   /* of the current row group */
    const struct pq_node **tops;
    size_t top_count;
    bool *wanted; /* by top-level column */
    size_t next_group;
    uint64_t group_left; /* rows of the current row group */
    bool failed;
    struct error failure;
    size_t row_start; /* bytes of the arena before this row */
};

static bool parquet_error(const struct parquet *p, struct error *err)
{
    return error_context(err, "'%s'", p->name);
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

static bool open_bytes(struct parquet *p, struct error *err)
{
    if (!pq_footer_read(p->bytes, &p->arena, &p->footer, err) ||
        !pq_schema_build(&p->footer, &p->arena, &p->schema, err))
        return parquet_error(p, err);
    size_t leaves = p->schema.leaf_count;
    p->columns = mem_array(leaves > 0 ? leaves : 1, sizeof(*p->columns));
    p->chunks = mem_array(leaves > 0 ? leaves : 1, sizeof(*p->chunks));
    p->top_count = p->schema.root->element->children;
    p->tops = arena_array(&p->arena, p->top_count + 1, sizeof(*p->tops));
    p->wanted = arena_array(&p->arena, p->top_count + 1, sizeof(*p->wanted));
    const struct pq_node *node = p->schema.root->first;
    for (size_t i = 0; i < p->top_count; i++, node = node->next) {
        p->tops[i] = node;
        p->wanted[i] = true;
    }
    for (size_t i = 0; i < leaves; i++)
        p->columns[i].page_limit = p->options.max_page_bytes;
    return true;
}

static struct parquet *make(const char *name, const struct parquet_options *options)
{
    struct parquet *p = mem_new(struct parquet);
    p->name = mem_strdup(name);
    if (options != NULL)
        p->options = *options;
    if (p->options.max_page_bytes == 0)
        p->options.max_page_bytes = PAGE_BYTES_DEFAULT;
    if (p->options.max_row_bytes == 0)
        p->options.max_row_bytes = ROW_BYTES_DEFAULT;
    return p;
}

static struct parquet *open_or_free(struct parquet *p, struct error *err)
{
    if (open_bytes(p, err))
        return p;
    parquet_free(p);
    return NULL;
}

struct parquet *parquet_open(const char *path, const struct parquet_options *options,
                             struct error *err)
{
    struct parquet *p = make(path, options);
    if (!file_map_open(path, &p->map, err)) {
        parquet_free(p);
        return NULL;
    }
    p->bytes = p->map.view;
    return open_or_free(p, err);
}

struct parquet *parquet_open_memory(const char *name, struct sv bytes,
                                    const struct parquet_options *options, struct error *err)
{
    struct parquet *p = make(name, options);
    p->bytes = bytes;
    return open_or_free(p, err);
}

void parquet_free(struct parquet *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; p->columns != NULL && i < p->schema.leaf_count; i++)
        pq_column_done(&p->columns[i]);
    free(p->columns);
    free(p->chunks);
    arena_done(&p->arena);
    file_map_close(&p->map);
    free(p->name);
    free(p);
}

/* ---- columns ------------------------------------------------------------------------------------------------------ */

uint64_t parquet_row_count(const struct parquet *p)
{
    return p->footer.rows;
}

size_t parquet_column_count(const struct parquet *p)
{
    return p->top_count;
}

struct sv parquet_column_name(const struct parquet *p, size_t index)
{
    return p->tops[index]->element->name;
}

/* Index of a column, or the number of columns. */
static size_t find_column(const struct parquet *p, struct sv name)
{
    size_t i = 0;
    while (i < p->top_count && !sv_eq(p->tops[i]->element->name, name))
        i++;
    return i;
}

bool parquet_has_column(const struct parquet *p, const char *name)
{
    return find_column(p, sv_from(name)) < p->top_count;
}

static bool no_column(const struct parquet *p, const char *name, struct error *err)
{
    struct buf has = {0};
    for (size_t i = 0; i < p->top_count; i++) {
        buf_add_str(&has, i > 0 ? ", " : "");
        buf_add(&has, p->tops[i]->element->name);
    }
    error_set(err, E_CONFIG, "there is no column '%s'; the columns are: %s", name, buf_cstr(&has));
    buf_done(&has);
    return parquet_error(p, err);
}

bool parquet_select(struct parquet *p, const char *const *names, size_t count, struct error *err)
{
    for (size_t i = 0; names != NULL && i < count; i++) {
        if (!parquet_has_column(p, names[i]))
            return no_column(p, names[i], err);
    }
    for (size_t i = 0; i < p->top_count; i++)
        p->wanted[i] = names == NULL;
    for (size_t i = 0; names != NULL && i < count; i++)
        p->wanted[find_column(p, sv_from(names[i]))] = true;
    p->next_group = 0;
    p->group_left = 0;
    p->failed = false;
    return true;
}

/* ---- rows --------------------------------------------------------------------------------------------------------- */

struct assembly {
    struct parquet *p;
    struct arena *arena;
    struct error *err;
};

static bool check_size(const struct assembly *a, const struct pq_node *node)
{
    size_t used = a->arena->total_bytes - a->p->row_start;
    if (used <= a->p->options.max_row_bytes)
        return true;
    return error_set(a->err, E_LIMIT, "column '" SV_FMT "': a row takes more than %zu bytes",
                     SV_ARG(a->p->schema.leaves[node->first_leaf].path),
                     a->p->options.max_row_bytes);
}

/* The levels of what the column gives next, which must be there and belong at this place. */
static bool peek_here(const struct assembly *a, struct pq_column *c, unsigned rep)
{
    bool ended;
    if (!pq_column_peek(c, &ended, a->err))
        return false;
    if (ended)
        error_set(a->err, E_PARSE, "the column ends before the last row of its row group");
    else if (c->rep != rep)
        error_set(a->err, E_PARSE, "a repetition level of %u where %u belongs", c->rep, rep);
    else
        return true;
    return pq_column_error(c, a->err);
}

/* Is there something at an optional or repeated node?  Where not, all columns below are taken past it. */
static bool is_present(const struct assembly *a, const struct pq_node *node, unsigned rep,
                       bool *present)
{
    struct pq_column *columns = a->p->columns;
    struct pq_column *first = &columns[node->first_leaf];
    struct pq_value none;
    if (!peek_here(a, first, rep))
        return false;
    *present = first->def >= node->def;
    for (size_t i = node->first_leaf; !*present && i < node->leaf_end; i++) {
        struct pq_column *c = &columns[i];
        if (!peek_here(a, c, rep))
            return false;
        if (c->def + 1 != node->def) {
            error_set(a->err, E_PARSE, "a definition level of %u where %u belongs", c->def,
                      node->def - 1u);
            return pq_column_error(c, a->err);
        }
        if (!pq_column_take(c, &none, a->err))
            return false;
    }
    return true;
}

static bool read_node(const struct assembly *a, const struct pq_node *node, unsigned rep,
                      struct js_value *out);

static bool read_value(const struct assembly *a, const struct pq_node *node, unsigned rep,
                       struct js_value *out)
{
    struct pq_column *c = &a->p->columns[node->first_leaf];
    struct pq_value value = {0};
    if (!peek_here(a, c, rep))
        return false;
    if (c->def != node->def) {
        error_set(a->err, E_PARSE, "a definition level of %u where %u belongs", c->def, node->def);
        return pq_column_error(c, a->err);
    }
    if (!pq_column_take(c, &value, a->err))
        return false;
    if (!check_size(a, node))
        return false;
    return pq_scalar(node->element, &value, a->p->options.raw_bytes, a->arena, out, a->err) ||
           pq_column_error(c, a->err);
}

static struct js_value *add_child(const struct assembly *a, struct js_value *parent,
                                  struct js_value *last)
{
    struct js_value *child = arena_array(a->arena, 1, sizeof(*child));
    if (last != NULL)
        last->next = child;
    else
        parent->first = child;
    parent->count++;
    return child;
}

static bool read_object(const struct assembly *a, const struct pq_node *node, unsigned rep,
                        struct js_value *out)
{
    struct js_value *last = NULL;
    out->type = JS_OBJECT;
    for (const struct pq_node *child = node->first; child != NULL; child = child->next) {
        last = add_child(a, out, last);
        last->key = arena_copy(a->arena, child->element->name);
        if (!read_node(a, child, rep, last))
            return false;
    }
    return true;
}

/* The name of a map's entry: a text as it is, anything else as JSON. */
static struct sv key_text(const struct assembly *a, const struct js_value *key)
{
    if (key->type == JS_STRING)
        return key->text;
    struct buf text = {0};
    struct js_writer w;
    js_writer_init(&w, &text);
    js_write_value(&w, key);
    struct sv copy = arena_copy(a->arena, buf_sv(&text));
    buf_done(&text);
    return copy;
}

/* One pair of a map. */
static bool read_entry(const struct assembly *a, const struct pq_node *pair, unsigned rep,
                       struct js_value *out)
{
    struct js_value key = {0};
    const struct pq_node *value = pair->first->next;
    if (!read_node(a, pair->first, rep, &key))
        return false;
    out->type = JS_NULL; /* of a map without values */
    if (value != NULL && !read_node(a, value, rep, out))
        return false;
    out->key = key_text(a, &key);
    return true;
}

static bool read_repeated(const struct assembly *a, const struct pq_node *node, unsigned rep,
                          bool pairs, struct js_value *out);

/* What a node is when it is there, once. */
static bool read_content(const struct assembly *a, const struct pq_node *node, unsigned rep,
                         struct js_value *out)
{
    switch (node->kind) {
    case PQ_KIND_VALUE:
        return read_value(a, node, rep, out);
    case PQ_KIND_OBJECT:
        return read_object(a, node, rep, out);
    case PQ_KIND_MAP:
        return read_repeated(a, node->first, rep, true, out);
    case PQ_KIND_INNER:
        break;
    }
    return read_node(a, node->first, rep, out);
}

/* The elements of a list or the pairs of a map: the first one's repetition level is that of the place, the others' that
 * of the node. */
static bool read_repeated(const struct assembly *a, const struct pq_node *node, unsigned rep,
                          bool pairs, struct js_value *out)
{
    struct pq_column *first = &a->p->columns[node->first_leaf];
    struct js_value *last = NULL;
    bool present;
    bool ended = false;
    out->type = pairs ? JS_OBJECT : JS_ARRAY;
    if (!is_present(a, node, rep, &present))
        return false;
    while (present) {
        last = add_child(a, out, last);
        if (!check_size(a, node) ||
            !(pairs ? read_entry(a, node, rep, last) : read_content(a, node, rep, last)))
            return false;
        if (!pq_column_peek(first, &ended, a->err))
            return false;
        rep = node->rep;
        present = !ended && first->rep == rep;
    }
    return true;
}

static bool read_node(const struct assembly *a, const struct pq_node *node, unsigned rep,
                      struct js_value *out)
{
    bool present = true;
    if (node->repetition == PQ_REPEATED)
        return read_repeated(a, node, rep, false, out);
    if (node->repetition == PQ_OPTIONAL && !is_present(a, node, rep, &present))
        return false;
    if (!present) {
        out->type = JS_NULL;
        return true;
    }
    return read_content(a, node, rep, out);
}

/* ---- row groups --------------------------------------------------------------------------------------------------- */

static bool open_group(struct parquet *p, struct error *err)
{
    size_t group = p->next_group++;
    if (!pq_chunks_read(&p->footer, group, p->schema.leaf_count, p->chunks, err))
        return false;
    for (size_t top = 0; top < p->top_count; top++) {
        const struct pq_node *node = p->tops[top];
        for (size_t i = node->first_leaf; p->wanted[top] && i < node->leaf_end; i++) {
            if (!pq_column_open(&p->columns[i], &p->schema.leaves[i], &p->chunks[i], group,
                                p->bytes, err))
                return false;
        }
    }
    p->group_left = p->footer.groups[group].rows;
    return true;
}

/* After the last row of a row group its columns have nothing left. */
static bool check_group_end(struct parquet *p, struct error *err)
{
    for (size_t top = 0; top < p->top_count; top++) {
        const struct pq_node *node = p->tops[top];
        for (size_t i = node->first_leaf; p->wanted[top] && i < node->leaf_end; i++) {
            struct pq_column *c = &p->columns[i];
            if (c->page_left == 0 && c->chunk_left == 0)
                continue;
            error_set(err, E_PARSE, "the column goes on after the last row of its row group");
            return pq_column_error(c, err);
        }
    }
    return true;
}

static bool read_row(struct parquet *p, struct arena *arena, struct js_value *row,
                     struct error *err)
{
    struct assembly a = {p, arena, err};
    struct js_value *last = NULL;
    row->type = JS_OBJECT;
    for (size_t top = 0; top < p->top_count; top++) {
        if (!p->wanted[top])
            continue;
        last = add_child(&a, row, last);
        last->key = arena_copy(arena, p->tops[top]->element->name);
        if (!read_node(&a, p->tops[top], 0, last))
            return false;
    }
    return --p->group_left > 0 || check_group_end(p, err);
}

static enum parquet_result fail(struct parquet *p, struct error *err)
{
    parquet_error(p, err);
    p->failed = true;
    p->failure = *err;
    return PARQUET_FAILED;
}

enum parquet_result parquet_next(struct parquet *p, struct arena *arena,
                                 const struct js_value **row, struct error *err)
{
    if (p->failed) {
        *err = p->failure;
        return PARQUET_FAILED;
    }
    while (p->group_left == 0) {
        if (p->next_group == p->footer.group_count)
            return PARQUET_END;
        if (!open_group(p, err))
            return fail(p, err);
    }
    p->row_start = arena->total_bytes;
    struct js_value *made = arena_array(arena, 1, sizeof(*made));
    if (!read_row(p, arena, made, err))
        return fail(p, err);
    *row = made;
    return PARQUET_ROW;
}
