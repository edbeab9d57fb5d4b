/* Rank files: lines of base64 and a rank.  Rank and id are one; two neighbours merge when their bytes together have a
 * rank, the lowest first.  The pattern stands in the Python source beside the file and is read as text, never run.
 * tekken.json (Mistral) holds the same things as JSON. */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/num.h"
#include "json/scan.h"
#include "tokenizer/load.h"
#include "tokenizer/python_pattern.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

enum { RESERVED = 256 };

static const char default_pattern[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+"
    "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* ---- from ranks to a model ---------------------------------------------------------------------------------------- */

/* Every way to make a token of two others; bpe_finish finds out which of them counts. */
static void add_merges(struct tokenizer *t)
{
    const struct vocab *v = &t->vocab;
    for (uint32_t id = 0; id < v->limit; id++) {
        struct sv bytes = vocab_bytes(v, id);
        for (size_t cut = 1; cut < bytes.len; cut++) {
            uint32_t left = vocab_find(v, sv_make(bytes.ptr, cut));
            if (left == VOCAB_NONE)
                continue;
            uint32_t right = vocab_find(v, sv_skip(bytes, cut));
            if (right != VOCAB_NONE)
                bpe_add_merge(&t->model.bpe, left, right, id, id);
        }
    }
}

static bool build_model(struct tokenizer *t, struct error *err)
{
    struct bpe_options o = {.bytes = true, .ignore_merges = true, .unk_id = VOCAB_NONE};
    t->model.kind = MODEL_BPE;
    t->model_size = t->vocab.count;
    bpe_init(&t->model.bpe, &t->vocab, &o);
    for (unsigned byte = 0; byte < 256; byte++)
        if (t->model.bpe.byte_id[byte] == VOCAB_NONE)
            return error_set(err, E_PARSE, "the ranks lack the single byte 0x%02X", byte);
    bpe_reserve(&t->model.bpe, (size_t)t->vocab.count * 3);
    add_merges(t);
    bpe_finish(&t->model.bpe);
    return true;
}

/* An added, special token. */
static bool add_special(struct tokenizer *t, uint32_t id, struct sv content, struct error *err)
{
    if (vocab_has(&t->vocab, id))
        return true;
    if (!vocab_add(&t->vocab, id, content, err))
        return false;
    vocab_mark(&t->vocab, id, TOKEN_SPECIAL | TOKEN_ADDED);
    added_add(&t->added_raw,
              (struct added_token){.content = arena_copy(&t->arena, content), .id = id});
    return true;
}

/* ---- .tiktoken ------------------------------------------------------------------------------------------------------ */

static bool read_ranks(struct tokenizer *t, struct sv text, struct error *err)
{
    struct sv line;
    struct buf bytes = {0};
    size_t number = 0;
    bool ok = true;
    vocab_reserve(&t->vocab, text.len / 20, text.len / 2);
    while (ok && sv_split(&text, '\n', &line)) {
        number++;
        line = sv_trim(line);
        size_t space = sv_find(line, ' ');
        uint64_t rank;
        if (space == line.len) /* blank, or one field only */
            continue;
        buf_reset(&bytes);
        if (!base64_read(&bytes, sv_make(line.ptr, space)) ||
            !num_parse_u64(sv_trim(sv_skip(line, space)), &rank) || rank > VOCAB_MAX_ID)
            ok = error_set(err, E_PARSE, "line %zu is no token with a rank", number);
        else
            ok = vocab_add(&t->vocab, (uint32_t)rank, buf_sv(&bytes), err);
    }
    buf_done(&bytes);
    if (ok && t->vocab.count == 0)
        ok = error_set(err, E_PARSE, "there are no ranks in the file");
    return ok;
}

static const struct js_value *parse_config(struct arena *arena, struct sv text)
{
    struct error ignored;
    return text.ptr != NULL ? js_parse(arena, text, "tokenizer_config.json", &ignored) : NULL;
}

/* The slots above the ranks: named by the configuration, else reserved. */
static bool add_reserved(struct tokenizer *t, const struct js_value *config, struct error *err)
{
    const struct js_value *decoder = js_get(config, "added_tokens_decoder");
    uint32_t base = t->vocab.count;
    struct buf name = {0};
    bool ok = true;
    for (uint32_t slot = 0; ok && slot < RESERVED; slot++) {
        struct sv content;
        buf_reset(&name);
        buf_add_fmt(&name, "%u", base + slot);
        if (!js_as_sv(js_get(js_get_sv(decoder, buf_sv(&name)), "content"), &content)) {
            buf_reset(&name);
            buf_add_fmt(&name, "<|reserved_token_%u|>", slot);
            content = buf_sv(&name);
        }
        ok = add_special(t, base + slot, content, err);
    }
    buf_done(&name);
    if (!ok || decoder == NULL || decoder->type != JS_OBJECT)
        return ok;
    for (const struct js_value *item = decoder->first; ok && item != NULL; item = item->next) {
        struct sv content;
        uint64_t id;
        bool special = false;
        js_as_bool(js_get(item, "special"), &special);
        if (special && num_parse_u64(item->key, &id) && id <= VOCAB_MAX_ID &&
            js_as_sv(js_get(item, "content"), &content))
            ok = add_special(t, (uint32_t)id, content, err);
    }
    return ok;
}

static bool set_pattern(struct tokenizer *t, const struct tokenizer_files *files, struct error *err)
{
    struct buf found = {0};
    for (size_t i = 0; i < 2 && found.len == 0; i++)
        if (files->python[i].ptr != NULL)
            python_pattern(files->python[i], &found);
    if (found.len == 0)
        buf_add_str(&found, default_pattern);
    bool ok = pretok_add_pattern(&t->pretok, buf_sv(&found), &t->arena, err);
    buf_done(&found);
    return ok;
}

/* Random prompts take what is a text of its own: no special token, no part of a character (HUB_AND_TOKENIZERS 2). */
static void mark_unusable(struct tokenizer *t)
{
    for (uint32_t id = 0; id < t->vocab.limit; id++) {
        unsigned flags = vocab_flags(&t->vocab, id);
        if (vocab_bytes(&t->vocab, id).len == 0 || (flags & (TOKEN_SPECIAL | TOKEN_BROKEN)) != 0)
            t->named_special[id] = true;
    }
}

struct tokenizer *tiktoken_parse(const struct tokenizer_files *files, struct error *err)
{
    struct tokenizer *t = tokenizer_blank();
    struct arena tree = {0};
    t->vocab.raw_bytes = true;
    decoder_add(&t->decoder, "ByteLevel");
    const struct js_value *config = parse_config(&tree, files->config_json);
    struct tokenizer_files rest = *files;
    rest.file_only = true; /* the flags for bos and eos do nothing for ranks */
    if (config == NULL)
        rest.config_json = sv_make(NULL, 0);
    bool ok = read_ranks(t, files->tokenizer_json, err) && build_model(t, err) &&
              add_reserved(t, config, err) && set_pattern(t, files, err) &&
              load_config(t, &rest, err);
    if (ok)
        mark_unusable(t);
    added_sort(&t->added_raw);
    arena_done(&tree);
    return tokenizer_ready(t, ok, files->name, "tiktoken ranks", err);
}

/* ---- tekken.json ------------------------------------------------------------------------------------------------------ */

struct tekken {
    struct sv pattern;
    uint64_t vocab_size;
    uint64_t specials;
};

static bool read_tekken_token(struct tokenizer *t, struct js_scan *s, const struct tekken *k,
                              uint64_t shift, struct buf *bytes)
{
    struct sv key;
    struct sv text = {0};
    uint64_t rank = UINT64_MAX;
    bool escaped;
    bool first = true;
    struct error ignored;
    if (!js_scan_object(s))
        return false;
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, SV_LIT("rank")))
            js_scan_u64(s, &rank);
        else if (js_key_is(key, SV_LIT("token_bytes")))
            js_scan_string(s, &text, &escaped);
        else
            js_scan_skip(s, NULL);
    }
    if (rank >= k->vocab_size - k->specials)
        return rank != UINT64_MAX;
    buf_reset(bytes);
    return base64_read(bytes, text) && rank + shift <= VOCAB_MAX_ID &&
           vocab_add(&t->vocab, (uint32_t)(rank + shift), buf_sv(bytes), &ignored);
}

