/* scratch.h - what one tokenizer_encode call works with, and a pool that keeps it (and its word cache) between calls.
 * Use: scratch_take; scratch_give when done; scratch_pool_done at the end.
 * Pieces are views into the input or into `arena` and die with scratch_give.
 * Threads: a scratch has one owner; the pool may be used by many.  Errors: none. */
#ifndef VB_TOKENIZER_SCRATCH_H
#define VB_TOKENIZER_SCRATCH_H

#include "base/arena.h"
#include "tokenizer/bpe.h"
#include "tokenizer/regex.h"
#include "tokenizer/unigram.h"

struct piece_list {
    struct sv *items;
    size_t count;
    size_t cap;
};

/* Empty pieces are dropped: no pre-tokenizer of the reference yields them. */
void piece_list_add(struct piece_list *list, struct sv piece);

/* A stretch of a text, inside or outside of a match. */
struct span {
    size_t start;
    size_t end;
    bool match;
};

struct span_list {
    struct span *items;
    size_t count;
    size_t cap;
};

struct scratch {
    struct arena arena;
    struct piece_list pieces[2]; /* input and output of a pre-tokenizing step, in turn */
    struct span_list spans;
    struct buf text;
    struct regex_work regex;
    struct bpe_work bpe;
    struct unigram_work unigram;
    const char *origin; /* where the text's very beginning lies; NULL in later stretches */
};

enum { SCRATCH_POOL_SIZE = 16 };

/* Zeroed is ready. */
struct scratch_pool {
    _Atomic(struct scratch *) slots[SCRATCH_POOL_SIZE];
};

struct scratch *scratch_take(struct scratch_pool *pool);
void scratch_give(struct scratch_pool *pool, struct scratch *s);
void scratch_pool_done(struct scratch_pool *pool);

#endif
