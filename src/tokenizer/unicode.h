/* unicode.h - character classes and normal forms.
 * Classes are those of the references' regex engines (Unicode 16), from tables of our own (data/unicode_classes.tsv), so
 * that results do not depend on a library's Unicode version; normal forms come from utf8proc.
 * Threads: safe.  Errors: none. */
#ifndef VB_TOKENIZER_UNICODE_H
#define VB_TOKENIZER_UNICODE_H

#include "base/buf.h"
#include "base/sv.h"

#include <stdint.h>

/* The order is that of FLAGS in tools/gen_unicode.py. */
enum {
    UC_LU = 1u << 0,
    UC_LL = 1u << 1,
    UC_LT = 1u << 2,
    UC_LM = 1u << 3,
    UC_LO = 1u << 4,
    UC_M = 1u << 5,
    UC_N = 1u << 6,
    UC_ND = 1u << 7,
    UC_P = 1u << 8,
    UC_S = 1u << 9,
    UC_SPACE = 1u << 10, /* White_Space, 25 code points */
    UC_HAN = 1u << 11,   /* by Script */
    UC_WORD = 1u << 12,  /* \w of Oniguruma */
    UC_BERT_REMOVED = 1u << 13,
    UC_BERT_CJK = 1u << 14,
    UC_PUNCT = 1u << 15, /* Punctuation and BertPreTokenizer */
    UC_NUMERIC = 1u << 16,
    UC_STRIP_ACCENTS = 1u << 17,
    UC_BERT_ACCENTS = 1u << 18,
    UC_NFKC_KEPT = 1u << 19, /* the reference's older tables leave it alone */
    UC_NFKD_KEPT = 1u << 20,
    UC_NFD_KEPT = 1u << 21,
    UC_NFC_CHECK = 1u << 22, /* may change, or change its neighbour, under NFC */
    UC_L = UC_LU | UC_LL | UC_LT | UC_LM | UC_LO,
};

extern const uint32_t unicode_ascii[128];
uint32_t unicode_flags_beyond_ascii(uint32_t cp);

static inline uint32_t unicode_flags(uint32_t cp)
{
    return cp < 128 ? unicode_ascii[cp] : unicode_flags_beyond_ascii(cp);
}

bool unicode_is_space(uint32_t cp);
bool unicode_is_word(uint32_t cp);
/* Rust's char::is_numeric: Nd, Nl, No. */
bool unicode_is_numeric(uint32_t cp);

/* Appends the lower-case form: per character, no rule for a final sigma. */
void unicode_lower(uint32_t cp, struct buf *out);
/* Appends the upper-case or title-case form; false (and nothing appended) for the about 100 characters but ß whose form has
 * several characters (Unicode's SpecialCasing.txt). */
bool unicode_upper(uint32_t cp, bool title, struct buf *out);

enum unicode_form { UNICODE_NFC, UNICODE_NFD, UNICODE_NFKC, UNICODE_NFKD };

/* Appends the form of valid UTF-8. */
void unicode_normalize(enum unicode_form form, struct sv text, struct buf *out);
/* True when the text is surely in that form already. */
bool unicode_is_plain(enum unicode_form form, struct sv text);

/* Items of a class that a pattern library of Unicode 14 lacks in \p{name} (or \w: name "w"); "" when none. */
const char *unicode_newer_items(struct sv name);

/* End of the extended grapheme cluster at `at` (valid UTF-8). */
size_t unicode_cluster_end(struct sv text, size_t at);

#endif
