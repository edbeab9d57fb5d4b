/* Engine one.  Merging by rank has a property that makes a greedy search exact: when every merge ranks behind the merges
 * that made its parts, a sequence of tokens is the result of merging if and only if each token is the result of merging
 * its own bytes and each pair of neighbours is the result of merging the bytes of the two.  (The first merge across a
 * border between two tokens would happen in the pair alone as well, since up to then both sides develop on their own.)
 * So: take the longest token; if it cannot stand behind the one before, the next shorter; at a dead end step back, and
 * remember that no way leads on from there.  Every position is a dead end at most once: linear time.
 *
 * Can p and q be neighbours?  Going back in time, undo whichever of the two was made later, and see at every stage
 * whether the last symbol of p and the first of q would have been merged before their own merges took them away:
 *   merges  a+b=0  b+c=1  ab+c=2;  p = a, q = bc:  at first a|b c; merge 0 takes a+b before b+c happens: no.
 *
 * For each token only the merge that really makes it can ever happen, so the table of pairs has one entry a token. */
#include "tokenizer/bpe.h"

#include "base/alloc.h"
#include "tokenizer/bpe_pairs.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum {
    AHEAD = 12, /* merges */
    CANDIDATES = 16,
    SOME = 256, /* entries that are added together */
};

static void pair_add(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t made)
{
    uint64_t hash = bpe_pair_hash(bpe_pack(0, left, right));
    uint64_t bit = hash >> bpe->pair_bit_shift;
    size_t at = bpe_pair_slot(bpe, hash);
    while (bpe->pairs[at] != 0)
        at = at + 1 == bpe->pair_slots ? 0 : at + 1;
    bpe->pairs[at] = bpe_pair_tag(hash) | (made + 1);
    bpe->pair_bits[bit >> 6] |= (uint64_t)1 << (bit & 63);
}

static int compare_merges(const void *a, const void *b)
{
    const struct bpe_merge *x = a;
    const struct bpe_merge *y = b;
    if (x->left != y->left)
        return x->left < y->left ? -1 : 1;
    return (x->right > y->right) - (x->right < y->right);
}

static bool is_doubt(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    struct bpe_merge key = {.left = left, .right = right};
    return (bpe->doubtful[left] & BPE_DOUBT_LEFT) != 0 &&
           bsearch(&key, bpe->doubts, bpe->doubt_count, sizeof(key), compare_merges) != NULL;
}

/* A pair that may be a merge, and the time before which it must not happen. */
struct candidate {
    uint64_t pair;
    uint64_t hash;
    uint32_t before;
};

static bool one_happens(const struct bpe *bpe, const struct candidate *candidates, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bpe_pair_time(bpe, candidates[i].pair, candidates[i].hash) < candidates[i].before)
            return true;
    return false;
}

/* The way down is the same whatever the pairs say, so it is gone first, and pairs that the bits do not rule out are looked
 * up together: no branch waits for memory. */
enum bpe_verdict bpe_neighbours(const struct bpe *bpe, uint32_t p, uint32_t q, uint32_t end)
{
    struct candidate candidates[CANDIDATES + 1];
    size_t count = 0;
    enum bpe_verdict yes = BPE_YES;
    uint32_t p_gone = end; /* when a merge of its own side takes p away */
    uint32_t q_gone = end;
    uint64_t made_p = bpe->origins[p];
    uint64_t made_q = bpe->origins[q];
    for (;;) {
        struct candidate *c = &candidates[count];
        c->pair = bpe_pack(0, p, q);
        c->hash = bpe_pair_hash(c->pair);
        c->before = p_gone <= q_gone ? p_gone : q_gone + 1;
        __builtin_prefetch(&bpe->pairs[bpe_pair_slot(bpe, c->hash)]);
        count += bpe_pair_bit(bpe, c->hash);
        if (bpe->doubtful != NULL && is_doubt(bpe, p, q))
            yes = BPE_IN_DOUBT;
        uint32_t time_p = bpe_time(made_p);
        uint32_t time_q = bpe_time(made_q);
        if ((time_p | time_q) == 0)
            break;
        bool left = time_p > time_q;
        uint32_t part = left ? bpe_right(made_p) : bpe_left(made_q);
        uint64_t made = bpe->origins[part];
        p_gone = left ? time_p : p_gone;
        q_gone = left ? q_gone : time_q;
        p = left ? part : p;
        q = left ? q : part;
        made_p = left ? made : made_p;
        made_q = left ? made_q : made;
        if (count == CANDIDATES) {
            if (one_happens(bpe, candidates, count))
                return BPE_NO;
            count = 0;
        }
    }
    return one_happens(bpe, candidates, count) ? BPE_NO : yes;
}

