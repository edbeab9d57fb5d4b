/* The table of normalizers. */
#include "tokenizer/normalizer.h"

#include "tokenizer/unicode.h"

enum { MAX_DEPTH = 8 };

static const struct normalizer_type types[] = {
    {"NFC", unicode_is_plain_nfc, unicode_nfc},
};

static bool load(struct normalizer *n, const struct js_value *value, int depth, struct error *err)
{
    struct sv name;
    if (value == NULL || value->type == JS_NULL)
        return true;
    if (!js_as_sv(js_get(value, "type"), &name))
        return error_set(err, E_PARSE, "a normalizer has no type");
    if (sv_eq(name, SV_LIT("Sequence"))) {
        const struct js_value *list = js_get(value, "normalizers");
        if (list == NULL || list->type != JS_ARRAY || depth == MAX_DEPTH)
            return error_set(err, E_PARSE, "normalizer Sequence: bad 'normalizers'");
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load(n, item, depth + 1, err))
                return false;
        return true;
    }
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (!sv_eq(name, sv_from(types[i].name)))
            continue;
        if (n->count == NORMALIZER_MAX_STEPS)
            return error_set(err, E_UNSUPPORTED, "more than %d normalizers", NORMALIZER_MAX_STEPS);
        n->steps[n->count++] = &types[i];
        return true;
    }
    return error_set(err, E_UNSUPPORTED, "normalizer '" SV_FMT "' is not supported yet",
                     SV_ARG(name));
}

bool normalizer_load(struct normalizer *n, const struct js_value *value, struct error *err)
{
    return load(n, value, 0, err);
}

struct sv normalizer_apply(const struct normalizer *n, struct sv text, struct arena *arena)
{
    for (size_t i = 0; i < n->count; i++) {
        if (n->steps[i]->idle(text))
            continue;
        struct buf made = {0};
        n->steps[i]->apply(text, &made);
        text = arena_copy(arena, buf_sv(&made));
        buf_done(&made);
    }
    return text;
}
