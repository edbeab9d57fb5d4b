/* column.h - one column of one row group, as the levels and values of which rows are put together.
 * Use: pq_column_open for each row group; pq_column_peek for the levels of what comes next, pq_column_take for its
 * value.  Pages are unpacked one at a time, when the one before is used up.  pq_column_done at last.
 * Views of a value die at the next call.  Threads: one owner.  Errors: struct error, "column 'a.b', row group 0, page
 * 2: reason"; a column that has failed is not to be used any more. */
#ifndef VB_DATASETS_COLUMN_H
#define VB_DATASETS_COLUMN_H

#include "datasets/format/parquet/schema.h"
#include "datasets/format/parquet/values.h"

struct pq_column {
    const struct pq_leaf *leaf;
    struct pq_chunk chunk;
    size_t group;
    size_t page_limit;   /* bytes of an unpacked page */
    const uint8_t *at;   /* the next page */
    const uint8_t *end;  /* of the chunk */
    size_t page;         /* number of the current one, from 0, a dictionary's page included */
    size_t pages;        /* opened so far */
    uint64_t chunk_left; /* values in pages to come */
    uint64_t page_left;  /* values of this page not yet taken, nulls included */
    struct pq_runs reps;
    struct pq_runs defs;
    unsigned rep; /* levels of the next value, when peeked */
    unsigned def;
    bool peeked;
    bool has_dictionary;
    struct pq_dictionary dictionary;
    struct pq_values values;
    struct buf unpacked;
    struct buf unpacked_dictionary;
};

/* `file` is the whole file.  The column may have been open before. */
bool pq_column_open(struct pq_column *c, const struct pq_leaf *leaf, const struct pq_chunk *chunk,
                    size_t group, struct sv file, struct error *err);

/* c->rep and c->def become the levels of the next value; at the end of the chunk c->rep is 0 and *ended is set. */
bool pq_column_peek(struct pq_column *c, bool *ended, struct error *err);
/* Takes what was peeked.  *value is set where the definition level is the column's highest. */
bool pq_column_take(struct pq_column *c, struct pq_value *value, struct error *err);

/* Puts the place before a message; false. */
bool pq_column_error(const struct pq_column *c, struct error *err);

void pq_column_done(struct pq_column *c);

#endif
