/* One pass over the source.  White space follows Jinja's lexer with trim_blocks and lstrip_blocks:
 *   "{%-" and "-%}" eat all white space on their side ("{%+" and "+%}" keep it);
 *   lstrip_blocks: blanks between the start of a line and "{%" or "{#" vanish;
 *   trim_blocks: one line end right after "%}" or "#}" vanishes;
 *   the last line end of the source vanishes.
 * Example: "{% for m in messages %}\n{{ m.role }}\n{% endfor %}" renders "user\n". */
#include "base/alloc.h"
#include "base/num.h"
#include "tokenizer/jinja_priv.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { MAX_DEPTH = 60 };

struct parser {
    struct jinja *made;
    struct sv rest;
    bool line_starting; /* a text that comes now starts a line */
    bool failed;
    int depth;
    struct error *err;
};

/* ---- words -------------------------------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void *fail(struct parser *p, const char *what, struct sv where)
{
    if (!p->failed)
        error_set(p->err, E_UNSUPPORTED, "chat template: %s at '%.*s'", what,
                  (int)(where.len < 40 ? where.len : 40), where.ptr);
    p->failed = true;
    return NULL;
}

static void skip_blanks(struct parser *p)
{
    while (p->rest.len > 0 && is_blank(p->rest.ptr[0]))
        p->rest = sv_skip(p->rest, 1);
}

/* Takes the symbol if it comes next. */
static bool symbol(struct parser *p, const char *text)
{
    skip_blanks(p);
    if (!sv_starts(p->rest, sv_from(text)))
        return false;
    p->rest = sv_skip(p->rest, strlen(text));
    return true;
}

static struct sv peek_name(struct parser *p)
{
    size_t n = 0;
    skip_blanks(p);
    if (p->rest.len > 0 && p->rest.ptr[0] >= '0' && p->rest.ptr[0] <= '9')
        return sv_make(p->rest.ptr, 0);
    while (n < p->rest.len && is_name_char(p->rest.ptr[n]))
        n++;
    return sv_make(p->rest.ptr, n);
}

static bool word(struct parser *p, const char *text)
{
    struct sv name = peek_name(p);
    if (!sv_eq(name, sv_from(text)))
        return false;
    p->rest = sv_skip(p->rest, name.len);
    return true;
}

static struct sv take_name(struct parser *p)
{
    struct sv name = peek_name(p);
    if (name.len == 0)
        fail(p, "a name is missing", p->rest);
    p->rest = sv_skip(p->rest, name.len);
    return name;
}

static struct jinja_expr *expr_new(struct parser *p, enum jinja_op op, struct jinja_expr *a,
                                   struct jinja_expr *b)
{
    struct jinja_expr *e = arena_array(&p->made->arena, 1, sizeof(*e));
    e->op = op;
    e->a = a;
    e->b = b;
    return e;
}

static struct jinja_expr *constant(struct parser *p, struct jinja_value value)
{
    struct jinja_expr *e = expr_new(p, OP_CONST, NULL, NULL);
    e->value = value;
    return e;
}

/* ---- expressions ---------------------------------------------------------------------------------------------------- */

static struct jinja_expr *parse_expr(struct parser *p);

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    char low = (char)(c | 32);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

/* \xXX and \uXXXX; returns the digits taken. */
static size_t hex_escape(struct sv digits, size_t want, struct buf *out)
{
    uint32_t cp = 0;
    for (size_t i = 0; i < want; i++) {
        if (i >= digits.len || hex(digits.ptr[i]) < 0)
            return 0;
        cp = cp * 16 + (uint32_t)hex(digits.ptr[i]);
    }
    utf8_add(out, cp >= 0xD800 && cp < 0xE000 ? 0xFFFD : cp);
    return want;
}

