/* Reads a tokenizer.json.  The vocabulary and the merges, nearly all of the file, are scanned in place; what is left is
 * parsed as a small tree.  The parts are read in the order in which they depend on each other: pre-tokenizer, normalizer
 * and decoder say whether texts are bytes; then the model; then the added tokens, whose contents are normalized. */
#include "tokenizer/load.h"

#include "base/alloc.h"
#include "json/scan.h"
#include "tokenizer/class_rules.h"
#include "tokenizer/tokenizer_priv.h"

#include <malloc.h>

/* Copies the members of an object but for those that go to *vocab and *merges. */
static bool copy_members(struct js_scan *s, bool in_model, struct buf *out, struct sv *vocab,
                         struct sv *merges)
{
    struct sv key;
    struct sv raw;
    bool first = true;
    bool comma = false;
    buf_add_char(out, '{');
    if (!js_scan_object(s))
        return false;
    while (js_scan_member(s, &first, &key)) {
        if (in_model && js_key_is(key, SV_LIT("vocab"))) {
            js_scan_skip(s, vocab);
            continue;
        }
        if (in_model && js_key_is(key, SV_LIT("merges"))) {
            js_scan_skip(s, merges);
            continue;
        }
        if (comma)
            buf_add_char(out, ',');
        comma = true;
        buf_add_char(out, '"');
        buf_add(out, key);
        buf_add_str(out, "\":");
        if (!in_model && js_key_is(key, SV_LIT("model")) && js_scan_peek(s) == JS_OBJECT) {
            if (!copy_members(s, true, out, vocab, merges))
                return false;
        } else if (js_scan_skip(s, &raw)) {
            buf_add(out, raw);
        }
    }
    buf_add_char(out, '}');
    return true;
}

bool tokenizer_json_without(struct sv text, const char *name, struct buf *out, struct sv *value,
                            struct error *err)
{
    struct js_scan s;
    struct sv key;
    struct sv raw;
    bool first = true;
    bool comma = false;
    js_scan_init(&s, text);
    buf_add_char(out, '{');
    if (js_scan_object(&s))
        while (js_scan_member(&s, &first, &key)) {
            if (!js_scan_skip(&s, &raw))
                break;
            if (js_key_is(key, sv_from(name))) {
                *value = raw;
                continue;
            }
            buf_add_fmt(out, "%s\"" SV_FMT "\":", comma ? "," : "", SV_ARG(key));
            buf_add(out, raw);
            comma = true;
        }
    buf_add_char(out, '}');
    return js_scan_end(&s) ||
           error_set(err, E_PARSE, "malformed JSON at byte %zu", js_scan_offset(&s));
}

static bool load_added_one(struct tokenizer *t, const struct js_value *item, uint32_t *next,
                           struct regex_work *work, struct error *err)
{
    struct added_token token = {0};
    struct sv content;
    int64_t id;
    bool special = false;
    bool normalized = false;
    if (!js_as_sv(js_get(item, "content"), &content))
        return error_set(err, E_PARSE, "an added token has no content");
    /* An entry of the model keeps its id, whatever the list says. */
    token.id = vocab_find(&t->vocab, content);
    if (token.id == VOCAB_NONE) {
        if (!js_as_i64(js_get(item, "id"), &id) || id < 0 || id > (int64_t)VOCAB_MAX_ID)
            return error_set(err, E_PARSE, "added token '" SV_FMT "' has no usable id",
                             SV_ARG(content));
        token.id = !vocab_has(&t->vocab, *next) ? *next : (uint32_t)id;
        if (!vocab_add(&t->vocab, token.id, content, err))
            return false;
        vocab_mark(&t->vocab, token.id, TOKEN_ADDED);
    }
    if (token.id >= *next)
        *next = token.id + 1;
    js_as_bool(js_get(item, "special"), &special);
    js_as_bool(js_get(item, "normalized"), &normalized);
    js_as_bool(js_get(item, "lstrip"), &token.lstrip);
    js_as_bool(js_get(item, "rstrip"), &token.rstrip);
    js_as_bool(js_get(item, "single_word"), &token.single_word);
    t->vocab.tokens[token.id].flags &= (uint8_t)~TOKEN_SPECIAL;
    if (special)
        vocab_mark(&t->vocab, token.id, TOKEN_SPECIAL);
    content = arena_copy(&t->arena, content);
    token.content = content;
    if (normalized &&
        !normalizer_apply(&t->normalizer, token.content, &t->arena, work, &token.content, err))
        return false;
    /* Merges are about the token as it was. */
    bool own = (vocab_flags(&t->vocab, token.id) & TOKEN_ADDED) == 0;
    if (t->late != NULL && own && !sv_eq(token.content, content) && !late_ready(t->late, err))
        return false;
    if (!vocab_show_as(&t->vocab, token.id, token.content, err))
        return false;
    added_add(normalized ? &t->added_normalized : &t->added_raw, token);
    return true;
}

