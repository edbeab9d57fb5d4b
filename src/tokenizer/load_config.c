/* The configuration beside a tokenizer file: tokenizer_config.json and special_tokens_map.json name the special tokens,
 * the chat template, and whether a token goes in front. */
#include "tokenizer/load.h"

#include "tokenizer/tokenizer_priv.h"

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

bool load_config(struct tokenizer *t, const struct tokenizer_files *files, struct error *err)
{
    bool ok = true;
    struct arena tree = {0};
    struct arena *arena = &tree;
    const struct js_value *config =
        parse_side(arena, files->config_json, "tokenizer_config.json", err, &ok);
    const struct js_value *map =
        parse_side(arena, files->special_tokens_json, "special_tokens_map.json", err, &ok);
    if (!ok) {
        arena_done(&tree);
        return false;
    }
    t->named_special = arena_array(&t->arena, t->vocab.limit, sizeof(bool));
    t->chat_names = arena_array(&t->arena, SPECIAL_NAMES, sizeof(*t->chat_names));
    if (config == NULL && map == NULL && !files->named_only)
        for (uint32_t id = 0; id < t->vocab.limit; id++)
            t->named_special[id] = (vocab_flags(&t->vocab, id) & TOKEN_SPECIAL) != 0;
    read_specials(t, config);
    read_specials(t, map);
    if (files->pad_token.ptr != NULL && js_get(config, "pad_token") == NULL)
        mark_special(t, files->pad_token);
    /* What the class names by itself. */
    struct sv class;
    if (js_as_sv(js_get(config, "tokenizer_class"), &class) &&
        sv_starts(class, SV_LIT("GemmaTokenizer")) && js_get(config, "mask_token") == NULL)
        mark_special(t, SV_LIT("<mask>"));
    read_chat_template(t, js_get(config, "chat_template"));
    if (files->chat_template.ptr != NULL)
        t->chat_template = arena_copy(&t->arena, files->chat_template);
    if (!files->file_only) {
        follow_flag(t, config, "add_bos_token", "bos_token", &t->post.before);
        follow_flag(t, config, "add_eos_token", "eos_token", &t->post.after);
    }
    arena_done(&tree);
    return true;
}
