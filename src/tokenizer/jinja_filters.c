/* Tables of filters, tests and methods; each entry does what Python and Jinja do with the kinds of values that chat
 * templates have. */
#include "tokenizer/jinja_filters.h"

#include "base/num.h"
#include "json/writer.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

enum { MAX_JSON_DEPTH = 32 };

struct jinja_value jinja_fail(struct jinja_run *r, const char *what, struct sv where)
{
    if (!r->failed)
        error_set(r->err, r->raised ? E_RESULT : E_UNSUPPORTED, "chat template: %s: '%.*s'", what,
                  (int)(where.len < 200 ? where.len : 200), where.ptr);
    r->failed = true;
    return (struct jinja_value){0};
}

bool jinja_dict_find(const struct jinja_value *dict, struct sv key, struct jinja_value *value)
{
    for (size_t i = 0; i < dict->dict->count; i++)
        if (sv_eq(dict->dict->keys[i], key)) {
            *value = dict->dict->values[i];
            return true;
        }
    return false;
}

bool jinja_true(struct jinja_value v)
{
    switch (v.kind) {
    case JINJA_BOOL:
    case JINJA_INT:
        return v.number != 0;
    case JINJA_STRING:
        return v.text.len > 0;
    case JINJA_LIST:
        return v.list->count > 0;
    case JINJA_DICT:
        return v.dict->count > 0;
    case JINJA_MACRO:
        return true;
    case JINJA_UNDEFINED:
    case JINJA_NONE:
    default:
        return false;
    }
}

bool jinja_equal(struct jinja_value a, struct jinja_value b)
{
    bool numbers = (a.kind == JINJA_INT || a.kind == JINJA_BOOL) &&
                   (b.kind == JINJA_INT || b.kind == JINJA_BOOL);
    if (numbers)
        return a.number == b.number;
    if (a.kind != b.kind)
        return false;
    if (a.kind == JINJA_STRING)
        return sv_eq(a.text, b.text);
    if (a.kind == JINJA_LIST) {
        bool same = a.list->count == b.list->count;
        for (size_t i = 0; same && i < a.list->count; i++)
            same = jinja_equal(a.list->items[i], b.list->items[i]);
        return same;
    }
    if (a.kind == JINJA_DICT) {
        bool same = a.dict->count == b.dict->count;
        struct jinja_value other;
        for (size_t i = 0; same && i < a.dict->count; i++)
            same = jinja_dict_find(&b, a.dict->keys[i], &other) &&
                   jinja_equal(a.dict->values[i], other);
        return same;
    }
    return true;
}

bool jinja_contains(struct jinja_run *r, struct jinja_value of, struct jinja_value item)
{
    struct jinja_value unused;
    if (of.kind == JINJA_STRING && item.kind == JINJA_STRING)
        return item.text.len == 0 ||
               (of.text.len > 0 &&
                memmem(of.text.ptr, of.text.len, item.text.ptr, item.text.len) != NULL);
    if (of.kind == JINJA_DICT)
        return item.kind == JINJA_STRING && jinja_dict_find(&of, item.text, &unused);
    if (of.kind == JINJA_LIST) {
        for (size_t i = 0; i < of.list->count; i++)
            if (jinja_equal(of.list->items[i], item))
                return true;
        return false;
    }
    if (of.kind != JINJA_UNDEFINED)
        jinja_fail(r, "'in' needs a list, a mapping or a string", SV_LIT("in"));
    return false;
}

bool jinja_print(struct jinja_run *r, struct jinja_value v, struct buf *out)
{
    switch (v.kind) {
    case JINJA_UNDEFINED:
        break;
    case JINJA_NONE:
        buf_add_str(out, "None");
        break;
    case JINJA_BOOL:
        buf_add_str(out, v.number != 0 ? "True" : "False");
        break;
    case JINJA_INT:
        buf_add_fmt(out, "%lld", (long long)v.number);
        break;
    case JINJA_STRING:
        buf_add(out, v.text);
        break;
    case JINJA_LIST:
    case JINJA_DICT:
    case JINJA_MACRO:
    default:
        jinja_fail(r, "a list or mapping cannot be printed", SV_LIT("{{ }}"));
        break;
    }
    return !r->failed;
}