static struct jinja_expr *parse_string(struct parser *p)
{
    static const char from[] = "ntrbf0";
    static const char to[] = "\n\t\r\b\f";
    char quote = p->rest.ptr[0];
    struct buf text = {0};
    size_t at = 1;
    for (; at < p->rest.len && p->rest.ptr[at] != quote; at++) {
        char c = p->rest.ptr[at];
        if (c != '\\' || at + 1 == p->rest.len) {
            buf_add_char(&text, c);
            continue;
        }
        c = p->rest.ptr[++at];
        const char *known = strchr(from, c);
        size_t want = c == 'x' ? 2 : c == 'u' ? 4 : 0;
        size_t n = want > 0 ? hex_escape(sv_skip(p->rest, at + 1), want, &text) : 0;
        at += n;
        if (known != NULL && c != '\0')
            buf_add_char(&text, to[known - from]);
        else if (n == 0 && (c == '\\' || c == '\'' || c == '"'))
            buf_add_char(&text, c);
        else if (n == 0 && c != '\n') {
            buf_add_char(&text, '\\');
            buf_add_char(&text, c);
        }
    }
    struct sv copy = arena_copy(&p->made->arena, buf_sv(&text));
    buf_done(&text);
    if (at >= p->rest.len)
        return fail(p, "a string is not closed", p->rest);
    p->rest = sv_skip(p->rest, at + 1);
    return constant(p, jinja_string(copy));
}

/* Arguments up to the closing bracket; names only where they are wanted. */
static struct jinja_arg *parse_args(struct parser *p, const char *close)
{
    struct jinja_arg *first = NULL;
    struct jinja_arg **last = &first;
    while (!p->failed && !symbol(p, close)) {
        struct jinja_arg *arg = arena_array(&p->made->arena, 1, sizeof(*arg));
        struct sv before = p->rest;
        struct sv name = peek_name(p);
        p->rest = sv_skip(p->rest, name.len);
        skip_blanks(p);
        bool named =
            name.len > 0 && p->rest.len > 1 && p->rest.ptr[0] == '=' && p->rest.ptr[1] != '=';
        if (named) {
            arg->name = arena_copy(&p->made->arena, name);
            symbol(p, "=");
        } else {
            p->rest = before;
        }
        arg->value = parse_expr(p);
        *last = arg;
        last = &arg->next;
        if (!symbol(p, ",") && !symbol(p, close)) {
            fail(p, "a bracket is not closed", p->rest);
        } else if (p->rest.ptr[-1] == close[0]) {
            break;
        }
    }
    return first;
}

static struct jinja_expr *parse_dict(struct parser *p)
{
    struct jinja_expr *e = expr_new(p, OP_DICT, NULL, NULL);
    struct jinja_arg **last = &e->args;
    while (!p->failed && !symbol(p, "}")) {
        for (int part = 0; part < 2 && !p->failed; part++) {
            struct jinja_arg *arg = arena_array(&p->made->arena, 1, sizeof(*arg));
            arg->value = parse_expr(p);
            *last = arg;
            last = &arg->next;
            if (part == 0 && !symbol(p, ":"))
                fail(p, "a ':' is missing", p->rest);
        }
        if (!symbol(p, ",")) {
            if (!symbol(p, "}"))
                fail(p, "a bracket is not closed", p->rest);
            break;
        }
    }
    return e;
}

/* Digits with '_' between them, a fraction, an exponent. */
static struct jinja_expr *parse_number(struct parser *p)
{
    struct buf digits = {0};
    struct jinja_value v = {.kind = JINJA_INT};
    size_t n = 0;
    bool real = false;
    for (; n < p->rest.len; n++) {
        char c = p->rest.ptr[n];
        char next = n + 1 < p->rest.len ? p->rest.ptr[n + 1] : '\0';
        bool digit = c >= '0' && c <= '9';
        bool point = c == '.' && next >= '0' && next <= '9' && !real;
        bool power =
            (c == 'e' || c == 'E') && n > 0 && next != '\0' && strchr("0123456789+-", next) != NULL;
        bool sign = (c == '+' || c == '-') && n > 0 &&
                    (p->rest.ptr[n - 1] == 'e' || p->rest.ptr[n - 1] == 'E');
        if (!digit && !point && !power && !sign && c != '_')
            break;
        real = real || point || power;
        if (c != '_')
            buf_add_char(&digits, c);
    }
    bool ok;
    if (real) {
        v.kind = JINJA_FLOAT;
        ok = num_parse_double(buf_sv(&digits), &v.real);
    } else {
        ok = num_parse_i64(buf_sv(&digits), &v.number);
    }
    buf_done(&digits);
    if (!ok)
        return fail(p, "this kind of number is not supported", p->rest);
    p->rest = sv_skip(p->rest, n);
    return constant(p, v);
}

