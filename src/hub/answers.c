/* The trees of these answers are small, but for pages of rows, whose texts may be long; all go through the same parser,
 * which checks them as a whole. */
#include "hub/answers.h"

#include "base/alloc.h"
#include "hub/hub_priv.h"
#include "json/writer.h"

#include <stdlib.h>

#define PARQUET_PLACE "refs/convert/parquet/"

/* ---- lists of names ----------------------------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    const struct sv *one = a;
    const struct sv *two = b;
    size_t n = one->len < two->len ? one->len : two->len;
    int order = n > 0 ? memcmp(one->ptr, two->ptr, n) : 0;
    if (order != 0)
        return order;
    return one->len < two->len ? -1 : one->len > two->len;
}

void hub_names_sort(struct hub_names *names)
{
    if (names->count > 1)
        qsort(names->items, names->count, sizeof(*names->items), by_bytes);
}

void hub_names_done(struct hub_names *names)
{
    arena_done(&names->arena);
    *names = (struct hub_names){0};
}

/* A member of the answer that must be of this type; NULL with *err filled when it is not. */
static const struct js_value *member(const struct js_value *root, const char *name,
                                     enum js_type type, const char *what, struct error *err)
{
    const struct js_value *value = js_get(root, name);
    if (value != NULL && value->type == type)
        return value;
    if (root != NULL)
        error_set(err, E_PARSE, "%s has no %s '%s'", what, type == JS_ARRAY ? "list" : "object",
                  name);
    return NULL;
}

/* `most` is an upper bound of what will be added. */
static void names_begin(struct hub_names *names, size_t most)
{
    *names = (struct hub_names){0};
    names->items = arena_array(&names->arena, most > 0 ? most : 1, sizeof(*names->items));
}

bool hub_parse_listing(struct sv text, struct hub_names *names, size_t *left_out, struct error *err)
{
    struct arena arena = {0};
    const struct js_value *root = js_parse(&arena, text, "the list of files", err);
    const struct js_value *list = member(root, "siblings", JS_ARRAY, "the list of files", err);
    bool ok = list != NULL;
    *left_out = 0;
    names_begin(names, ok ? list->count : 0);
    for (const struct js_value *v = ok ? list->first : NULL; v != NULL; v = v->next) {
        struct sv name;
        if (js_as_sv(js_get(v, "rfilename"), &name) && hub_is_path(name))
            names->items[names->count++] = arena_copy(&names->arena, name);
        else
            ++*left_out;
    }
    hub_names_sort(names);
    if (!ok)
        hub_names_done(names);
    arena_done(&arena);
    return ok;
}

/* ---- the datasets server ------------------------------------------------------------------------------------------ */

static void copy_config(struct datasets_info *info, const struct js_value *value)
{
    struct datasets_config *config = &info->configs[info->count++];
    const struct js_value *splits = js_get(value, "splits");
    config->name = arena_copy(&info->arena, value->key);
    if (splits == NULL || splits->type != JS_OBJECT)
        return;
    struct sv *names = arena_array(&info->arena, splits->count + 1, sizeof(*names));
    for (const struct js_value *v = splits->first; v != NULL; v = v->next)
        names[config->split_count++] = arena_copy(&info->arena, v->key);
    config->splits = names;
}

bool hub_parse_info(struct sv text, struct datasets_info *info, struct error *err)
{
    struct arena arena = {0};
    *info = (struct datasets_info){0};
    const struct js_value *root = js_parse(&arena, text, "the answer of /info", err);
    const struct js_value *configs =
        member(root, "dataset_info", JS_OBJECT, "the answer of /info", err);
    bool ok =
        configs != NULL && (configs->count > 0 ||
                            error_set(err, E_PARSE, "the answer of /info names no configuration"));
    if (ok) {
        info->configs = arena_array(&info->arena, configs->count, sizeof(*info->configs));
        for (const struct js_value *v = configs->first; v != NULL; v = v->next)
            copy_config(info, v);
    }
    arena_done(&arena);
    return ok;
}