struct jinja_value jinja_characters(struct jinja_run *r, struct sv text)
{
    struct jinja_value list = jinja_list_new(r->arena);
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t n = utf8_next(text.ptr + at, &cp);
        jinja_list_add(&list, jinja_string(sv_make(text.ptr + at, n)), r->arena);
        at += n;
    }
    return list;
}

struct jinja_value jinja_join(struct jinja_run *r, struct jinja_value list, struct sv between)
{
    struct buf made = {0};
    list = jinja_items_of(r, list);
    for (size_t i = 0; !r->failed && i < list.list->count; i++) {
        if (i > 0)
            buf_add(&made, between);
        jinja_print(r, list.list->items[i], &made);
    }
    struct jinja_value text = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    return text;
}

struct jinja_value jinja_items_of(struct jinja_run *r, struct jinja_value v)
{
    if (v.kind == JINJA_LIST)
        return v;
    if (v.kind == JINJA_STRING)
        return jinja_characters(r, v.text);
    if (v.kind != JINJA_DICT && v.kind != JINJA_UNDEFINED)
        return jinja_fail(r, "this cannot be gone through", SV_LIT("for"));
    struct jinja_value list = jinja_list_new(r->arena);
    for (size_t i = 0; v.kind == JINJA_DICT && i < v.dict->count; i++)
        jinja_list_add(&list, jinja_string(v.dict->keys[i]), r->arena);
    return list;
}

/* ---- texts ---------------------------------------------------------------------------------------------------------- */

/* Characters to strip: white space when `set` is empty. */
static bool in_set(uint32_t cp, struct sv set)
{
    uint32_t one;
    if (set.len == 0)
        return unicode_is_space(cp) || (cp >= 0x1C && cp <= 0x1F);
    for (size_t at = 0; at < set.len;) {
        at += utf8_next(set.ptr + at, &one);
        if (one == cp)
            return true;
    }
    return false;
}

static struct sv strip(struct sv text, struct sv set, bool left, bool right)
{
    uint32_t cp;
    while (left && text.len > 0) {
        size_t n = utf8_next(text.ptr, &cp);
        if (!in_set(cp, set))
            break;
        text = sv_skip(text, n);
    }
    while (right && text.len > 0) {
        const char *last = utf8_prev(text.ptr, text.ptr + text.len, &cp);
        if (!in_set(cp, set))
            break;
        text.len = (size_t)(last - text.ptr);
    }
    return text;
}

/* `how`: 'l' lower, 'u' upper, 'c' first letter upper, the rest lower, 't' that for every word.  ASCII only; other letters
 * are refused, since their upper case is not one to one. */
static struct jinja_value change_case(struct jinja_run *r, struct sv text, char how)
{
    char *made = arena_alloc(r->arena, text.len + 1);
    bool start = true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if ((unsigned char)c >= 0x80)
            return jinja_fail(r, "changing the case of letters beyond ASCII is not supported",
                              text);
        bool upper = how == 'u' || (how != 'l' && start);
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (letter)
            c = (char)(upper ? c & ~32 : c | 32);
        start = how == 't' && !letter;
        made[i] = c;
    }
    return jinja_string(sv_make(made, text.len));
}

static struct jinja_value replace_text(struct jinja_run *r, struct sv text, struct sv from,
                                       struct sv to)
{
    struct buf made = {0};
    const char *hit;
    if (from.len == 0)
        return jinja_fail(r, "an empty text cannot be replaced", SV_LIT("replace"));
    while (text.len > 0 && (hit = memmem(text.ptr, text.len, from.ptr, from.len)) != NULL) {
        buf_add(&made, sv_make(text.ptr, (size_t)(hit - text.ptr)));
        buf_add(&made, to);
        text = sv_skip(text, (size_t)(hit - text.ptr) + from.len);
    }
    buf_add(&made, text);
    struct jinja_value v = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    return v;
}

