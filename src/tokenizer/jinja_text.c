/* Texts: what Python's methods of str and Jinja's filters of texts do. */
#include "tokenizer/jinja_filters.h"

#include "base/num.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

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

/* ---- upper and lower case ----------------------------------------------------------------------------------------- */

enum letter_case { CASE_LOWER, CASE_UPPER, CASE_TITLE };

static bool is_letter(uint32_t cp)
{
    return (unicode_flags(cp) & (UC_LU | UC_LL | UC_LT)) != 0;
}

/* False for the few characters whose form is more than one character, or depends on where they stand. */
static bool add_cased(uint32_t cp, enum letter_case wanted, struct buf *out)
{
    uint32_t sigma = 0x3A3;
    if (wanted != CASE_LOWER)
        return unicode_upper(cp, wanted == CASE_TITLE, out);
    if (cp == sigma)
        return false;
    unicode_lower(cp, out);
    return true;
}

/* The first letter, or the first one of every word, in title case, the rest lower. */
static struct jinja_value change_case(struct jinja_run *r, struct sv text, enum letter_case wanted,
                                      bool every_word)
{
    struct buf made = {0};
    bool start = true;
    uint32_t cp;
    for (size_t at = 0; at < text.len && !r->failed;) {
        at += utf8_next(text.ptr + at, &cp);
        enum letter_case now = wanted == CASE_TITLE && !start ? CASE_LOWER : wanted;
        if (!add_cased(cp, now, &made))
            jinja_fail(r, "the other case of this letter is not supported", text);
        start = every_word && !is_letter(cp);
    }
    struct jinja_value v = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    return v;
}

struct jinja_value jinja_lower(struct jinja_run *r, struct sv text)
{
    return change_case(r, text, CASE_LOWER, false);
}

/* Jinja's filter: words begin behind white space and "-([{<", which differs from Python's method. */
static struct jinja_value title_filter(struct jinja_run *r, struct sv text)
{
    struct buf made = {0};
    bool start = true;
    uint32_t cp;
    for (size_t at = 0; at < text.len && !r->failed;) {
        at += utf8_next(text.ptr + at, &cp);
        if (!add_cased(cp, start ? CASE_UPPER : CASE_LOWER, &made))
            jinja_fail(r, "the other case of this letter is not supported", text);
        start = in_set(cp, SV_LIT("")) || (cp < 0x80 && strchr("-([{<", (int)cp) != NULL);
    }
    struct jinja_value v = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    return v;
}

/* ---- parts -------------------------------------------------------------------------------------------------------- */

static struct jinja_value take(struct jinja_run *r, struct buf *made)
{
    struct jinja_value v = jinja_string(arena_copy(r->arena, buf_sv(made)));
    buf_done(made);
    return v;
}

static const char *find_text(struct sv text, struct sv part)
{
    return text.len > 0 && part.len > 0 ? memmem(text.ptr, text.len, part.ptr, part.len) : NULL;
}

/* At most `count` times; below 0: all. */
static struct jinja_value replace_text(struct jinja_run *r, struct sv text, struct sv from,
                                       struct sv to, int64_t count)
{
    struct buf made = {0};
    const char *hit;
    if (from.len == 0)
        return jinja_fail(r, "an empty text cannot be replaced", SV_LIT("replace"));
    while (count-- != 0 && (hit = find_text(text, from)) != NULL) {
        buf_add(&made, sv_make(text.ptr, (size_t)(hit - text.ptr)));
        buf_add(&made, to);
        text = sv_skip(text, (size_t)(hit - text.ptr) + from.len);
    }
    buf_add(&made, text);
    return take(r, &made);
}

static void add_part(struct jinja_run *r, struct jinja_value *list, const char *from, size_t len)
{
    jinja_list_add(list, jinja_string(sv_make(from, len)), r->arena);
}

