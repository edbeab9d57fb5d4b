/* Models of a tokenizer.json: the vocabulary and the merges straight from the text, options from the small tree. */
#include "base/alloc.h"
#include "base/num.h"
#include "json/scan.h"
#include "tokenizer/load.h"
#include "tokenizer/tokenizer_priv.h"

#include <stdlib.h>

/* A string's text: the raw one when it has no escapes, else resolved into *out. */
static bool plain_text(struct sv raw, struct buf *out, struct sv *text)
{
    if (memchr(raw.ptr, '\\', raw.len) == NULL) {
        *text = raw;
        return true;
    }
    buf_reset(out);
    bool ok = js_unescape(raw, out);
    *text = buf_sv(out);
    return ok;
}

bool load_scan_text(struct js_scan *s, struct buf *out, struct sv *text)
{
    struct sv raw;
    bool escaped;
    return js_scan_string(s, &raw, &escaped) &&
           (escaped ? plain_text(raw, out, text) : (*text = raw, true));
}

/* About how many strings there are, rather too many: tables get their sizes at once.  A sixteenth of the text is counted. */
static size_t count_strings(struct sv raw)
{
    enum { STEP = 4096, PART = 256 };
    size_t quotes = 0;
    size_t seen = 0;
    for (size_t at = 0; at < raw.len; at += STEP) {
        size_t n = raw.len - at < PART ? raw.len - at : PART;
        for (size_t i = 0; i < n; i++)
            quotes += raw.ptr[at + i] == '"';
        seen += n;
    }
    size_t strings = seen > 0 ? (size_t)((double)quotes / 2 * ((double)raw.len / (double)seen)) : 0;
    return strings + strings / 16;
}

/* {"token": id, ...} */
static bool load_vocab(struct tokenizer *t, struct sv raw, struct error *err)
{
    struct js_scan s;
    struct buf spare = {0};
    struct sv key;
    struct sv text;
    uint64_t id;
    bool first = true;
    bool ok = true;
    js_scan_init(&s, raw);
    if (!js_scan_object(&s))
        return error_set(err, E_PARSE, "model.vocab is no object");
    vocab_reserve(&t->vocab, count_strings(raw), raw.len / 2);
    while (ok && js_scan_member(&s, &first, &key)) {
        if (!plain_text(key, &spare, &text) || !js_scan_u64(&s, &id) || id > VOCAB_MAX_ID)
            ok = error_set(err, E_PARSE, "token '" SV_FMT "' has no usable id", SV_ARG(key));
        else
            ok = vocab_stage(&t->vocab, (uint32_t)id, text, err);
    }
    vocab_commit(&t->vocab);
    buf_done(&spare);
    if (ok && t->vocab.count == 0)
        ok = error_set(err, E_PARSE, "model.vocab is empty");
    t->model_size = t->vocab.count;
    return ok;
}

/* ---- BPE -------------------------------------------------------------------------------------------------------- */

static uint32_t unknown_id(const struct tokenizer *t, const struct js_value *model, struct sv usual)
{
    struct sv unk = usual;
    js_as_sv(js_get(model, "unk_token"), &unk);
    return unk.len > 0 ? vocab_find(&t->vocab, unk) : VOCAB_NONE;
}

static bool load_bpe(struct tokenizer *t, const struct js_value *model, struct sv vocab,
                     struct sv merges, bool late, struct error *err)
{
    struct bpe_options o = {0};
    double dropout = 0.0;
    if (js_as_double(js_get(model, "dropout"), &dropout) && dropout > 0.0)
        return error_set(err, E_UNSUPPORTED, "model BPE with dropout is not supported");
    if (!load_vocab(t, vocab, err))
        return false;
    o.bytes = pretok_is_byte_level(&t->pretok) && !normalizer_spells_bytes(&t->normalizer);
    js_as_bool(js_get(model, "ignore_merges"), &o.ignore_merges);
    js_as_bool(js_get(model, "fuse_unk"), &o.fuse_unk);
    js_as_bool(js_get(model, "byte_fallback"), &o.byte_fallback);
    struct sv affix;
    if (js_as_sv(js_get(model, "continuing_subword_prefix"), &affix))
        o.prefix = arena_copy(&t->arena, affix);
    if (js_as_sv(js_get(model, "end_of_word_suffix"), &affix))
        o.suffix = arena_copy(&t->arena, affix);
    o.unk_id = unknown_id(t, model, SV_LIT(""));
    bpe_init(&t->model.bpe, &t->vocab, &o);
    if (o.bytes && o.byte_fallback && !t->model.bpe.all_bytes)
        return error_set(err, E_UNSUPPORTED,
                         "a byte-level BPE model that lacks bytes and has byte_fallback");
    if (late && merges.ptr != NULL) {
        t->late = late_new(t, merges);
        return true;
    }
    return load_merges(t, merges, err);
}

/* ---- Unigram: [["piece", score], ...] ----------------------------------------------------------------------------- */

