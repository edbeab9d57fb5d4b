/* JSON texts as trees: one recursive descent over the scanner, at most JS_MAX_DEPTH deep.  Strings and numbers are
 * copied into the arena, so the text may go away after parsing. */
#include "json/tree.h"

#include "base/num.h"
#include "json/writer.h"

struct parser {
    struct js_scan scan;
    struct arena *arena;
    struct buf text; /* where strings with escapes are resolved */
    bool too_deep;
};

static struct sv copy_string(struct parser *p, struct sv raw)
{
    if (memchr(raw.ptr, '\\', raw.len) == NULL)
        return arena_copy(p->arena, raw);
    buf_reset(&p->text);
    js_unescape(raw, &p->text); /* the scanner has accepted every escape */
    return arena_copy(p->arena, buf_sv(&p->text));
}

static struct js_value *parse_value(struct parser *p, int depth);

/* Members or elements into `value`; false when the text is malformed. */
static bool parse_children(struct parser *p, struct js_value *value, int depth)
{
    struct js_scan *s = &p->scan;
    bool object = value->type == JS_OBJECT;
    bool first = true;
    struct js_value *last = NULL;
    struct sv key = {0};
    if (depth > JS_MAX_DEPTH) {
        p->too_deep = true;
        return false;
    }
    if (!(object ? js_scan_object(s) : js_scan_array(s)))
        return false;
    while (object ? js_scan_member(s, &first, &key) : js_scan_element(s, &first)) {
        struct js_value *child = parse_value(p, depth);
        if (child == NULL)
            return false;
        if (object)
            child->key = copy_string(p, key);
        if (last != NULL)
            last->next = child;
        else
            value->first = child;
        last = child;
        value->count++;
    }
    return !s->bad;
}

/* `depth` brackets are open; NULL when malformed. */
static struct js_value *parse_value(struct parser *p, int depth)
{
    struct js_scan *s = &p->scan;
    struct sv raw = {0};
    bool escaped;
    bool good = false;
    struct js_value *value = arena_alloc(p->arena, sizeof(*value));
    *value = (struct js_value){.type = js_scan_peek(s)};
    switch (value->type) {
    case JS_NULL:
        good = js_scan_null(s);
        break;
    case JS_BOOL:
        good = js_scan_bool(s, &value->boolean);
        break;
    case JS_NUMBER:
        good = js_scan_number(s, &raw);
        if (good)
            value->text = arena_copy(p->arena, raw);
        break;
    case JS_STRING:
        good = js_scan_string(s, &raw, &escaped);
        if (good)
            value->text = copy_string(p, raw);
        break;
    case JS_ARRAY:
    case JS_OBJECT:
        good = parse_children(p, value, depth + 1);
        break;
    case JS_BAD:
        break;
    }
    return good ? value : NULL;
}

static void report(const struct parser *p, struct sv text, const char *what, struct error *err)
{
    size_t offset = js_scan_offset(&p->scan);
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < offset; i++) {
        column++;
        if (text.ptr[i] == '\n') {
            line++;
            column = 1;
        }
    }
    if (p->too_deep)
        error_set(err, E_PARSE, "%s: line %zu, column %zu: JSON nested deeper than %d levels", what,
                  line, column, JS_MAX_DEPTH);
    else if (offset == text.len)
        error_set(err, E_PARSE, "%s: line %zu, column %zu: the JSON text ends too early", what,
                  line, column);
    else
        error_set(err, E_PARSE, "%s: line %zu, column %zu: malformed JSON", what, line, column);
}

const struct js_value *js_parse(struct arena *arena, struct sv text, const char *what,
                                struct error *err)
{
    struct parser p = {.arena = arena};
    js_scan_init(&p.scan, text);
    const struct js_value *root = parse_value(&p, 0);
    if (root != NULL && !js_scan_end(&p.scan))
        root = NULL;
    if (root == NULL)
        report(&p, text, what, err);
    buf_done(&p.text);
    return root;
}

const struct js_value *js_get_sv(const struct js_value *object, struct sv name)
{
    const struct js_value *found = NULL;
    if (object == NULL || object->type != JS_OBJECT)
        return NULL;
    for (const struct js_value *v = object->first; v != NULL; v = v->next) {
        if (sv_eq(v->key, name))
            found = v;
    }
    return found;
}

const struct js_value *js_get(const struct js_value *object, const char *name)
{
    return js_get_sv(object, sv_from(name));
}

const struct js_value *js_at(const struct js_value *array, size_t index)
{
    if (array == NULL || array->type != JS_ARRAY)
        return NULL;
    const struct js_value *v = array->first;
    while (v != NULL && index-- > 0)
        v = v->next;
    return v;
}

bool js_as_i64(const struct js_value *value, int64_t *out)
{
    return value != NULL && value->type == JS_NUMBER && num_parse_i64(value->text, out);
}

bool js_as_double(const struct js_value *value, double *out)
{
    return value != NULL && value->type == JS_NUMBER && num_parse_double(value->text, out);
}

bool js_as_bool(const struct js_value *value, bool *out)
{
    if (value == NULL || value->type != JS_BOOL)
        return false;
    *out = value->boolean;
    return true;
}

bool js_as_sv(const struct js_value *value, struct sv *out)
{
    if (value == NULL || value->type != JS_STRING)
        return false;
    *out = value->text;
    return true;
}

static void write_children(struct js_writer *w, const struct js_value *value)
{
    for (const struct js_value *v = value->first; v != NULL; v = v->next) {
        if (value->type == JS_OBJECT)
            js_key_sv(w, v->key);
        js_write_value(w, v);
    }
}

void js_write_value(struct js_writer *w, const struct js_value *value)
{
    switch (value->type) {
    case JS_NULL:
    case JS_BAD:
        js_null(w);
        break;
    case JS_BOOL:
        js_bool(w, value->boolean);
        break;
    case JS_NUMBER:
        js_raw(w, value->text);
        break;
    case JS_STRING:
        js_string(w, value->text);
        break;
    case JS_ARRAY:
        js_begin_array(w);
        write_children(w, value);
        js_end_array(w);
        break;
    case JS_OBJECT:
        js_begin_object(w);
        write_children(w, value);
        js_end_object(w);
        break;
    }
}
