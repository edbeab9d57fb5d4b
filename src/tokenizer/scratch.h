/* scratch.h - what one tokenizer_encode call works with; zeroed is ready, scratch_done frees all.
 * Pieces are views into the input or into `arena` and die with the scratch.  Threads: one owner.  Errors: none. */
#ifndef VB_TOKENIZER_SCRATCH_H
#define VB_TOKENIZER_SCRATCH_H

#include "base/arena.h"
#include "tokenizer/bpe.h"
#include "tokenizer/regex.h"

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
};

void scratch_done(struct scratch *s);

#endif
