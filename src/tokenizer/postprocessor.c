/* Each kind adds ids before and after; in a Sequence a later one wraps what the earlier ones made. */
#include "tokenizer/postprocessor.h"

#include "tokenizer/bpe.h"

#include <stdlib.h>

enum { MAX_DEPTH = 8, MAX_SPECIALS = 1024 };

typedef bool load_fn(struct post_processor *post, const struct js_value *value, struct error *err);

static bool add_id(struct token_ids *ids, const struct js_value *value, struct error *err)
{
    int64_t id;
    if (!js_as_i64(value, &id) || id < 0 || id > (int64_t)UINT32_MAX || ids->count > MAX_SPECIALS)
        return error_set(err, E_PARSE, "a special token has no usable id");
    token_ids_add(ids, (uint32_t)id);
    return true;
}

static void prepend(struct token_ids *ids, const struct token_ids *first)
{
    struct token_ids joined = {0};
    for (size_t i = 0; i < first->count; i++)
        token_ids_add(&joined, first->items[i]);
    for (size_t i = 0; i < ids->count; i++)
        token_ids_add(&joined, ids->items[i]);
    token_ids_done(ids);
    *ids = joined;
}

static bool template_item(const struct js_value *item, const struct js_value *specials,
                          struct token_ids *ids, bool *is_text, struct error *err)
{
    struct sv name;
    *is_text = false;
    if (js_as_sv(js_get(js_get(item, "Sequence"), "id"), &name)) {
        *is_text = true;
        return sv_eq(name, SV_LIT("A")) ||
               error_set(err, E_PARSE, "sequence '" SV_FMT "' in 'single'", SV_ARG(name));
    }
    if (!js_as_sv(js_get(js_get(item, "SpecialToken"), "id"), &name))
        return error_set(err, E_PARSE, "an item of 'single' is neither SpecialToken nor Sequence");
    const struct js_value *list = js_get(js_get_sv(specials, name), "ids");
    if (list == NULL || list->type != JS_ARRAY)
        return error_set(err, E_PARSE, "special token '" SV_FMT "' has no ids", SV_ARG(name));
    for (const struct js_value *id = list->first; id != NULL; id = id->next)
        if (!add_id(ids, id, err))
            return false;
    return true;
}

static bool load_template(struct post_processor *post, const struct js_value *value,
                          struct error *err)
{
    const struct js_value *single = js_get(value, "single");
    const struct js_value *specials = js_get(value, "special_tokens");
    struct token_ids before = {0};
    bool seen = false;
    if (single == NULL || single->type != JS_ARRAY)
        return error_set(err, E_PARSE, "'single' is no list");
    for (const struct js_value *item = single->first; item != NULL; item = item->next) {
        bool is_text;
        if (!template_item(item, specials, seen ? &post->after : &before, &is_text, err) ||
            (is_text && seen && !error_set(err, E_PARSE, "'single' holds the text twice"))) {
            token_ids_done(&before);
            return false;
        }
        seen = seen || is_text;
    }
    prepend(&post->before, &before);
    token_ids_done(&before);
    return seen || error_set(err, E_PARSE, "'single' does not hold the text");
}

/* RobertaProcessing and BertProcessing: "cls": ["<s>", 0], "sep": ["</s>", 2]. */
static bool load_cls_sep(struct post_processor *post, const struct js_value *value,
                         struct error *err)
{
    struct token_ids before = {0};
    bool ok = add_id(&before, js_at(js_get(value, "cls"), 1), err) &&
              add_id(&post->after, js_at(js_get(value, "sep"), 1), err);
    prepend(&post->before, &before);
    token_ids_done(&before);
    return ok;
}

static bool load_nothing(struct post_processor *post, const struct js_value *value,
                         struct error *err)
{
    (void)post;
    (void)value;
    (void)err;
    return true;
}

struct post_type {
    const char *name;
    load_fn *load;
};

static const struct post_type types[] = {
    {"ByteLevel", load_nothing},
    {"TemplateProcessing", load_template},
    {"RobertaProcessing", load_cls_sep},
    {"BertProcessing", load_cls_sep},
};

static bool load(struct post_processor *post, const struct js_value *value, int depth,
                 struct error *err)
{
    struct sv name;
    if (value == NULL || value->type == JS_NULL)
        return true;
    if (!js_as_sv(js_get(value, "type"), &name))
        return error_set(err, E_PARSE, "a post_processor has no type");
    if (sv_eq(name, SV_LIT("Sequence"))) {
        const struct js_value *list = js_get(value, "processors");
        if (list == NULL || list->type != JS_ARRAY || depth == MAX_DEPTH)
            return error_set(err, E_PARSE, "post_processor Sequence: bad 'processors'");
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load(post, item, depth + 1, err))
                return false;
        return true;
    }
    const struct post_type *type = SV_ROW(name, types);
    if (type == NULL)
        return error_set(err, E_UNSUPPORTED, "post_processor '" SV_FMT "' is not supported yet",
                         SV_ARG(name));
    return type->load(post, value, err) || error_context(err, "post_processor %s", type->name);
}

bool post_load(struct post_processor *post, const struct js_value *value, struct error *err)
{
    return load(post, value, 0, err);
}

void post_done(struct post_processor *post)
{
    token_ids_done(&post->before);
    token_ids_done(&post->after);
}
