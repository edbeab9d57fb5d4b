/* Encoding by engine one (bpe.c has the idea): the longest token, if it can stand behind the one before; else the next
 * shorter one; at a dead end a step back. */
#include "tokenizer/bpe.h"

#include "base/alloc.h"
#include "tokenizer/bpe_pairs.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum {
    CACHE_SIZE = 1 << 15,
    CACHE_SHIFT = 64 - 15,
    CACHE_WORD = 16,
    CACHE_IDS = 3,
    SEEK_WORD = 32, /* bytes of a word that is looked into together with others */
};

/* A word seen before and its ids, half a cache line. */
struct bpe_cached {
    struct words_part word; /* zero-padded */
    uint8_t len;
    uint8_t count;
    uint32_t ids[CACHE_IDS];
};

enum seek_state { SEEK_OPEN, SEEK_DONE, SEEK_FAILED };

/* The search in one word, so far. */
struct bpe_seek {
    const char *ptr;
    uint32_t len;
    enum seek_state state;
    uint32_t last;            /* the token in front, VOCAB_NONE at the start */
    uint32_t meta;            /* the candidate, 0: none */
    uint32_t at;              /* bytes done */
    struct words_probe probe; /* for the next candidate */
    uint32_t found;           /* bytes of the candidate */
    uint32_t count;
    uint64_t open;            /* positions from where the end may be reached */
    struct words_part word;   /* as in the cache */
    struct bpe_cached *place; /* NULL: not for the cache */
    bool cached;              /* the ids come from there */
    uint32_t ids[SEEK_WORD];
};

static inline void ids_room(struct token_ids *ids, size_t more)
{
    if (ids->cap - ids->count < more) {
        size_t cap = ids->cap + ids->cap / 2 + more;
        ids->items = mem_resize(ids->items, cap, sizeof(*ids->items));
        ids->cap = cap;
    }
}

void token_ids_reserve(struct token_ids *ids, size_t more)
{
    ids_room(ids, more);
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
            enum bpe_verdict v = BPE_NO;
            if ((open[end >> 6] >> (end & 63) & 1) != 0)
                v = last == VOCAB_NONE ? BPE_YES : bpe_neighbours(bpe, last, token, BPE_NEVER);
            if (v != BPE_NO) {
                if (v == BPE_IN_DOUBT ||
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
                len = vocab_kept(bpe->vocab, last).len;
                at -= len;
                last = at == start ? VOCAB_NONE : ids->items[ids->count - 1];
                meta = words_longest(&bpe->words, word.ptr + at, len - 1, readable, &len);
            }
        }
    }
    return true;
}

/* ---- many words at once ----------------------------------------------------------------------------------------- */

static void seek_to(const struct bpe *bpe, struct bpe_seek *s, uint32_t at, uint32_t most,
                    const char *readable)
{
    s->at = at;
    words_probe_start(&bpe->words, &s->probe, s->ptr + at, most, readable);
}

/* Nothing leads on from here: the token in front gives way to the next shorter one. */
static void seek_back(const struct bpe *bpe, struct bpe_seek *s, const char *readable)
{
    if (s->count == 0) {
        s->state = SEEK_FAILED;
        return;
    }
    s->open &= ~((uint64_t)1 << s->at);
    uint32_t len = vocab_kept(bpe->vocab, s->ids[--s->count]).len;
    s->last = s->count > 0 ? s->ids[s->count - 1] : VOCAB_NONE;
    seek_to(bpe, s, s->at - len, len - 1, readable);
}

static void seek_find(const struct bpe *bpe, struct bpe_seek *s, const char *readable)
{
    size_t len = 0;
    s->meta = words_probe_end(&bpe->words, &s->probe, &len);
    s->found = (uint32_t)len;
    if (s->meta == 0)
        seek_back(bpe, s, readable);
    else
        __builtin_prefetch(&bpe->origins[words_id(s->meta)]);
}

/* Asks for the parts of the two tokens that are about to be judged. */
static void seek_fetch(const struct bpe *bpe, const struct bpe_seek *s)
{
    if (s->last == VOCAB_NONE || s->meta == 0)
        return;
    __builtin_prefetch(&bpe->origins[bpe_right(bpe->origins[s->last])]);
    __builtin_prefetch(&bpe->origins[bpe_left(bpe->origins[words_id(s->meta)])]);
}

static void seek_judge(const struct bpe *bpe, struct bpe_seek *s, const char *readable)
{
    uint32_t token = words_id(s->meta);
    uint32_t end = s->at + s->found;
    enum bpe_verdict v = BPE_NO;
    if ((s->open >> end & 1) != 0)
        v = s->last == VOCAB_NONE ? BPE_YES : bpe_neighbours(bpe, s->last, token, BPE_NEVER);
    if (v == BPE_NO) {
        seek_to(bpe, s, s->at, s->found - 1, readable);
        return;
    }
    if (v == BPE_IN_DOUBT ||
        (bpe->doubtful != NULL && (bpe->doubtful[token] & BPE_DOUBT_INSIDE) != 0)) {
        s->state = SEEK_FAILED;
        return;
    }
    s->ids[s->count++] = token;
    s->last = token;
    if (end == s->len)
        s->state = SEEK_DONE;
    else
        seek_to(bpe, s, end, s->len - end, readable);
}

/* Looks the word up in the cache, which may hold another one at its place. */
static void seek_in_cache(struct bpe_seek *s)
{
    const struct bpe_cached *c = s->place;
    if (c == NULL || c->len != s->len || c->word.low != s->word.low || c->word.high != s->word.high)
        return;
    s->count = c->count;
    memcpy(s->ids, c->ids, sizeof(c->ids));
    s->state = SEEK_DONE;
    s->cached = true;
}

