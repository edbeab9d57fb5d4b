/* Translation walks the pattern once: escapes and classes are rewritten one by one, all else is copied. */
#include "tokenizer/regex.h"

#include "base/alloc.h"
#include "tokenizer/unicode.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#define WHITE_SPACE "\\p{Z}\\t-\\r\\x{85}"
#define WORD        "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}"
#define HEX_DIGIT   "0-9A-Fa-f"

struct regex {
    pcre2_code *code;
    bool jit;
};

struct class_escape {
    char letter;
    const char *items;
};

static const struct class_escape class_escapes[] = {
    {'s', WHITE_SPACE},
    {'w', WORD},
    {'h', HEX_DIGIT},
};

/* \p{L}, \pL or \P{L} with what the library's Unicode lacks. */
static size_t put_property(struct sv rest, bool in_class, struct buf *out)
{
    size_t close = rest.ptr[2] == '{' ? sv_find(rest, '}') : 2;
    size_t n = close < rest.len ? close + 1 : rest.len;
    struct sv name = rest.ptr[2] == '{' ? sv_make(rest.ptr + 3, n - 3 - (close < rest.len))
                                        : sv_make(rest.ptr + 2, 1);
    const char *newer = unicode_newer_items(name);
    bool negated = rest.ptr[1] == 'P';
    bool han = sv_eq(name, SV_LIT("Han")); /* the script, not its extensions */
    bool wrap = newer[0] != '\0' && !in_class;
    if (wrap)
        buf_add_str(out, negated ? "[^" : "[");
    if (wrap && negated)
        buf_add_fmt(out, "\\p{%s" SV_FMT "}", han ? "sc:" : "", SV_ARG(name));
    else if (han)
        buf_add_fmt(out, "\\%c{sc:Han}", rest.ptr[1]);
    else
        buf_add(out, sv_make(rest.ptr, n));
    if (wrap || !negated)
        buf_add_str(out, newer);
    if (wrap)
        buf_add_char(out, ']');
    return n;
}

/* Handles the escape at `at` (a backslash); returns the bytes consumed, 0 on error. */
static size_t put_escape(struct sv rest, bool in_class, struct buf *out, struct error *err)
{
    if (rest.len < 2) {
        error_set(err, E_PARSE, "the pattern ends in a backslash");
        return 0;
    }
    char c = rest.ptr[1];
    for (size_t i = 0; i < sizeof(class_escapes) / sizeof(class_escapes[0]); i++) {
        const struct class_escape *e = &class_escapes[i];
        const char *newer = unicode_newer_items(sv_make(&e->letter, 1));
        if (c == e->letter) {
            buf_add_fmt(out, in_class ? "%s%s" : "[%s%s]", e->items, newer);
            return 2;
        }
        if (c == e->letter - 'a' + 'A' && !in_class) {
            buf_add_fmt(out, "[^%s%s]", e->items, newer);
            return 2;
        }
    }
    if ((c == 'W' || c == 'H') && in_class) {
        error_set(err, E_UNSUPPORTED, "'\\%c' inside a class is not supported", c);
        return 0;
    }
    if ((c == 'p' || c == 'P') && rest.len > 2)
        return put_property(rest, in_class, out);
    buf_add(out, sv_make(rest.ptr, 2));
    return 2;
}

static size_t put_class(struct sv rest, struct buf *out, struct error *err);

/* [A&&[B]]: what was put since `start` is "[A"; it becomes (?:(?=[B])[A]). */
static size_t put_intersection(struct sv rest, size_t at, size_t start, struct buf *out,
                               struct error *err)
{
    struct sv second = sv_skip(rest, at + 2);
    struct buf first = {0};
    size_t n = 0;
    if (second.len > 0 && second.ptr[0] == '[' && rest.ptr[1] != '^') {
        buf_add(&first, sv_skip(buf_sv(out), start));
        out->len = start;
        buf_add_str(out, "(?:(?=");
        n = put_class(second, out, err);
        buf_add_char(out, ')');
        buf_add(out, buf_sv(&first));
        buf_add_str(out, "])");
        buf_done(&first);
        if (n == 0)
            return 0;
    }
    if (n == 0 || at + 2 + n >= rest.len || rest.ptr[at + 2 + n] != ']') {
        error_set(err, E_UNSUPPORTED, "this class intersection '&&' is not supported");
        return 0;
    }
    return at + 2 + n + 1;
}

/* The class at rest[0] == '['; returns the bytes consumed, 0 on error. */
static size_t put_class(struct sv rest, struct buf *out, struct error *err)
{
    size_t at = 1;
    size_t start = out->len;
    buf_add_char(out, '[');
    if (at < rest.len && rest.ptr[at] == '^')
        buf_add_char(out, rest.ptr[at++]);
    if (at < rest.len && rest.ptr[at] == ']')
        buf_add_char(out, rest.ptr[at++]);
    while (at < rest.len && rest.ptr[at] != ']') {
        struct sv here = sv_skip(rest, at);
        if (here.ptr[0] == '\\') {
            size_t n = put_escape(here, true, out, err);
            if (n == 0)
                return 0;
            at += n;
        } else if (sv_starts(here, SV_LIT("[:")) || here.ptr[0] != '[') {
            if (sv_starts(here, SV_LIT("&&"))) {
                size_t n = put_intersection(rest, at, start, out, err);
                return n;
            }
            size_t n = here.ptr[0] == '[' ? sv_find(here, ']') + 1 : 1;
            n = n > here.len ? here.len : n;
            buf_add(out, sv_make(here.ptr, n));
            at += n;
        } else {
            error_set(err, E_UNSUPPORTED, "a class inside a class is not supported");
            return 0;
        }
    }
    if (at == rest.len) {
        error_set(err, E_PARSE, "a class is not closed");
        return 0;
    }
    buf_add_char(out, ']');
    return at + 1;
}

