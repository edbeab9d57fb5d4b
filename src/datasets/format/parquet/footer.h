/* footer.h - what the footer of a Parquet file says: its schema and its row groups.
 * Use: pq_footer_read once; pq_chunks_read for each row group when it is needed.
 * Views point into the file's bytes; arrays lie in the arena.  Threads: pure.
 * Errors: struct error without the file's name; E_PARSE, E_UNSUPPORTED for encryption. */
#ifndef VB_DATASETS_FOOTER_H
#define VB_DATASETS_FOOTER_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

enum pq_type {
    PQ_BOOLEAN,
    PQ_INT32,
    PQ_INT64,
    PQ_INT96,
    PQ_FLOAT,
    PQ_DOUBLE,
    PQ_BYTE_ARRAY,
    PQ_FIXED,
    PQ_GROUP, /* no type: it has children */
    PQ_TYPE_COUNT = PQ_GROUP
};

enum pq_repetition { PQ_REQUIRED, PQ_OPTIONAL, PQ_REPEATED, PQ_REPETITION_COUNT };

/* What a value or group stands for: the logical type, else the older converted type. */
enum pq_meaning {
    PQ_AS_STORED,
    PQ_TEXT,
    PQ_LIST,
    PQ_MAP,
    PQ_DECIMAL,
    PQ_DATE,
    PQ_TIME,
    PQ_TIMESTAMP,
    PQ_SIGNED,
    PQ_UNSIGNED,
    PQ_UUID,
    PQ_FLOAT16,
    PQ_NOTHING, /* every value is null */
    PQ_MEANING_COUNT
};

enum { PQ_DEPTH_MAX = 100, PQ_SCALE_MAX = 255 };

struct pq_element {
    struct sv name;
    enum pq_type type;
    enum pq_repetition repetition;
    enum pq_meaning meaning;
    uint32_t width;    /* bytes of PQ_FIXED */
    uint32_t children; /* of PQ_GROUP: they follow, depth first */
    uint32_t scale;    /* PQ_DECIMAL */
    uint32_t fraction; /* PQ_TIME, PQ_TIMESTAMP: digits of a second, 3, 6 or 9 */
    bool utc;          /* PQ_TIMESTAMP */
};

struct pq_group {
    struct sv columns; /* the list of its column chunks, not yet read */
    uint64_t rows;
};

struct pq_footer {
    struct pq_element *elements; /* depth first, the root first */
    size_t element_count;
    struct pq_group *groups;
    size_t group_count;
    uint64_t rows;
    uint64_t data_end; /* where column data must have ended */
};

/* A column chunk: the pages of one column in one row group. */
struct pq_chunk {
    enum pq_type type;
    int codec;
    uint64_t values; /* nulls and empty lists included */
    uint64_t offset; /* of the first page, checked to lie in the file */
    uint64_t bytes;
    bool encrypted;
    bool elsewhere; /* in another file */
};

bool pq_footer_read(struct sv file, struct arena *arena, struct pq_footer *out, struct error *err);

/* The chunks of one row group; there must be `count`, one for each column of the schema. */
bool pq_chunks_read(const struct pq_footer *footer, size_t group, size_t count,
                    struct pq_chunk *chunks, struct error *err);

#endif