static struct jinja_value split_text(struct jinja_run *r, struct sv text, struct sv by, int64_t max)
{
    struct jinja_value list = jinja_list_new(r->arena);
    const char *hit;
    if (by.len == 0) { /* by white space, without empty parts */
        for (;;) {
            text = strip(text, by, true, false);
            size_t n = 0;
            uint32_t cp;
            while (n < text.len) {
                size_t one = utf8_next(text.ptr + n, &cp);
                if (in_set(cp, by))
                    break;
                n += one;
            }
            if (n == 0)
                return list;
            jinja_list_add(&list, jinja_string(sv_make(text.ptr, n)), r->arena);
            text = sv_skip(text, n);
        }
    }
    while (max-- != 0 && text.len > 0 &&
           (hit = memmem(text.ptr, text.len, by.ptr, by.len)) != NULL) {
        jinja_list_add(&list, jinja_string(sv_make(text.ptr, (size_t)(hit - text.ptr))), r->arena);
        text = sv_skip(text, (size_t)(hit - text.ptr) + by.len);
    }
    jinja_list_add(&list, jinja_string(text), r->arena);
    return list;
}

/* ---- tojson: as transformers does it, Python's json.dumps without escaping of letters ------------------------------- */

static void line_break(struct buf *out, int64_t indent, int depth)
{
    if (indent < 0)
        return;
    buf_add_char(out, '\n');
    for (int64_t i = 0; i < indent * depth; i++)
        buf_add_char(out, ' ');
}

static void write_json(struct jinja_run *r, struct jinja_value v, int64_t indent, int depth,
                       struct buf *out)
{
    size_t count = v.kind == JINJA_LIST ? v.list->count : v.kind == JINJA_DICT ? v.dict->count : 0;
    if (depth > MAX_JSON_DEPTH) {
        jinja_fail(r, "a value is nested too deeply", SV_LIT("tojson"));
    } else if (v.kind == JINJA_STRING) {
        buf_add_char(out, '"');
        js_escape(out, v.text);
        buf_add_char(out, '"');
    } else if (v.kind == JINJA_NONE) {
        buf_add_str(out, "null");
    } else if (v.kind == JINJA_BOOL) {
        buf_add_str(out, v.number != 0 ? "true" : "false");
    } else if (v.kind == JINJA_INT) {
        buf_add_fmt(out, "%lld", (long long)v.number);
    } else if (v.kind == JINJA_LIST || v.kind == JINJA_DICT) {
        buf_add_char(out, v.kind == JINJA_LIST ? '[' : '{');
        for (size_t i = 0; i < count && !r->failed; i++) {
            if (i > 0)
                buf_add_str(out, indent < 0 ? ", " : ",");
            line_break(out, indent, depth + 1);
            if (v.kind == JINJA_DICT) {
                write_json(r, jinja_string(v.dict->keys[i]), indent, depth + 1, out);
                buf_add_str(out, ": ");
            }
            write_json(r, v.kind == JINJA_LIST ? v.list->items[i] : v.dict->values[i], indent,
                       depth + 1, out);
        }
        if (count > 0)
            line_break(out, indent, depth);
        buf_add_char(out, v.kind == JINJA_LIST ? ']' : '}');
    } else {
        jinja_fail(r, "an undefined value is no JSON", SV_LIT("tojson"));
    }
}

static struct jinja_value to_json(struct jinja_run *r, struct jinja_value of,
                                  const struct jinja_call *call)
{
    struct buf text = {0};
    int64_t indent = -1;
    for (size_t i = 0; i < call->count; i++)
        if (call->values[i].kind == JINJA_INT &&
            (sv_eq(call->names[i], SV_LIT("indent")) || call->names[i].len == 0))
            indent = call->values[i].number;
    write_json(r, of, indent, 0, &text);
    struct jinja_value made = jinja_string(arena_copy(r->arena, buf_sv(&text)));
    buf_done(&text);
    return made;
}