/* ---- preparation ----------------------------------------------------------------------------------------------- */

static uint32_t byte_token(const struct bpe *bpe, unsigned byte)
{
    struct buf name = {0};
    if (!bpe->options.bytes)
        buf_add_fmt(&name, "<0x%02X>", byte);
    else if (bpe->vocab->raw_bytes)
        buf_add_char(&name, (char)byte);
    else
        utf8_add(&name, vocab_char_of((unsigned char)byte));
    uint32_t id = vocab_find(bpe->vocab, buf_sv(&name));
    buf_done(&name);
    return id;
}

void bpe_init(struct bpe *bpe, const struct vocab *vocab, const struct bpe_options *options)
{
    *bpe = (struct bpe){.vocab = vocab, .options = *options, .all_bytes = true};
    for (unsigned byte = 0; byte < 256; byte++) {
        bpe->byte_id[byte] = byte_token(bpe, byte);
        bpe->all_bytes = bpe->all_bytes && bpe->byte_id[byte] != VOCAB_NONE;
    }
}

void bpe_done(struct bpe *bpe)
{
    words_done(&bpe->words);
    bpe_merge_done(bpe);
    free(bpe->doubts);
    free(bpe->doubtful);
    free(bpe->merges);
    free(bpe->ranks);
    room_close(&bpe->room);
    *bpe = (struct bpe){0};
}

void bpe_reserve(struct bpe *bpe, size_t merges)
{
    if (merges > bpe->merge_cap) {
        bpe->merges = mem_resize(bpe->merges, merges, sizeof(*bpe->merges));
        bpe->merge_cap = merges;
        if (bpe->ranks != NULL)
            bpe->ranks = mem_resize(bpe->ranks, merges, sizeof(*bpe->ranks));
    }
}

/* The rule that held so far does not hold for the next one. */
static void list_ranks(struct bpe *bpe)
{
    if (bpe->rank_rule == BPE_RANK_LISTED)
        return;
    uint32_t *ranks = mem_resize(NULL, bpe->merge_cap, sizeof(*ranks));
    for (size_t i = 0; i < bpe->merge_count; i++)
        ranks[i] = bpe_merge_at(bpe, i).rank;
    bpe->ranks = ranks;
    bpe->rank_rule = BPE_RANK_LISTED;
}

void bpe_add_merge(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t made, uint32_t rank)
{
    size_t cap = bpe->merge_cap;
    if (bpe->merge_count == 0)
        bpe->rank_rule = rank == 0 ? BPE_RANK_INDEX : BPE_RANK_MADE;
    if (rank != (bpe->rank_rule == BPE_RANK_INDEX ? bpe->merge_count : made))
        list_ranks(bpe);
    MEM_GROW(bpe->merges, bpe->merge_count, bpe->merge_cap);
    if (bpe->rank_rule == BPE_RANK_LISTED) {
        if (cap != bpe->merge_cap)
            bpe->ranks = mem_resize(bpe->ranks, bpe->merge_cap, sizeof(*bpe->ranks));
        bpe->ranks[bpe->merge_count] = rank;
    }
    bpe->merges[bpe->merge_count++] = bpe_pack(left, right, made);
}

static bool is_symbol(const struct bpe *bpe, struct sv key)
{
    uint32_t cp;
    if (key.len == 0)
        return false;
    return bpe->options.bytes ? key.len == 1 : utf8_next(key.ptr, &cp) == key.len;
}

/* Bytes of an entry that words can have, else 0. */
static size_t entry_len(const struct bpe *bpe, uint32_t id)
{
    struct token token = bpe->vocab->tokens[id];
    if ((token.flags & (TOKEN_HERE | TOKEN_ADDED)) != TOKEN_HERE)
        return 0;
    /* Words are made of byte characters only: an entry with another one never matches. */
    if (bpe->options.bytes && !bpe->vocab->raw_bytes && (token.flags & TOKEN_SPELLED) == 0)
        return 0;
    return token.len;
}

