/* Viterbi over byte positions: nodes[end] keeps the best score to get there and the piece that led there.
 * Example, a=-1 b=-1 ab=-2: "ab" is reached at -2 by a,b and by ab; ab was seen first (it starts earlier) and stays. */
#include "tokenizer/unigram.h"

#include "base/alloc.h"
#include "tokenizer/bpe.h"
#include "tokenizer/utf8.h"

#include <float.h>
#include <stdlib.h>

struct unigram_node {
    double score;
    uint32_t start; /* UINT32_MAX: not reached */
    uint32_t id;    /* VOCAB_NONE: an unknown character */
};

struct unigram_cut {
    uint32_t start;
    uint32_t end;
    uint32_t id;
};

static void find_bytes(struct unigram *u, const struct vocab *vocab)
{
    struct buf name = {0};
    for (unsigned byte = 0; byte < 256; byte++) {
        buf_reset(&name);
        buf_add_fmt(&name, "<0x%02X>", byte);
        u->byte_id[byte] = vocab_find(vocab, buf_sv(&name));
    }
    buf_done(&name);
}

void unigram_init(struct unigram *u, const struct vocab *vocab, double *scores, uint32_t unk_id,
                  bool byte_fallback, const bool *skip)
{
    *u = (struct unigram){.scores = scores, .unk_id = unk_id, .byte_fallback = byte_fallback};
    struct trie_key *keys = mem_array(vocab->limit + 1, sizeof(*keys));
    size_t count = 0;
    double lowest = DBL_MAX;
    for (uint32_t id = 0; id < vocab->limit; id++) {
        if (!vocab_has(vocab, id))
            continue;
        struct sv text = vocab_bytes(vocab, id);
        if (scores[id] < lowest)
            lowest = scores[id];
        if (text.len > 0 && (skip == NULL || !skip[id]) &&
            (!vocab->repeats || vocab_find(vocab, text) == id))
            keys[count++] =
                (struct trie_key){(const unsigned char *)text.ptr, (uint32_t)text.len, id};
    }
    u->unknown_score = lowest - 10.0;
    trie_sort(keys, count);
    trie_build(&u->trie, keys, count);
    free(keys);
    find_bytes(u, vocab);
}

void unigram_done(struct unigram *u)
{
    trie_done(&u->trie);
    free(u->scores);
    *u = (struct unigram){0};
}

static void relax(struct unigram_node *nodes, size_t start, size_t end, double score, uint32_t id)
{
    if (nodes[end].start == UINT32_MAX || score > nodes[end].score)
        nodes[end] = (struct unigram_node){score, (uint32_t)start, id};
}

static double sum_of(const struct unigram *u, double a, double b)
{
    return u->single_precision ? (double)((float)a + (float)b) : a + b;
}

static void search(const struct unigram *u, struct sv word, struct unigram_node *nodes)
{
    uint32_t cp;
    nodes[0] = (struct unigram_node){0.0, 0, VOCAB_NONE};
    for (size_t i = 1; i <= word.len; i++)
        nodes[i].start = UINT32_MAX;
    for (size_t at = 0; at < word.len;) {
        size_t n = utf8_next(word.ptr + at, &cp);
        bool single = false;
        uint64_t node = trie_root(&u->trie);
        for (size_t i = at; i < word.len; i++) {
            node = trie_step(&u->trie, node, (unsigned char)word.ptr[i]);
            if (node == 0)
                break;
            uint32_t id = trie_value(node);
            if (id == TRIE_NONE)
                continue;
            single = single || i + 1 - at == n;
            relax(nodes, at, i + 1, sum_of(u, nodes[at].score, u->scores[id]), id);
        }
        if (!single)
            relax(nodes, at, at + n, sum_of(u, nodes[at].score, u->unknown_score), VOCAB_NONE);
        at += n;
    }
}

static void add_unknown(const struct unigram *u, struct sv text, struct token_ids *ids)
{
    bool bytes = u->byte_fallback;
    for (size_t i = 0; bytes && i < text.len; i++)
        bytes = u->byte_id[(unsigned char)text.ptr[i]] != VOCAB_NONE;
    for (size_t i = 0; bytes && i < text.len; i++)
        token_ids_add(ids, u->byte_id[(unsigned char)text.ptr[i]]);
    if (!bytes && u->unk_id != VOCAB_NONE)
        token_ids_add(ids, u->unk_id);
}

void unigram_encode(const struct unigram *u, struct sv word, struct unigram_work *work,
                    struct token_ids *ids)
{
    if (work->cap < word.len + 1) {
        work->cap = word.len + 1 < 256 ? 256 : word.len + 1;
        work->nodes = mem_resize(work->nodes, work->cap, sizeof(*work->nodes));
    }
    search(u, word, work->nodes);
    size_t count = 0;
    for (size_t end = word.len; end > 0; end = work->nodes[end].start) {
        MEM_GROW(work->cuts, count, work->cut_cap);
        work->cuts[count++] =
            (struct unigram_cut){work->nodes[end].start, (uint32_t)end, work->nodes[end].id};
    }
    while (count > 0) {
        struct unigram_cut cut = work->cuts[--count];
        if (cut.id != VOCAB_NONE && cut.id != u->unk_id) {
            token_ids_add(ids, cut.id);
            continue;
        }
        while (count > 0 &&
               (work->cuts[count - 1].id == VOCAB_NONE || work->cuts[count - 1].id == u->unk_id))
            cut.end = work->cuts[--count].end;
        add_unknown(u, sv_make(word.ptr + cut.start, cut.end - cut.start), ids);
    }
}

void unigram_work_done(struct unigram_work *work)
{
    free(work->nodes);
    free(work->cuts);
    *work = (struct unigram_work){0};
}
