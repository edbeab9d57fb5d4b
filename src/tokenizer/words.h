/* words.h - a set of byte strings with ids, laid out for looking up many of them: is a piece of text an entry, and which
 * entry is the longest at a place of a text?
 * A bucket is one cache line of four entries.  Strings of up to 12 bytes stand in it, longer ones by 96 bits of hash and
 * are compared with the vocabulary's bytes.  The longest entry is looked for by length: filters over the first bytes say
 * which lengths there may be, so that the few look-ups do not wait for each other, as the steps of a trie do.
 * Use: words_init; words_add for all entries; then words_key with words_find or words_longest; words_done.
 * Threads: read-only after the last words_add.  Errors: none. */
#ifndef VB_TOKENIZER_WORDS_H
#define VB_TOKENIZER_WORDS_H

#include "base/sv.h"
#include "tokenizer/bpe_room.h"
#include "tokenizer/vocab.h"

#include <stdint.h>
#include <string.h>

enum {
    WORDS_INLINE = 12, /* bytes of a string that stand in its slot */
    WORDS_LOAD = 16,   /* bytes that are read at once where the text has them */
    WORDS_ONES = 2 * WORDS_LOAD,
    WORDS_BUCKET = 4,
    WORDS_FILTERED = 30, /* lengths that the filter tells apart */
};

/* What a string has for a value: bits of its slot. */
#define WORDS_WHOLE    (1u << 4) /* the entry is only for whole words */
#define WORDS_SLOW     (1u << 5) /* the caller must look closer before he takes it for a word */
#define WORDS_ID_SHIFT 6
#define WORDS_OVER     (1u << 31) /* first slot of a bucket: some of its strings lie in the next one */

struct words_slot {
    uint64_t low;  /* bytes 0 to 7, or a hash */
    uint32_t high; /* bytes 8 to 11, or a hash */
    uint32_t meta; /* bits 0-3 length, 15 for a hash, 0 for a free slot */
};

struct words {
    const struct vocab *vocab;
    struct words_slot *slots; /* whole cache lines */
    size_t buckets;
    unsigned near_shift;
    unsigned far_shift;
    uint8_t *short_ones; /* by the first two bytes: bit n (1 to 3) for entries of n bytes */
    uint8_t *near_ones;  /* by hash of four bytes: bit n - 4 (0 to 3), bit 4 for all longer ones */
    uint32_t *far_ones;  /* by hash of eight bytes: bit n (8 to 30), bit 31 for all longer ones */
    uint16_t *long_most; /* by hash of 16 bytes: the longest entry beyond the filter, 0 for none */
    uint32_t *long_lengths; /* of entries beyond the filter, longest first */
    size_t long_count;
    size_t long_cap;
};

struct words_part {
    uint64_t low;
    uint64_t high;
};

/* A string as it is looked for. */
struct words_key {
    uint64_t low;
    uint64_t rest; /* high and length, as in the slot */
    size_t bucket;
};

/* Bytes of the room that words_init takes for so many entries. */
size_t words_room(size_t count);
/* `count`: how many entries there will be at most; `vocab` has the bytes of their ids; `room` has the tables and outlives
 * them. */
void words_init(struct words *w, const struct vocab *vocab, size_t count, struct room *room);
void words_done(struct words *w);
struct words_entry {
    uint32_t id;
    uint32_t flags;
};
/* Of several ids of one string the first stays.  The strings are those of the vocabulary. */
void words_add(struct words *w, const struct words_entry *entries, size_t count);
/* The slot's meta, 0 when absent: id << WORDS_ID_SHIFT and flags; for strings of any length. */
uint32_t words_find(const struct words *w, const struct words_key *key, struct sv text);
/* Meta of the longest entry at `at` that takes at most `most` bytes and is not only for whole words; *len its bytes.
 * 0: none. */
uint32_t words_longest(const struct words *w, const char *at, size_t most, const char *end,
                       size_t *len);
/* The same in two steps: the first one asks for the memory that the second one needs, so that other work can be done
 * between them. */
struct words_probe {
    const char *at;
    size_t most;
    struct words_part part;
    uint32_t lengths;       /* bits of those that there may be */
    struct words_key first; /* of the longest of them, when it is short */
};
void words_probe_start(const struct words *w, struct words_probe *p, const char *at, size_t most,
                       const char *end);