/* Length of a quantifier {n}, {n,}, {n,m}, {,m} at rest[0] == '{', 0 when it is none.  *low is n. */
static size_t braces(struct sv rest, unsigned *low)
{
    size_t at = 1;
    bool digits = false;
    *low = 0;
    for (; at < rest.len && rest.ptr[at] >= '0' && rest.ptr[at] <= '9'; at++) {
        *low = *low < 1000 ? *low * 10 + (unsigned)(rest.ptr[at] - '0') : *low;
        digits = true;
    }
    if (at < rest.len && rest.ptr[at] == ',')
        for (at++; at < rest.len && rest.ptr[at] >= '0' && rest.ptr[at] <= '9'; at++)
            digits = true;
    return digits && at < rest.len && rest.ptr[at] == '}' ? at + 1 : 0;
}

bool regex_translate(struct sv pattern, enum regex_dialect dialect, struct buf *out,
                     struct error *err)
{
    for (size_t at = 0; at < pattern.len;) {
        struct sv rest = sv_skip(pattern, at);
        size_t n = 1;
        unsigned low;
        if (rest.ptr[0] == '\\') {
            n = put_escape(rest, false, out, err);
        } else if (rest.ptr[0] == '[') {
            n = put_class(rest, out, err);
        } else if (rest.ptr[0] == '{' && (n = braces(rest, &low)) > 0) {
            if (n < rest.len && rest.ptr[n] == '+' && dialect == REGEX_ONIGURUMA) {
                /* Oniguruma: (x{1,3})+, which is x+; PCRE2 would take it as possessive. */
                if (low > 1)
                    return error_set(err, E_UNSUPPORTED,
                                     "the quantifier '" SV_FMT "' is not "
                                     "supported",
                                     (int)n + 1, rest.ptr);
                buf_add_char(out, low == 0 ? '*' : '+');
                n++;
            } else {
                buf_add(out, sv_make(rest.ptr, n));
            }
        } else {
            n = 1;
            buf_add_char(out, rest.ptr[0]);
        }
        if (n == 0)
            return false;
        at += n;
    }
    return true;
}

struct regex *regex_compile(struct sv pattern, enum regex_dialect dialect, struct error *err)
{
    struct buf text = {0};
    if (!regex_translate(pattern, dialect, &text, err)) {
        buf_done(&text);
        error_context(err, "pattern '" SV_FMT "'", SV_ARG(pattern));
        return NULL;
    }
    int code_number;
    PCRE2_SIZE where;
    pcre2_compile_context *context = pcre2_compile_context_create(NULL);
    pcre2_set_newline(context, PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context, 100);
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)buf_cstr(&text), text.len,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C |
                          (dialect == REGEX_ONIGURUMA ? PCRE2_MULTILINE : PCRE2_DOLLAR_ENDONLY),
                      &code_number, &where, context);
    pcre2_compile_context_free(context);
    buf_done(&text);
    if (code == NULL) {
        char reason[128];
        pcre2_get_error_message(code_number, (PCRE2_UCHAR *)reason, sizeof(reason));
        error_set(err, E_PARSE, "pattern '" SV_FMT "': %s", SV_ARG(pattern), reason);
        return NULL;
    }
    struct regex *re = mem_new(struct regex);
    re->code = code;
    re->jit = pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;
    return re;
}

void regex_free(struct regex *re)
{
    if (re == NULL)
        return;
    pcre2_code_free(re->code);
    free(re);
}

void regex_work_done(struct regex_work *work)
{
    pcre2_match_data_free(work->match_data);
    work->match_data = NULL;
}

enum regex_result regex_find(const struct regex *re, struct regex_work *work, struct sv text,
                             size_t from, size_t *start, size_t *end)
{
    if (work->match_data == NULL)
        work->match_data = pcre2_match_data_create(1, NULL);
    PCRE2_SPTR subject = (PCRE2_SPTR)text.ptr;
    int rc = PCRE2_ERROR_JIT_STACKLIMIT;
    if (re->jit)
        rc = pcre2_jit_match(re->code, subject, text.len, from, 0, work->match_data, NULL);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) /* very long pieces; the interpreter uses the heap */
        rc = pcre2_match(re->code, subject, text.len, from, PCRE2_NO_JIT | PCRE2_NO_UTF_CHECK,
                         work->match_data, NULL);
    if (rc == PCRE2_ERROR_NOMATCH)
        return REGEX_NONE;
    if (rc < 0)
        return REGEX_TOO_HARD;
    const PCRE2_SIZE *ovector = pcre2_get_ovector_pointer(work->match_data);
    *start = ovector[0];
    *end = ovector[1];
    return REGEX_FOUND;
}
