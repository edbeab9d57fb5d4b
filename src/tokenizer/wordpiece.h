/* wordpiece.h - WordPiece (the longest entry first, later pieces with a prefix such as ##) and WordLevel (a word is an
 * entry or unknown).
 * Use: wordpiece_init; wordpiece_encode; wordpiece_done.  For WordLevel: wordlevel_encode with the same struct.
 * Threads: read-only after loading.  Errors: none while encoding. */
#ifndef VB_TOKENIZER_WORDPIECE_H
#define VB_TOKENIZER_WORDPIECE_H

#include "tokenizer/tokenizer.h"
#include "tokenizer/trie.h"
#include "tokenizer/vocab.h"

struct wordpiece {
    struct trie first; /* entries as they are */
    struct trie later; /* entries with the prefix, without it */
    uint32_t unk_id;   /* VOCAB_NONE: unknown words vanish */
    size_t max_chars;
};

void wordpiece_init(struct wordpiece *w, const struct vocab *vocab, struct sv prefix,
                    uint32_t unk_id, size_t max_chars);
void wordpiece_done(struct wordpiece *w);
void wordpiece_encode(const struct wordpiece *w, struct sv word, struct token_ids *ids);
void wordlevel_encode(const struct wordpiece *w, struct sv word, struct token_ids *ids);

#endif
