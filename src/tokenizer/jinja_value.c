/* Values of templates: made by hand or from JSON. */
#include "tokenizer/jinja_filters.h"

#include "base/num.h"

struct jinja_value jinja_string(struct sv text)
{
    return (struct jinja_value){.kind = JINJA_STRING, .text = text};
}

struct jinja_value jinja_bool(bool value)
{
    return (struct jinja_value){.kind = JINJA_BOOL, .number = value};
}

struct jinja_value jinja_list_new(struct arena *arena)
{
    return (struct jinja_value){.kind = JINJA_LIST,
                                .list = arena_array(arena, 1, sizeof(struct jinja_list))};
}

void jinja_list_add(struct jinja_value *list, struct jinja_value item, struct arena *arena)
{
    struct jinja_list *l = list->list;
    if (l->count == l->cap) {
        size_t cap = l->cap * 2 + 4;
        struct jinja_value *items = arena_array(arena, cap, sizeof(*items));
        if (l->count > 0)
            memcpy(items, l->items, l->count * sizeof(*items));
        l->items = items;
        l->cap = cap;
    }
    l->items[l->count++] = item;
}

struct jinja_value jinja_dict_new(struct arena *arena)
{
    return (struct jinja_value){.kind = JINJA_DICT,
                                .dict = arena_array(arena, 1, sizeof(struct jinja_dict))};
}

void jinja_dict_put(struct jinja_value *dict, struct jinja_value key, struct jinja_value value,
                    struct arena *arena)
{
    struct jinja_dict *d = dict->dict;
    for (size_t i = 0; i < d->count; i++)
        if (jinja_equal(d->keys[i], key)) {
            d->values[i] = value;
            return;
        }
    if (d->count == d->cap) {
        size_t cap = d->cap * 2 + 4;
        struct jinja_value *keys = arena_array(arena, cap, sizeof(*keys));
        struct jinja_value *values = arena_array(arena, cap, sizeof(*values));
        if (d->count > 0) {
            memcpy(keys, d->keys, d->count * sizeof(*keys));
            memcpy(values, d->values, d->count * sizeof(*values));
        }
        d->keys = keys;
        d->values = values;
        d->cap = cap;
    }
    d->keys[d->count] = key;
    d->values[d->count++] = value;
}

void jinja_dict_set(struct jinja_value *dict, struct sv key, struct jinja_value value,
                    struct arena *arena)
{
    jinja_dict_put(dict, jinja_string(key), value, arena);
}

/* ---- rules ---------------------------------------------------------------------------------------------------------- */

bool jinja_is_true(struct jinja_value v)
{
    switch (v.kind) {
    case JINJA_BOOL:
    case JINJA_INT:
        return v.number != 0;
    case JINJA_FLOAT:
        return v.real != 0;
    case JINJA_STRING:
        return v.text.len > 0;
    case JINJA_LIST:
        return v.list->count > 0 || v.list->shape == JINJA_ITERATOR;
    case JINJA_DICT:
        return v.dict->count > 0 || v.dict->is_namespace;
    case JINJA_MACRO:
        return true;
    case JINJA_UNDEFINED:
    case JINJA_NONE:
    default:
        return false;
    }
}

bool jinja_is_number(struct jinja_value v)
{
    return v.kind == JINJA_INT || v.kind == JINJA_BOOL || v.kind == JINJA_FLOAT;
}

double jinja_real(struct jinja_value v)
{
    return v.kind == JINJA_FLOAT ? v.real : (double)v.number;
}

/* Deeper than this values count as different; no template nests them so. */
enum { MAX_DEPTH = 64 };

static bool equal(const struct jinja_value *a, const struct jinja_value *b, int depth);

static bool find_at(const struct jinja_value *dict, const struct jinja_value *key, int depth,
                    struct jinja_value *value)
{
    for (size_t i = 0; i < dict->dict->count; i++)
        if (equal(&dict->dict->keys[i], key, depth)) {
            *value = dict->dict->values[i];
            return true;
        }
    return false;
}

static bool same_lists(const struct jinja_list *a, const struct jinja_list *b, int depth)
{
    bool same = a->count == b->count && a->shape == b->shape;
    for (size_t i = 0; same && i < a->count; i++)
        same = equal(&a->items[i], &b->items[i], depth);
    return same;
}

static bool same_dicts(const struct jinja_value *a, const struct jinja_value *b, int depth)
{
    bool same = a->dict->count == b->dict->count;
    struct jinja_value other;
    for (size_t i = 0; same && i < a->dict->count; i++)
        same = find_at(b, &a->dict->keys[i], depth, &other) &&
               equal(&a->dict->values[i], &other, depth);
    return same;
}

static bool equal(const struct jinja_value *a, const struct jinja_value *b, int depth)
{
    if (jinja_is_number(*a) && jinja_is_number(*b)) {
        bool real = a->kind == JINJA_FLOAT || b->kind == JINJA_FLOAT;
        return real ? jinja_real(*a) == jinja_real(*b) : a->number == b->number;
    }
    if (a->kind != b->kind || depth > MAX_DEPTH)
        return false;
    if (a->kind == JINJA_STRING)
        return sv_eq(a->text, b->text);
    if (a->kind == JINJA_LIST)
        return a->list == b->list || same_lists(a->list, b->list, depth + 1);
    if (a->kind == JINJA_DICT)
        return a->dict == b->dict || same_dicts(a, b, depth + 1);
    return true;
}

bool jinja_equal(struct jinja_value a, struct jinja_value b)
{
    return equal(&a, &b, 0);
}

bool jinja_dict_find(const struct jinja_value *dict, struct jinja_value key,
                     struct jinja_value *value)
{
    return find_at(dict, &key, 0, value);
}

/* A whole number that is too large for 64 bits keeps its digits, to be printed. */
static struct jinja_value number_of(struct sv text, struct arena *arena)
{
    struct jinja_value v = {.kind = JINJA_INT};
    bool whole = true;
    for (size_t i = 0; i < text.len; i++)
        whole = whole && (text.ptr[i] == '-' || (text.ptr[i] >= '0' && text.ptr[i] <= '9'));
    if (whole && num_parse_i64(text, &v.number))
        return v;
    v.kind = JINJA_FLOAT;
    num_parse_double(text, &v.real);
    if (whole)
        v.text = arena_copy(arena, text);
    return v;
}

/* Reading JSON bounds the depth. */
struct jinja_value jinja_from_json(const struct js_value *json, struct arena *arena)
{
    struct jinja_value v = {.kind = JINJA_NONE};
    switch (json->type) {
    case JS_BOOL:
        return jinja_bool(json->boolean);
    case JS_NUMBER:
        return number_of(json->text, arena);
    case JS_STRING:
        return jinja_string(arena_copy(arena, json->text));
    case JS_ARRAY:
        v = jinja_list_new(arena);
        for (const struct js_value *item = json->first; item != NULL; item = item->next)
            jinja_list_add(&v, jinja_from_json(item, arena), arena);
        return v;
    case JS_OBJECT:
        v = jinja_dict_new(arena);
        for (const struct js_value *item = json->first; item != NULL; item = item->next)
            jinja_dict_set(&v, arena_copy(arena, item->key), jinja_from_json(item, arena), arena);
        return v;
    case JS_NULL:
    case JS_BAD:
    default:
        return v;
    }
}