/* By white space, without empty parts. */
static struct jinja_value split_words(struct jinja_run *r, struct sv text, int64_t max)
{
    struct jinja_value list = jinja_list_new(r->arena);
    for (;;) {
        size_t n = 0;
        uint32_t cp;
        text = strip(text, SV_LIT(""), true, false);
        if (text.len == 0)
            return list;
        if (max-- == 0) {
            text = strip(text, SV_LIT(""), false, true);
            add_part(r, &list, text.ptr, text.len);
            return list;
        }
        while (n < text.len) {
            size_t one = utf8_next(text.ptr + n, &cp);
            if (in_set(cp, SV_LIT("")))
                break;
            n += one;
        }
        add_part(r, &list, text.ptr, n);
        text = sv_skip(text, n);
    }
}

static struct jinja_value split_by(struct jinja_run *r, struct sv text, struct sv by, int64_t max)
{
    struct jinja_value list = jinja_list_new(r->arena);
    const char *hit;
    while (max-- != 0 && (hit = find_text(text, by)) != NULL) {
        add_part(r, &list, text.ptr, (size_t)(hit - text.ptr));
        text = sv_skip(text, (size_t)(hit - text.ptr) + by.len);
    }
    add_part(r, &list, text.ptr, text.len);
    return list;
}

/* From the right: the parts are found as in split_by, and the surplus is joined again at the left. */
static struct jinja_value split_right(struct jinja_run *r, struct sv text, struct sv by,
                                      int64_t max)
{
    struct jinja_value parts = split_by(r, text, by, -1);
    size_t count = parts.list->count;
    size_t kept = max < 0 || (uint64_t)max >= count ? count : (size_t)max + 1;
    if (kept == count)
        return parts;
    struct jinja_value list = jinja_list_new(r->arena);
    const struct sv *last = &parts.list->items[count - kept].text;
    add_part(r, &list, text.ptr, (size_t)(last->ptr - text.ptr) + last->len);
    for (size_t i = count - kept + 1; i < count; i++)
        jinja_list_add(&list, parts.list->items[i], r->arena);
    return list;
}

static struct jinja_value split_text(struct jinja_run *r, struct sv text,
                                     const struct jinja_call *call, bool right)
{
    struct jinja_value by = jinja_argument(call, 0, "sep");
    struct jinja_value max = jinja_argument(call, 1, "maxsplit");
    int64_t most = max.kind == JINJA_INT ? max.number : -1;
    if (by.kind == JINJA_STRING && by.text.len > 0)
        return right ? split_right(r, text, by.text, most) : split_by(r, text, by.text, most);
    if (by.kind == JINJA_STRING || (right && most >= 0))
        return jinja_fail(r, "this way to split is not supported", call->name);
    return split_words(r, text, most);
}

/* Bytes of the line end at the start of `text`; 0: none. */
static size_t line_end(struct sv text)
{
    uint32_t cp;
    size_t n = utf8_next(text.ptr, &cp);
    if (cp == '\r' && text.len > 1 && text.ptr[1] == '\n')
        return 2;
    bool is = (cp >= 0xA && cp <= 0xD) || (cp >= 0x1C && cp <= 0x1E) || cp == 0x85 ||
              cp == 0x2028 || cp == 0x2029;
    return is ? n : 0;
}

static struct jinja_value split_lines(struct jinja_run *r, struct sv text)
{
    struct jinja_value list = jinja_list_new(r->arena);
    size_t start = 0;
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t end = line_end(sv_skip(text, at));
        if (end > 0) {
            add_part(r, &list, text.ptr + start, at - start);
            start = at + end;
        }
        at += end > 0 ? end : utf8_next(text.ptr + at, &cp);
    }
    if (start < text.len)
        add_part(r, &list, text.ptr + start, text.len - start);
    return list;
}

