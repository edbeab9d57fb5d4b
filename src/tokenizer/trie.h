/* trie.h - a set of byte strings with numbers, for finding which of them stand at a place of a text.
 * A double array: a node is one 64-bit word, its child by byte c lies at base ^ c, so a step is one load and a compare.
 * Use: trie_build once from sorted keys; trie_root, trie_step, trie_value in a loop; trie_done.
 * Threads: read-only after building.  Errors: none. */
#ifndef VB_TOKENIZER_TRIE_H
#define VB_TOKENIZER_TRIE_H

#include "base/sv.h"

#include <stdint.h>

#define TRIE_NONE      UINT32_MAX
#define TRIE_MAX_VALUE ((1u << 27) - 2)

/* A node is a word: bit 0 used, 1-8 label, 9-35 value + 1, 36-63 base. */

struct trie {
    uint64_t *slots;
    size_t count;
};

struct trie_key {
    const unsigned char *ptr;
    uint32_t len;
    uint32_t value;
};

/* Sorts by bytes, shorter first. */
void trie_sort(struct trie_key *keys, size_t count);
/* Keys sorted and distinct; they are not kept. */
void trie_build(struct trie *t, const struct trie_key *keys, size_t count);
void trie_done(struct trie *t);
/* Replaces the value of a key that is in the trie. */
void trie_set(struct trie *t, struct sv key, uint32_t value);
/* The value of exactly this key, or TRIE_NONE. */
uint32_t trie_find(const struct trie *t, struct sv key);

static inline uint64_t trie_root(const struct trie *t)
{
    return t->slots[0];
}

/* The child by byte c, 0 when there is none. */
static inline uint64_t trie_step(const struct trie *t, uint64_t node, unsigned char c)
{
    uint64_t child = t->slots[(size_t)(node >> 36) ^ c];
    return (child & 0x1FF) == ((uint64_t)c << 1 | 1) ? child : 0;
}

static inline uint32_t trie_value(uint64_t node)
{
    return (uint32_t)(node >> 9 & 0x7FFFFFF) - 1;
}

#endif