static bool scan_piece(struct tokenizer *t, struct js_scan *s, struct buf *spare, double *score,
                       struct error *err)
{
    struct sv text;
    struct sv number;
    bool first = true;
    uint32_t id = t->vocab.count;
    if (js_scan_array(s) && js_scan_element(s, &first) && load_scan_text(s, spare, &text)) {
        if (!vocab_stage(&t->vocab, id, text, err))
            return false;
        if (js_scan_element(s, &first) && js_scan_number(s, &number) &&
            num_parse_double(number, score) && !js_scan_element(s, &first))
            return true;
    }
    return error_set(err, E_PARSE, "entry %u of model.vocab is no piece with a score", id);
}

static bool load_unigram(struct tokenizer *t, const struct js_value *model, struct sv vocab,
                         struct error *err)
{
    struct js_scan s;
    struct buf spare = {0};
    double *scores = NULL;
    size_t cap = 0;
    bool first = true;
    bool ok = true;
    int64_t unk = -1;
    bool fallback = false;
    js_scan_init(&s, vocab);
    if (!js_scan_array(&s))
        return error_set(err, E_PARSE, "model.vocab is no list");
    vocab_reserve(&t->vocab, count_strings(vocab), vocab.len / 2);
    while (ok && js_scan_element(&s, &first)) {
        MEM_GROW(scores, t->vocab.count, cap);
        ok = scan_piece(t, &s, &spare, &scores[t->vocab.count], err);
    }
    vocab_commit(&t->vocab);
    buf_done(&spare);
    js_as_i64(js_get(model, "unk_id"), &unk);
    js_as_bool(js_get(model, "byte_fallback"), &fallback);
    if (ok && (t->vocab.count == 0 || unk >= (int64_t)t->vocab.count))
        ok = error_set(err, E_PARSE, "model.vocab is empty or unk_id is outside of it");
    if (!ok) {
        free(scores);
        return false;
    }
    t->model_size = t->vocab.count;
    unigram_init(&t->model.unigram, &t->vocab, scores, unk < 0 ? VOCAB_NONE : (uint32_t)unk,
                 fallback, NULL);
    return true;
}

/* ---- WordPiece, WordLevel ------------------------------------------------------------------------------------------ */

static bool load_wordpiece(struct tokenizer *t, const struct js_value *model, struct sv vocab,
                           struct error *err)
{
    struct sv prefix = SV_LIT("##");
    int64_t max_chars = 100;
    bool level = t->model.kind == MODEL_WORDLEVEL;
    if (!load_vocab(t, vocab, err))
        return false;
    js_as_sv(js_get(model, "continuing_subword_prefix"), &prefix);
    js_as_i64(js_get(model, "max_input_chars_per_word"), &max_chars);
    wordpiece_init(&t->model.wordpiece, &t->vocab, prefix,
                   unknown_id(t, model, level ? SV_LIT("<unk>") : SV_LIT("[UNK]")),
                   max_chars > 0 ? (size_t)max_chars : 0);
    return true;
}

static bool model_kind(const struct js_value *model, struct sv vocab, struct sv merges,
                       enum model_kind *kind, struct error *err)
{
    static const char *const names[MODEL_KIND_COUNT] = {"BPE", "Unigram", "WordPiece", "WordLevel"};
    struct sv type;
    if (!js_as_sv(js_get(model, "type"), &type)) { /* old files leave it out */
        *kind = merges.ptr != NULL                                   ? MODEL_BPE
                : vocab.len > 0 && vocab.ptr[0] == '['               ? MODEL_UNIGRAM
                : js_get(model, "continuing_subword_prefix") != NULL ? MODEL_WORDPIECE
                                                                     : MODEL_WORDLEVEL;
        return true;
    }
    for (int i = 0; i < MODEL_KIND_COUNT; i++)
        if (sv_eq(type, sv_from(names[i]))) {
            *kind = (enum model_kind)i;
            return true;
        }
    return error_set(err, E_UNSUPPORTED, "model '" SV_FMT "' is not supported", SV_ARG(type));
}

bool load_model(struct tokenizer *t, const struct js_value *model, struct sv vocab,
                struct sv merges, bool late, struct error *err)
{
    if (vocab.ptr == NULL)
        return error_set(err, E_PARSE, "the model has no vocab");
    if (!model_kind(model, vocab, merges, &t->model.kind, err))
        return false;
    bool bytes = t->model.kind == MODEL_BPE && pretok_is_byte_level(&t->pretok) &&
                 !normalizer_spells_bytes(&t->normalizer);
    pretok_settle(&t->pretok, bytes);
    t->vocab.byte_level = bytes;
    switch (t->model.kind) {
    case MODEL_BPE:
        return load_bpe(t, model, vocab, merges, late, err);
    case MODEL_UNIGRAM:
        return load_unigram(t, model, vocab, err);
    case MODEL_WORDPIECE:
    case MODEL_WORDLEVEL:
    case MODEL_KIND_COUNT:
    default:
        return load_wordpiece(t, model, vocab, err);
    }
}