/* Every line but the first moves to the right by `width` blanks or by a text; empty ones only with `blank`. */
static struct jinja_value indent_text(struct jinja_run *r, struct sv text,
                                      const struct jinja_call *call)
{
    struct jinja_value width = jinja_argument(call, 0, "width");
    bool first = jinja_is_true(jinja_argument(call, 1, "first"));
    bool blank = jinja_is_true(jinja_argument(call, 2, "blank"));
    struct buf by = {0};
    struct buf made = {0};
    if (width.kind == JINJA_STRING)
        buf_add(&by, width.text);
    int64_t blanks = width.kind == JINJA_INT ? width.number : width.kind == JINJA_STRING ? 0 : 4;
    for (int64_t i = 0; i < blanks && i < 1000; i++)
        buf_add_char(&by, ' ');
    buf_add(&made, text); /* with one more line end, as Jinja has it */
    buf_add_char(&made, '\n');
    struct jinja_value lines = split_lines(r, arena_copy(r->arena, buf_sv(&made)));
    buf_reset(&made);
    for (size_t i = 0; i < lines.list->count; i++) {
        struct sv line = lines.list->items[i].text;
        if (i > 0)
            buf_add_char(&made, '\n');
        if (i == 0 ? first : line.len > 0 || blank)
            buf_add(&made, buf_sv(&by));
        buf_add(&made, line);
    }
    buf_done(&by);
    return take(r, &made);
}

/* ---- format ------------------------------------------------------------------------------------------------------- */

/* The argument of a field "{}", "{0}" or "{name}"; what follows a '.', '[', '!' or ':' is not supported. */
static bool field_value(const struct jinja_call *call, struct sv field, size_t *next,
                        struct jinja_value *value)
{
    uint64_t place = *next;
    if (field.len == 0) {
        ++*next;
    } else if (!num_parse_u64(field, &place)) {
        for (size_t i = 0; i < call->count; i++)
            if (call->names[i].len > 0 && sv_eq(call->names[i], field)) {
                *value = call->values[i];
                return true;
            }
        return false;
    }
    if (place >= call->count || call->names[place].len > 0)
        return false;
    *value = call->values[place];
    return true;
}

/* str.format. */
static struct jinja_value format_fields(struct jinja_run *r, struct sv text,
                                        const struct jinja_call *call)
{
    struct buf made = {0};
    size_t next = 0;
    for (size_t at = 0; at < text.len && !r->failed; at++) {
        char c = text.ptr[at];
        if ((c == '{' || c == '}') && at + 1 < text.len && text.ptr[at + 1] == c) {
            buf_add_char(&made, c);
            at++;
            continue;
        }
        if (c != '{') {
            buf_add_char(&made, c);
            if (c == '}')
                jinja_fail(r, "a '}' without '{'", text);
            continue;
        }
        size_t n = sv_find(sv_skip(text, at + 1), '}');
        struct jinja_value value = {0};
        if (at + 1 + n >= text.len ||
            !field_value(call, sv_make(text.ptr + at + 1, n), &next, &value))
            jinja_fail(r, "this field of format is not supported", text);
        else if (value.kind == JINJA_UNDEFINED || jinja_print(r, value, &made))
            at += n + 1;
    }
    return take(r, &made);
}

/* ---- by name ------------------------------------------------------------------------------------------------------ */

