/* Reads the parts of a tokenizer.json in the order in which they depend on each other: vocabulary, model, normalizer,
 * added tokens (their contents are normalized), pre-tokenizer, post-processor, decoder; then the configuration beside
 * it.  The JSON tree is thrown away afterwards; what is kept lives in the tokenizer's arena. */
#include "tokenizer/load.h"

#include "base/alloc.h"
#include "tokenizer/tokenizer_priv.h"

static bool is_set(const struct js_value *value)
{
    struct sv text;
    return value != NULL && value->type != JS_NULL && (!js_as_sv(value, &text) || text.len > 0);
}

/* Options of a BPE model that this version does not have must be off. */
static bool check_bpe_options(const struct js_value *model, struct error *err)
{
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    bool on = false;
    double dropout = 0.0;
    for (size_t i = 0; i < 2; i++)
        if (is_set(js_get(model, affixes[i])))
            return error_set(err, E_UNSUPPORTED, "model BPE with %s is not supported yet",
                             affixes[i]);
    if (js_as_bool(js_get(model, "byte_fallback"), &on) && on)
        return error_set(err, E_UNSUPPORTED, "model BPE with byte_fallback is not supported yet");
    if (js_as_double(js_get(model, "dropout"), &dropout) && dropout > 0.0)
        return error_set(err, E_UNSUPPORTED, "model BPE with dropout is not supported");
    return true;
}

static bool load_vocab(struct tokenizer *t, const struct js_value *model, struct error *err)
{
    const struct js_value *vocab = js_get(model, "vocab");
    if (vocab == NULL || vocab->type != JS_OBJECT)
        return error_set(err, E_PARSE, "model.vocab is no object");
    for (const struct js_value *item = vocab->first; item != NULL; item = item->next) {
        int64_t id;
        if (!js_as_i64(item, &id) || id < 0 || id > (int64_t)VOCAB_MAX_ID)
            return error_set(err, E_PARSE, "token '" SV_FMT "' has no usable id",
                             SV_ARG(item->key));
        if (!vocab_add(&t->vocab, (uint32_t)id, item->key, err))
            return false;
    }
    if (t->vocab.count == 0)
        return error_set(err, E_PARSE, "model.vocab is empty");
    t->model_size = t->vocab.count;
    t->vocab.closed = true;
    return true;
}

/* A merge is "a b" or ["a", "b"]. */
static bool merge_parts(const struct js_value *merge, struct sv *left, struct sv *right)
{
    struct sv both;
    if (js_as_sv(merge, &both)) {
        size_t space = sv_find(both, ' ');
        if (space == both.len)
            return false;
        *left = sv_make(both.ptr, space);
        *right = sv_skip(both, space + 1);
        return sv_find(*right, ' ') == right->len;
    }
    return merge != NULL && merge->type == JS_ARRAY && merge->count == 2 &&
           js_as_sv(js_at(merge, 0), left) && js_as_sv(js_at(merge, 1), right);
}

static bool load_merges(struct tokenizer *t, const struct js_value *merges, struct error *err)
{
    struct buf joined = {0};
    uint32_t rank = 0;
    bool ok = merges != NULL && merges->type == JS_ARRAY;
    if (!ok)
        return error_set(err, E_PARSE, "model.merges is no list");
    for (const struct js_value *merge = merges->first; ok && merge != NULL; merge = merge->next) {
        struct sv left;
        struct sv right;
        if (!merge_parts(merge, &left, &right)) {
            ok = error_set(err, E_PARSE, "merge %u is not a pair of tokens", rank);
            break;
        }
        buf_reset(&joined);
        buf_add(&joined, left);
        buf_add(&joined, right);
        uint32_t ids[3] = {vocab_find(&t->vocab, left), vocab_find(&t->vocab, right),
                           vocab_find(&t->vocab, buf_sv(&joined))};
        if (ids[0] == VOCAB_NONE || ids[1] == VOCAB_NONE || ids[2] == VOCAB_NONE)
            ok = error_set(err, E_PARSE,
                           "merge %u ('" SV_FMT "' '" SV_FMT "') uses tokens that are not in the "
                           "vocabulary",
                           rank, SV_ARG(left), SV_ARG(right));
        else
            bpe_add_merge(&t->bpe, ids[0], ids[1], rank++, ids[2]);
    }
    buf_done(&joined);
    return ok;
}

