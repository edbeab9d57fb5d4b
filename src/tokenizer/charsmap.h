/* charsmap.h - the compiled character map of a SentencePiece model: byte strings to replacements.
 * Layout: u32 (little-endian) size of the trie in bytes, the trie's units (u32 each, darts-clone), then the replacements,
 * each ended by NUL.
 * Use: charsmap_load; charsmap_match; charsmap_done.  Threads: read-only after loading.
 * Errors: struct error; damaged units lead to "no match", never out of the map. */
#ifndef VB_TOKENIZER_CHARSMAP_H
#define VB_TOKENIZER_CHARSMAP_H

#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>

struct charsmap {
    uint32_t *units;
    size_t unit_count;
    char *texts;
    size_t text_len;
};

bool charsmap_load(struct charsmap *map, struct sv blob, struct error *err);
void charsmap_done(struct charsmap *map);

/* An entry that `text` begins with: the shortest, or the longest.  *used is its length. */
bool charsmap_match(const struct charsmap *map, struct sv text, bool longest, size_t *used,
                    struct sv *replacement);

/* The Precompiled normalizer: by grapheme clusters, as HF tokenizers does it (SentencePiece itself differs). */
struct buf;
void charsmap_apply(const struct charsmap *map, struct sv text, struct buf *out);

#endif