static struct jinja_expr *parse_name(struct parser *p)
{
    struct sv name = take_name(p);
    if (sv_eq(name, SV_LIT("true")) || sv_eq(name, SV_LIT("True")))
        return constant(p, jinja_bool(true));
    if (sv_eq(name, SV_LIT("false")) || sv_eq(name, SV_LIT("False")))
        return constant(p, jinja_bool(false));
    if (sv_eq(name, SV_LIT("none")) || sv_eq(name, SV_LIT("None")))
        return constant(p, (struct jinja_value){.kind = JINJA_NONE});
    struct jinja_expr *e = expr_new(p, OP_NAME, NULL, NULL);
    e->text = arena_copy(&p->made->arena, name);
    return e;
}

static struct jinja_expr *parse_primary(struct parser *p)
{
    skip_blanks(p);
    if (p->rest.len == 0)
        return fail(p, "the template ends inside a tag", p->rest);
    char c = p->rest.ptr[0];
    if (c == '"' || c == '\'') {
        struct jinja_expr *e = parse_string(p);
        for (skip_blanks(p);
             !p->failed && p->rest.len > 0 && (p->rest.ptr[0] == '"' || p->rest.ptr[0] == '\'');
             skip_blanks(p))
            e = expr_new(p, OP_CONCAT, e, parse_string(p)); /* strings side by side are one */
        return e;
    }
    if (c >= '0' && c <= '9')
        return parse_number(p);
    if (symbol(p, "[")) {
        struct jinja_expr *e = expr_new(p, OP_LIST, NULL, NULL);
        e->args = parse_args(p, "]");
        return e;
    }
    if (symbol(p, "{"))
        return parse_dict(p);
    if (symbol(p, "(")) {
        if (symbol(p, ")"))
            return expr_new(p, OP_TUPLE, NULL, NULL);
        struct jinja_expr *e = parse_expr(p);
        if (symbol(p, ",")) {
            struct jinja_expr *list = expr_new(p, OP_TUPLE, NULL, NULL);
            struct jinja_arg *first = arena_array(&p->made->arena, 1, sizeof(*first));
            first->value = e;
            first->next = parse_args(p, ")");
            list->args = first;
            return list;
        }
        if (!symbol(p, ")"))
            return fail(p, "a bracket is not closed", p->rest);
        return e;
    }
    if (is_name_char(c))
        return parse_name(p);
    return fail(p, "an expression is missing", p->rest);
}

static struct jinja_expr *parse_brackets(struct parser *p, struct jinja_expr *of)
{
    struct jinja_expr *parts[3] = {NULL, NULL, NULL};
    size_t part = 0;
    bool slice = false;
    while (!p->failed && !symbol(p, "]")) {
        if (symbol(p, ":")) {
            slice = true;
            if (++part == 3)
                return fail(p, "too many ':' in a slice", p->rest);
        } else {
            parts[part] = parse_expr(p);
        }
    }
    if (!slice)
        return expr_new(p, OP_INDEX, of, parts[0]);
    struct jinja_expr *e = expr_new(p, OP_SLICE, of, parts[0]);
    e->c = parts[1];
    e->d = parts[2];
    return e;
}

static struct jinja_expr *parse_postfix(struct parser *p, struct jinja_expr *e)
{
    while (!p->failed) {
        if (symbol(p, "[")) {
            e = parse_brackets(p, e);
        } else if (symbol(p, "(")) {
            e = expr_new(p, OP_CALL, e, NULL);
            e->args = parse_args(p, ")");
        } else if (symbol(p, ".")) {
            e = expr_new(p, OP_ATTR, e, NULL);
            e->text = arena_copy(&p->made->arena, take_name(p));
        } else {
            break;
        }
    }
    return e;
}

static bool starts_argument(struct parser *p)
{
    static const char *const others[] = {"else", "or", "and", "is", "if", "in", "not"};
    struct sv name = peek_name(p);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (sv_eq(name, sv_from(others[i])))
            return false;
    return name.len > 0 || (p->rest.len > 0 && strchr("'\"[0123456789", p->rest.ptr[0]) != NULL);
}

static struct jinja_expr *parse_test(struct parser *p, struct jinja_expr *of)
{
    bool negated = word(p, "not");
    struct jinja_expr *e = expr_new(p, OP_TEST, of, NULL);
    e->text = arena_copy(&p->made->arena, take_name(p));
    if (symbol(p, "(")) {
        e->args = parse_args(p, ")");
    } else if (!p->failed && starts_argument(p)) {
        e->args = arena_array(&p->made->arena, 1, sizeof(*e->args));
        e->args->value = parse_postfix(p, parse_primary(p));
    }
    return negated ? expr_new(p, OP_NOT, e, NULL) : e;
}