static bool load_model(struct tokenizer *t, const struct js_value *model, struct error *err)
{
    struct sv type = SV_LIT("BPE"); /* old files leave the type out */
    struct sv unk;
    if (model == NULL || model->type != JS_OBJECT)
        return error_set(err, E_PARSE, "the file has no model");
    js_as_sv(js_get(model, "type"), &type);
    if (!sv_eq(type, SV_LIT("BPE")))
        return error_set(err, E_UNSUPPORTED, "model '" SV_FMT "' is not supported yet",
                         SV_ARG(type));
    if (!check_bpe_options(model, err) || !load_vocab(t, model, err))
        return false;
    bpe_init(&t->bpe, &t->vocab);
    js_as_bool(js_get(model, "ignore_merges"), &t->bpe.ignore_merges);
    js_as_bool(js_get(model, "fuse_unk"), &t->bpe.fuse_unk);
    if (js_as_sv(js_get(model, "unk_token"), &unk))
        t->bpe.unk_id = vocab_find(&t->vocab, unk);
    return load_merges(t, js_get(model, "merges"), err);
}

static bool load_added_one(struct tokenizer *t, const struct js_value *item, struct error *err)
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
        token.id = (uint32_t)id;
        if (!vocab_add(&t->vocab, token.id, content, err))
            return false;
    }
    js_as_bool(js_get(item, "special"), &special);
    js_as_bool(js_get(item, "normalized"), &normalized);
    js_as_bool(js_get(item, "lstrip"), &token.lstrip);
    js_as_bool(js_get(item, "rstrip"), &token.rstrip);
    js_as_bool(js_get(item, "single_word"), &token.single_word);
    t->vocab.tokens[token.id].special = special;
    token.content = t->vocab.tokens[token.id].text;
    if (normalized)
        token.content = normalizer_apply(&t->normalizer, token.content, &t->arena);
    added_add(normalized ? &t->added_normalized : &t->added_raw, token);
    return true;
}

static bool load_added(struct tokenizer *t, const struct js_value *list, struct error *err)
{
    if (list != NULL && list->type == JS_ARRAY)
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load_added_one(t, item, err))
                return false;
    added_sort(&t->added_raw);
    added_sort(&t->added_normalized);
    return true;
}

static bool load_pipeline(struct tokenizer *t, const struct js_value *root, struct error *err)
{
    if (root->type != JS_OBJECT)
        return error_set(err, E_PARSE, "the file does not hold an object");
    if (!load_model(t, js_get(root, "model"), err) ||
        !normalizer_load(&t->normalizer, js_get(root, "normalizer"), err) ||
        !load_added(t, js_get(root, "added_tokens"), err) ||
        !pretok_load(&t->pretok, js_get(root, "pre_tokenizer"), &t->arena, err) ||
        !post_load(&t->post, js_get(root, "post_processor"), err) ||
        !decoder_load(&t->decoder, js_get(root, "decoder"), err))
        return false;
    if (!pretok_is_byte_level(&t->pretok))
        return error_set(err, E_UNSUPPORTED,
                         "model BPE without a ByteLevel pre_tokenizer is not supported yet");
    return true;
}

/* A special token is written as text or as an object with its content. */
static bool special_content(const struct js_value *value, struct sv *content)
{
    return js_as_sv(value, content) || js_as_sv(js_get(value, "content"), content);
}

static void mark_special(struct tokenizer *t, struct sv content)
{
    uint32_t id = vocab_find(&t->vocab, content);
    if (id != VOCAB_NONE)
        t->named_special[id] = true;
}

static void remember_name(struct tokenizer *t, const char *name, struct sv content)
{
    for (size_t i = 0; i < t->chat_name_count; i++)
        if (sv_eq(t->chat_names[i].name, sv_from(name)))
            return;
    t->chat_names[t->chat_name_count++] =
        (struct chat_name){sv_from(name), arena_copy(&t->arena, content)};
}

static const char *const special_names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                            "pad_token", "cls_token", "mask_token"};
static const char *const special_lists[] = {"additional_special_tokens", "extra_special_tokens"};

enum { SPECIAL_NAMES = sizeof(special_names) / sizeof(special_names[0]) };

/* all_special_ids of Python's tokenizer: the named tokens and the additional ones. */
static void read_specials(struct tokenizer *t, const struct js_value *config)
{
    struct sv content;
    for (size_t i = 0; i < SPECIAL_NAMES; i++) {
        if (!special_content(js_get(config, special_names[i]), &content))
            continue;
        mark_special(t, content);
        remember_name(t, special_names[i], content);
    }
    for (size_t i = 0; i < sizeof(special_lists) / sizeof(special_lists[0]); i++) {
        const struct js_value *list = js_get(config, special_lists[i]);
        if (list == NULL || (list->type != JS_ARRAY && list->type != JS_OBJECT))
            continue;
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (special_content(item, &content))
                mark_special(t, content);
    }
}

