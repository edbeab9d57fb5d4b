/* scalar.h - a stored value as a JSON scalar: what parquet.h promises of each type.
 * Use: pq_scalar for every value that is not null.  Everything is copied into the arena.
 * Threads: pure.  Errors: struct error without a place. */
#ifndef VB_DATASETS_SCALAR_H
#define VB_DATASETS_SCALAR_H

#include "base/arena.h"
#include "datasets/format/parquet/values.h"
#include "json/tree.h"

bool pq_scalar(const struct pq_element *element, const struct pq_value *value, bool raw_bytes,
               struct arena *arena, struct js_value *out, struct error *err);

/* A 16-bit or 32-bit floating-point number as a double, bit by bit: exact. */
double pq_widen(uint64_t bits, unsigned exponent_bits, unsigned fraction_bits);

#endif