static struct jinja_expr *parse_filters(struct parser *p, struct jinja_expr *e)
{
    while (!p->failed) {
        if (symbol(p, "|")) {
            e = expr_new(p, OP_FILTER, e, NULL);
            e->text = arena_copy(&p->made->arena, take_name(p));
            if (symbol(p, "("))
                e->args = parse_args(p, ")");
        } else if (word(p, "is")) {
            e = parse_test(p, e);
        } else {
            break;
        }
    }
    return e;
}

/* A sign binds tighter than filters: -3 | abs is 3. */
static struct jinja_expr *parse_signed(struct parser *p)
{
    struct jinja_expr *e;
    if (++p->depth > MAX_DEPTH)
        return fail(p, "expressions are nested too deeply", p->rest);
    skip_blanks(p);
    if (p->rest.len > 1 && p->rest.ptr[0] == '-' && p->rest.ptr[1] != '%' &&
        p->rest.ptr[1] != '}') {
        symbol(p, "-");
        e = expr_new(p, OP_NEGATE, parse_signed(p), NULL);
    } else {
        e = parse_postfix(p, parse_primary(p));
    }
    p->depth--;
    return e;
}

static struct jinja_expr *parse_unary(struct parser *p)
{
    return parse_filters(p, parse_signed(p));
}

static struct jinja_expr *parse_product(struct parser *p)
{
    struct jinja_expr *e = parse_unary(p);
    while (!p->failed) {
        skip_blanks(p);
        if (symbol(p, "*"))
            e = expr_new(p, OP_MULTIPLY, e, parse_unary(p));
        else if (symbol(p, "//"))
            e = expr_new(p, OP_FLOOR, e, parse_unary(p));
        else if (symbol(p, "/"))
            e = expr_new(p, OP_DIVIDE, e, parse_unary(p));
        else if (!sv_starts(p->rest, SV_LIT("%}")) && symbol(p, "%"))
            e = expr_new(p, OP_MODULO, e, parse_unary(p));
        else
            break;
    }
    return e;
}

static struct jinja_expr *parse_concat(struct parser *p)
{
    struct jinja_expr *e = parse_product(p);
    while (!p->failed && symbol(p, "~"))
        e = expr_new(p, OP_CONCAT, e, parse_product(p));
    return e;
}

static struct jinja_expr *parse_sum(struct parser *p)
{
    struct jinja_expr *e = parse_concat(p);
    while (!p->failed) {
        skip_blanks(p);
        bool ends = sv_starts(p->rest, SV_LIT("-%}")) || sv_starts(p->rest, SV_LIT("-}}")) ||
                    sv_starts(p->rest, SV_LIT("+%}"));
        if (ends)
            break;
        if (symbol(p, "+"))
            e = expr_new(p, OP_ADD, e, parse_concat(p));
        else if (symbol(p, "-"))
            e = expr_new(p, OP_SUBTRACT, e, parse_concat(p));
        else
            break;
    }
    return e;
}

static struct jinja_expr *negated(struct parser *p, struct jinja_expr *e)
{
    return expr_new(p, OP_NOT, e, NULL);
}

static struct jinja_expr *parse_compare(struct parser *p)
{
    struct jinja_expr *e = parse_sum(p);
    while (!p->failed) {
        struct sv before = p->rest;
        if (symbol(p, "=="))
            e = expr_new(p, OP_EQUAL, e, parse_sum(p));
        else if (symbol(p, "!="))
            e = negated(p, expr_new(p, OP_EQUAL, e, parse_sum(p)));
        else if (symbol(p, "<="))
            e = expr_new(p, OP_LESS_EQUAL, e, parse_sum(p));
        else if (symbol(p, ">="))
            e = expr_new(p, OP_LESS_EQUAL, parse_sum(p), e);
        else if (symbol(p, "<"))
            e = expr_new(p, OP_LESS, e, parse_sum(p));
        else if (symbol(p, ">"))
            e = expr_new(p, OP_LESS, parse_sum(p), e);
        else if (word(p, "in"))
            e = expr_new(p, OP_IN, e, parse_sum(p));
        else if (word(p, "not") && word(p, "in"))
            e = negated(p, expr_new(p, OP_IN, e, parse_sum(p)));
        else {
            p->rest = before;
            break;
        }
    }
    return e;
}

