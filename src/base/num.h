/* num.h - numbers from and to text, exact and free of the locale.
 * Parsing takes the whole view: no surrounding blanks, no rest.  Formatting writes into the caller's array.
 * Threads: safe.  Errors: false. */
#ifndef VB_BASE_NUM_H
#define VB_BASE_NUM_H

#include "base/sv.h"

#include <stdint.h>

/* Decimal digits with an optional sign ('+' or '-'). */
bool num_parse_u64(struct sv text, uint64_t *out);
bool num_parse_i64(struct sv text, int64_t *out);
/* Correctly rounded.  Accepts what Python's float() accepts: "1", "1.", ".5", "1e3", "inf", "infinity", "nan" in any
 * case, a sign, underscores between digits are refused.  Hexadecimal is refused. */
bool num_parse_double(struct sv text, double *out);

enum { NUM_TEXT_MAX = 40 };

/* As Python's repr(float): shortest digits that read back, "1.0", "1e+16", "0.0001", "1e-05", "inf", "nan".
 * Returns the length; out is NUL-terminated. */
size_t num_format_double(char out[NUM_TEXT_MAX], double value);
/* As above, but whole values without ".0" ("99", "99.9"): names of percentiles, Rust-style rates. */
size_t num_format_short(char out[NUM_TEXT_MAX], double value);
/* Fixed decimals, rounded half to even on the exact value as printf's %.*f does, '.' always the point. */
size_t num_format_fixed(char *out, size_t cap, double value, int decimals);
size_t num_format_u64(char out[NUM_TEXT_MAX], uint64_t value);

#endif
