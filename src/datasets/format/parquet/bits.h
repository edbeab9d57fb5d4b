/* bits.h - the runs in which Parquet packs levels, dictionary indexes and booleans, and its packed deltas.
 * Use: pq_runs_start or pq_packed_start, then pq_runs_next for each value; pq_delta_start, then pq_delta_next.
 * Nothing is unpacked ahead: a run of a billion equal values costs nothing.
 * Threads: one owner.  Errors: false at the end of the bytes and for what cannot be; the caller names it. */
#ifndef VB_DATASETS_BITS_H
#define VB_DATASETS_BITS_H

#include "base/sv.h"

#include <stdint.h>

/* The width that holds values up to `max`. */
unsigned pq_bit_width(unsigned max);

struct pq_runs {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t left;  /* values of the current run */
    uint64_t value; /* of a run of equal ones */
    unsigned width; /* bits of a value, at most 32 */
    unsigned bit;   /* of *at, where the next packed value begins */
    bool packed;    /* the current run */
    bool
        high_first; /* the retired encoding of levels: no runs, the first value in the highest bits */
};

void pq_runs_start(struct pq_runs *r, unsigned width, struct sv bytes);
/* The retired BIT_PACKED encoding of levels. */
void pq_packed_start(struct pq_runs *r, unsigned width, struct sv bytes);
bool pq_runs_next(struct pq_runs *r, uint32_t *value);

/* Unsigned LEB128; false when it breaks off or does not fit. */
bool pq_varint(const uint8_t **at, const uint8_t *end, uint64_t *value);

/* DELTA_BINARY_PACKED. */
struct pq_delta {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t left;           /* values not yet given */
    uint64_t value;          /* the next one */
    uint64_t step;           /* the least delta of the block */
    uint64_t block_left;     /* deltas of the block that are in further miniblocks */
    uint64_t mini_left;      /* deltas of the miniblock not yet read */
    uint64_t mini_values;    /* of a whole miniblock */
    uint64_t block_values;   /* of a whole block */
    const uint8_t *widths;   /* of the further miniblocks */
    const uint8_t *mini_end; /* where the next miniblock or block begins */
    unsigned width;
    unsigned bit; /* of *at */
};

bool pq_delta_start(struct pq_delta *d, struct sv bytes);
bool pq_delta_next(struct pq_delta *d, uint64_t *value);
/* Where the bytes after the last value begin; a started one, which stays as it is.  False when malformed. */
bool pq_delta_find_end(const struct pq_delta *d, const uint8_t **end);

#endif
