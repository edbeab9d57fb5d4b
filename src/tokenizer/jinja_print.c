/* Values as text: what {{ }} prints, which for lists and mappings is Python's repr, and tojson as transformers has it. */
#include "tokenizer/jinja_filters.h"

#include "base/num.h"
#include "json/writer.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

#include <math.h>

enum { MAX_NESTING = 64 };

/* ---- Python's repr ------------------------------------------------------------------------------------------------ */

static void add_number(struct jinja_value v, struct buf *out)
{
    char text[NUM_TEXT_MAX];
    if (v.kind == JINJA_INT)
        buf_add_fmt(out, "%lld", (long long)v.number);
    else if (v.text.len > 0)
        buf_add(out, v.text);
    else
        buf_add(out, sv_make(text, num_format_double(text, v.real)));
}

/* As str.isprintable: everything but separators, control, format, private and unassigned characters. */
static bool is_printable(uint32_t cp)
{
    return cp == ' ' || (unicode_flags(cp) & (UC_L | UC_M | UC_N | UC_P | UC_S)) != 0;
}

static void add_escaped(uint32_t cp, char quote, struct buf *out)
{
    if (cp == '\\' || cp == (unsigned char)quote)
        buf_add_fmt(out, "\\%c", (char)cp);
    else if (cp == '\n')
        buf_add_str(out, "\\n");
    else if (cp == '\r')
        buf_add_str(out, "\\r");
    else if (cp == '\t')
        buf_add_str(out, "\\t");
    else if (is_printable(cp))
        utf8_add(out, cp);
    else
        buf_add_fmt(out, cp < 0x100 ? "\\x%02x" : cp < 0x10000 ? "\\u%04x" : "\\U%08x", cp);
}

static void repr_text(struct sv text, struct buf *out)
{
    bool single = text.len > 0 && memchr(text.ptr, '\'', text.len) != NULL;
    bool both = text.len > 0 && memchr(text.ptr, '"', text.len) != NULL;
    char quote = single && !both ? '"' : '\'';
    uint32_t cp;
    buf_add_char(out, quote);
    for (size_t at = 0; at < text.len;) {
        at += utf8_next(text.ptr + at, &cp);
        add_escaped(cp, quote, out);
    }
    buf_add_char(out, quote);
}

static void repr(struct jinja_run *r, struct jinja_value v, int depth, struct buf *out);

static void repr_list(struct jinja_run *r, const struct jinja_list *list, int depth,
                      struct buf *out)
{
    bool tuple = list->shape == JINJA_TUPLE;
    if (list->shape >= JINJA_VIEW) {
        jinja_fail(r, "what a filter goes through cannot be printed", SV_LIT("{{ }}"));
        return;
    }
    buf_add_char(out, tuple ? '(' : '[');
    for (size_t i = 0; i < list->count && !r->failed; i++) {
        if (i > 0)
            buf_add_str(out, ", ");
        repr(r, list->items[i], depth + 1, out);
    }
    buf_add_str(out, tuple && list->count == 1 ? ",)" : tuple ? ")" : "]");
}

static void repr(struct jinja_run *r, struct jinja_value v, int depth, struct buf *out)
{
    if (depth > MAX_NESTING) {
        jinja_fail(r, "a value is nested too deeply", SV_LIT("{{ }}"));
        return;
    }
    switch (v.kind) {
    case JINJA_UNDEFINED:
        buf_add_str(out, "Undefined");
        break;
    case JINJA_NONE:
        buf_add_str(out, "None");
        break;
    case JINJA_BOOL:
        buf_add_str(out, v.number != 0 ? "True" : "False");
        break;
    case JINJA_INT:
    case JINJA_FLOAT:
        add_number(v, out);
        break;
    case JINJA_STRING:
        repr_text(v.text, out);
        break;
    case JINJA_LIST:
        repr_list(r, v.list, depth, out);
        break;
    case JINJA_DICT:
        if (v.dict->is_namespace) {
            jinja_fail(r, "a namespace cannot be printed", SV_LIT("{{ }}"));
            break;
        }
        buf_add_char(out, '{');
        for (size_t i = 0; i < v.dict->count && !r->failed; i++) {
            buf_add_str(out, i > 0 ? ", " : "");
            repr(r, v.dict->keys[i], depth + 1, out);
            buf_add_str(out, ": ");
            repr(r, v.dict->values[i], depth + 1, out);
        }
        buf_add_char(out, '}');
        break;
    case JINJA_MACRO:
    default:
        jinja_fail(r, "a macro cannot be printed", SV_LIT("{{ }}"));
        break;
    }
}

bool jinja_print(struct jinja_run *r, struct jinja_value v, struct buf *out)
{
    if (v.kind == JINJA_STRING)
        buf_add(out, v.text);
    else if (v.kind != JINJA_UNDEFINED)
        repr(r, v, 0, out);
    return !r->failed;
}

/* ---- json.dumps --------------------------------------------------------------------------------------------------- */

struct json_style {
    struct jinja_run *run;
    int64_t indent; /* -1: on one line */
    bool ascii;
    bool sorted;
    struct sv item; /* between items */
    struct sv key;  /* between key and value */
};

