/* See decoder.h.  Bytes of all tokens are joined first, as a character may be spread over several tokens. */
#include "tokenizer/decoder.h"

#include "tokenizer/utf8.h"

enum { MAX_DEPTH = 8 };

static bool load(enum decoder_kind *kind, const struct js_value *value, int depth,
                 struct error *err)
{
    struct sv name;
    if (value == NULL || value->type == JS_NULL)
        return true;
    if (!js_as_sv(js_get(value, "type"), &name))
        return error_set(err, E_PARSE, "a decoder has no type");
    if (sv_eq(name, SV_LIT("Sequence"))) {
        const struct js_value *list = js_get(value, "decoders");
        if (list == NULL || list->type != JS_ARRAY || depth == MAX_DEPTH)
            return error_set(err, E_PARSE, "decoder Sequence: bad 'decoders'");
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load(kind, item, depth + 1, err))
                return false;
        return true;
    }
    if (!sv_eq(name, SV_LIT("ByteLevel")))
        return error_set(err, E_UNSUPPORTED, "decoder '" SV_FMT "' is not supported yet",
                         SV_ARG(name));
    if (*kind != DECODER_NONE)
        return error_set(err, E_UNSUPPORTED, "two ByteLevel decoders in a row");
    *kind = DECODER_BYTE_LEVEL;
    return true;
}

bool decoder_load(enum decoder_kind *kind, const struct js_value *value, struct error *err)
{
    *kind = DECODER_NONE;
    return load(kind, value, 0, err);
}

void decoder_run(enum decoder_kind kind, const struct vocab *vocab, const uint32_t *ids,
                 size_t count, bool skip_special, struct buf *out)
{
    size_t start = out->len;
    bool first = true;
    for (size_t i = 0; i < count; i++) {
        const struct token *token = vocab_get(vocab, ids[i]);
        if (token == NULL || (skip_special && token->special))
            continue;
        if (kind == DECODER_NONE && !first)
            buf_add_char(out, ' ');
        first = false;
        buf_add(out, kind == DECODER_NONE ? token->text : token->bytes);
    }
    if (out->len == start)
        return;
    struct sv made = sv_make(out->ptr + start, out->len - start);
    size_t good = utf8_first_invalid(made);
    if (good == made.len)
        return;
    struct buf broken = {0};
    buf_add(&broken, sv_skip(made, good));
    out->len = start + good;
    utf8_add_lossy(out, buf_sv(&broken));
    buf_done(&broken);
}
