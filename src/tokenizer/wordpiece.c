/* Two tries, so that the prefix never has to be put in front of a text. */
#include "tokenizer/wordpiece.h"

#include "base/alloc.h"
#include "tokenizer/bpe.h"

#include <stdlib.h>

static void build(struct trie *trie, const struct vocab *vocab, struct sv prefix)
{
    struct trie_key *keys = mem_array(vocab->limit + 1, sizeof(*keys));
    size_t count = 0;
    for (uint32_t id = 0; id < vocab->limit; id++) {
        struct sv text = vocab_bytes(vocab, id);
        if (text.len <= prefix.len || !sv_starts(text, prefix) ||
            (vocab->repeats && vocab_find(vocab, text) != id))
            continue;
        keys[count++] = (struct trie_key){(const unsigned char *)text.ptr + prefix.len,
                                          (uint32_t)(text.len - prefix.len), id};
    }
    trie_sort(keys, count);
    trie_build(trie, keys, count);
    free(keys);
}

void wordpiece_init(struct wordpiece *w, const struct vocab *vocab, struct sv prefix,
                    uint32_t unk_id, size_t max_chars)
{
    *w = (struct wordpiece){.unk_id = unk_id, .max_chars = max_chars};
    build(&w->first, vocab, SV_LIT(""));
    build(&w->later, vocab, prefix);
}

void wordpiece_done(struct wordpiece *w)
{
    trie_done(&w->first);
    trie_done(&w->later);
}

static void add_unknown(const struct wordpiece *w, struct token_ids *ids)
{
    if (w->unk_id != VOCAB_NONE)
        token_ids_add(ids, w->unk_id);
}

static size_t count_chars(struct sv text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    return n;
}

/* Entries are whole characters, so a match never ends inside one. */
static size_t longest(const struct trie *trie, struct sv text, uint32_t *id)
{
    size_t len = 0;
    uint64_t node = trie_root(trie);
    for (size_t i = 0; i < text.len; i++) {
        node = trie_step(trie, node, (unsigned char)text.ptr[i]);
        if (node == 0)
            break;
        if (trie_value(node) != TRIE_NONE) {
            *id = trie_value(node);
            len = i + 1;
        }
    }
    return len;
}

void wordpiece_encode(const struct wordpiece *w, struct sv word, struct token_ids *ids)
{
    size_t before = ids->count;
    if (count_chars(word) > w->max_chars) {
        add_unknown(w, ids);
        return;
    }
    for (size_t at = 0; at < word.len;) {
        uint32_t id = 0;
        size_t n = longest(at == 0 ? &w->first : &w->later, sv_skip(word, at), &id);
        if (n == 0) { /* one failure makes the whole word unknown */
            ids->count = before;
            add_unknown(w, ids);
            return;
        }
        token_ids_add(ids, id);
        at += n;
    }
}

void wordlevel_encode(const struct wordpiece *w, struct sv word, struct token_ids *ids)
{
    uint32_t id = trie_find(&w->first, word);
    if (id != TRIE_NONE)
        token_ids_add(ids, id);
    else
        add_unknown(w, ids);
}
