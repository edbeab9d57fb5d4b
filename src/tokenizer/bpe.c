/* Words are short: up to SMALL symbols a scan for the lowest rank is fastest.  Longer ones (a run of a thousand
 * spaces, a base64 blob) use a linked list of symbols and a heap of candidate pairs, O(n log n).
 *
 * Example, merges (l,o)=0 (lo,w)=1: l o w -> lo w -> low. */
#include "tokenizer/bpe.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { SMALL = 64, NO_SYMBOL = -1, CACHE_SIZE = 1 << 15, CACHE_WORD = 31, CACHE_IDS = 7 };

/* A word and its ids, one cache line.  Texts repeat their words, random prompts most of all: there every stretch of the
 * vocabulary comes many times, and each text is encoded again and again while its length is adjusted. */
struct bpe_cached {
    union {
        unsigned char bytes[CACHE_WORD + 1]; /* length, then the word, zero-padded */
        uint64_t words[4];
    } key;
    uint32_t count;
    uint32_t ids[CACHE_IDS];
};

struct bpe_merge {
    uint32_t left; /* VOCAB_NONE: free slot */
    uint32_t right;
    uint32_t rank;
    uint32_t made;
};

struct bpe_symbol {
    uint32_t id;
    uint32_t rank; /* small words: rank of the pair with the next symbol */
    uint32_t made; /* small words: what that pair becomes */
    int32_t prev;  /* long words */
    int32_t next;
};

struct bpe_candidate {
    uint32_t rank;
    int32_t at; /* left symbol */
    uint32_t left;
    uint32_t right;
    uint32_t made;
};

void token_ids_add(struct token_ids *ids, uint32_t id)
{
    MEM_GROW(ids->items, ids->count, ids->cap);
    ids->items[ids->count++] = id;
}

static size_t pair_hash(uint32_t left, uint32_t right)
{
    uint64_t h = ((uint64_t)left << 32 | right) * 0x9E3779B97F4A7C15u;
    return (size_t)(h >> 20);
}

static const struct bpe_merge *merge_find(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    for (size_t at = pair_hash(left, right) & bpe->mask;; at = (at + 1) & bpe->mask) {
        const struct bpe_merge *slot = &bpe->slots[at];
        if (slot->left == VOCAB_NONE)
            return NULL;
        if (slot->left == left && slot->right == right)
            return slot;
    }
}

static struct bpe_merge *slots_new(size_t size)
{
    struct bpe_merge *slots = mem_array(size, sizeof(*slots));
    for (size_t i = 0; i < size; i++)
        slots[i].left = VOCAB_NONE;
    return slots;
}

static void place(struct bpe *bpe, struct bpe_merge merge)
{
    size_t at = pair_hash(merge.left, merge.right) & bpe->mask;
    while (bpe->slots[at].left != VOCAB_NONE &&
           (bpe->slots[at].left != merge.left || bpe->slots[at].right != merge.right))
        at = (at + 1) & bpe->mask;
    bpe->used += bpe->slots[at].left == VOCAB_NONE;
    bpe->slots[at] = merge;
}

void bpe_init(struct bpe *bpe, const struct vocab *vocab)
{
    *bpe = (struct bpe){.vocab = vocab, .unk_id = VOCAB_NONE};
    for (unsigned byte = 0; byte < 256; byte++) {
        char c = (char)byte;
        bpe->byte_id[byte] = vocab_find_bytes(vocab, sv_make(&c, 1));
    }
    bpe->slots = slots_new(1024);
    bpe->mask = 1023;
}

void bpe_done(struct bpe *bpe)
{
    free(bpe->slots);
    *bpe = (struct bpe){0};
}

void bpe_add_merge(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t rank, uint32_t made)
{
    if (bpe->used * 4 > bpe->mask) { /* sparse: most look-ups miss */
        struct bpe_merge *old = bpe->slots;
        size_t size = bpe->mask + 1;
        bpe->slots = slots_new(size * 2);
        bpe->mask = size * 2 - 1;
        bpe->used = 0;
        for (size_t i = 0; i < size; i++)
            if (old[i].left != VOCAB_NONE)
                place(bpe, old[i]);
        free(old);
    }
    place(bpe, (struct bpe_merge){left, right, rank, made});
}

static void rank_pair(const struct bpe *bpe, struct bpe_symbol *left, uint32_t right)
{
    const struct bpe_merge *m = merge_find(bpe, left->id, right);
    left->rank = m != NULL ? m->rank : UINT32_MAX;
    left->made = m != NULL ? m->made : VOCAB_NONE;
}

static size_t merge_small(const struct bpe *bpe, struct bpe_symbol *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        rank_pair(bpe, &s[i], s[i + 1].id);
    while (n > 1) {
        size_t best = 0;
        for (size_t i = 1; i + 1 < n; i++)
            if (s[i].rank < s[best].rank)
                best = i;
        if (s[best].rank == UINT32_MAX)
            break;
        s[best].id = s[best].made;
        n--;
        memmove(&s[best + 1], &s[best + 2], (n - best - 1) * sizeof(*s));
        if (best + 1 < n)
            rank_pair(bpe, &s[best], s[best + 1].id);
        if (best > 0)
            rank_pair(bpe, &s[best - 1], s[best].id);
    }
    return n;
}

