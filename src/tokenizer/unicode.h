/* unicode.h - character classes and normal forms, the room's door to utf8proc.
 * Classes are those of the reference's regex engine: \s is White_Space (25 code points), \p{L}, \p{N} by general
 * category, \w as letters, marks, decimal digits, letter numbers and connectors.
 * Threads: safe.  Errors: none. */
#ifndef VB_TOKENIZER_UNICODE_H
#define VB_TOKENIZER_UNICODE_H

#include "base/buf.h"
#include "base/sv.h"

#include <stdint.h>

enum unicode_class { UNICODE_OTHER, UNICODE_SPACE, UNICODE_LETTER, UNICODE_NUMBER };

/* The four classes the GPT-2 splitter tells apart. */
enum unicode_class unicode_class(uint32_t cp);
bool unicode_is_space(uint32_t cp);
bool unicode_is_word(uint32_t cp);
/* Rust's char::is_numeric: Nd, Nl, No. */
bool unicode_is_numeric(uint32_t cp);

/* Appends the NFC form of valid UTF-8. */
void unicode_nfc(struct sv text, struct buf *out);
/* True when the text is surely NFC already (cheap test: every code point is below U+0300). */
bool unicode_is_plain_nfc(struct sv text);

#endif
