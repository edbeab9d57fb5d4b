/* bpe.h - byte pair encoding: a word becomes ids as if the pair of lowest rank were merged first, leftmost first.
 * Use: bpe_init with options after the vocabulary is complete; bpe_add_merge in order of rank; bpe_finish; then
 * bpe_encode; bpe_done.
 * Two engines give the same ids.  The usual one looks for the longest token and asks of two neighbours whether merging
 * could have left them side by side (see bpe.c); bpe_finish proves that the merges allow it.  Where they do not, or a word
 * holds characters that are no tokens, the merges are carried out one by one (bpe_merge.c).
 * Threads: read-only after loading; every thread brings its own struct bpe_work.  Errors: none while encoding. */
#ifndef VB_TOKENIZER_BPE_H
#define VB_TOKENIZER_BPE_H

#include "tokenizer/tokenizer.h"
#include "tokenizer/vocab.h"
#include "tokenizer/words.h"

struct bpe_options {
    bool bytes;         /* symbols are bytes, else characters */
    bool ignore_merges; /* a word that is an entry as a whole is taken as it is */
    bool byte_fallback; /* an unknown character becomes its <0xXX> tokens */
    bool fuse_unk;      /* several unknown characters become one unknown token */
    bool always_merge;  /* for tests: only the second engine */
    uint32_t unk_id;    /* VOCAB_NONE: unknown characters vanish */
    struct sv prefix;   /* before every symbol but the first; live in the tokenizer's arena */
    struct sv suffix;   /* behind the last symbol */
};

/* `left` and `right` become `made`. */
struct bpe_merge {
    uint32_t left;
    uint32_t right;
    uint32_t made;
    uint32_t rank;
};

/* Where the rank of a merge is: nearly all vocabularies need no list. */
enum bpe_ranks { BPE_RANK_INDEX, BPE_RANK_MADE, BPE_RANK_LISTED };

struct bpe {
    const struct vocab *vocab;
    struct bpe_options options;
    uint32_t byte_id[256]; /* bytes: the single bytes; else the <0xXX> tokens */
    bool all_bytes;        /* none of them is missing */
    bool proven;           /* the first engine may be used */
    struct room room;      /* of the tables of engine one */
    struct words words;    /* the tokens that words can have */
    uint64_t *origins;     /* by id: how the token is made (bpe_pairs.h) */
    uint32_t limit;        /* of them */
    size_t entries;        /* that words can have */
    uint32_t *pairs;       /* by hash of left and right: 1 + what they make (bpe_pairs.h) */
    size_t pair_slots;
    uint64_t *pair_bits; /* by the same hash, eight bits or more a pair */
    unsigned pair_bit_shift;
    uint8_t *doubtful;        /* by id, bits of enum bpe_doubt; NULL: no doubts */
    struct bpe_merge *doubts; /* those merges, sorted */
    size_t doubt_count;
    uint32_t *
        second; /* engine two: by hash of left and right 1 + the index into merges, under bits of the hash; 0 is free */
    size_t second_slots;
    unsigned second_bits; /* of the index */
    uint64_t *merges;     /* left, right and made, packed */
    uint32_t *ranks;      /* BPE_RANK_LISTED */
    enum bpe_ranks rank_rule;
    size_t merge_count;
    size_t merge_cap;
};

enum bpe_doubt {
    BPE_DOUBT_INSIDE = 1, /* a merge that could not be proven may happen inside the token */
    BPE_DOUBT_LEFT = 2,   /* the token is the left part of such a merge */
    BPE_DOUBT_TAIL = 4,   /* the token or some last part of it is a left part */
    BPE_DOUBT_HEAD = 8,   /* the token or some first part of it is a right part */
};

/* Arrays that are kept between words. */
struct bpe_work {
    struct bpe_symbol *symbols;
    size_t symbol_cap;
    struct bpe_candidate *heap;
    size_t heap_count;
    size_t heap_cap;
    uint64_t *open; /* engine one: positions from where the end can be reached, as far as known */
    size_t open_cap;
    struct bpe_cached *cache; /* words seen before */
    struct bpe_seek *seeks;   /* words that are looked into at the same time */
    struct buf text;
};

void bpe_init(struct bpe *bpe, const struct vocab *vocab, const struct bpe_options *options);
void bpe_done(struct bpe *bpe);
void bpe_reserve(struct bpe *bpe, size_t merges);
/* Ranks do not fall from call to call. */
void bpe_add_merge(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t made, uint32_t rank);
void bpe_finish(struct bpe *bpe);
/* The other way, for merges that somebody has proven before, one a token: start; take them, many at a time and in any
 * order; finish.  None of them is kept. */
void bpe_start_proven(struct bpe *bpe);
void bpe_take_proven(struct bpe *bpe, const struct bpe_merge *merges, size_t count);
void bpe_finish_proven(struct bpe *bpe);

/* Appends the ids of one word. */
void bpe_encode(const struct bpe *bpe, struct sv word, struct bpe_work *work,
                struct token_ids *ids);
/* Appends the ids of `count` words that follow each other from `at` on; ends[i] is where the i-th ends, `end` the end of the
 * text that may be read. */
enum { BPE_BATCH = 64 };
void bpe_encode_row(const struct bpe *bpe, const char *at, const char *const *ends, size_t count,
                    const char *end, struct bpe_work *work, struct token_ids *ids);
void bpe_work_done(struct bpe_work *work);

void token_ids_add(struct token_ids *ids, uint32_t id);
/* Room for so many more. */
void token_ids_reserve(struct token_ids *ids, size_t more);

/* bpe_merge.c */
void bpe_merge_prepare(struct bpe *bpe);
void bpe_merge_done(struct bpe *bpe);
void bpe_merge_word(const struct bpe *bpe, struct sv word, struct bpe_work *work,
                    struct token_ids *ids);

static inline struct sv bpe_key(const struct bpe *bpe, uint32_t id)
{
    return vocab_bytes(bpe->vocab, id);
}

#endif
