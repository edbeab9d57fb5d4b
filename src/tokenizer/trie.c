/* Building walks the sorted keys as ranges that share a prefix.  A node with one child, the most frequent kind, takes any
 * free slot; one with several looks through a few open blocks of 256 slots for a base where all children are free.
 * Bases are distinct, so the label alone tells whose child a slot is. */
#include "tokenizer/trie.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { BLOCK = 256, OPEN_BLOCKS = 6, MAX_TRIES = 24 };

struct range {
    uint32_t lo;
    uint32_t hi;
    uint32_t depth;
    uint32_t slot;
};

struct builder {
    struct trie *trie;
    uint64_t *taken; /* bit per slot */
    uint64_t *based; /* bit per slot: it is the base of a node */
    size_t blocks;
    size_t cap;
    size_t single; /* block where single children go */
    size_t open;   /* first block where families go */
    struct range *todo;
    size_t todo_count;
    size_t todo_cap;
};

static bool bit(const uint64_t *bits, size_t at)
{
    return (bits[at >> 6] >> (at & 63) & 1) != 0;
}

static void mark(uint64_t *bits, size_t at)
{
    bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

static void block_add(struct builder *b)
{
    if (b->blocks == b->cap) {
        size_t cap = b->cap < 64 ? 64 : b->cap * 2;
        b->trie->slots = mem_resize(b->trie->slots, cap * BLOCK, sizeof(uint64_t));
        b->taken = mem_resize(b->taken, cap * 4, sizeof(uint64_t));
        b->based = mem_resize(b->based, cap * 4, sizeof(uint64_t));
        memset(b->trie->slots + b->cap * BLOCK, 0, (cap - b->cap) * BLOCK * sizeof(uint64_t));
        memset(b->taken + b->cap * 4, 0, (cap - b->cap) * 4 * sizeof(uint64_t));
        memset(b->based + b->cap * 4, 0, (cap - b->cap) * 4 * sizeof(uint64_t));
        b->cap = cap;
    }
    b->blocks++;
}

/* A free slot for a child by byte c whose base is free too. */
static size_t base_for_one(struct builder *b, unsigned char c)
{
    for (;; b->single++) {
        if (b->single == b->blocks)
            block_add(b);
        for (size_t w = b->single * 4; w < b->single * 4 + 4; w++)
            for (uint64_t left = ~b->taken[w]; left != 0; left &= left - 1) {
                size_t base = (w * 64 + (size_t)__builtin_ctzll(left)) ^ c;
                if (base != 0 && !bit(b->based, base))
                    return base;
            }
        /* Free slots whose bases are taken are left behind: there are few. */
    }
}

static bool fits(const struct builder *b, size_t base, const unsigned char *labels, size_t count)
{
    if (base == 0 || bit(b->based, base))
        return false;
    for (size_t i = 0; i < count; i++)
        if (bit(b->taken, base ^ labels[i]))
            return false;
    return true;
}

static size_t base_for(struct builder *b, const unsigned char *labels, size_t count)
{
    if (count == 1)
        return base_for_one(b, labels[0]);
    for (size_t block = b->open; block < b->blocks; block++) {
        unsigned tries = 0;
        for (size_t w = block * 4; w < block * 4 + 4 && tries < MAX_TRIES; w++)
            for (uint64_t left = ~b->taken[w]; left != 0 && tries < MAX_TRIES; left &= left - 1) {
                size_t base = (w * 64 + (size_t)__builtin_ctzll(left)) ^ labels[0];
                if (fits(b, base, labels, count))
                    return base;
                tries++;
            }
    }
    block_add(b);
    if (b->blocks - b->open > OPEN_BLOCKS)
        b->open = b->blocks - OPEN_BLOCKS;
    size_t base = (b->blocks - 1) * BLOCK;
    while (!fits(b, base, labels, count)) /* base 0 is nobody's */
        base++;
    return base;
}

static void todo_add(struct builder *b, struct range r)
{
    MEM_GROW(b->todo, b->todo_count, b->todo_cap);
    b->todo[b->todo_count++] = r;
}

static void place(struct builder *b, const struct trie_key *keys, struct range r)
{
    unsigned char labels[256];
    uint32_t starts[257];
    size_t count = 0;
    if (keys[r.lo].len == r.depth) {
        b->trie->slots[r.slot] |= (uint64_t)(keys[r.lo].value + 1) << 9;
        r.lo++;
    }
    for (uint32_t i = r.lo; i < r.hi; i++) {
        unsigned char c = keys[i].ptr[r.depth];
        if (count == 0 || labels[count - 1] != c) {
            labels[count] = c;
            starts[count++] = i;
        }
    }
    if (count == 0)
        return;
    starts[count] = r.hi;
    size_t base = base_for(b, labels, count);
    mark(b->based, base);
    b->trie->slots[r.slot] |= (uint64_t)base << 36;
    for (size_t i = count; i-- > 0;) {
        size_t slot = base ^ labels[i];
        mark(b->taken, slot);
        b->trie->slots[slot] = (uint64_t)labels[i] << 1 | 1;
        todo_add(b, (struct range){starts[i], starts[i + 1], r.depth + 1, (uint32_t)slot});
    }
}

void trie_build(struct trie *t, const struct trie_key *keys, size_t count)
{
    struct builder b = {.trie = t};
    *t = (struct trie){0};
    block_add(&b);
    mark(b.taken, 0);
    /* The root's slot is taken but not marked as used: a node without children has base 0, and its step by byte 0 must
     * not lead there. */
    if (count > 0)
        todo_add(&b, (struct range){0, (uint32_t)count, 0, 0});
    while (b.todo_count > 0)
        place(&b, keys, b.todo[--b.todo_count]);
    t->count = b.blocks * BLOCK;
    t->slots = mem_resize(t->slots, t->count, sizeof(uint64_t));
    free(b.taken);
    free(b.based);
    free(b.todo);
}

void trie_done(struct trie *t)
{
    free(t->slots);
    *t = (struct trie){0};
}

static size_t slot_of(const struct trie *t, struct sv key)
{
    size_t at = 0;
    for (size_t i = 0; i < key.len; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        size_t child = (size_t)(t->slots[at] >> 36) ^ c;
        if ((t->slots[child] & 0x1FF) != ((uint64_t)c << 1 | 1))
            return SIZE_MAX;
        at = child;
    }
    return at;
}

uint32_t trie_find(const struct trie *t, struct sv key)
{
    size_t at = t->slots != NULL ? slot_of(t, key) : SIZE_MAX;
    return at == SIZE_MAX ? TRIE_NONE : trie_value(t->slots[at]);
}

void trie_set(struct trie *t, struct sv key, uint32_t value)
{
    size_t at = slot_of(t, key);
    if (at != SIZE_MAX)
        t->slots[at] = (t->slots[at] & ~((uint64_t)0x7FFFFFF << 9)) | (uint64_t)(value + 1) << 9;
}

/* ---- sorting --------------------------------------------------------------------------------------------------- */

static int compare(const struct trie_key *a, const struct trie_key *b)
{
    int order = memcmp(a->ptr, b->ptr, a->len < b->len ? a->len : b->len);
    if (order != 0)
        return order;
    return (a->len > b->len) - (a->len < b->len);
}

static int compare_void(const void *a, const void *b)
{
    return compare(a, b);
}

static unsigned bucket_of(const struct trie_key *key)
{
    return key->len == 0 ? 0 : (unsigned)(key->ptr[0] << 8 | (key->len > 1 ? key->ptr[1] : 0));
}

void trie_sort(struct trie_key *keys, size_t count)
{
    enum { BUCKETS = 1 << 16 };
    if (count < 2)
        return;
    /* By the first two bytes at once; short insertion sorts then do the rest. */
    uint32_t *ends = mem_array(BUCKETS + 1, sizeof(*ends));
    struct trie_key *sorted = mem_array(count, sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        ends[bucket_of(&keys[i]) + 1]++;
    for (size_t i = 0; i < BUCKETS; i++)
        ends[i + 1] += ends[i];
    for (size_t i = 0; i < count; i++)
        sorted[ends[bucket_of(&keys[i])]++] = keys[i];
    size_t start = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t n = ends[bucket] - start;
        struct trie_key *part = sorted + start;
        if (n > 12)
            qsort(part, n, sizeof(*part), compare_void);
        else
            for (size_t i = 1; i < n; i++) {
                struct trie_key moved = part[i];
                size_t at = i;
                for (; at > 0 && compare(&part[at - 1], &moved) > 0; at--)
                    part[at] = part[at - 1];
                part[at] = moved;
            }
        start = ends[bucket];
    }
    memcpy(keys, sorted, count * sizeof(*keys));
    free(sorted);
    free(ends);
}
