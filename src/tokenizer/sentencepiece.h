/* sentencepiece.h - what is left of a SentencePiece model after loading: how ids become text again.
 * Use: sentencepiece_parse (load.h) makes the tokenizer; sentencepiece_decode; the struct lives in the tokenizer's arena.
 * Threads: read-only after loading.  Errors: none while decoding. */
#ifndef VB_TOKENIZER_SENTENCEPIECE_H
#define VB_TOKENIZER_SENTENCEPIECE_H

#include "base/buf.h"
#include "tokenizer/vocab.h"

struct sentencepiece {
    const uint8_t *kinds; /* by id: the type field of a piece */
    struct sv unk_surface;
    bool strips_front; /* the first mark of a space goes */
    bool strips_all;   /* and all that follow it */
};

void sentencepiece_decode(const struct sentencepiece *sp, const struct vocab *vocab,
                          const uint32_t *ids, size_t count, bool skip_special, struct buf *out);

#endif