static void line_break(const struct json_style *style, int depth, struct buf *out)
{
    if (style->indent < 0)
        return;
    buf_add_char(out, '\n');
    for (int64_t i = 0; i < style->indent * depth; i++)
        buf_add_char(out, ' ');
}

static void json_text(const struct json_style *style, struct sv text, struct buf *out)
{
    struct buf made = {0};
    uint32_t cp;
    js_escape(&made, text);
    buf_add_char(out, '"');
    for (size_t at = 0; at < made.len;) {
        size_t n = utf8_next(made.ptr + at, &cp);
        if (!style->ascii || cp < 0x80)
            buf_add(out, sv_make(made.ptr + at, n));
        else if (cp < 0x10000)
            buf_add_fmt(out, "\\u%04x", cp);
        else
            buf_add_fmt(out, "\\u%04x\\u%04x", 0xD800 + ((cp - 0x10000) >> 10),
                        0xDC00 + ((cp - 0x10000) & 0x3FF));
        at += n;
    }
    buf_add_char(out, '"');
    buf_done(&made);
}

static void json_scalar(const struct json_style *style, struct jinja_value v, struct buf *out)
{
    if (v.kind == JINJA_STRING)
        json_text(style, v.text, out);
    else if (v.kind == JINJA_NONE)
        buf_add_str(out, "null");
    else if (v.kind == JINJA_BOOL)
        buf_add_str(out, v.number != 0 ? "true" : "false");
    else if (v.kind == JINJA_FLOAT && v.text.len == 0 && !isfinite(v.real))
        buf_add_str(out, isnan(v.real) ? "NaN" : v.real > 0 ? "Infinity" : "-Infinity");
    else if (v.kind == JINJA_INT || v.kind == JINJA_FLOAT)
        add_number(v, out);
    else
        jinja_fail(style->run, "this value is no JSON", SV_LIT("tojson"));
}

/* Keys that are no strings are written as strings of their JSON. */
static void json_key(const struct json_style *style, struct jinja_value key, struct buf *out)
{
    if (key.kind != JINJA_STRING)
        buf_add_char(out, '"');
    json_scalar(style, key, out);
    if (key.kind != JINJA_STRING)
        buf_add_char(out, '"');
}

static void json(const struct json_style *style, struct jinja_value v, int depth, struct buf *out)
{
    if (depth > MAX_NESTING) {
        jinja_fail(style->run, "a value is nested too deeply", SV_LIT("tojson"));
        return;
    }
    if (v.kind != JINJA_LIST && v.kind != JINJA_DICT) {
        json_scalar(style, v, out);
        return;
    }
    if (v.kind == JINJA_LIST ? v.list->shape >= JINJA_VIEW : v.dict->is_namespace) {
        jinja_fail(style->run, "this value is no JSON", SV_LIT("tojson"));
        return;
    }
    if (v.kind == JINJA_DICT && style->sorted)
        v = jinja_sorted_dict(style->run, v);
    size_t count = v.kind == JINJA_LIST ? v.list->count : v.dict->count;
    buf_add_char(out, v.kind == JINJA_LIST ? '[' : '{');
    for (size_t i = 0; i < count && !style->run->failed; i++) {
        if (i > 0)
            buf_add(out, style->item);
        line_break(style, depth + 1, out);
        if (v.kind == JINJA_DICT) {
            json_key(style, v.dict->keys[i], out);
            buf_add(out, style->key);
        }
        json(style, v.kind == JINJA_LIST ? v.list->items[i] : v.dict->values[i], depth + 1, out);
    }
    if (count > 0)
        line_break(style, depth, out);
    buf_add_char(out, v.kind == JINJA_LIST ? ']' : '}');
}

static void take_separators(struct json_style *style, struct jinja_value v)
{
    if (v.kind == JINJA_NONE || v.kind == JINJA_UNDEFINED)
        return;
    if (v.kind != JINJA_LIST || v.list->count != 2 || v.list->items[0].kind != JINJA_STRING ||
        v.list->items[1].kind != JINJA_STRING) {
        jinja_fail(style->run, "separators must be two texts", SV_LIT("tojson"));
        return;
    }
    style->item = v.list->items[0].text;
    style->key = v.list->items[1].text;
}

struct jinja_value jinja_to_json(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call)
{
    struct buf text = {0};
    struct jinja_value indent = jinja_argument(call, 1, "indent");
    bool lines = indent.kind == JINJA_INT && indent.number >= 0 && indent.number < 100;
    if (!lines && indent.kind != JINJA_UNDEFINED && indent.kind != JINJA_NONE)
        return jinja_fail(r, "this indent is not supported", SV_LIT("tojson"));
    struct json_style style = {
        .run = r,
        .indent = lines ? indent.number : -1,
        .ascii = jinja_is_true(jinja_argument(call, 0, "ensure_ascii")),
        .sorted = jinja_is_true(jinja_argument(call, 3, "sort_keys")),
        .item = lines ? SV_LIT(",") : SV_LIT(", "),
        .key = SV_LIT(": "),
    };
    take_separators(&style, jinja_argument(call, 2, "separators"));
    json(&style, of, 0, &text);
    struct jinja_value made = jinja_string(arena_copy(r->arena, buf_sv(&text)));
    buf_done(&text);
    return made;
}