static struct jinja_expr *parse_not(struct parser *p)
{
    if (word(p, "not")) {
        if (++p->depth > MAX_DEPTH)
            return fail(p, "expressions are nested too deeply", p->rest);
        struct jinja_expr *e = negated(p, parse_not(p));
        p->depth--;
        return e;
    }
    return parse_compare(p);
}

static struct jinja_expr *parse_and(struct parser *p)
{
    struct jinja_expr *e = parse_not(p);
    while (!p->failed && word(p, "and"))
        e = expr_new(p, OP_AND, e, parse_not(p));
    return e;
}

static struct jinja_expr *parse_or(struct parser *p)
{
    struct jinja_expr *e = parse_and(p);
    while (!p->failed && word(p, "or"))
        e = expr_new(p, OP_OR, e, parse_and(p));
    return e;
}

static struct jinja_expr *parse_expr(struct parser *p)
{
    if (++p->depth > MAX_DEPTH)
        return fail(p, "expressions are nested too deeply", p->rest);
    struct jinja_expr *e = parse_or(p);
    while (!p->failed && word(p, "if")) {
        struct jinja_expr *choice = expr_new(p, OP_IF, parse_or(p), e);
        choice->c = word(p, "else") ? parse_expr(p) : NULL;
        e = choice;
    }
    p->depth--;
    return e;
}

/* "a, b" without brackets. */
static struct jinja_expr *parse_tuple(struct parser *p)
{
    struct jinja_expr *first = parse_expr(p);
    if (p->failed || !symbol(p, ","))
        return first;
    struct jinja_expr *tuple = expr_new(p, OP_TUPLE, NULL, NULL);
    tuple->args = arena_array(&p->made->arena, 1, sizeof(*tuple->args));
    tuple->args->value = first;
    struct jinja_arg *last = tuple->args;
    do {
        last->next = arena_array(&p->made->arena, 1, sizeof(*last));
        last = last->next;
        last->value = parse_expr(p);
    } while (!p->failed && symbol(p, ","));
    return tuple;
}

/* ---- statements ------------------------------------------------------------------------------------------------------ */

static struct jinja_node *parse_nodes(struct parser *p, const char *const *ends, struct sv *ended);

static void close_tag(struct parser *p, const char *end)
{
    bool keep = symbol(p, "+");
    bool eat = !keep && symbol(p, "-");
    if (!symbol(p, end)) {
        fail(p, "this is not understood", p->rest);
        return;
    }
    p->line_starting = false;
    if (eat) {
        while (p->rest.len > 0 && is_blank(p->rest.ptr[0])) {
            p->line_starting = p->rest.ptr[0] == '\n';
            p->rest = sv_skip(p->rest, 1);
        }
    } else if (!keep && end[0] != '}' && p->rest.len > 0 && p->rest.ptr[0] == '\n') {
        p->rest = sv_skip(p->rest, 1);
        p->line_starting = true;
    }
}

static struct jinja_node *node_new(struct parser *p, enum jinja_statement kind)
{
    struct jinja_node *n = arena_array(&p->made->arena, 1, sizeof(*n));
    n->kind = kind;
    return n;
}

static struct jinja_node *parse_if(struct parser *p)
{
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    static const char *const last[] = {"endif", NULL};
    struct sv ended;
    struct jinja_node *n = node_new(p, NODE_IF);
    if (++p->depth > MAX_DEPTH)
        return fail(p, "blocks are nested too deeply", p->rest);
    n->expr = parse_expr(p);
    close_tag(p, "%}");
    n->body = parse_nodes(p, ends, &ended);
    if (!p->failed && sv_eq(ended, SV_LIT("elif"))) {
        n->other = parse_if(p); /* closes the tag of endif */
    } else if (!p->failed) {
        close_tag(p, "%}");
        if (sv_eq(ended, SV_LIT("else"))) {
            n->other = parse_nodes(p, last, &ended);
            close_tag(p, "%}");
        }
    }
    p->depth--;
    return n;
}

static void parse_targets(struct parser *p, struct jinja_node *n)
{
    bool bracket = symbol(p, "(");
    do {
        if (n->name_count == JINJA_MAX_TARGETS) {
            fail(p, "too many names", p->rest);
            return;
        }
        n->names[n->name_count++] = arena_copy(&p->made->arena, take_name(p));
    } while (!p->failed && symbol(p, ","));
    if (bracket && !symbol(p, ")"))
        fail(p, "a bracket is not closed", p->rest);
}

