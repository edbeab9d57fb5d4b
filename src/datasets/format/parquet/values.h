/* values.h - the values of one data page, one after the other, whatever their encoding.
 * Use: pq_values_start for a page; pq_values_next for each value that is not null; pq_values_done at last.
 * A dictionary is made once for a column chunk by pq_dictionary_start and outlives its pages' values.
 * Bytes given out are views of the page, the dictionary or the decoder: they die at the next call.
 * Threads: one owner.  Errors: struct error without a place. */
#ifndef VB_DATASETS_VALUES_H
#define VB_DATASETS_VALUES_H

#include "base/buf.h"
#include "datasets/format/parquet/bits.h"
#include "datasets/format/parquet/footer.h"

enum pq_encoding {
    PQ_PLAIN = 0,
    PQ_PLAIN_DICTIONARY = 2,
    PQ_RLE = 3,
    PQ_BIT_PACKED = 4,
    PQ_DELTA_BINARY_PACKED = 5,
    PQ_DELTA_LENGTH_BYTE_ARRAY = 6,
    PQ_DELTA_BYTE_ARRAY = 7,
    PQ_RLE_DICTIONARY = 8,
    PQ_BYTE_STREAM_SPLIT = 9
};

struct pq_value {
    uint64_t bits;   /* boolean, integers, floating point as stored */
    struct sv bytes; /* PQ_INT96, PQ_BYTE_ARRAY, PQ_FIXED */
};

struct pq_dictionary {
    struct pq_value *values;
    size_t count;
};

struct pq_values {
    enum pq_type type;
    unsigned width; /* bytes of a value; 0: they vary, or booleans */
    int encoding;
    const uint8_t *at;
    const uint8_t *end;
    unsigned bit;           /* of *at: booleans */
    size_t left;            /* PQ_BYTE_STREAM_SPLIT: values not yet given */
    size_t stride;          /* PQ_BYTE_STREAM_SPLIT: values in the page */
    struct pq_runs runs;    /* indexes, or booleans */
    struct pq_delta delta;  /* integers, or lengths */
    struct pq_delta prefix; /* PQ_DELTA_BYTE_ARRAY */
    struct buf text;        /* the value put together */
    const struct pq_dictionary *dictionary;
};

/* The element says type and width.  The decoder may have been started before. */
bool pq_values_start(struct pq_values *v, const struct pq_element *element, int encoding,
                     struct sv bytes, const struct pq_dictionary *dictionary, struct error *err);
bool pq_values_next(struct pq_values *v, struct pq_value *value, struct error *err);
void pq_values_done(struct pq_values *v);

/* `bytes` are those of a dictionary page, which must live as long; they hold `count` plain values. */
bool pq_dictionary_start(struct pq_dictionary *d, const struct pq_element *element, struct sv bytes,
                         size_t count, struct error *err);
void pq_dictionary_done(struct pq_dictionary *d);

#endif
