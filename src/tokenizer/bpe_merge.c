/* Engine two: the merges one by one.  Words are short: up to SMALL symbols a scan for the lowest rank is fastest.  Longer
 * ones use a linked list of symbols and a heap of candidate pairs, O(n log n).
 *
 * Example, merges (l,o)=0 (lo,w)=1: l o w -> lo w -> low. */
#include "tokenizer/bpe.h"

#include "base/alloc.h"
#include "tokenizer/bpe_pairs.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { SMALL = 64, NO_SYMBOL = -1 };

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

static uint32_t index_of(const struct bpe *bpe, uint32_t slot)
{
    return (slot & ((1u << bpe->second_bits) - 1)) - 1;
}

/* The slot of a pair, or the free one where it would be; *tag what a slot of this pair has above the index. */
static size_t slot_of(const struct bpe *bpe, uint32_t left, uint32_t right, uint32_t *tag)
{
    uint64_t pair = bpe_pack(0, left, right);
    uint64_t hash = bpe_pair_hash(pair);
    size_t at = (size_t)((hash & UINT32_MAX) * bpe->second_slots >> 32);
    *tag = (uint32_t)hash << bpe->second_bits;
    for (; bpe->second[at] != 0; at = at + 1 == bpe->second_slots ? 0 : at + 1) {
        uint32_t slot = bpe->second[at];
        if ((slot ^ *tag) >> bpe->second_bits == 0 &&
            bpe->merges[index_of(bpe, slot)] >> BPE_ID_BITS == pair)
            break;
    }
    return at;
}

void bpe_merge_prepare(struct bpe *bpe)
{
    bpe->second_slots = bpe->merge_count + bpe->merge_count / 4 + 8;
    while (bpe->merge_count >> bpe->second_bits != 0)
        bpe->second_bits++;
    bpe->second = mem_array(bpe->second_slots, sizeof(*bpe->second));
    for (size_t i = 0; i < bpe->merge_count; i++) { /* a later one of the same pair replaces */
        struct bpe_merge m = bpe_merge_at(bpe, i);
        uint32_t tag;
        size_t at = slot_of(bpe, m.left, m.right, &tag);
        bpe->second[at] = tag | ((uint32_t)i + 1);
    }
}

void bpe_merge_done(struct bpe *bpe)
{
    free(bpe->second);
}

static bool merge_find(const struct bpe *bpe, uint32_t left, uint32_t right, struct bpe_merge *m)
{
    uint32_t tag;
    uint32_t slot = bpe->second[slot_of(bpe, left, right, &tag)];
    if (slot != 0)
        *m = bpe_merge_at(bpe, index_of(bpe, slot));
    return slot != 0;
}

static void rank_pair(const struct bpe *bpe, struct bpe_symbol *left, uint32_t right)
{
    struct bpe_merge m = {.made = VOCAB_NONE, .rank = UINT32_MAX};
    merge_find(bpe, left->id, right, &m);
    left->rank = m.rank;
    left->made = m.made;
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
    struct bpe_merge m;
    if (merge_find(bpe, left->id, right, &m))
        heap_push(work, (struct bpe_candidate){m.rank, at, left->id, right, m.made});
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

/* The id of an entry of the model itself. */
static uint32_t own_entry(const struct bpe *bpe, struct sv text)
{
    uint32_t id = vocab_find(bpe->vocab, text);
    return id != VOCAB_NONE && (vocab_flags(bpe->vocab, id) & TOKEN_ADDED) != 0 ? VOCAB_NONE : id;
}

/* Appends the character or byte at `at` as the vocabulary spells it; returns the bytes taken. */
static size_t spell_one(const struct bpe *bpe, struct sv word, size_t at, struct buf *out)
{
    uint32_t cp;
    size_t n = bpe->options.bytes ? 1 : utf8_next(word.ptr + at, &cp);
    if (bpe->options.bytes && !bpe->vocab->raw_bytes)
        utf8_add(out, vocab_char_of((unsigned char)word.ptr[at]));
    else
        buf_add(out, sv_make(word.ptr + at, n));
    return n;
}

static uint32_t whole_word(const struct bpe *bpe, struct sv word, struct bpe_work *work)
{
    buf_reset(&work->text);
    for (size_t at = 0; at < word.len;)
        at += spell_one(bpe, word, at, &work->text);
    return own_entry(bpe, buf_sv(&work->text));
}

/* The symbol at `at` with its affixes; VOCAB_NONE when it is no token. */
static uint32_t symbol_at(const struct bpe *bpe, struct sv word, size_t at, struct bpe_work *work,
                          size_t *n)
{
    const struct bpe_options *o = &bpe->options;
    if (o->bytes && o->prefix.len == 0 && o->suffix.len == 0) {
        *n = 1;
        return bpe->byte_id[(unsigned char)word.ptr[at]];
    }
    buf_reset(&work->text);
    if (at > 0)
        buf_add(&work->text, o->prefix);
    *n = spell_one(bpe, word, at, &work->text);
    if (at + *n == word.len)
        buf_add(&work->text, o->suffix);
    return own_entry(bpe, buf_sv(&work->text));
}

/* The reference spells the symbol, affixes and all, in byte tokens. */
static bool byte_tokens(const struct bpe *bpe, const struct bpe_work *work, struct sv symbol,
                        size_t *count)
{
    if (!bpe->options.byte_fallback || bpe->options.bytes)
        return false;
    for (size_t i = 0; i < symbol.len; i++)
        if (bpe->byte_id[(unsigned char)symbol.ptr[i]] == VOCAB_NONE)
            return false;
    for (size_t i = 0; i < symbol.len; i++)
        work->symbols[(*count)++].id = bpe->byte_id[(unsigned char)symbol.ptr[i]];
    return true;
}

/* As the reference does it: an unknown symbol waits until the next known one or the end. */
static size_t first_symbols(const struct bpe *bpe, struct sv word, struct bpe_work *work)
{
    size_t affixes = bpe->options.prefix.len + bpe->options.suffix.len;
    size_t need = word.len * (1 + affixes) + 1;
    if (work->symbol_cap < need) {
        work->symbol_cap = need < 256 ? 256 : need;
        work->symbols = mem_resize(work->symbols, work->symbol_cap, sizeof(*work->symbols));
    }
    size_t count = 0;
    bool waiting = false;
    size_t n;
    for (size_t at = 0; at < word.len; at += n) {
        uint32_t id = symbol_at(bpe, word, at, work, &n);
        if (id != VOCAB_NONE) {
            if (waiting)
                work->symbols[count++].id = bpe->options.unk_id;
            waiting = false;
            work->symbols[count++].id = id;
        } else if (byte_tokens(bpe, work, buf_sv(&work->text), &count)) {
            continue;
        } else if (bpe->options.unk_id != VOCAB_NONE) {
            if (waiting && !bpe->options.fuse_unk)
                work->symbols[count++].id = bpe->options.unk_id;
            waiting = true;
        }
    }
    if (waiting)
        work->symbols[count++].id = bpe->options.unk_id;
    return count;
}

void bpe_merge_word(const struct bpe *bpe, struct sv word, struct bpe_work *work,
                    struct token_ids *ids)
{
    if (bpe->options.ignore_merges) {
        uint32_t id = whole_word(bpe, word, work);
        if (id != VOCAB_NONE) {
            token_ids_add(ids, id);
            return;
        }
    }
    size_t n = first_symbols(bpe, word, work);
    n = n <= SMALL ? merge_small(bpe, work->symbols, n) : merge_long(bpe, work, n);
    for (size_t i = 0; i < n; i++)
        token_ids_add(ids, work->symbols[i].id);
}
