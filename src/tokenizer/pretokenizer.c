/* The table of pre-tokenizers and the chain that runs them. */
#include "tokenizer/pretokenizer.h"

#include "base/alloc.h"

#include <stdlib.h>

enum { MAX_DEPTH = 8 };

static const struct pretok_type *const types[] = {
    &pretok_byte_level,       &pretok_split,       &pretok_metaspace,
    &pretok_digits,           &pretok_whitespace,  &pretok_bert,
    &pretok_whitespace_split, &pretok_punctuation, &pretok_char_delimiter,
};

static const struct pretok_type *type_find(struct sv name)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (sv_eq(name, sv_from(types[i]->name)))
            return types[i];
    return NULL;
}

struct pretok_step *pretok_add(struct pretok_chain *chain, const struct pretok_type *type)
{
    MEM_GROW(chain->steps, chain->count, chain->cap);
    struct pretok_step *step = &chain->steps[chain->count++];
    *step = (struct pretok_step){.type = type};
    return step;
}

static bool load_one(struct pretok_chain *chain, const struct js_value *value, struct arena *arena,
                     int depth, struct error *err)
{
    struct sv name;
    if (!js_as_sv(js_get(value, "type"), &name))
        return error_set(err, E_PARSE, "a pre_tokenizer has no type");
    if (sv_eq(name, SV_LIT("Sequence"))) {
        const struct js_value *list = js_get(value, "pretokenizers");
        if (list == NULL || list->type != JS_ARRAY || depth == MAX_DEPTH)
            return error_set(err, E_PARSE, "pre_tokenizer Sequence: bad 'pretokenizers'");
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load_one(chain, item, arena, depth + 1, err))
                return false;
        return true;
    }
    const struct pretok_type *type = type_find(name);
    if (type == NULL)
        return error_set(err, E_UNSUPPORTED, "pre_tokenizer '" SV_FMT "' is not supported",
                         SV_ARG(name));
    struct pretok_step *step = pretok_add(chain, type);
    if (!type->load(step, value, arena, err))
        return error_context(err, "pre_tokenizer %s", type->name);
    return true;
}

bool pretok_load(struct pretok_chain *chain, const struct js_value *value, struct arena *arena,
                 struct error *err)
{
    return value == NULL || value->type == JS_NULL || load_one(chain, value, arena, 0, err);
}

void pretok_done(struct pretok_chain *chain)
{
    for (size_t i = 0; i < chain->count; i++)
        regex_free(chain->steps[i].regex);
    free(chain->steps);
    *chain = (struct pretok_chain){0};
}

bool pretok_is_byte_level(const struct pretok_chain *chain)
{
    return chain->count > 0 && chain->steps[chain->count - 1].type == &pretok_byte_level;
}

void pretok_settle(struct pretok_chain *chain, bool bytes)
{
    for (size_t i = 0; i < chain->count; i++)
        chain->steps[i].spell = !bytes;
}

bool pretok_add_pattern(struct pretok_chain *chain, struct sv pattern, struct arena *arena,
                        struct error *err)
{
    (void)arena;
    struct pretok_step *step = pretok_add(chain, &pretok_split);
    step->behavior = SPLIT_REMOVED;
    step->invert = true;
    step->splitter = splitter_find(pattern);
    if (step->splitter == NULL)
        step->regex = regex_compile(pattern, REGEX_FANCY, err);
    return step->splitter != NULL || step->regex != NULL;
}

const struct splitter *pretok_whole_splitter(const struct pretok_chain *chain)
{
    if (chain->count == 0 || chain->count > 2)
        return NULL;
    const struct pretok_step *first = &chain->steps[0];
    const struct pretok_step *last = &chain->steps[chain->count - 1];
    if (last->type == &pretok_byte_level && (last->spell || last->add_prefix_space))
        return NULL;
    if (chain->count == 1 && last->type == &pretok_byte_level && last->use_regex)
        return &splitter_gpt2;
    if (chain->count == 2 && (last->type != &pretok_byte_level || last->use_regex))
        return NULL;
    bool keeps =
        first->behavior == SPLIT_ISOLATED || (first->behavior == SPLIT_REMOVED && first->invert);
    return keeps && first->splitter != NULL && first->splitter->total ? first->splitter : NULL;
}

bool pretok_run(const struct pretok_chain *chain, struct sv text, struct scratch *scratch,
                const struct piece_list **pieces, struct error *err)
{
    struct piece_list *in = &scratch->pieces[0];
    struct piece_list *out = &scratch->pieces[1];
    in->count = 0;
    piece_list_add(in, text);
    for (size_t i = 0; i < chain->count; i++) {
        const struct pretok_step *step = &chain->steps[i];
        out->count = 0;
        for (size_t k = 0; k < in->count; k++)
            if (!step->type->split(step, in->items[k], scratch, out, err))
                return false;
        struct piece_list *swap = in;
        in = out;
        out = swap;
    }
    *pieces = in;
    return true;
}
