/* See figures.h. */
#include "output/figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/num.h"

const struct js_value *figure_find(const struct js_value *result, struct sv key)
{
    const struct js_value *direct = js_get_sv(result, key);
    if (direct != NULL)
        return direct;
    /* A key may itself hold a dot (p99.9_ttft_ms): every dot is tried as the border. */
    for (size_t i = 0; i < key.len; i++) {
        if (key.ptr[i] != '.')
            continue;
        const struct js_value *inside = js_get_sv(result, sv_make(key.ptr, i));
        const struct js_value *found =
            inside != NULL ? figure_find(inside, sv_skip(key, i + 1)) : NULL;
        if (found != NULL)
            return found;
    }
    return NULL;
}

bool figure_get(const struct js_value *result, const char *key, double *out)
{
    return js_as_double(figure_find(result, sv_from(key)), out) && isfinite(*out);
}

void figure_text(char *out, size_t cap, double value)
{
    bool whole = fabs(value) < 1e9 && value == floor(value);
    num_format_fixed(out, cap, value, whole ? 0 : 2);
}

void figure_each(const struct js_value *result, figure_each_fn *each, void *user)
{
    bool measured = false;
    struct buf key = {0};
    double value;
    if (result == NULL)
        return;
    for (const struct js_value *v = result->first; v != NULL; v = v->next) {
        measured = measured || sv_eq(v->key, SV_LIT("duration"));
        if (!measured)
            continue;
        buf_reset(&key);
        buf_add(&key, v->key);
        if (v->type == JS_NUMBER && js_as_double(v, &value))
            each(user, buf_cstr(&key), value);
        if (v->type != JS_OBJECT || !sv_eq(v->key, SV_LIT("steady_state")))
            continue;
        for (const struct js_value *s = v->first; s != NULL; s = s->next) {
            buf_reset(&key);
            buf_add_fmt(&key, "steady_state." SV_FMT, SV_ARG(s->key));
            if (s->type == JS_NUMBER && js_as_double(s, &value))
                each(user, buf_cstr(&key), value);
        }
    }
    buf_done(&key);
}

static void add_key(void *user, const char *key, double value)
{
    struct figure_keys *keys = user;
    (void)value;
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->items[i], key) == 0)
            return;
    MEM_GROW(keys->items, keys->count, keys->cap);
    keys->items[keys->count++] = mem_strdup(key);
}

void figure_keys_make(struct figure_keys *keys, const struct js_value *const *results, size_t count)
{
    *keys = (struct figure_keys){0};
    for (size_t i = 0; i < count; i++)
        figure_each(results[i], add_key, keys);
}

void figure_keys_done(struct figure_keys *keys)
{
    for (size_t i = 0; i < keys->count; i++)
        free(keys->items[i]);
    free(keys->items);
    *keys = (struct figure_keys){0};
}

void figure_csv(struct buf *out, struct sv text)
{
    bool plain = true;
    for (size_t i = 0; i < text.len; i++)
        plain = plain && strchr(",\"\r\n", text.ptr[i]) == NULL;
    if (plain) {
        buf_add(out, text);
        return;
    }
    buf_add_char(out, '"');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            buf_add_char(out, '"');
        buf_add_char(out, text.ptr[i]);
    }
    buf_add_char(out, '"');
}
