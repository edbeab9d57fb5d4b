/* The dotted flags of JSON rows: `--extra-body.a.b 1` is the object {"a": {"b": 1}}.  Words are read as Python's parser
 * reads them: as JSON where they are JSON, as a number with a decimal (k, m, g, t) or binary (K, M, G, T) suffix, else
 * as a string; a key that ends in '+' takes a list of strings between commas. */
#include "base/num.h"
#include "config/options_priv.h"
#include "json/tree.h"
#include "json/writer.h"

/* "16k" is 16000, "1.5m" 1500000, "2K" 2048; binary suffixes take whole numbers only. */
static bool suffixed_number(struct sv word, int64_t *out)
{
    static const char suffixes[] = "kmgtKMGT";
    if (word.len < 2 || word.ptr[0] < '0' || word.ptr[0] > '9') {
        return false;
    }
    const char *suffix = strchr(suffixes, word.ptr[word.len - 1]);
    if (suffix == NULL || *suffix == '\0') {
        return false;
    }
    size_t rank = (size_t)(suffix - suffixes);
    struct sv digits = sv_make(word.ptr, word.len - 1);
    if (rank >= 4) {
        int64_t value;
        return num_parse_i64(digits, &value) &&
               !__builtin_mul_overflow(value, INT64_C(1) << (10 * (rank - 3)), out);
    }
    double value;
    if (strcspn(digits.ptr, "eEinIN") < digits.len || !num_parse_double(digits, &value)) {
        return false;
    }
    static const double factors[] = {1e3, 1e6, 1e9, 1e12};
    value *= factors[rank];
    if (value >= 9e18) {
        return false;
    }
    *out = (int64_t)value;
    return true;
}

static void write_word(struct arena *arena, struct js_writer *w, const char *word)
{
    struct error ignored;
    int64_t number;
    const struct js_value *tree = js_parse(arena, sv_from(word), "the value", &ignored);
    if (tree != NULL) {
        js_write_value(w, tree);
    } else if (suffixed_number(sv_from(word), &number)) {
        js_int(w, number);
    } else {
        js_cstring(w, word);
    }
}

static void write_list(struct js_writer *w, const char *word)
{
    struct sv rest = sv_from(word);
    struct sv part;
    js_begin_array(w);
    while (sv_split(&rest, ',', &part)) {
        js_string(w, part);
    }
    js_end_array(w);
}

struct sv option_json_nest(struct arena *arena, struct sv path, const char *word)
{
    struct buf out = {0};
    struct js_writer w;
    struct sv key;
    size_t depth = 0;
    bool list = sv_ends(path, SV_LIT("+"));
    js_writer_init(&w, &out);
    path.len -= list ? 1 : 0;
    while (sv_split(&path, '.', &key)) {
        js_begin_object(&w);
        js_key_sv(&w, key);
        depth++;
    }
    if (list) {
        write_list(&w, word);
    } else {
        write_word(arena, &w, word);
    }
    for (; depth > 0; depth--) {
        js_end_object(&w);
    }
    struct sv copy = arena_copy(arena, buf_sv(&out));
    buf_done(&out);
    return copy;
}

struct sv option_json_shown(struct arena *arena, struct sv text)
{
    enum { KEY_SHOWN = 20, OTHER_SHOWN = 6 };
    size_t limit = sv_starts(text, SV_LIT("{")) ? KEY_SHOWN : OTHER_SHOWN;
    size_t len = 0;
    while (len < text.len && len < limit &&
           strchr(len < 2 ? ":=" : ":= ", text.ptr[len]) == NULL) { /* "{ key": a blank may lead */
        len++;
    }
    return len == text.len ? text : arena_fmt(arena, SV_FMT "...", SV_ARG(sv_make(text.ptr, len)));
}

static void merge(struct js_writer *w, const struct js_value *a, const struct js_value *b)
{
    if (a->type == JS_ARRAY && b->type == JS_ARRAY) {
        js_begin_array(w);
        for (const struct js_value *v = a->first; v != NULL; v = v->next) {
            js_write_value(w, v);
        }
        for (const struct js_value *v = b->first; v != NULL; v = v->next) {
            js_write_value(w, v);
        }
        js_end_array(w);
        return;
    }
    if (a->type != JS_OBJECT || b->type != JS_OBJECT) {
        js_write_value(w, b);
        return;
    }
    js_begin_object(w);
    for (const struct js_value *v = a->first; v != NULL; v = v->next) {
        if (js_get_sv(a, v->key) != v) {
            continue; /* an earlier one of the same name */
        }
        const struct js_value *over = js_get_sv(b, v->key);
        js_key_sv(w, v->key);
        if (over != NULL) {
            merge(w, v, over);
        } else {
            js_write_value(w, v);
        }
    }
    for (const struct js_value *v = b->first; v != NULL; v = v->next) {
        if (js_get_sv(b, v->key) == v && js_get_sv(a, v->key) == NULL) {
            js_key_sv(w, v->key);
            js_write_value(w, v);
        }
    }
    js_end_object(w);
}

bool option_json_merge(struct arena *arena, struct sv a, struct sv b, struct sv *out,
                       struct error *err)
{
    struct error why;
    const struct js_value *left = js_parse(arena, a, "the value", &why);
    const struct js_value *right = left != NULL ? js_parse(arena, b, "the value", &why) : NULL;
    if (left == NULL || right == NULL) {
        return error_set(err, E_USAGE, "'" SV_FMT "' is not JSON: %s",
                         SV_ARG(option_json_shown(arena, left == NULL ? a : b)), why.message);
    }
    struct buf text = {0};
    struct js_writer w;
    js_writer_init(&w, &text);
    merge(&w, left, right);
    *out = arena_copy(arena, buf_sv(&text));
    buf_done(&text);
    return true;
}