uint32_t words_probe_end(const struct words *w, const struct words_probe *p, size_t *len);
/* Keys of strings beyond WORDS_INLINE. */
struct words_key words_long_key(const struct words *w, struct sv text);

static inline uint64_t words_mix(uint64_t low, uint64_t rest)
{
    uint64_t x = low * 0x9E3779B97F4A7C15u + rest * 0xD6E8FEB86659FD93u;
    x ^= x >> 29;
    return x * 0xFF51AFD7ED558CCDu;
}

static inline size_t words_bucket(const struct words *w, uint64_t low, uint64_t rest)
{
    return (size_t)((words_mix(low, rest) >> 32) * w->buckets >> 32);
}

/* The first bytes of what is at `at`, zeros behind the end of the text. */
static inline struct words_part words_load(const char *at, const char *end)
{
    struct words_part part = {0, 0};
    if (__builtin_expect(end - at >= WORDS_LOAD, 1)) {
        memcpy(&part.low, at, sizeof(part.low));
        memcpy(&part.high, at + sizeof(part.low), sizeof(part.high));
    } else {
        memcpy(&part, at, (size_t)(end - at));
    }
    return part;
}

/* The first four of eight bytes as they were loaded. */
static inline uint32_t words_first_four(uint64_t eight)
{
    uint32_t four;
    memcpy(&four, &eight, sizeof(four));
    return four;
}

extern const unsigned char words_ones[WORDS_ONES];

/* The first `len` (at most WORDS_LOAD) bytes, zeros behind them. */
static inline struct words_part words_cut(struct words_part part, size_t len)
{
    struct words_part mask;
    memcpy(&mask.low, words_ones + WORDS_LOAD - len, sizeof(mask.low));
    memcpy(&mask.high, words_ones + WORDS_LOAD + sizeof(mask.low) - len, sizeof(mask.high));
    return (struct words_part){part.low & mask.low, part.high & mask.high};
}

/* The key of the first `len` (1 to WORDS_INLINE) of those bytes. */
static inline struct words_key words_short_key(const struct words *w, struct words_part part,
                                               size_t len)
{
    uint64_t mask;
    uint32_t high;
    struct words_key key;
    memcpy(&mask, words_ones + WORDS_LOAD - len, sizeof(mask));
    key.low = part.low & mask;
    memcpy(&high, words_ones + WORDS_LOAD + sizeof(mask) - len, sizeof(high));
    high &= words_first_four(part.high);
    key.rest = high | (uint64_t)len << 32;
    key.bucket = words_bucket(w, key.low, key.rest);
    return key;
}

/* `end`: of the readable text around. */
static inline struct words_key words_key(const struct words *w, struct sv text, const char *end)
{
    if (text.len > WORDS_INLINE)
        return words_long_key(w, text);
    return words_short_key(w, words_load(text.ptr, end), text.len);
}

static inline void words_prefetch(const struct words *w, const struct words_key *key)
{
    __builtin_prefetch(w->slots + key->bucket * WORDS_BUCKET);
}

#define WORDS_KEY_MASK 0xFFFFFFFFFu /* high and length */

static inline uint32_t words_in_bucket(const struct words_slot *b, const struct words_key *key)
{
    uint32_t found = 0;
    for (int i = 0; i < WORDS_BUCKET; i++) {
        uint64_t rest = b[i].high | (uint64_t)b[i].meta << 32;
        bool hit = ((b[i].low ^ key->low) | ((rest ^ key->rest) & WORDS_KEY_MASK)) == 0;
        found = hit ? b[i].meta : found;
    }
    return found;
}

/* words_find for strings of up to WORDS_INLINE bytes. */
static inline uint32_t words_find_short(const struct words *w, const struct words_key *key)
{
    const struct words_slot *b = w->slots + key->bucket * WORDS_BUCKET;
    uint32_t found = words_in_bucket(b, key);
    for (size_t at = key->bucket; found == 0 && (b->meta & WORDS_OVER) != 0;) {
        at = at + 1 == w->buckets ? 0 : at + 1;
        b = w->slots + at * WORDS_BUCKET;
        found = words_in_bucket(b, key);
    }
    return found;
}

static inline uint32_t words_id(uint32_t meta)
{
    return meta >> WORDS_ID_SHIFT & ((1u << 21) - 1);
}

#endif
