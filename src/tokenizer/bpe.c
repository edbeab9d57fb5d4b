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
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum {
    CACHE_SIZE = 1 << 14,
    CACHE_WORD = 31,
    CACHE_IDS = 7,
    ID_BITS = 21,
    AHEAD = 12, /* merges */
};

#define ID_MASK  (((uint32_t)1 << ID_BITS) - 1)
#define TAG_MASK (~ID_MASK)

/* A word and its ids, one cache line. */
struct bpe_cached {
    union {
        unsigned char bytes[CACHE_WORD + 1]; /* length, then the word, zero-padded */
        uint64_t words[4];
    } key;
    uint32_t count;
    uint32_t ids[CACHE_IDS];
};

static uint64_t pair_hash(uint32_t left, uint32_t right)
{
    return ((uint64_t)left << ID_BITS | right) * 0x9E3779B97F4A7C15u;
}

/* Bits of the hash that do not choose the slot. */
static uint32_t tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 20 & 0x7FF) << ID_BITS;
}

/* What left and right make, or VOCAB_NONE. */
static inline uint32_t pair_find(const struct bpe *bpe, uint32_t left, uint32_t right)
{
    uint64_t hash = pair_hash(left, right);
    uint32_t tag = tag_of(hash);
    size_t bit = (size_t)(hash >> (bpe->pair_shift - 2));
    if ((bpe->pair_bits[bit >> 6] >> (bit & 63) & 1) == 0)
        return VOCAB_NONE;
    size_t mask = ((size_t)1 << (64 - bpe->pair_shift)) - 1;
    for (size_t at = (size_t)(hash >> bpe->pair_shift);; at = (at + 1) & mask) {
        uint32_t slot = bpe->pairs[at];
        if (slot == UINT32_MAX)
            return VOCAB_NONE;
        if ((slot & TAG_MASK) != tag)
            continue;
        uint32_t made = slot & ID_MASK;
        if (bpe->origins[made].left == left && bpe->origins[made].right == right)
            return made;
    }
}

