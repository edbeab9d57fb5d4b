/* utf8.h - UTF-8 as the references read it: code points in and out, validity, and the lossy repair.
 * Lossy means: every maximal invalid subpart becomes one U+FFFD (Rust's from_utf8_lossy, Python's errors="replace").
 * Threads: safe.  Errors: return values. */
#ifndef VB_TOKENIZER_UTF8_H
#define VB_TOKENIZER_UTF8_H

#include "base/buf.h"
#include "base/sv.h"

#include <stdint.h>

/* Reads one code point at `at`.  Returns the bytes it takes (1 to 4), or minus the length of the maximal invalid
 * subpart (-1 to -3).  Not to be called at the end of the text. */
int utf8_decode(const char *at, const char *end, uint32_t *cp);
/* As utf8_decode for text that is known to be valid. */
size_t utf8_next(const char *at, uint32_t *cp);
/* Start of the code point that ends at `end` (valid text, begin < end). */
const char *utf8_prev(const char *begin, const char *end, uint32_t *cp);

bool utf8_valid(struct sv text);
/* Offset of the first invalid byte, or text.len. */
size_t utf8_first_invalid(struct sv text);
void utf8_add(struct buf *out, uint32_t cp);
void utf8_add_lossy(struct buf *out, struct sv bytes);

#endif
