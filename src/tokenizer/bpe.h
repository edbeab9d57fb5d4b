/* bpe.h - byte-level BPE: one pre-token's bytes become ids by merging the pair of lowest rank first.
 * Use: bpe_init, bpe_add_merge in file order, then bpe_encode; bpe_done.
 * Equal ranks merge leftmost first.  With ignore_merges a pre-token that is an entry as a whole is taken as it is.
 * Threads: read-only after loading; every thread brings its own struct bpe_work.  Errors: none while encoding: a byte
 * without a token becomes the unknown token, or nothing when there is none. */
#ifndef VB_TOKENIZER_BPE_H
#define VB_TOKENIZER_BPE_H

#include "tokenizer/tokenizer.h"
#include "tokenizer/vocab.h"

struct bpe {
    const struct vocab *vocab;
    struct bpe_merge *slots;
    size_t mask;
    size_t used;
    uint32_t byte_id[256]; /* VOCAB_NONE: no such token */
    uint32_t unk_id;       /* VOCAB_NONE: none */
    bool fuse_unk;
    bool ignore_merges;
};

/* Arrays that are kept between words. */
struct bpe_work {
    struct bpe_symbol *symbols;
    size_t symbol_cap;
    struct bpe_candidate *heap;
    size_t heap_count;
    size_t heap_cap;
    struct bpe_cached *cache; /* words seen before */
};

/* After the vocabulary is complete. */
void bpe_init(struct bpe *bpe, const struct vocab *vocab);
void bpe_done(struct bpe *bpe);
/* A later merge of the same pair replaces the earlier one, as in the reference. */
void bpe_add_merge(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t rank, uint32_t made);

/* Appends the ids of one pre-token. */
void bpe_encode(const struct bpe *bpe, struct sv word, struct bpe_work *work,
                struct token_ids *ids);
void bpe_work_done(struct bpe_work *work);

void token_ids_add(struct token_ids *ids, uint32_t id);

#endif