/* ---- filters -------------------------------------------------------------------------------------------------------- */

static struct jinja_value pairs(struct jinja_run *r, struct jinja_value of)
{
    struct jinja_value list = jinja_list_new(r->arena);
    if (of.kind != JINJA_DICT)
        return jinja_fail(r, "only a mapping has items", SV_LIT("items"));
    for (size_t i = 0; i < of.dict->count; i++) {
        struct jinja_value pair = jinja_list_new(r->arena);
        jinja_list_add(&pair, jinja_string(of.dict->keys[i]), r->arena);
        jinja_list_add(&pair, of.dict->values[i], r->arena);
        jinja_list_add(&list, pair, r->arena);
    }
    return list;
}

/* selectattr, rejectattr: (name), (name, test), (name, test, value). */
static struct jinja_value select_by(struct jinja_run *r, struct jinja_value of,
                                    const struct jinja_call *call, bool keep)
{
    struct jinja_value made = jinja_list_new(r->arena);
    struct jinja_value list = jinja_items_of(r, of);
    if (r->failed || call->count == 0 || call->values[0].kind != JINJA_STRING)
        return jinja_fail(r, "selectattr needs a name", call->name);
    for (size_t i = 0; i < list.list->count && !r->failed; i++) {
        struct jinja_value item = list.list->items[i];
        struct jinja_value attr = {0};
        if (item.kind == JINJA_DICT)
            jinja_dict_find(&item, call->values[0].text, &attr);
        bool yes = jinja_true(attr);
        if (call->count > 1) {
            struct jinja_call test = {.name = call->values[1].text, .count = call->count - 2};
            test.values[0] = call->values[2];
            yes = jinja_test(r, attr, &test);
        }
        if (yes == keep)
            jinja_list_add(&made, item, r->arena);
    }
    return made;
}

static struct jinja_value map_by(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call)
{
    struct jinja_value made = jinja_list_new(r->arena);
    struct jinja_value list = jinja_items_of(r, of);
    for (size_t i = 0; !r->failed && i < list.list->count; i++) {
        struct jinja_value item = list.list->items[i];
        struct jinja_value got = {0};
        if (call->count > 0 && sv_eq(call->names[0], SV_LIT("attribute"))) {
            if (item.kind == JINJA_DICT)
                jinja_dict_find(&item, call->values[0].text, &got);
        } else if (call->count == 1) {
            struct jinja_call filter = {.name = call->values[0].text};
            got = jinja_filter(r, item, &filter);
        } else {
            return jinja_fail(r, "this use of map is not supported", call->name);
        }
        jinja_list_add(&made, got, r->arena);
    }
    return made;
}

static struct jinja_value length_of(struct jinja_run *r, struct jinja_value of)
{
    int64_t n = 0;
    if (of.kind == JINJA_STRING)
        n = (int64_t)jinja_characters(r, of.text).list->count;
    else if (of.kind == JINJA_LIST)
        n = (int64_t)of.list->count;
    else if (of.kind == JINJA_DICT)
        n = (int64_t)of.dict->count;
    else if (of.kind != JINJA_UNDEFINED)
        return jinja_fail(r, "this has no length", SV_LIT("length"));
    return (struct jinja_value){.kind = JINJA_INT, .number = n};
}

static struct jinja_value end_of(struct jinja_run *r, struct jinja_value of, bool last)
{
    struct jinja_value list = jinja_items_of(r, of);
    if (r->failed || list.list->count == 0)
        return (struct jinja_value){0};
    return list.list->items[last ? list.list->count - 1 : 0];
}

