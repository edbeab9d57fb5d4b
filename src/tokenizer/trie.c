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
    const struct trie_key *keys;
    uint64_t *taken; /* bit per slot */
    uint64_t *based; /* bit per slot: it is the base of a node */
    size_t blocks;
    size_t cap;
    size_t single; /* word of `taken` from where on single children go */
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
static inline size_t base_for_one(struct builder *b, unsigned char c)
{
    for (size_t w = b->single;; w++) {
        if (w == b->blocks * (BLOCK / 64))
            block_add(b);
        for (uint64_t left = ~b->taken[w]; left != 0; left &= left - 1) {
            size_t base = (w * 64 + (size_t)__builtin_ctzll(left)) ^ c;
            if (base != 0 && !bit(b->based, base)) {
                /* Free slots whose bases are taken are left behind: there are few. */
                b->single = w;
                return base;
            }
        }
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

/* The bytes of a key from `depth` on, each the only child of the one before. */
static void place_tail(struct builder *b, const struct trie_key *key, size_t depth, size_t slot)
{
    uint64_t *slots = b->trie->slots;
    for (; depth < key->len; depth++) {
        unsigned char c = key->ptr[depth];
        size_t base = base_for_one(b, c);
        slots = b->trie->slots;
        mark(b->based, base);
        slots[slot] |= (uint64_t)base << 36;
        slot = base ^ c;
        mark(b->taken, slot);
        slots[slot] = (uint64_t)c << 1 | 1;
    }
    slots[slot] |= (uint64_t)(key->value + 1) << 9;
}

static void place(struct builder *b, struct range r)
{
    const struct trie_key *keys = b->keys;
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
    struct builder b = {.trie = t, .keys = keys};
    *t = (struct trie){0};
    block_add(&b);
    mark(b.taken, 0);
    /* The root's slot is taken but not marked as used: a node without children has base 0, and its step by byte 0 must
     * not lead there. */
    if (count > 0)
        todo_add(&b, (struct range){0, (uint32_t)count, 0, 0});
    while (b.todo_count > 0) {
        struct range r = b.todo[--b.todo_count];
        if (r.hi - r.lo == 1)
            place_tail(&b, &keys[r.lo], r.depth, r.slot);
        else
            place(&b, r);
    }
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

/* A key by its first eight bytes, as a number that sorts like them. */
struct sort_item {
    uint64_t head;
    uint32_t index;
};

static uint64_t head_of(const struct trie_key *key)
{
    uint64_t head = 0;
    if (key->len >= 8) {
        memcpy(&head, key->ptr, 8);
        return __builtin_bswap64(head);
    }
    for (uint32_t i = 0; i < key->len; i++)
        head |= (uint64_t)key->ptr[i] << (56 - 8 * i);
    return head;
}

static int compare(const void *a, const void *b)
{
    const struct trie_key *x = a;
    const struct trie_key *y = b;
    int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);
    if (order != 0)
        return order;
    return (x->len > y->len) - (x->len < y->len);
}

/* Byte by byte of the heads, the last first; *items and *spare change places. */
static void sort_heads(struct sort_item **items, struct sort_item **spare, size_t count)
{
    enum { DIGITS = 8, VALUES = 256 };
    uint32_t(*ends)[VALUES] = mem_array(DIGITS, sizeof(*ends));
    for (size_t i = 0; i < count; i++)
        for (unsigned digit = 0; digit < DIGITS; digit++)
            ends[digit][(*items)[i].head >> 8 * digit & 0xFF]++;
    for (unsigned digit = 0; digit < DIGITS; digit++) {
        uint32_t sum = 0;
        for (unsigned v = 0; v < VALUES; v++) {
            uint32_t n = ends[digit][v];
            ends[digit][v] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++)
            (*spare)[ends[digit][(*items)[i].head >> 8 * digit & 0xFF]++] = (*items)[i];
        struct sort_item *sorted = *spare;
        *spare = *items;
        *items = sorted;
    }
    free(ends);
}

void trie_sort(struct trie_key *keys, size_t count)
{
    if (count < 2)
        return;
    struct sort_item *items = mem_alloc(count * sizeof(*items));
    struct sort_item *spare = mem_alloc(count * sizeof(*spare));
    struct trie_key *sorted = mem_alloc(count * sizeof(*sorted));
    for (size_t i = 0; i < count; i++)
        items[i] = (struct sort_item){head_of(&keys[i]), (uint32_t)i};
    sort_heads(&items, &spare, count);
    for (size_t i = 0; i < count; i++)
        sorted[i] = keys[items[i].index];
    /* Keys that agree in the first eight bytes, or are shorter and agree but for zeros, are compared as they are. */
    for (size_t from = 0; from < count;) {
        size_t to = from + 1;
        while (to < count && items[to].head == items[from].head)
            to++;
        if (to - from > 1)
            qsort(sorted + from, to - from, sizeof(*sorted), compare);
        from = to;
    }
    memcpy(keys, sorted, count * sizeof(*keys));
    free(items);
    free(spare);
    free(sorted);
}