static void read_chat_template(struct tokenizer *t, const struct js_value *value)
{
    struct sv source;
    struct sv name;
    if (js_as_sv(value, &source)) {
        t->chat_template = arena_copy(&t->arena, source);
        return;
    }
    if (value == NULL || value->type != JS_ARRAY)
        return;
    for (const struct js_value *item = value->first; item != NULL; item = item->next)
        if (js_as_sv(js_get(item, "name"), &name) && sv_eq(name, SV_LIT("default")) &&
            js_as_sv(js_get(item, "template"), &source))
            t->chat_template = arena_copy(&t->arena, source);
}

/* Does Python rebuild the post-processor from add_bos_token and add_eos_token for this class? */
static bool class_follows_config(const struct js_value *config)
{
    static const char *const prefixes[] = {"Llama", "CodeLlama", "Gemma", "Cohere"};
    struct sv name;
    if (!js_as_sv(js_get(config, "tokenizer_class"), &name))
        return false;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (sv_starts(name, sv_from(prefixes[i])))
            return true;
    return false;
}

static void follow_flag(struct tokenizer *t, const struct js_value *config, const char *flag,
                        const char *token, struct token_ids *ids)
{
    bool on;
    struct sv content;
    if (!js_as_bool(js_get(config, flag), &on))
        return;
    if (!on) {
        if (class_follows_config(config))
            ids->count = 0;
        return;
    }
    if (ids->count > 0 || !special_content(js_get(config, token), &content))
        return;
    uint32_t id = vocab_find(&t->vocab, content);
    if (id != VOCAB_NONE)
        token_ids_add(ids, id);
}

static const struct js_value *parse_side(struct arena *arena, struct sv text, const char *what,
                                         struct error *err, bool *ok)
{
    if (text.ptr == NULL || !*ok)
        return NULL;
    const struct js_value *root = js_parse(arena, text, what, err);
    *ok = root != NULL;
    return root;
}

static bool load_config(struct tokenizer *t, const struct tokenizer_files *files,
                        struct arena *arena, struct error *err)
{
    bool ok = true;
    const struct js_value *config =
        parse_side(arena, files->config_json, "tokenizer_config.json", err, &ok);
    const struct js_value *map =
        parse_side(arena, files->special_tokens_json, "special_tokens_map.json", err, &ok);
    if (!ok)
        return false;
    t->named_special = arena_array(&t->arena, t->vocab.limit, sizeof(bool));
    t->chat_names = arena_array(&t->arena, SPECIAL_NAMES, sizeof(*t->chat_names));
    if (config == NULL && map == NULL)
        for (uint32_t id = 0; id < t->vocab.limit; id++)
            t->named_special[id] = t->vocab.tokens[id].special;
    read_specials(t, config);
    read_specials(t, map);
    read_chat_template(t, js_get(config, "chat_template"));
    if (files->chat_template.ptr != NULL)
        t->chat_template = arena_copy(&t->arena, files->chat_template);
    if (!files->file_only) {
        follow_flag(t, config, "add_bos_token", "bos_token", &t->post.before);
        follow_flag(t, config, "add_eos_token", "eos_token", &t->post.after);
    }
    return true;
}

struct tokenizer *tokenizer_parse(const struct tokenizer_files *files, struct error *err)
{
    struct arena tree = {0};
    struct tokenizer *t = mem_new(struct tokenizer);
    t->pool = mem_new(struct scratch_pool);
    vocab_init(&t->vocab, &t->arena);
    const struct js_value *root = js_parse(&tree, files->tokenizer_json, "tokenizer.json", err);
    bool ok = root != NULL && load_pipeline(t, root, err);
    arena_done(&tree);
    tree = (struct arena){0};
    ok = ok && load_config(t, files, &tree, err);
    arena_done(&tree);
    if (!ok) {
        tokenizer_free(t);
        error_context(err, "tokenizer '%s'", files->name);
        return NULL;
    }
    t->description =
        arena_fmt(&t->arena, "tokenizer '%s': byte-level BPE, %u entries and %u added tokens",
                  files->name, t->model_size, t->vocab.count - t->model_size);
    return t;
}