static struct jinja_value reversed(struct jinja_run *r, struct jinja_value of)
{
    struct jinja_value made = jinja_list_new(r->arena);
    struct jinja_value list = jinja_items_of(r, of);
    for (size_t i = r->failed ? 0 : list.list->count; i-- > 0;)
        jinja_list_add(&made, list.list->items[i], r->arena);
    return made;
}

static struct jinja_value to_int(struct jinja_run *r, struct jinja_value of)
{
    int64_t n = 0;
    if (of.kind == JINJA_STRING)
        num_parse_i64(sv_trim(of.text), &n);
    else if (of.kind == JINJA_INT || of.kind == JINJA_BOOL)
        n = of.number;
    else
        return jinja_fail(r, "this is no number", SV_LIT("int"));
    return (struct jinja_value){.kind = JINJA_INT, .number = n};
}

static struct jinja_value to_text(struct jinja_run *r, struct jinja_value of)
{
    struct buf text = {0};
    if (of.kind == JINJA_STRING)
        return of;
    jinja_print(r, of, &text);
    struct jinja_value made = jinja_string(arena_copy(r->arena, buf_sv(&text)));
    buf_done(&text);
    return made;
}

static bool is_name(const struct jinja_call *call, const char *name)
{
    return sv_eq(call->name, sv_from(name));
}

static struct sv text_arg(const struct jinja_call *call, size_t index)
{
    return index < call->count && call->values[index].kind == JINJA_STRING
               ? call->values[index].text
               : SV_LIT("");
}

static struct jinja_value text_filter(struct jinja_run *r, struct sv text,
                                      const struct jinja_call *call)
{
    if (is_name(call, "trim"))
        return jinja_string(strip(text, text_arg(call, 0), true, true));
    if (is_name(call, "upper"))
        return change_case(r, text, 'u');
    if (is_name(call, "lower"))
        return change_case(r, text, 'l');
    if (is_name(call, "capitalize"))
        return change_case(r, text, 'c');
    if (is_name(call, "title"))
        return change_case(r, text, 't');
    if (is_name(call, "replace"))
        return replace_text(r, text, text_arg(call, 0), text_arg(call, 1));
    return jinja_fail(r, "this filter is not supported", call->name);
}

struct jinja_value jinja_filter(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call)
{
    if (is_name(call, "default") || is_name(call, "d")) {
        bool falsy = call->count > 1 && jinja_true(call->values[1]) && !jinja_true(of);
        bool use = of.kind == JINJA_UNDEFINED || falsy;
        return use ? (call->count > 0 ? call->values[0] : jinja_string(SV_LIT(""))) : of;
    }
    if (is_name(call, "length") || is_name(call, "count"))
        return length_of(r, of);
    if (is_name(call, "tojson"))
        return to_json(r, of, call);
    if (is_name(call, "join"))
        return jinja_join(r, of, text_arg(call, 0));
    if (is_name(call, "first") || is_name(call, "last"))
        return end_of(r, of, is_name(call, "last"));
    if (is_name(call, "list"))
        return jinja_items_of(r, of);
    if (is_name(call, "reverse"))
        return reversed(r, of);
    if (is_name(call, "items"))
        return pairs(r, of);
    if (is_name(call, "selectattr") || is_name(call, "rejectattr"))
        return select_by(r, of, call, is_name(call, "selectattr"));
    if (is_name(call, "map"))
        return map_by(r, of, call);
    if (is_name(call, "int"))
        return to_int(r, of);
    if (is_name(call, "string") || is_name(call, "safe"))
        return to_text(r, of);
    struct jinja_value text = to_text(r, of);
    return r->failed ? text : text_filter(r, text.text, call);
}

/* ---- tests ---------------------------------------------------------------------------------------------------------- */

