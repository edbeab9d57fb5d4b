/* schema.h - the columns of a Parquet file as a tree of what a row consists of.
 * Use: pq_schema_build once after the footer was read.  The tree lies in the arena; names are views of the file.
 * Threads: read-only after building.  Errors: struct error without the file's name. */
#ifndef VB_DATASETS_SCHEMA_H
#define VB_DATASETS_SCHEMA_H

#include "datasets/format/parquet/footer.h"

enum pq_kind {
    PQ_KIND_VALUE,
    PQ_KIND_OBJECT,
    PQ_KIND_INNER, /* its only child's value, without a name: the middle of a list */
    PQ_KIND_MAP,   /* its only child repeats key and value */
};

struct pq_node {
    const struct pq_element *element;
    enum pq_kind kind;
    enum pq_repetition repetition;
    uint8_t def; /* definition level of a value here that is not null */
    uint8_t
        rep; /* repetition level of a further element of the innermost list around or at this node */
    uint32_t first_leaf;
    uint32_t leaf_end; /* leaves below: [first_leaf, leaf_end) */
    struct pq_node *first;
    struct pq_node *next;
};

struct pq_leaf {
    const struct pq_node *node;
    struct sv path; /* "a.b.c" */
};

struct pq_schema {
    struct pq_node *root;
    struct pq_leaf *leaves;
    size_t leaf_count;
};

bool pq_schema_build(const struct pq_footer *footer, struct arena *arena, struct pq_schema *out,
                     struct error *err);

#endif
