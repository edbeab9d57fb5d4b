/* The pipeline: added tokens cut the text, what is left is normalized, searched for normalized added tokens, cut into
 * pieces and given to the model; ids of the post-processor go around.  The order is that of HF tokenizers. */
#include "tokenizer/tokenizer.h"

#include "base/alloc.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { MAX_TEXT_BYTES = 1 << 30, TOKEN_BYTES = 4 /* of an ordinary text; only sizes a guess */ };

void token_ids_done(struct token_ids *ids)
{
    free(ids->items);
    *ids = (struct token_ids){0};
}

void tokenizer_free(struct tokenizer *t)
{
    if (t == NULL)
        return;
    late_free(t->late);
    model_done(&t->model);
    normalizer_done(&t->normalizer);
    decoder_done(&t->decoder);
    pretok_done(&t->pretok);
    post_done(&t->post);
    added_done(&t->added_raw);
    added_done(&t->added_normalized);
    vocab_done(&t->vocab);
    remote_free(t->remote);
    if (t->pool != NULL)
        scratch_pool_done(t->pool);
    free(t->pool);
    arena_done(&t->arena);
    free(t);
}

static bool encode_piece(const struct tokenizer *t, struct sv text, struct scratch *scratch,
                         struct token_ids *ids, struct error *err)
{
    const struct piece_list *pieces;
    if (text.len == 0)
        return true;
    if (t->splitter != NULL && t->model.bpe.proven) {
        for (size_t at = 0; at < text.len;) {
            const char *ends[BPE_BATCH];
            const char *start = text.ptr + at;
            size_t n = t->splitter->cut(t->splitter, text, at, ends, BPE_BATCH);
            at = (size_t)(ends[n - 1] - text.ptr);
            bpe_encode_row(&t->model.bpe, start, ends, n, text.ptr + text.len, &scratch->bpe, ids);
        }
        return true;
    }
    if (!pretok_run(&t->pretok, text, scratch, &pieces, err))
        return false;
    for (size_t i = 0; i < pieces->count; i++)
        model_encode(&t->model, pieces->items[i], scratch, ids);
    return true;
}

typedef bool segment_fn(const struct tokenizer *t, struct sv text, struct scratch *scratch,
                        struct token_ids *ids, struct error *err);

/* Ids of the added tokens found, `between` for every stretch that lies between them. */
static bool cut_by_added(const struct tokenizer *t, const struct added_set *set, struct sv text,
                         segment_fn *between, struct scratch *scratch, struct token_ids *ids,
                         struct error *err)
{
    struct added_match match;
    size_t from = 0;
    size_t taken = 0;
    for (size_t start = 0; added_find(set, text, &from, &taken, &match); start = match.end) {
        if (match.start > start &&
            !between(t, sv_make(text.ptr + start, match.start - start), scratch, ids, err))
            return false;
        token_ids_add(ids, match.id);
    }
    return between(t, sv_skip(text, taken), scratch, ids, err);
}

static bool encode_segment(const struct tokenizer *t, struct sv text, struct scratch *scratch,
                           struct token_ids *ids, struct error *err)
{
    if (text.len == 0)
        return true;
    bool first = scratch->origin == text.ptr;
    if (!normalizer_apply(&t->normalizer, text, &scratch->arena, &scratch->regex, &text, err))
        return false;
    scratch->origin = first ? text.ptr : NULL;
    return cut_by_added(t, &t->added_normalized, text, encode_piece, scratch, ids, err);
}

static void add_all(struct token_ids *ids, const struct token_ids *more)
{
    for (size_t i = 0; i < more->count; i++)
        token_ids_add(ids, more->items[i]);
}

bool tokenizer_encode(const struct tokenizer *t, struct sv text, bool add_special,
                      struct token_ids *ids, struct error *err)
{
    if (t->remote != NULL)
        return remote_encode(t->remote, text, add_special, ids, err);
    if (text.len > MAX_TEXT_BYTES)
        return error_set(err, E_LIMIT, "a text of %zu bytes is too long to tokenize", text.len);
    if (t->late != NULL && !late_ready(t->late, err))
        return false;
    struct scratch *scratch = scratch_take(t->pool);
    size_t before = ids->count;
    if (text.ptr == NULL)
        text = SV_LIT("");
    token_ids_reserve(ids, text.len / TOKEN_BYTES + 8);
    if (!utf8_valid(text)) {
        utf8_add_lossy(&scratch->text, text);
        text = buf_sv(&scratch->text);
    }
    if (add_special)
        add_all(ids, &t->post.before);
    scratch->origin = text.ptr;
    bool ok = cut_by_added(t, &t->added_raw, text, encode_segment, scratch, ids, err);
    if (ok && add_special)
        add_all(ids, &t->post.after);
    if (!ok)
        ids->count = before;
    scratch_give(t->pool, scratch);
    return ok;
}

bool tokenizer_decode(const struct tokenizer *t, const uint32_t *ids, size_t count,
                      bool skip_special, struct buf *out, struct error *err)
{
    if (t->remote != NULL)
        return remote_decode(t->remote, ids, count, out, err);
    if (t->sentencepiece != NULL)
        sentencepiece_decode(t->sentencepiece, &t->vocab, ids, count, skip_special, out);
    else
        decoder_run(&t->decoder, &t->vocab, ids, count, skip_special, out);
    return true;
}

uint32_t tokenizer_vocab_size(const struct tokenizer *t)
{
    return t->remote != NULL ? remote_vocab_size(t->remote) : t->model_size;
}

uint32_t tokenizer_full_size(const struct tokenizer *t)
{
    return t->remote != NULL ? remote_vocab_size(t->remote) : t->vocab.count;
}

uint32_t tokenizer_special_count(const struct tokenizer *t)
{
    return (uint32_t)(t->post.before.count + t->post.after.count);
}

bool tokenizer_is_special(const struct tokenizer *t, uint32_t id)
{
    return t->named_special != NULL && id < t->vocab.limit && t->named_special[id];
}

bool tokenizer_is_remote(const struct tokenizer *t)
{
    return t->remote != NULL;
}

const char *tokenizer_describe(const struct tokenizer *t)
{
    return t->description.ptr;
}

struct sv tokenizer_token_text(const struct tokenizer *t, uint32_t id)
{
    const struct vocab *v = t->decoder.spelled != NULL ? t->decoder.spelled : &t->vocab;
    return t->remote == NULL && vocab_has(v, id) ? vocab_bytes(v, id) : sv_make(NULL, 0);
}