static void prepare_tables(struct bpe *bpe)
{
    bpe->limit = bpe->vocab->limit;
    bpe->entries = 0;
    for (uint32_t id = 0; id < bpe->limit; id++)
        bpe->entries += entry_len(bpe, id) > 0;
    bpe->pair_slots = bpe->entries + bpe->entries / 2 + 8;
    bpe->pair_bit_shift = 64 - 10;
    while (((size_t)1 << (64 - bpe->pair_bit_shift)) < bpe->entries * 8)
        bpe->pair_bit_shift--;
    size_t bit_words = ((size_t)1 << (64 - bpe->pair_bit_shift)) / 64;
    room_open(&bpe->room, words_room(bpe->entries) +
                              room_size(bpe->limit + 1, sizeof(*bpe->origins)) +
                              room_size(bpe->pair_slots, sizeof(*bpe->pairs)) +
                              room_size(bit_words, sizeof(*bpe->pair_bits)));
    words_init(&bpe->words, bpe->vocab, bpe->entries, &bpe->room);
    bpe->origins = room_take(&bpe->room, bpe->limit + 1, sizeof(*bpe->origins));
    bpe->pairs = room_take(&bpe->room, bpe->pair_slots, sizeof(*bpe->pairs));
    bpe->pair_bits = room_take(&bpe->room, bit_words, sizeof(*bpe->pair_bits));
    for (uint32_t id = 0; id < bpe->limit; id++) {
        struct sv key = sv_make(bpe_key(bpe, id).ptr, entry_len(bpe, id));
        bool symbol = is_symbol(bpe, key) &&
                      (!bpe->options.bytes || bpe->byte_id[(unsigned char)key.ptr[0]] == id);
        bpe->origins[id] = symbol ? 0 : bpe_pack(BPE_NEVER, 0, 0);
    }
}

static void take_merge(struct bpe *bpe, const struct bpe_merge *m)
{
    bpe->origins[m->made] = bpe_pack(m->rank + 1, m->left, m->right);
    pair_add(bpe, m->left, m->right, m->made);
}

/* Asks for the memory that a merge will need soon: where its pair goes. */
static void fetch_place(const struct bpe *bpe, struct bpe_merge m)
{
    uint64_t hash = bpe_pair_hash(bpe_pack(0, m.left, m.right));
    __builtin_prefetch(&bpe->pairs[bpe_pair_slot(bpe, hash)]);
    __builtin_prefetch(&bpe->pair_bits[hash >> bpe->pair_bit_shift >> 6]);
}

/* What it is proven with as well. */
static void fetch(const struct bpe *bpe, struct bpe_merge m)
{
    __builtin_prefetch(&bpe->origins[m.left]);
    __builtin_prefetch(&bpe->origins[m.right]);
    fetch_place(bpe, m);
}

/* Finds the merge that makes each token.  False when the merges are not of the kind that engine one can do. */
static bool prove(struct bpe *bpe)
{
    for (size_t i = 0; i < bpe->merge_count; i++) {
        struct bpe_merge merge = bpe_merge_at(bpe, i);
        const struct bpe_merge *m = &merge;
        uint64_t made = bpe->origins[m->made];
        if (i + AHEAD < bpe->merge_count)
            fetch(bpe, bpe_merge_at(bpe, i + AHEAD));
        if (bpe_time(made) != BPE_NEVER) {
            if (bpe_time(made) == 0 || (bpe_left(made) == m->left && bpe_right(made) == m->right))
                return false;
            continue;
        }
        if (bpe_time(bpe->origins[m->left]) > m->rank || bpe_time(bpe->origins[m->right]) > m->rank)
            continue;
        if (bpe_neighbours(bpe, m->left, m->right, BPE_NEVER) != BPE_NO)
            take_merge(bpe, m);
    }
    return true;
}

/* Does a doubtful merge happen inside of what m makes?  At the border of its parts stand last parts of the left and first
 * parts of the right one: few have both of a doubt. */
static void inside(struct bpe *bpe, const struct bpe_merge *m)
{
    unsigned left = bpe->doubtful[m->left];
    unsigned right = bpe->doubtful[m->right];
    unsigned made = (left & BPE_DOUBT_HEAD) | (right & BPE_DOUBT_TAIL);
    bool border = (left & BPE_DOUBT_TAIL) != 0 && (right & BPE_DOUBT_HEAD) != 0;
    if (((left | right) & BPE_DOUBT_INSIDE) != 0 ||
        (border && bpe_neighbours(bpe, m->left, m->right, m->rank + 1) == BPE_IN_DOUBT))
        made |= BPE_DOUBT_INSIDE;
    bpe->doubtful[m->made] |= (uint8_t)made;
}