static void pair_add(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t made)
{
    uint64_t hash = pair_hash(left, right);
    size_t mask = ((size_t)1 << (64 - bpe->pair_shift)) - 1;
    size_t at = (size_t)(hash >> bpe->pair_shift);
    while (bpe->pairs[at] != UINT32_MAX)
        at = (at + 1) & mask;
    bpe->pairs[at] = tag_of(hash) | made;
    size_t bit = (size_t)(hash >> (bpe->pair_shift - 2));
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

enum verdict { VERDICT_NO, VERDICT_YES, VERDICT_DOUBT };

/* Can merging leave p and q side by side until the time `end`? */
static enum verdict neighbours(const struct bpe *bpe, uint32_t p, uint32_t q, uint32_t end)
{
    uint32_t p_gone = end; /* when a merge of its own side takes p away */
    uint32_t q_gone = end;
    enum verdict yes = VERDICT_YES;
    for (;;) {
        uint32_t made = pair_find(bpe, p, q);
        if (made != VOCAB_NONE) {
            uint32_t time = bpe->origins[made].time;
            if (time < p_gone && time <= q_gone)
                return VERDICT_NO;
        }
        if (bpe->doubtful != NULL && is_doubt(bpe, p, q))
            yes = VERDICT_DOUBT;
        const struct bpe_origin *op = &bpe->origins[p];
        const struct bpe_origin *oq = &bpe->origins[q];
        if (op->time > oq->time) {
            p_gone = op->time;
            p = op->right;
        } else {
            if (oq->time == 0)
                return yes;
            q_gone = oq->time;
            q = oq->left;
        }
    }
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
    free(bpe->origins);
    free(bpe->lengths);
    free(bpe->pairs);
    free(bpe->pair_bits);
    free(bpe->doubts);
    free(bpe->doubtful);
    free(bpe->merges);
    *bpe = (struct bpe){0};
}

void bpe_reserve(struct bpe *bpe, size_t merges)
{
    if (merges > bpe->merge_cap) {
        bpe->merges = mem_resize(bpe->merges, merges, sizeof(*bpe->merges));
        bpe->merge_cap = merges;
    }
}

void bpe_add_merge(struct bpe *bpe, uint32_t left, uint32_t right, uint32_t made, uint32_t rank)
{
    MEM_GROW(bpe->merges, bpe->merge_count, bpe->merge_cap);
    bpe->merges[bpe->merge_count++] = (struct bpe_merge){left, right, made, rank};
}

static bool is_symbol(const struct bpe *bpe, struct sv key)
{
    uint32_t cp;
    if (key.len == 0)
        return false;
    return bpe->options.bytes ? key.len == 1 : utf8_next(key.ptr, &cp) == key.len;
}

static void prepare_origins(struct bpe *bpe)
{
    bpe->limit = bpe->vocab->limit;
    bpe->origins = mem_array(bpe->limit + 1, sizeof(*bpe->origins));
    bpe->lengths = mem_array(bpe->limit + 1, sizeof(*bpe->lengths));
    for (uint32_t id = 0; id < bpe->limit; id++) {
        struct bpe_origin *o = &bpe->origins[id];
        *o = (struct bpe_origin){BPE_NEVER, VOCAB_NONE, VOCAB_NONE};
        unsigned flags = bpe->vocab->tokens[id].flags;
        if ((flags & (TOKEN_HERE | TOKEN_ADDED)) != TOKEN_HERE)
            continue;
        struct sv key = bpe_key(bpe, id);
        /* Words are made of byte characters only: an entry with another one never matches. */
        if (bpe->options.bytes && !bpe->vocab->raw_bytes && (flags & TOKEN_SPELLED) == 0)
            continue;
        bpe->lengths[id] = (uint16_t)key.len;
        if (is_symbol(bpe, key) &&
            (!bpe->options.bytes || bpe->byte_id[(unsigned char)key.ptr[0]] == id))
            o->time = 0;
    }
    bpe->pair_shift = 64 - 10;
    while (((size_t)1 << (64 - bpe->pair_shift)) < (size_t)bpe->limit * 2)
        bpe->pair_shift--;
    size_t size = (size_t)1 << (64 - bpe->pair_shift);
    bpe->pairs = mem_alloc(size * sizeof(*bpe->pairs));
    memset(bpe->pairs, 0xFF, size * sizeof(*bpe->pairs));
    bpe->pair_bits = mem_array(size / 16, sizeof(*bpe->pair_bits)); /* four bits a slot */
}

static void take_merge(struct bpe *bpe, const struct bpe_merge *m)
{
    bpe->origins[m->made] = (struct bpe_origin){m->rank + 1, m->left, m->right};
    pair_add(bpe, m->left, m->right, m->made);
}

/* Asks for the memory that a merge will need soon. */
static void fetch(const struct bpe *bpe, const struct bpe_merge *m)
{
    __builtin_prefetch(&bpe->origins[m->left]);
    __builtin_prefetch(&bpe->origins[m->right]);
    uint64_t hash = pair_hash(m->left, m->right);
    __builtin_prefetch(&bpe->pairs[hash >> bpe->pair_shift]);
    __builtin_prefetch(&bpe->pair_bits[hash >> (bpe->pair_shift - 2) >> 6]);
}

/* Finds the merge that makes each token.  False when the merges are not of the kind that engine one can do. */
static bool prove(struct bpe *bpe)
{
    for (size_t i = 0; i < bpe->merge_count; i++) {
        const struct bpe_merge *m = &bpe->merges[i];
        const struct bpe_origin *made = &bpe->origins[m->made];
        if (i + AHEAD < bpe->merge_count)
            fetch(bpe, &m[AHEAD]);
        if (made->time != BPE_NEVER) {
            if (made->time == 0 || (made->left == m->left && made->right == m->right))
                return false;
            continue;
        }
        if (bpe->origins[m->left].time > m->rank || bpe->origins[m->right].time > m->rank)
            continue;
        if (neighbours(bpe, m->left, m->right, BPE_NEVER) != VERDICT_NO)
            take_merge(bpe, m);
    }
    return true;
}

/* Does a doubtful merge happen inside of what m makes? */
static void inside(struct bpe *bpe, const struct bpe_merge *m)
{
    bool parts = ((bpe->doubtful[m->left] | bpe->doubtful[m->right]) & BPE_DOUBT_INSIDE) != 0;
    if (parts || neighbours(bpe, m->left, m->right, m->rank + 1) == VERDICT_DOUBT)
        bpe->doubtful[m->made] |= BPE_DOUBT_INSIDE;
}

/* A merge whose parts come to be after its rank happens at another time than its rank says, unless the whole has been made
 * before that.  Some vocabularies have a few of these, for tokens that are never made otherwise.  Words where such a merge
 * could happen, that is where its parts ever stand side by side, are left to engine two. */
static void find_doubts(struct bpe *bpe)
{
    size_t cap = 0;
    for (size_t i = 0; i < bpe->merge_count; i++) {
        const struct bpe_merge *m = &bpe->merges[i];
        uint32_t left = bpe->origins[m->left].time;
        uint32_t right = bpe->origins[m->right].time;
        uint32_t both = left > right ? left : right;
        if (both == BPE_NEVER || both <= m->rank || both >= bpe->origins[m->made].time)
            continue;
        MEM_GROW(bpe->doubts, bpe->doubt_count, cap);
        bpe->doubts[bpe->doubt_count++] = *m;
    }
    if (bpe->doubt_count == 0)
        return;
    qsort(bpe->doubts, bpe->doubt_count, sizeof(*bpe->doubts), compare_merges);
    bpe->doubtful = mem_array(bpe->limit + 1, sizeof(*bpe->doubtful));
    for (size_t i = 0; i < bpe->doubt_count; i++)
        bpe->doubtful[bpe->doubts[i].left] |= BPE_DOUBT_LEFT;
    for (size_t i = 0; i < bpe->merge_count; i++) {
        const struct bpe_merge *m = &bpe->merges[i];
        if (bpe->origins[m->made].time == m->rank + 1 && bpe->origins[m->made].left == m->left &&
            bpe->origins[m->made].right == m->right)
            inside(bpe, m);
    }
}

static void build_words(struct bpe *bpe)
{
    size_t count = 0;
    for (uint32_t id = 0; id < bpe->limit; id++)
        count += bpe->lengths[id] > 0;
    words_init(&bpe->words, bpe->vocab, count);
    struct words_entry *entries = mem_alloc((count + 1) * sizeof(*entries));
    size_t kept = 0;
    for (uint32_t id = 0; id < bpe->limit; id++) {
        bool made = bpe->origins[id].time != BPE_NEVER;
        if (bpe->lengths[id] == 0 || (!made && !bpe->options.ignore_merges))
            continue;
        bool doubt = made && bpe->doubtful != NULL && !bpe->options.ignore_merges &&
                     (bpe->doubtful[id] & BPE_DOUBT_INSIDE) != 0;
        entries[kept++] =
            (struct words_entry){id, (made ? 0 : WORDS_WHOLE) | (doubt ? WORDS_SLOW : 0)};
    }
    words_add(&bpe->words, entries, kept);
    free(entries);
}

static void drop_merges(struct bpe *bpe)
{
    free(bpe->merges);
    bpe->merges = NULL;
    bpe->merge_count = 0;
    bpe->merge_cap = 0;
}

void bpe_finish(struct bpe *bpe)
{
    prepare_origins(bpe);
    bpe->proven = bpe->options.prefix.len == 0 && bpe->options.suffix.len == 0 &&
                  !bpe->options.always_merge && prove(bpe);
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

void bpe_finish_proven(struct bpe *bpe)
{
    prepare_origins(bpe);
    for (size_t i = 0; i < bpe->merge_count; i++) {
        if (i + AHEAD < bpe->merge_count)
            fetch(bpe, &bpe->merges[i + AHEAD]);
        take_merge(bpe, &bpe->merges[i]);
    }
    build_words(bpe);
    bpe->proven = true;
    drop_merges(bpe);
}

/* ---- encoding -------------------------------------------------------------------------------------------------- */

static void ids_room(struct token_ids *ids, size_t more)
{
    if (ids->cap - ids->count < more) {
        size_t cap = ids->cap + ids->cap / 2 + more;
        ids->items = mem_resize(ids->items, cap, sizeof(*ids->items));
        ids->cap = cap;
    }
}

void token_ids_add(struct token_ids *ids, uint32_t id)
{
    ids_room(ids, 1);
    ids->items[ids->count++] = id;
}

/* All positions are open until a dead end is met. */
static uint64_t *open_positions(struct bpe_work *work, size_t len)
{
    size_t words = len / 64 + 1;
    if (work->open_cap < words) {
        work->open_cap = words < 16 ? 16 : words;
        work->open = mem_resize(work->open, work->open_cap, sizeof(*work->open));
    }
    memset(work->open, 0xFF, words * sizeof(*work->open));
    return work->open;
}

/* Bytes of the character at `at` that is no token; appends its byte tokens.  0 when they are not to be used. */
static size_t fall_back(const struct bpe *bpe, struct sv word, size_t at, struct token_ids *ids)
{
    uint32_t cp;
    if (bpe->options.bytes || !bpe->options.byte_fallback)
        return 0;
    size_t n = utf8_next(word.ptr + at, &cp);
    for (size_t i = 0; i < n; i++)
        if (bpe->byte_id[(unsigned char)word.ptr[at + i]] == VOCAB_NONE)
            return 0;
    for (size_t i = 0; i < n; i++)
        token_ids_add(ids, bpe->byte_id[(unsigned char)word.ptr[at + i]]);
    return n;
}

/* The general case: several tokens.  False when the word holds a character that only engine two can deal with. */
static bool search(const struct bpe *bpe, struct sv word, const char *readable,
                   struct bpe_work *work, struct token_ids *ids)
{
    uint64_t *open = open_positions(work, word.len);
    uint32_t last = VOCAB_NONE;
    size_t at = 0;
    size_t start = 0; /* nothing in front of it matters: the word's start, the end of byte tokens */
    while (at < word.len) {
        size_t len;
        uint32_t meta = words_longest(&bpe->words, word.ptr + at, word.len - at, readable, &len);
        if (meta == 0) {
            size_t n = fall_back(bpe, word, at, ids);
            if (n == 0)
                return false;
            at += n;
            start = at;
            last = VOCAB_NONE;
            continue;
        }
        for (;;) {
            uint32_t token = words_id(meta);
            size_t end = at + len;
            enum verdict v = VERDICT_NO;
            if ((open[end >> 6] >> (end & 63) & 1) != 0)
                v = last == VOCAB_NONE ? VERDICT_YES : neighbours(bpe, last, token, BPE_NEVER);
            if (v != VERDICT_NO) {
                if (v == VERDICT_DOUBT ||
                    (bpe->doubtful != NULL && (bpe->doubtful[token] & BPE_DOUBT_INSIDE) != 0))
                    return false;
                token_ids_add(ids, token);
                last = token;
                at = end;
                break;
            }
            meta = words_longest(&bpe->words, word.ptr + at, len - 1, readable, &len);
            while (meta == 0) { /* nothing leads on from here */
                if (last == VOCAB_NONE)
                    return false;
                open[at >> 6] &= ~((uint64_t)1 << (at & 63));
                ids->count--;
                len = bpe->lengths[last];
                at -= len;
                last = at == start ? VOCAB_NONE : ids->items[ids->count - 1];
                meta = words_longest(&bpe->words, word.ptr + at, len - 1, readable, &len);
            }
        }
    }
    return true;
}

/* The place of a word in the cache, which may hold another one; *key is filled. */
static struct bpe_cached *cache_place(struct bpe_work *work, struct sv word, struct bpe_cached *key)
{
    key->key.bytes[0] = (unsigned char)word.len;
    memcpy(key->key.bytes + 1, word.ptr, word.len);
    uint64_t h = 0;
    for (size_t i = 0; i < 4; i++) {
        h = (h ^ key->key.words[i]) * 0x9E3779B97F4A7C15u;
        h ^= h >> 32;
    }
    return &work->cache[h & (CACHE_SIZE - 1)];
}

/* Several tokens, or a word that only engine two can deal with. */
static void encode_parts(const struct bpe *bpe, struct sv word, const char *readable,
                         struct bpe_work *work, struct token_ids *ids)
{
    size_t before = ids->count;
    if (bpe->proven && search(bpe, word, readable, work, ids))
        return;
    ids->count = before;
    bpe_merge_word(bpe, word, work, ids);
}

/* The same for a word that may have been seen before. */
static void encode_cached(const struct bpe *bpe, struct sv word, const char *readable,
                          struct bpe_work *work, struct token_ids *ids)
{
    if (work->cache == NULL)
        work->cache = mem_array(CACHE_SIZE, sizeof(*work->cache));
    if (word.len > CACHE_WORD) {
        encode_parts(bpe, word, readable, work, ids);
        return;
    }
    struct bpe_cached seen = {0};
    struct bpe_cached *place = cache_place(work, word, &seen);
    if (memcmp(&place->key, &seen.key, sizeof(seen.key)) == 0) {
        ids_room(ids, CACHE_IDS);
        for (uint32_t i = 0; i < place->count; i++)
            ids->items[ids->count + i] = place->ids[i];
        ids->count += place->count;
        return;
    }
    size_t before = ids->count;
    encode_parts(bpe, word, readable, work, ids);
    if (ids->count - before > CACHE_IDS)
        return;
    seen.count = (uint32_t)(ids->count - before);
    for (uint32_t i = 0; i < seen.count; i++)
        seen.ids[i] = ids->items[before + i];
    *place = seen;
}

void bpe_encode(const struct bpe *bpe, struct sv word, struct bpe_work *work, struct token_ids *ids)
{
    const char *end = word.ptr + word.len;
    if (word.len > 0)
        bpe_encode_row(bpe, word.ptr, &end, 1, end, work, ids);
}

void bpe_encode_row(const struct bpe *bpe, const char *at, const char *const *ends, size_t count,
                    const char *end, struct bpe_work *work, struct token_ids *ids)
{
    struct words_key keys[BPE_BATCH];
    const char *start = at;
    if (bpe->proven)
        for (size_t i = 0; i < count; i++) {
            keys[i] = words_key(&bpe->words, sv_make(start, (size_t)(ends[i] - start)), end);
            words_prefetch(&bpe->words, &keys[i]);
            start = ends[i];
        }
    ids_room(ids, count);
    for (size_t i = 0; i < count; i++) {
        struct sv word = sv_make(at, (size_t)(ends[i] - at));
        uint32_t meta = bpe->proven ? words_find(&bpe->words, &keys[i], word) : 0;
        if (meta != 0 && (meta & WORDS_SLOW) == 0)
            token_ids_add(ids, words_id(meta));
        else
            encode_cached(bpe, word, end, work, ids);
        at = ends[i];
    }
}

void bpe_work_done(struct bpe_work *work)
{
    free(work->symbols);
    free(work->heap);
    free(work->cache);
    free(work->open);
    buf_done(&work->text);
    *work = (struct bpe_work){0};
}
