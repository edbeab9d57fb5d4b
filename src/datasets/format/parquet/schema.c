/* See schema.h.  Lists and maps are written as groups within groups: LogicalTypes.md of apache/parquet-format, "Nested
 * Types", with its rules for older writers.  Example, the usual form of a list:
 *     optional group tags (LIST) { repeated group list { optional binary element; } }
 * becomes INNER tags (optional) > INNER list (repeated) > VALUE element: null, or an array of texts and nulls. */
#include "datasets/format/parquet/schema.h"

#include "tokenizer/utf8.h"

struct builder {
    const struct pq_footer *footer;
    struct arena *arena;
    struct pq_schema *out;
    struct error *err;
    size_t next; /* element */
    struct sv names[PQ_DEPTH_MAX];
};

static struct sv join_path(struct builder *b, size_t depth)
{
    size_t len = 0;
    for (size_t i = 1; i <= depth; i++)
        len += b->names[i].len + 1;
    char *path = arena_alloc(b->arena, len + 1);
    size_t at = 0;
    for (size_t i = 1; i <= depth; i++) {
        if (i > 1)
            path[at++] = '.';
        memcpy(path + at, b->names[i].ptr, b->names[i].len);
        at += b->names[i].len;
    }
    return sv_make(path, at);
}

/* `outer` is the name of the list; LogicalTypes.md, "Backward-compatibility rules" of lists. */
static bool repeats_elements(const struct pq_node *repeated, struct sv outer)
{
    const struct pq_element *e = repeated->element;
    if (repeated->kind != PQ_KIND_OBJECT || e->children != 1 ||
        repeated->first->repetition == PQ_REPEATED)
        return true;
    struct sv tuple = SV_LIT("_tuple");
    return sv_eq(e->name, SV_LIT("array")) ||
           (e->name.len == outer.len + tuple.len && sv_starts(e->name, outer) &&
            sv_ends(e->name, tuple));
}

static bool is_only_repeated(const struct pq_node *node)
{
    return node->element->children == 1 && node->first->repetition == PQ_REPEATED;
}

/* What a group is, now that its children are known.  Groups that are not built as their annotation wants stay objects:
 * nothing of them is lost. */
static void settle_group(struct pq_node *node)
{
    enum pq_meaning meaning = node->element->meaning;
    node->kind = PQ_KIND_OBJECT;
    if (meaning == PQ_LIST && is_only_repeated(node)) {
        node->kind = PQ_KIND_INNER;
        if (!repeats_elements(node->first, node->element->name))
            node->first->kind = PQ_KIND_INNER;
    } else if (meaning == PQ_MAP && is_only_repeated(node) && node->first->kind == PQ_KIND_OBJECT &&
               node->first->element->children <= 2 &&
               node->first->first->repetition != PQ_REPEATED) {
        node->kind = PQ_KIND_MAP;
    }
}

static struct pq_node *build(struct builder *b, const struct pq_node *parent, size_t depth);

static bool build_children(struct builder *b, struct pq_node *node, size_t depth)
{
    struct pq_node **link = &node->first;
    for (uint32_t i = 0; i < node->element->children; i++) {
        *link = build(b, node, depth + 1);
        if (*link == NULL)
            return false;
        link = &(*link)->next;
    }
    return true;
}

static bool check_element(struct builder *b, const struct pq_element *e, size_t depth)
{
    if (!utf8_valid(e->name))
        return error_set(b->err, E_PARSE,
                         "malformed Parquet schema: the name of element %zu is not valid UTF-8",
                         b->next - 1);
    if (e->type != PQ_GROUP && e->children > 0)
        return error_set(b->err, E_PARSE,
                         "malformed Parquet schema: '" SV_FMT "' has a type and children",
                         SV_ARG(e->name));
    if (e->type == PQ_GROUP && e->children == 0 && depth > 0)
        return error_set(b->err, E_PARSE,
                         "malformed Parquet schema: '" SV_FMT "' has neither a type nor children",
                         SV_ARG(e->name));
    if (e->type == PQ_FIXED && e->width == 0)
        return error_set(b->err, E_UNSUPPORTED,
                         "column '" SV_FMT "' has values of a fixed width of 0 bytes",
                         SV_ARG(e->name));
    return true;
}

static struct pq_node *build(struct builder *b, const struct pq_node *parent, size_t depth)
{
    if (b->next >= b->footer->element_count) {
        error_set(b->err, E_PARSE,
                  "malformed Parquet schema: an element has more children than "
                  "there are elements");
        return NULL;
    }
    if (depth >= PQ_DEPTH_MAX) {
        error_set(b->err, E_LIMIT, "columns are nested deeper than %d levels", PQ_DEPTH_MAX);
        return NULL;
    }
    const struct pq_element *e = &b->footer->elements[b->next++];
    if (!check_element(b, e, depth))
        return NULL;
    struct pq_node *node = arena_array(b->arena, 1, sizeof(*node));
    node->element = e;
    b->names[depth] = e->name;
    node->first_leaf = (uint32_t)b->out->leaf_count;
    if (parent != NULL) {
        node->repetition = e->repetition; /* the root's means nothing */
        node->def = (uint8_t)(parent->def + (e->repetition != PQ_REQUIRED));
        node->rep = (uint8_t)(parent->rep + (e->repetition == PQ_REPEATED));
    }
    if (e->type != PQ_GROUP) {
        node->kind = PQ_KIND_VALUE;
        b->out->leaves[b->out->leaf_count++] = (struct pq_leaf){node, join_path(b, depth)};
    } else if (!build_children(b, node, depth)) {
        return NULL;
    } else {
        settle_group(node);
    }
    node->leaf_end = (uint32_t)b->out->leaf_count;
    return node;
}

bool pq_schema_build(const struct pq_footer *footer, struct arena *arena, struct pq_schema *out,
                     struct error *err)
{
    struct builder b = {.footer = footer, .arena = arena, .out = out, .err = err};
    *out = (struct pq_schema){0};
    out->leaves = arena_array(arena, footer->element_count, sizeof(*out->leaves));
    if (footer->elements[0].type != PQ_GROUP)
        return error_set(err, E_PARSE, "malformed Parquet schema: its root has a type");
    out->root = build(&b, NULL, 0);
    if (out->root == NULL)
        return false;
    out->root->kind = PQ_KIND_OBJECT;
    return b.next == footer->element_count ||
           error_set(err, E_PARSE, "malformed Parquet schema: %zu elements belong to no group",
                     footer->element_count - b.next);
}