/* A merge whose parts come to be after its rank happens at another time than its rank says, unless the whole has been made
 * before that.  Some vocabularies have a few of these, for tokens that are never made otherwise.  Words where such a merge
 * could happen, that is where its parts ever stand side by side, are left to engine two. */
static void find_doubts(struct bpe *bpe)
{
    size_t cap = 0;
    for (size_t i = 0; i < bpe->merge_count; i++) {
        struct bpe_merge merge = bpe_merge_at(bpe, i);
        const struct bpe_merge *m = &merge;
        uint32_t left = bpe_time(bpe->origins[m->left]);
        uint32_t right = bpe_time(bpe->origins[m->right]);
        uint32_t both = left > right ? left : right;
        if (both == BPE_NEVER || both <= m->rank || both >= bpe_time(bpe->origins[m->made]))
            continue;
        MEM_GROW(bpe->doubts, bpe->doubt_count, cap);
        bpe->doubts[bpe->doubt_count++] = *m;
    }
    if (bpe->doubt_count == 0)
        return;
    qsort(bpe->doubts, bpe->doubt_count, sizeof(*bpe->doubts), compare_merges);
    bpe->doubtful = mem_array(bpe->limit + 1, sizeof(*bpe->doubtful));
    for (size_t i = 0; i < bpe->doubt_count; i++) {
        bpe->doubtful[bpe->doubts[i].left] |= BPE_DOUBT_LEFT | BPE_DOUBT_TAIL;
        bpe->doubtful[bpe->doubts[i].right] |= BPE_DOUBT_HEAD;
    }
    for (size_t i = 0; i < bpe->merge_count; i++) {
        struct bpe_merge merge = bpe_merge_at(bpe, i);
        const struct bpe_merge *m = &merge;
        if (bpe->origins[m->made] == bpe_pack(m->rank + 1, m->left, m->right))
            inside(bpe, m);
    }
}

static void build_words(struct bpe *bpe)
{
    struct words_entry some[SOME];
    size_t count = 0;
    for (uint32_t id = 0; id < bpe->limit; id++) {
        bool made = bpe_time(bpe->origins[id]) != BPE_NEVER;
        if ((!made && !bpe->options.ignore_merges) || entry_len(bpe, id) == 0)
            continue;
        bool doubt = made && bpe->doubtful != NULL && !bpe->options.ignore_merges &&
                     (bpe->doubtful[id] & BPE_DOUBT_INSIDE) != 0;
        some[count++] =
            (struct words_entry){id, (made ? 0 : WORDS_WHOLE) | (doubt ? WORDS_SLOW : 0)};
        if (count == SOME) {
            words_add(&bpe->words, some, count);
            count = 0;
        }
    }
    words_add(&bpe->words, some, count);
}

static void drop_merges(struct bpe *bpe)
{
    free(bpe->merges);
    free(bpe->ranks);
    bpe->merges = NULL;
    bpe->ranks = NULL;
    bpe->merge_count = 0;
    bpe->merge_cap = 0;
}

/* Engine two alone needs none of them. */
static void drop_tables(struct bpe *bpe)
{
    words_done(&bpe->words);
    room_close(&bpe->room);
    bpe->origins = NULL;
    bpe->pairs = NULL;
    bpe->pair_bits = NULL;
}

void bpe_finish(struct bpe *bpe)
{
    if (bpe->options.prefix.len == 0 && bpe->options.suffix.len == 0 &&
        !bpe->options.always_merge && bpe->merge_count < BPE_NEVER) {
        prepare_tables(bpe);
        bpe->proven = prove(bpe);
        if (!bpe->proven)
            drop_tables(bpe);
    }
    if (bpe->proven) {
        find_doubts(bpe);
        build_words(bpe);
    }
    bool never_unknown = bpe->all_bytes && (bpe->options.bytes || bpe->options.byte_fallback);
    if (bpe->proven && never_unknown && bpe->doubtful == NULL)
        drop_merges(bpe);
    else
        bpe_merge_prepare(bpe);
}

void bpe_start_proven(struct bpe *bpe)
{
    prepare_tables(bpe);
}

void bpe_take_proven(struct bpe *bpe, const struct bpe_merge *merges, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fetch_place(bpe, merges[i]);
    for (size_t i = 0; i < count; i++)
        take_merge(bpe, &merges[i]);
}

void bpe_finish_proven(struct bpe *bpe)
{
    build_words(bpe);
    bpe->proven = true;
}