bool jinja_test(struct jinja_run *r, struct jinja_value of, const struct jinja_call *call)
{
    static const struct {
        const char *name;
        unsigned kinds;
    } kinds[] = {
        {"undefined", 1u << JINJA_UNDEFINED},
        {"none", 1u << JINJA_NONE},
        {"string", 1u << JINJA_STRING},
        {"boolean", 1u << JINJA_BOOL},
        {"integer", 1u << JINJA_INT},
        {"number", 1u << JINJA_INT | 1u << JINJA_BOOL},
        {"mapping", 1u << JINJA_DICT},
        {"iterable",
         1u << JINJA_STRING | 1u << JINJA_LIST | 1u << JINJA_DICT | 1u << JINJA_UNDEFINED},
        {"sequence",
         1u << JINJA_STRING | 1u << JINJA_LIST | 1u << JINJA_DICT | 1u << JINJA_UNDEFINED},
        {"callable", 1u << JINJA_MACRO},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (is_name(call, kinds[i].name))
            return (kinds[i].kinds >> of.kind & 1) != 0;
    if (is_name(call, "defined"))
        return of.kind != JINJA_UNDEFINED;
    if (is_name(call, "true") || is_name(call, "false"))
        return of.kind == JINJA_BOOL && (of.number != 0) == is_name(call, "true");
    if (call->count > 0 && (is_name(call, "equalto") || is_name(call, "eq") || is_name(call, "==")))
        return jinja_equal(of, call->values[0]);
    if (call->count > 0 && (is_name(call, "ne") || is_name(call, "!=")))
        return !jinja_equal(of, call->values[0]);
    if (call->count > 0 && is_name(call, "in"))
        return jinja_contains(r, call->values[0], of);
    if (of.kind == JINJA_INT && (is_name(call, "odd") || is_name(call, "even")))
        return (of.number % 2 != 0) == is_name(call, "odd");
    if (of.kind == JINJA_INT && call->count > 0 && is_name(call, "divisibleby") &&
        call->values[0].number > 0)
        return of.number % call->values[0].number == 0;
    jinja_fail(r, "this test is not supported", call->name);
    return false;
}

/* ---- methods -------------------------------------------------------------------------------------------------------- */

static struct jinja_value text_method(struct jinja_run *r, struct sv text,
                                      const struct jinja_call *call)
{
    struct sv arg = text_arg(call, 0);
    if (is_name(call, "strip") || is_name(call, "lstrip") || is_name(call, "rstrip"))
        return jinja_string(strip(text, arg, !is_name(call, "rstrip"), !is_name(call, "lstrip")));
    if (is_name(call, "startswith") || is_name(call, "endswith"))
        return jinja_bool(is_name(call, "startswith") ? sv_starts(text, arg) : sv_ends(text, arg));
    if (is_name(call, "split"))
        return split_text(r, text, arg, call->count > 1 ? call->values[1].number : -1);
    if (is_name(call, "join") && call->count > 0)
        return jinja_join(r, call->values[0], text);
    if (is_name(call, "trim"))
        return jinja_fail(r, "a string has no method of this name", call->name);
    return text_filter(r, text, call);
}

struct jinja_value jinja_method(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call)
{
    struct jinja_value found = {0};
    if (of.kind == JINJA_STRING)
        return text_method(r, of.text, call);
    if (of.kind == JINJA_DICT && is_name(call, "items"))
        return pairs(r, of);
    if (of.kind == JINJA_DICT && is_name(call, "keys"))
        return jinja_items_of(r, of);
    if (of.kind == JINJA_DICT && is_name(call, "values")) {
        found = jinja_list_new(r->arena);
        for (size_t i = 0; i < of.dict->count; i++)
            jinja_list_add(&found, of.dict->values[i], r->arena);
        return found;
    }
    if (of.kind == JINJA_DICT && is_name(call, "get")) {
        if (!jinja_dict_find(&of, text_arg(call, 0), &found))
            found = call->count > 1 ? call->values[1] : (struct jinja_value){.kind = JINJA_NONE};
        return found;
    }
    return jinja_fail(r, "this method is not supported", call->name);
}