static struct jinja_node *parse_for(struct parser *p)
{
    static const char *const ends[] = {"else", "endfor", NULL};
    static const char *const last[] = {"endfor", NULL};
    struct sv ended;
    struct jinja_node *n = node_new(p, NODE_FOR);
    parse_targets(p, n);
    if (!word(p, "in"))
        return fail(p, "'in' is missing", p->rest);
    n->expr = parse_or(p);
    if (word(p, "if"))
        n->filter = parse_expr(p);
    close_tag(p, "%}");
    n->body = parse_nodes(p, ends, &ended);
    close_tag(p, "%}");
    if (!p->failed && sv_eq(ended, SV_LIT("else"))) {
        n->other = parse_nodes(p, last, &ended);
        close_tag(p, "%}");
    }
    return n;
}

/* "trim | upper" of {% filter trim | upper %}, around the body; NULL when there are none. */
static struct jinja_expr *body_filters(struct parser *p, bool any)
{
    struct jinja_expr *e = expr_new(p, OP_NAME, NULL, NULL);
    e->text = SV_LIT(JINJA_BODY);
    if (!any)
        return NULL;
    e = expr_new(p, OP_FILTER, e, NULL);
    e->text = arena_copy(&p->made->arena, take_name(p));
    if (symbol(p, "("))
        e->args = parse_args(p, ")");
    return parse_filters(p, e);
}

static struct jinja_node *parse_filter(struct parser *p)
{
    static const char *const ends[] = {"endfilter", NULL};
    struct sv ended;
    struct jinja_node *n = node_new(p, NODE_FILTER);
    n->filter = body_filters(p, true);
    close_tag(p, "%}");
    n->body = parse_nodes(p, ends, &ended);
    close_tag(p, "%}");
    return n;
}

static struct jinja_node *parse_set(struct parser *p)
{
    static const char *const ends[] = {"endset", NULL};
    struct sv ended;
    struct jinja_node *n = node_new(p, NODE_SET);
    parse_targets(p, n);
    if (symbol(p, "."))
        n->attr = arena_copy(&p->made->arena, take_name(p));
    if (symbol(p, "=")) {
        n->expr = parse_tuple(p);
        close_tag(p, "%}");
        return n;
    }
    n->kind = NODE_SET_BLOCK;
    n->filter = body_filters(p, symbol(p, "|"));
    close_tag(p, "%}");
    n->body = parse_nodes(p, ends, &ended);
    close_tag(p, "%}");
    return n;
}

static struct jinja_node *parse_macro(struct parser *p)
{
    static const char *const ends[] = {"endmacro", NULL};
    struct sv ended;
    struct jinja_node *n = node_new(p, NODE_MACRO);
    struct jinja_arg **last = &n->params;
    n->text = arena_copy(&p->made->arena, take_name(p));
    if (!symbol(p, "("))
        return fail(p, "a bracket is missing", p->rest);
    while (!p->failed && !symbol(p, ")")) {
        struct jinja_arg *param = arena_array(&p->made->arena, 1, sizeof(*param));
        param->name = arena_copy(&p->made->arena, take_name(p));
        if (symbol(p, "="))
            param->value = parse_expr(p);
        *last = param;
        last = &param->next;
        symbol(p, ",");
    }
    close_tag(p, "%}");
    n->body = parse_nodes(p, ends, &ended);
    close_tag(p, "%}");
    return n;
}

static struct jinja_node *parse_statement(struct parser *p)
{
    struct sv where = p->rest;
    struct jinja_node *n;
    if (word(p, "if"))
        return parse_if(p);
    if (word(p, "for"))
        return parse_for(p);
    if (word(p, "set"))
        return parse_set(p);
    if (word(p, "macro"))
        return parse_macro(p);
    if (word(p, "filter"))
        return parse_filter(p);
    if (word(p, "break"))
        n = node_new(p, NODE_BREAK);
    else if (word(p, "continue"))
        n = node_new(p, NODE_CONTINUE);
    else if (word(p, "generation") || word(p, "endgeneration"))
        n = node_new(p, NODE_TEXT); /* marks what the model said; renders nothing */
    else
        return fail(p, "this statement is not supported", where);
    close_tag(p, "%}");
    return n;
}