static bool read_tekken_vocab(struct tokenizer *t, struct sv raw, const struct tekken *k,
                              uint64_t shift, struct error *err)
{
    struct js_scan s;
    struct buf bytes = {0};
    bool first = true;
    bool ok = true;
    js_scan_init(&s, raw);
    ok = js_scan_array(&s);
    vocab_reserve(&t->vocab, k->vocab_size, raw.len / 8);
    while (ok && js_scan_element(&s, &first))
        ok = read_tekken_token(t, &s, k, shift, &bytes);
    buf_done(&bytes);
    return ok || error_set(err, E_PARSE, "'vocab' is no list of tokens with ranks");
}

/* Names of the special tokens: those of the list when the file has one, else those of the files before there was one, as
 * mistral_common has them.  They are tokens that decode and are special, but no text is read as one. */
static bool add_tekken_specials(struct tokenizer *t, const struct js_value *list, uint64_t count,
                                struct error *err)
{
    static const char *const usual[] = {
        "<unk>",
        "<s>",
        "</s>",
        "[INST]",
        "[/INST]",
        "[AVAILABLE_TOOLS]",
        "[/AVAILABLE_TOOLS]",
        "[TOOL_RESULTS]",
        "[/TOOL_RESULTS]",
        "[TOOL_CALLS]",
        "[IMG]",
        "<pad>",
        "[IMG_BREAK]",
        "[IMG_END]",
        "[PREFIX]",
        "[MIDDLE]",
        "[SUFFIX]",
        "[SYSTEM_PROMPT]",
        "[/SYSTEM_PROMPT]",
        "[TOOL_CONTENT]",
    };
    struct buf name = {0};
    bool ok = true;
    for (uint64_t id = 0; ok && id < count; id++) {
        const struct js_value *item = js_at(list, (size_t)id);
        struct sv content;
        buf_reset(&name);
        buf_add_fmt(&name, "<SPECIAL_%u>", (unsigned)id);
        if (!js_as_sv(js_get(item, "token_str"), &content))
            content = list == NULL && id < sizeof(usual) / sizeof(usual[0]) ? sv_from(usual[id])
                                                                            : buf_sv(&name);
        ok = vocab_add(&t->vocab, (uint32_t)id, content, err);
        if (ok)
            vocab_mark(&t->vocab, (uint32_t)id, TOKEN_SPECIAL | TOKEN_ADDED);
    }
    buf_done(&name);
    t->model_size = t->vocab.count; /* Mistral's tokenizers have no added tokens beside it */
    return ok;
}