static bool before(const struct bpe_candidate *a, const struct bpe_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void heap_push(struct bpe_work *work, struct bpe_candidate c)
{
    MEM_GROW(work->heap, work->heap_count, work->heap_cap);
    size_t at = work->heap_count++;
    for (; at > 0 && before(&c, &work->heap[(at - 1) / 2]); at = (at - 1) / 2)
        work->heap[at] = work->heap[(at - 1) / 2];
    work->heap[at] = c;
}

static struct bpe_candidate heap_pop(struct bpe_work *work)
{
    struct bpe_candidate top = work->heap[0];
    struct bpe_candidate last = work->heap[--work->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= work->heap_count)
            break;
        if (child + 1 < work->heap_count && before(&work->heap[child + 1], &work->heap[child]))
            child++;
        if (!before(&work->heap[child], &last))
            break;
        work->heap[at] = work->heap[child];
        at = child;
    }
    if (work->heap_count > 0)
        work->heap[at] = last;
    return top;
}

static void push_pair(const struct bpe *bpe, struct bpe_work *work, int32_t at)
{
    const struct bpe_symbol *left = &work->symbols[at];
    if (left->next == NO_SYMBOL)
        return;
    uint32_t right = work->symbols[left->next].id;
    const struct bpe_merge *m = merge_find(bpe, left->id, right);
    if (m != NULL)
        heap_push(work, (struct bpe_candidate){m->rank, at, left->id, right, m->made});
}

static size_t merge_long(const struct bpe *bpe, struct bpe_work *work, size_t n)
{
    struct bpe_symbol *s = work->symbols;
    for (size_t i = 0; i < n; i++) {
        s[i].prev = (int32_t)i - 1;
        s[i].next = i + 1 < n ? (int32_t)i + 1 : NO_SYMBOL;
    }
    work->heap_count = 0;
    for (size_t i = 0; i + 1 < n; i++)
        push_pair(bpe, work, (int32_t)i);
    while (work->heap_count > 0) {
        struct bpe_candidate c = heap_pop(work);
        struct bpe_symbol *left = &s[c.at];
        /* Stale: one of the two symbols has been merged meanwhile. */
        if (left->id != c.left || left->next == NO_SYMBOL || s[left->next].id != c.right)
            continue;
        struct bpe_symbol *right = &s[left->next];
        left->id = c.made;
        right->id = VOCAB_NONE;
        left->next = right->next;
        if (left->next != NO_SYMBOL)
            s[left->next].prev = c.at;
        push_pair(bpe, work, c.at);
        if (left->prev != NO_SYMBOL)
            push_pair(bpe, work, left->prev);
    }
    size_t kept = 0;
    for (int32_t i = 0; i != NO_SYMBOL; i = s[i].next)
        s[kept++].id = s[i].id;
    return kept;
}

/* One symbol a byte; returns how many. */
static size_t first_symbols(const struct bpe *bpe, struct sv word, struct bpe_work *work)
{
    if (work->symbol_cap < word.len) {
        work->symbol_cap = word.len < 256 ? 256 : word.len;
        work->symbols = mem_resize(work->symbols, work->symbol_cap, sizeof(*work->symbols));
    }
    size_t n = 0;
    bool unknown_before = false;
    for (size_t i = 0; i < word.len; i++) {
        uint32_t id = bpe->byte_id[(unsigned char)word.ptr[i]];
        bool unknown = id == VOCAB_NONE;
        if (unknown && (bpe->unk_id == VOCAB_NONE || (unknown_before && bpe->fuse_unk)))
            continue;
        unknown_before = unknown;
        work->symbols[n++].id = unknown ? bpe->unk_id : id;
    }
    return n;
}

static void encode_word(const struct bpe *bpe, struct sv word, struct bpe_work *work,
                        struct token_ids *ids)
{
    if (bpe->ignore_merges) {
        uint32_t whole = vocab_find_bytes(bpe->vocab, word);
        if (whole != VOCAB_NONE) {
            token_ids_add(ids, whole);
            return;
        }
    }
    size_t n = first_symbols(bpe, word, work);
    n = n <= SMALL ? merge_small(bpe, work->symbols, n) : merge_long(bpe, work, n);
    for (size_t i = 0; i < n; i++)
        token_ids_add(ids, work->symbols[i].id);
}

/* The place of a word in the cache, which may hold another one; *key is filled. */
static struct bpe_cached *cache_place(struct bpe_work *work, struct sv word, struct bpe_cached *key)
{
    if (work->cache == NULL)
        work->cache = mem_array(CACHE_SIZE, sizeof(*work->cache));
    key->key.bytes[0] = (unsigned char)word.len;
    memcpy(key->key.bytes + 1, word.ptr, word.len);
    uint64_t h = 0;
    for (size_t i = 0; i < 4; i++) {
        h = (h ^ key->key.words[i]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return &work->cache[h & (CACHE_SIZE - 1)];
}

void bpe_encode(const struct bpe *bpe, struct sv word, struct bpe_work *work, struct token_ids *ids)
{
    if (word.len < 2 || word.len > CACHE_WORD) {
        encode_word(bpe, word, work, ids);
        return;
    }
    struct bpe_cached seen = {0};
    struct bpe_cached *place = cache_place(work, word, &seen);
    if (memcmp(&place->key, &seen.key, sizeof(seen.key)) == 0) {
        for (uint32_t i = 0; i < place->count; i++)
            token_ids_add(ids, place->ids[i]);
        return;
    }
    size_t before = ids->count;
    encode_word(bpe, word, work, ids);
    if (ids->count - before > CACHE_IDS)
        return;
    seen.count = (uint32_t)(ids->count - before);
    for (uint32_t i = 0; i < seen.count; i++)
        seen.ids[i] = ids->items[before + i];
    *place = seen;
}

void bpe_work_done(struct bpe_work *work)
{
    free(work->symbols);
    free(work->heap);
    free(work->cache);
    *work = (struct bpe_work){0};
}
