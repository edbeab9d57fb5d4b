/* bpe_pairs.h - which tokens merging makes of which, and whether merging can leave two tokens side by side.
 * Both tables are small, as nearly every look at them misses the nearer caches: a token's origin is one word, a pair half
 * a word, and a bit for each pair tells most strangers without looking at either.
 * Use: from bpe.c and bpe_encode.c.  Threads: read-only after loading.  Errors: none. */
#ifndef VB_TOKENIZER_BPE_PAIRS_H
#define VB_TOKENIZER_BPE_PAIRS_H

#include "tokenizer/bpe.h"

/* An origin: bits 0-20 the right part, 21-41 the left one, 42-63 the time: 1 + the rank of the merge, 0 for a single
 * symbol, BPE_NEVER when merging never makes the token.  A pair is packed alike.
 * A slot of the pairs has 11 bits of the hash above 1 + the token, whose origin has the pair and its time; 0 is free. */
enum { BPE_ID_BITS = 21, BPE_TIME_SHIFT = 42 };
#define BPE_ID_MASK (((uint64_t)1 << BPE_ID_BITS) - 1)
#define BPE_NEVER   ((1u << 22) - 1)

static inline uint64_t bpe_pack(uint32_t time, uint32_t left, uint32_t right)
{
    return (uint64_t)time << BPE_TIME_SHIFT | (uint64_t)left << BPE_ID_BITS | right;
}

static inline uint32_t bpe_time(uint64_t origin)
{
    return (uint32_t)(origin >> BPE_TIME_SHIFT);
}

static inline uint32_t bpe_left(uint64_t origin)
{
    return (uint32_t)(origin >> BPE_ID_BITS & BPE_ID_MASK);
}

static inline uint32_t bpe_right(uint64_t origin)
{
    return (uint32_t)(origin & BPE_ID_MASK);
}

static inline uint64_t bpe_pair_hash(uint64_t pair)
{
    uint64_t hash = pair * 0x9E3779B97F4A7C15u;
    return hash ^ hash >> 32;
}

static inline size_t bpe_pair_slot(const struct bpe *bpe, uint64_t hash)
{
    return (size_t)((hash & UINT32_MAX) * bpe->pair_slots >> 32);
}

static inline uint32_t bpe_pair_tag(uint64_t hash)
{
    return (uint32_t)hash << BPE_ID_BITS;
}

static inline bool bpe_pair_bit(const struct bpe *bpe, uint64_t hash)
{
    uint64_t bit = hash >> bpe->pair_bit_shift;
    return (bpe->pair_bits[bit >> 6] >> (bit & 63) & 1) != 0;
}

/* When left and right merge, BPE_NEVER when they do not. */
static inline uint32_t bpe_pair_time(const struct bpe *bpe, uint64_t pair, uint64_t hash)
{
    for (size_t at = bpe_pair_slot(bpe, hash);; at = at + 1 == bpe->pair_slots ? 0 : at + 1) {
        uint32_t slot = bpe->pairs[at];
        if (slot == 0)
            return BPE_NEVER;
        if (((slot ^ bpe_pair_tag(hash)) & ~(uint32_t)BPE_ID_MASK) != 0)
            continue;
        uint64_t origin = bpe->origins[(slot & BPE_ID_MASK) - 1];
        if ((origin ^ pair) << (64 - BPE_TIME_SHIFT) == 0)
            return bpe_time(origin);
    }
}

/* The i-th of the merges that are kept. */
static inline struct bpe_merge bpe_merge_at(const struct bpe *bpe, size_t i)
{
    uint64_t m = bpe->merges[i];
    struct bpe_merge merge = {bpe_time(m), bpe_left(m), bpe_right(m), (uint32_t)i};
    if (bpe->rank_rule != BPE_RANK_INDEX)
        merge.rank = bpe->rank_rule == BPE_RANK_MADE ? merge.made : bpe->ranks[i];
    return merge;
}

enum bpe_verdict { BPE_NO, BPE_YES, BPE_IN_DOUBT };

/* Can merging leave p and q side by side until the time `end`?  (bpe.c) */
enum bpe_verdict bpe_neighbours(const struct bpe *bpe, uint32_t p, uint32_t q, uint32_t end);

#endif
