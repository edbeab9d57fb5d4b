/* unigram.h - Unigram models: of all ways to cut a word into entries the one with the highest sum of scores.
 * Use: unigram_init with the vocabulary complete and the scores by id; unigram_encode; unigram_done.
 * Ties go to the path whose last piece is longer, as in the reference.  Characters that no entry covers become the
 * unknown token, neighbours fused into one; with byte_fallback their byte tokens when all exist.
 * Threads: read-only after loading; every thread brings its own work.  Errors: none while encoding. */
#ifndef VB_TOKENIZER_UNIGRAM_H
#define VB_TOKENIZER_UNIGRAM_H

#include "tokenizer/tokenizer.h"
#include "tokenizer/trie.h"
#include "tokenizer/vocab.h"

struct unigram {
    struct trie trie;
    double *scores; /* by id; owned */
    double unknown_score;
    uint32_t unk_id; /* VOCAB_NONE: none */
    uint32_t byte_id[256];
    bool byte_fallback;
    bool single_precision; /* sums are rounded to 32 bits, as SentencePiece has them */
};

struct unigram_work {
    struct unigram_node *nodes; /* best way to each position */
    size_t cap;
    struct unigram_cut *cuts;
    size_t cut_cap;
};

/* `skip` says of an id that it never matches a text; NULL: all match. */
void unigram_init(struct unigram *u, const struct vocab *vocab, double *scores, uint32_t unk_id,
                  bool byte_fallback, const bool *skip);
void unigram_done(struct unigram *u);
void unigram_encode(const struct unigram *u, struct sv word, struct unigram_work *work,
                    struct token_ids *ids);
void unigram_work_done(struct unigram_work *work);

#endif