/* "%2F" and its like resolved; false for what is no escape. */
static bool unescape(struct sv text, struct buf *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '%') {
            buf_add_char(out, text.ptr[i]);
            continue;
        }
        unsigned value = 0;
        for (size_t k = 1; k <= 2; k++) {
            char c = i + k < text.len ? text.ptr[i + k] : '\0';
            c = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
            const char *at = c != '\0' ? strchr(digits, c) : NULL;
            if (at == NULL)
                return false;
            value = value * 16 + (unsigned)(at - digits);
        }
        buf_add_char(out, (char)value);
        i += 2;
    }
    return true;
}

/* "https://hub/datasets/a/b/resolve/refs%2Fconvert%2Fparquet/default/train/0000.parquet" gives
 * "default/train/0000.parquet". */
static bool parquet_path(struct sv url, struct hub_names *names)
{
    struct buf plain = {0};
    bool ok = unescape(sv_make(url.ptr, strcspn(url.ptr, "?#")), &plain);
    const char *place = ok ? strstr(buf_cstr(&plain), PARQUET_PLACE) : NULL;
    struct sv path = place != NULL ? sv_from(place + strlen(PARQUET_PLACE)) : (struct sv){0};
    ok = hub_is_path(path);
    if (ok)
        names->items[names->count++] = arena_copy(&names->arena, path);
    buf_done(&plain);
    return ok;
}

static bool is_split(struct sv name, struct sv wanted)
{
    struct sv partial = SV_LIT("partial-");
    return sv_eq(name, wanted) ||
           (sv_starts(name, partial) && sv_eq(sv_skip(name, partial.len), wanted));
}

bool hub_parse_parquet(struct sv text, const char *config, const char *split,
                       struct hub_names *names, struct error *err)
{
    struct arena arena = {0};
    const struct js_value *root = js_parse(&arena, text, "the answer of /parquet", err);
    const struct js_value *list =
        member(root, "parquet_files", JS_ARRAY, "the answer of /parquet", err);
    bool ok = list != NULL;
    names_begin(names, ok ? list->count : 0);
    for (const struct js_value *v = ok ? list->first : NULL; v != NULL && ok; v = v->next) {
        struct sv own_config;
        struct sv own_split;
        struct sv url;
        if (!js_as_sv(js_get(v, "config"), &own_config) ||
            !js_as_sv(js_get(v, "split"), &own_split) || !js_as_sv(js_get(v, "url"), &url))
            ok = error_set(err, E_PARSE,
                           "a file in the answer of /parquet lacks 'config', 'split' or 'url'");
        else if (sv_eq(own_config, sv_from(config)) && is_split(own_split, sv_from(split)))
            ok = parquet_path(url, names) ||
                 error_set(err, E_PARSE,
                           "the answer of /parquet has a URL without '%s': '" SV_FMT "'",
                           PARQUET_PLACE, SV_ARG(url));
    }
    hub_names_sort(names);
    if (!ok)
        hub_names_done(names);
    arena_done(&arena);
    return ok;
}

bool hub_parse_rows(struct sv text, uint64_t limit, struct buf *out, struct hub_rows_page *page,
                    struct error *err)
{
    struct arena arena = {0};
    struct js_writer w;
    int64_t total = 0;
    size_t before = out->len;
    *page = (struct hub_rows_page){0};
    const struct js_value *root = js_parse(&arena, text, "the answer of /rows", err);
    const struct js_value *list = member(root, "rows", JS_ARRAY, "the answer of /rows", err);
    bool ok = list != NULL;
    if (ok && js_as_i64(js_get(root, "num_rows_total"), &total) && total > 0)
        page->total = (uint64_t)total;
    const struct js_value *v = ok ? list->first : NULL;
    for (; v != NULL && ok && page->count < limit; v = v->next) {
        const struct js_value *row = js_get(v, "row");
        const struct js_value *cut = js_get(v, "truncated_cells");
        if (row == NULL || row->type != JS_OBJECT) {
            ok = error_set(err, E_PARSE, "an entry of the answer of /rows has no object 'row'");
            break;
        }
        page->cut += cut != NULL && cut->type == JS_ARRAY && cut->count > 0;
        if (out->len > 0)
            buf_add_str(out, ",\n");
        js_writer_init(&w, out);
        js_write_value(&w, row);
        page->count++;
    }
    if (!ok)
        out->len = before;
    arena_done(&arena);
    return ok;
}