struct jinja_value jinja_to_text(struct jinja_run *r, struct jinja_value of)
{
    struct buf text = {0};
    if (of.kind == JINJA_STRING)
        return of;
    jinja_print(r, of, &text);
    return take(r, &text);
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

/* What filters and methods have in common. */
static struct jinja_value either(struct jinja_run *r, struct sv text, const struct jinja_call *call)
{
    if (is_name(call, "upper"))
        return change_case(r, text, CASE_UPPER, false);
    if (is_name(call, "lower"))
        return change_case(r, text, CASE_LOWER, false);
    if (is_name(call, "capitalize"))
        return change_case(r, text, CASE_TITLE, false);
    if (is_name(call, "replace")) {
        struct jinja_value count = jinja_argument(call, 2, "count");
        return replace_text(r, text, text_arg(call, 0), text_arg(call, 1),
                            count.kind == JINJA_INT ? count.number : -1);
    }
    return jinja_fail(r, "this filter or method is not supported", call->name);
}

struct jinja_value jinja_text_filter(struct jinja_run *r, struct sv text,
                                     const struct jinja_call *call)
{
    if (is_name(call, "trim")) {
        struct jinja_value set = jinja_argument(call, 0, "chars");
        return jinja_string(
            strip(text, set.kind == JINJA_STRING ? set.text : SV_LIT(""), true, true));
    }
    if (is_name(call, "title"))
        return title_filter(r, text);
    if (is_name(call, "indent"))
        return indent_text(r, text, call);
    return either(r, text, call);
}

/* startswith, endswith: one text or a tuple of them. */
static struct jinja_value has_end(struct jinja_run *r, struct sv text,
                                  const struct jinja_call *call, bool start)
{
    struct jinja_value of = jinja_argument(call, 0, "");
    if (of.kind == JINJA_STRING)
        return jinja_bool(start ? sv_starts(text, of.text) : sv_ends(text, of.text));
    if (of.kind != JINJA_LIST || call->count != 1)
        return jinja_fail(r, "this use is not supported", call->name);
    for (size_t i = 0; i < of.list->count; i++) {
        struct sv one = of.list->items[i].text;
        if (of.list->items[i].kind == JINJA_STRING &&
            (start ? sv_starts(text, one) : sv_ends(text, one)))
            return jinja_bool(true);
    }
    return jinja_bool(false);
}

/* count, find, rfind, index: places are counted in characters. */
static struct jinja_value place_of(struct jinja_run *r, struct sv text,
                                   const struct jinja_call *call)
{
    struct sv part = text_arg(call, 0);
    struct jinja_value made = {.kind = JINJA_INT, .number = -1};
    if (part.len == 0 || call->count != 1)
        return jinja_fail(r, "this use is not supported", call->name);
    if (is_name(call, "count")) {
        made.number = (int64_t)split_by(r, text, part, -1).list->count - 1;
        return made;
    }
    const char *hit = find_text(text, part);
    if (hit != NULL)
        made.number =
            (int64_t)jinja_characters(r, sv_make(text.ptr, (size_t)(hit - text.ptr))).list->count;
    return made;
}

struct jinja_value jinja_text_method(struct jinja_run *r, struct sv text,
                                     const struct jinja_call *call)
{
    struct sv arg = text_arg(call, 0);
    if (is_name(call, "strip") || is_name(call, "lstrip") || is_name(call, "rstrip"))
        return jinja_string(strip(text, arg, !is_name(call, "rstrip"), !is_name(call, "lstrip")));
    if (is_name(call, "startswith") || is_name(call, "endswith"))
        return has_end(r, text, call, is_name(call, "startswith"));
    if (is_name(call, "split") || is_name(call, "rsplit"))
        return split_text(r, text, call, is_name(call, "rsplit"));
    if (is_name(call, "splitlines") && call->count == 0)
        return split_lines(r, text);
    if (is_name(call, "join") && call->count > 0)
        return jinja_join(r, call->values[0], text);
    if (is_name(call, "format"))
        return format_fields(r, text, call);
    if (is_name(call, "count") || is_name(call, "find"))
        return place_of(r, text, call);
    if (is_name(call, "title"))
        return change_case(r, text, CASE_TITLE, true);
    if (is_name(call, "removeprefix"))
        return jinja_string(sv_starts(text, arg) ? sv_skip(text, arg.len) : text);
    if (is_name(call, "removesuffix"))
        return jinja_string(sv_ends(text, arg) ? sv_make(text.ptr, text.len - arg.len) : text);
    return either(r, text, call);
}