bool load_added(struct tokenizer *t, const struct js_value *list, struct error *err)
{
    struct regex_work work = {0};
    /* New entries are numbered on from the model's, as the reference does: the ids in the list are not obeyed. */
    uint32_t next = t->model_size;
    bool ok = true;
    if (list != NULL && list->type == JS_ARRAY)
        for (const struct js_value *item = list->first; ok && item != NULL; item = item->next)
            ok = load_added_one(t, item, &next, &work, err);
    regex_work_done(&work);
    added_sort(&t->added_raw);
    added_sort(&t->added_normalized);
    return ok;
}

static bool load_pipeline(struct tokenizer *t, const struct js_value *root, struct sv vocab,
                          struct sv merges, bool late, struct error *err)
{
    const struct js_value *model = js_get(root, "model");
    if (model == NULL || model->type != JS_OBJECT)
        return error_set(err, E_PARSE, "the file has no model");
    if (!normalizer_load(&t->normalizer, js_get(root, "normalizer"), &t->arena, err) ||
        !pretok_load(&t->pretok, js_get(root, "pre_tokenizer"), &t->arena, err) ||
        !decoder_load(&t->decoder, js_get(root, "decoder"), &t->arena, err) ||
        !load_model(t, model, vocab, merges, late, err) ||
        !load_added(t, js_get(root, "added_tokens"), err) ||
        !post_load(&t->post, js_get(root, "post_processor"), err))
        return false;
    return true;
}

/* *rest gets what the file says of the configuration. */
static bool load_json(struct tokenizer *t, const struct tokenizer_files *files, bool *by_class,
                      struct tokenizer_files *rest, struct error *err)
{
    struct js_scan s;
    struct buf small = {0};
    struct arena tree = {0};
    struct sv vocab = {0};
    struct sv merges = {0};
    js_scan_init(&s, files->tokenizer_json);
    bool ok = js_scan_peek(&s) == JS_OBJECT;
    if (!ok)
        error_set(err, E_PARSE, "the file does not hold an object");
    else if (!copy_members(&s, false, &small, &vocab, &merges) || !js_scan_end(&s))
        ok = error_set(err, E_PARSE, "tokenizer.json: malformed at byte %zu", js_scan_offset(&s));
    if (ok) {
        *by_class = class_rules_add(files, &small);
        const struct js_value *root = js_parse(&tree, buf_sv(&small), "tokenizer.json", err);
        struct sv pad;
        if (js_as_sv(js_get(js_get(root, "padding"), "pad_token"), &pad))
            rest->pad_token = arena_copy(&t->arena, pad);
        ok = root != NULL && load_pipeline(t, root, vocab, merges, files->late, err);
    }
    arena_done(&tree);
    buf_done(&small);
    return ok;
}

struct tokenizer *tokenizer_blank(void)
{
    struct tokenizer *t = mem_new(struct tokenizer);
    t->pool = mem_new(struct scratch_pool);
    vocab_init(&t->vocab);
    return t;
}

void load_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

struct tokenizer *tokenizer_ready(struct tokenizer *t, bool ok, const char *name, const char *kind,
                                  struct error *err)
{
    if (!ok) {
        tokenizer_free(t);
        error_context(err, "tokenizer '%s'", name);
        return NULL;
    }
    decoder_settle(&t->decoder, &t->vocab);
    t->splitter = t->model.kind == MODEL_BPE ? pretok_whole_splitter(&t->pretok) : NULL;
    t->description = arena_fmt(&t->arena, "tokenizer '%s': %s, %u entries and %u added tokens",
                               name, kind, t->model_size, t->vocab.count - t->model_size);
    load_trim();
    return t;
}

struct tokenizer *tokenizer_parse(const struct tokenizer_files *files, struct error *err)
{
    static const char *const kinds[MODEL_KIND_COUNT] = {"BPE", "Unigram", "WordPiece", "WordLevel"};
    struct tokenizer *t = tokenizer_blank();
    /* The post-processor of the file decides what goes around a text: add_bos_token and add_eos_token of the configuration
     * change nothing there since transformers 5. */
    struct tokenizer_files rest = *files;
    rest.file_only = true;
    rest.named_only = true;
    bool by_class = false;
    bool ok = load_json(t, files, &by_class, &rest, err) && load_config(t, &rest, err);
    bool bytes = ok && t->model.kind == MODEL_BPE && t->model.bpe.options.bytes;
    const char *kind = by_class ? "BPE as its class builds it"
                       : bytes  ? "byte-level BPE"
                                : kinds[t->model.kind];
    return tokenizer_ready(t, ok, files->name, kind, err);
}
