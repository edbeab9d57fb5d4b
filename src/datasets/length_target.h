/* length_target.h - gives a token sequence a length that survives decoding and encoding.
 * Loop A of the specification (DATASETS 0.11): decode, encode, then append drawn ids or cut, at most 10 times, exactly as
 * Python does; what is still too long afterwards is cut once more , which may not help: a
 * broken character at the end comes back as three tokens whatever is cut.  What is left over is counted.
 * Threads: one owner.  Errors: struct error (only a server's tokenizer can fail). */
#ifndef VB_DATASETS_LENGTH_TARGET_H
#define VB_DATASETS_LENGTH_TARGET_H

#include "tokenizer/tokenizer.h"

/* One id for padding, drawn from [0, vocabulary). */
typedef uint32_t length_pad_fn(void *user);

struct length_target {
    const struct tokenizer *tokenizer;
    length_pad_fn *pad;
    void *user;
    int64_t surplus; /* tokens too many, summed over all calls */
    int64_t deficit; /* tokens too few */
    size_t missed;   /* calls that did not end at the target */
};

/* *ids: in the wished sequence, out the sequence that encoding *text gives.  *text is overwritten. */
bool length_target_fit(struct length_target *lt, struct token_ids *ids, size_t target,
                       struct buf *text, struct error *err);

#endif