/* All of them in turn, one step each: while one waits for memory the others go on. */
static void seek_all(const struct bpe *bpe, struct bpe_seek *seeks, size_t count,
                     const char *readable)
{
    uint8_t open[BPE_BATCH];
    size_t left = 0;
    for (size_t i = 0; i < count; i++) {
        seek_in_cache(&seeks[i]);
        if (seeks[i].state != SEEK_OPEN)
            continue;
        seek_to(bpe, &seeks[i], 0, seeks[i].len, readable);
        open[left++] = (uint8_t)i;
    }
    while (left > 0) {
        size_t kept = 0;
        for (size_t i = 0; i < left; i++)
            seek_find(bpe, &seeks[open[i]], readable);
        for (size_t i = 0; i < left; i++)
            seek_fetch(bpe, &seeks[open[i]]);
        for (size_t i = 0; i < left; i++) {
            struct bpe_seek *s = &seeks[open[i]];
            if (s->state == SEEK_OPEN && s->meta != 0)
                seek_judge(bpe, s, readable);
            if (s->state == SEEK_OPEN)
                open[kept++] = open[i];
        }
        left = kept;
    }
}

static void keep(const struct bpe_seek *s, const uint32_t *ids, size_t count)
{
    struct bpe_cached *c = s->place;
    if (c == NULL || count > CACHE_IDS)
        return;
    c->word = s->word;
    c->len = (uint8_t)s->len;
    c->count = (uint8_t)count;
    for (size_t i = 0; i < count; i++)
        c->ids[i] = ids[i];
}

static void seek_start(struct bpe_seek *s, struct sv word, struct bpe_work *work,
                       const char *readable)
{
    s->ptr = word.ptr;
    s->len = (uint32_t)word.len;
    s->state = SEEK_OPEN;
    s->last = VOCAB_NONE;
    s->count = 0;
    s->open = UINT64_MAX;
    s->place = NULL;
    s->cached = false;
    if (word.len > SEEK_WORD) {
        s->state = SEEK_FAILED;
        return;
    }
    if (word.len <= CACHE_WORD) {
        s->word = words_cut(words_load(s->ptr, readable), s->len);
        s->place = &work->cache[words_mix(s->word.low, s->word.high + s->len) >> CACHE_SHIFT];
        __builtin_prefetch(s->place);
    }
}

static void work_init(struct bpe_work *work)
{
    if (work->cache == NULL) {
        work->cache = mem_array(CACHE_SIZE, sizeof(*work->cache));
        work->seeks = mem_array(BPE_BATCH, sizeof(*work->seeks));
    }
}

/* Words that are too long to stand in a row, that hold characters which are no tokens, or that are engine two's. */
static void add_alone(const struct bpe *bpe, const struct bpe_seek *s, const char *readable,
                      struct bpe_work *work, struct token_ids *ids)
{
    struct sv word = sv_make(s->ptr, s->len);
    size_t before = ids->count;
    if (!bpe->proven || !search(bpe, word, readable, work, ids)) {
        ids->count = before;
        bpe_merge_word(bpe, word, work, ids);
    }
    keep(s, ids->items + before, ids->count - before);
}

static void add_sought(const struct bpe *bpe, const struct bpe_seek *s, const char *readable,
                       struct bpe_work *work, struct token_ids *ids)
{
    if (s->state != SEEK_DONE) {
        add_alone(bpe, s, readable, work, ids);
        return;
    }
    ids_room(ids, s->count);
    for (uint32_t i = 0; i < s->count; i++)
        ids->items[ids->count + i] = s->ids[i];
    ids->count += s->count;
    if (!s->cached)
        keep(s, s->ids, s->count);
}

void bpe_encode_row(const struct bpe *bpe, const char *at, const char *const *ends, size_t count,
                    const char *end, struct bpe_work *work, struct token_ids *ids)
{
    struct words_key keys[BPE_BATCH];
    uint32_t metas[BPE_BATCH];
    const char *start = at;
    size_t sought = 0;
    work_init(work);
    for (size_t i = 0; i < count; start = ends[i++]) {
        keys[i] = words_key(&bpe->words, sv_make(start, (size_t)(ends[i] - start)), end);
        words_prefetch(&bpe->words, &keys[i]);
    }
    start = at;
    for (size_t i = 0; i < count; start = ends[i++]) {
        struct sv word = sv_make(start, (size_t)(ends[i] - start));
        uint32_t meta = words_find(&bpe->words, &keys[i], word);
        metas[i] = meta != 0 && (meta & WORDS_SLOW) == 0 ? meta : 0;
        if (metas[i] == 0)
            seek_start(&work->seeks[sought++], word, work, end);
    }
    seek_all(bpe, work->seeks, sought, end);
    sought = 0;
    for (size_t i = 0; i < count; i++) {
        ids_room(ids, 1);
        if (metas[i] != 0)
            ids->items[ids->count++] = words_id(metas[i]);
        else
            add_sought(bpe, &work->seeks[sought++], end, work, ids);
    }
}

void bpe_encode(const struct bpe *bpe, struct sv word, struct bpe_work *work, struct token_ids *ids)
{
    const char *end = word.ptr + word.len;
    if (word.len == 0)
        return;
    if (bpe->proven) {
        bpe_encode_row(bpe, word.ptr, &end, 1, end, work, ids);
        return;
    }
    work_init(work);
    seek_start(&work->seeks[0], word, work, end);
    seek_in_cache(&work->seeks[0]);
    add_sought(bpe, &work->seeks[0], end, work, ids);
}

void bpe_work_done(struct bpe_work *work)
{
    free(work->symbols);
    free(work->heap);
    free(work->cache);
    free(work->open);
    free(work->seeks);
    buf_done(&work->text);
    *work = (struct bpe_work){0};
}