/* Text up to the next tag, with the white space in front of the tag dealt with. */
static struct sv take_text(struct parser *p, char *tag)
{
    size_t at = 0;
    while (at + 1 < p->rest.len &&
           !(p->rest.ptr[at] == '{' && strchr("{%#", p->rest.ptr[at + 1]) != NULL &&
             p->rest.ptr[at + 1] != '\0'))
        at++;
    if (at + 1 >= p->rest.len) {
        struct sv all = p->rest;
        *tag = '\0';
        p->rest = sv_skip(p->rest, p->rest.len);
        return all;
    }
    *tag = p->rest.ptr[at + 1];
    struct sv text = sv_make(p->rest.ptr, at);
    p->rest = sv_skip(p->rest, at + 2);
    char mark = p->rest.len > 0 ? p->rest.ptr[0] : '\0';
    if (mark == '-' || mark == '+')
        p->rest = sv_skip(p->rest, 1);
    if (mark == '-') {
        while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
            text.len--;
    } else if (mark != '+' && *tag != '{') {
        size_t line = text.len;
        while (line > 0 && text.ptr[line - 1] != '\n' && is_blank(text.ptr[line - 1]))
            line--;
        if ((line > 0 && text.ptr[line - 1] == '\n') || (line == 0 && p->line_starting))
            text.len = line;
    }
    return text;
}

static void skip_comment(struct parser *p)
{
    const char *end = p->rest.len > 0 ? memmem(p->rest.ptr, p->rest.len, "#}", 2) : NULL;
    if (end == NULL) {
        fail(p, "a comment is not closed", p->rest);
        return;
    }
    size_t n = (size_t)(end - p->rest.ptr);
    bool mark = n > 0 && (end[-1] == '-' || end[-1] == '+');
    p->rest = sv_skip(p->rest, mark ? n - 1 : n);
    close_tag(p, "#}");
}

static struct jinja_node *parse_nodes(struct parser *p, const char *const *ends, struct sv *ended)
{
    struct jinja_node *first = NULL;
    struct jinja_node **last = &first;
    *ended = SV_LIT("");
    if (++p->depth > MAX_DEPTH)
        return fail(p, "blocks are nested too deeply", p->rest);
    while (!p->failed) {
        char tag;
        struct jinja_node *n = NULL;
        struct sv text = take_text(p, &tag);
        if (text.len > 0) {
            *last = node_new(p, NODE_TEXT);
            (*last)->text = arena_copy(&p->made->arena, text);
            last = &(*last)->next;
        }
        if (tag == '\0') {
            if (ends != NULL)
                fail(p, "a block is not closed", p->rest);
            break;
        }
        if (tag == '#') {
            skip_comment(p);
        } else if (tag == '{') {
            n = node_new(p, NODE_OUTPUT);
            n->expr = parse_expr(p);
            close_tag(p, "}}");
        } else {
            struct sv name = peek_name(p);
            for (size_t i = 0; ends != NULL && ends[i] != NULL; i++)
                if (sv_eq(name, sv_from(ends[i]))) {
                    *ended = sv_from(ends[i]);
                    p->rest = sv_skip(p->rest, name.len);
                    p->depth--;
                    return first;
                }
            n = parse_statement(p);
        }
        if (n != NULL) {
            *last = n;
            last = &n->next;
        }
    }
    p->depth--;
    return first;
}

/* Every line end becomes \n, and the last one goes. */
static struct sv plain_lines(struct sv source, struct buf *out)
{
    for (size_t at = 0; at < source.len; at++) {
        if (source.ptr[at] == '\r' && at + 1 < source.len && source.ptr[at + 1] == '\n')
            continue;
        buf_add_char(out, source.ptr[at] == '\r' ? '\n' : source.ptr[at]);
    }
    if (out->len > 0 && out->ptr[out->len - 1] == '\n')
        out->len--;
    return sv_make(buf_cstr(out), out->len);
}

struct jinja *jinja_compile(struct sv source, struct error *err)
{
    struct jinja *j = mem_new(struct jinja);
    struct sv ended;
    struct buf lines = {0};
    source = plain_lines(source, &lines);
    struct parser p = {.made = j, .rest = source, .line_starting = true, .err = err};
    j->nodes = parse_nodes(&p, NULL, &ended);
    buf_done(&lines);
    if (p.failed) {
        jinja_free(j);
        return NULL;
    }
    return j;
}

void jinja_free(struct jinja *j)
{
    if (j == NULL)
        return;
    arena_done(&j->arena);
    free(j);
}