static bool read_tekken(struct tokenizer *t, const struct js_value *root, struct sv vocab,
                        bool ranks_only, struct error *err)
{
    struct tekken k = {0};
    const struct js_value *config = js_get(root, "config");
    int64_t size;
    int64_t specials;
    if (!js_as_sv(js_get(config, "pattern"), &k.pattern) ||
        !js_as_i64(js_get(config, "default_vocab_size"), &size) ||
        !js_as_i64(js_get(config, "default_num_special_tokens"), &specials) || specials < 0 ||
        specials > 100000 || size <= specials || size > (int64_t)VOCAB_MAX_ID)
        return error_set(err, E_PARSE, "'config' lacks the pattern or the sizes");
    k.vocab_size = (uint64_t)size;
    k.specials = (uint64_t)specials;
    if (!read_tekken_vocab(t, vocab, &k, ranks_only ? 0 : k.specials, err) || !build_model(t, err))
        return false;
    if (!ranks_only && !add_tekken_specials(t, js_get(root, "special_tokens"), k.specials, err))
        return false;
    return pretok_add_pattern(&t->pretok, k.pattern, &t->arena, err);
}

struct tokenizer *tekken_parse(const struct tokenizer_files *files, struct error *err)
{
    struct tokenizer *t = tokenizer_blank();
    struct arena tree = {0};
    struct sv vocab = {0};
    struct buf small = {0};
    t->vocab.raw_bytes = true;
    decoder_add(&t->decoder, "ByteLevel");
    bool ok = tokenizer_json_without(files->tokenizer_json, "vocab", &small, &vocab, err);
    if (ok) {
        const struct js_value *root = js_parse(&tree, buf_sv(&small), "tekken.json", err);
        ok = root != NULL && read_tekken(t, root, vocab, files->file_only, err);
    }
    /* As a server: begin of text in front. */
    if (ok && !files->file_only && vocab_find(&t->vocab, SV_LIT("<s>")) != VOCAB_NONE)
        token_ids_add(&t->post.before, vocab_find(&t->vocab, SV_LIT("<s>")));
    ok = ok &&
         load_config(
             t, &(struct tokenizer_files){.file_only = true, .chat_template = files->chat_template},
             err);
    added_sort(&t->added_raw);
    buf_done(&small);
    arena_done(&tree);
    return tokenizer_ready(t, ok, files->name, "tekken ranks", err);
}
