/* One pass over the source makes a tree of nodes.  White space follows Jinja's rules:
 *   "{%-" and "-%}" eat all white space on their side;
 *   lstrip_blocks: blanks between the start of a line and "{%" or "{#" vanish;
 *   trim_blocks: one line end right after "%}" or "#}" vanishes;
 *   the last line end of the source vanishes.
 * Example: "{% for m in messages %}\n{{ m.role }}\n{% endfor %}" renders "user\n". */
#include "tokenizer/chat_template.h"

#include "base/alloc.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum node_kind { NODE_TEXT, NODE_ROLE, NODE_CONTENT, NODE_FOR, NODE_IF_GENERATION };

enum { MAX_DEPTH = 16, MAX_TERMS = 1000 };

struct node {
    enum node_kind kind;
    struct sv text; /* NODE_TEXT */
    struct node *body;
    struct node *other; /* the else branch */
    struct node *next;
};

struct chat_template {
    struct arena arena;
    struct node *nodes;
};

struct parser {
    struct chat_template *made;
    struct sv rest;      /* source not yet read */
    bool line_starting;  /* a text that comes now starts a line */
    bool eat_space;      /* the tag before ended in "-" */
    struct sv loop_name; /* of the for loop around; len 0: none */
    const struct chat_name *names;
    size_t name_count;
    int depth;
    struct error *err;
};

/* How a list of nodes ended. */
enum stop { STOP_END, STOP_ELSE, STOP_ENDIF, STOP_ENDFOR, STOP_FAILED };

static enum stop parse_nodes(struct parser *p, struct node **list);

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool unsupported(struct parser *p, struct sv what)
{
    if (what.len > 80)
        what.len = 80;
    while (what.len > 0 && ((unsigned char)what.ptr[what.len - 1] & 0xC0) == 0x80)
        what.len--; /* never cut inside a character; a lead byte left over is harmless to drop */
    return error_set(p->err, E_UNSUPPORTED, "'" SV_FMT "'", SV_ARG(sv_trim(what)));
}

static struct node *node_add(struct parser *p, struct node ***tail, enum node_kind kind)
{
    struct node *node = arena_array(&p->made->arena, 1, sizeof(*node));
    node->kind = kind;
    **tail = node;
    *tail = &node->next;
    return node;
}

static void skip_blanks(struct sv *v)
{
    while (v->len > 0 && is_blank(v->ptr[0]))
        *v = sv_skip(*v, 1);
}

static struct sv take_name(struct sv *v)
{
    size_t n = 0;
    while (n < v->len && is_name_char(v->ptr[n]))
        n++;
    struct sv name = sv_make(v->ptr, n);
    *v = sv_skip(*v, n);
    return name;
}

static bool take_hex(struct sv *v, size_t digits, uint32_t *cp)
{
    *cp = 0;
    if (v->len < digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        char c = v->ptr[i];
        uint32_t d;
        if (c >= '0' && c <= '9')
            d = (uint32_t)(c - '0');
        else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
            d = (uint32_t)((c | 0x20) - 'a') + 10;
        else
            return false;
        *cp = *cp * 16 + d;
    }
    *v = sv_skip(*v, digits);
    return *cp < 0xD800 || *cp > 0xDFFF;
}

/* The escape after a backslash in a string literal, as Python reads it. */
static bool take_escape(struct sv *v, struct buf *out)
{
    static const char from[] = "ntr\\'\"abfv";
    static const char to[] = "\n\t\r\\'\"\a\b\f\v";
    if (v->len == 0)
        return false;
    char c = v->ptr[0];
    *v = sv_skip(*v, 1);
    uint32_t cp;
    if (c == 'x' || c == 'u') {
        if (!take_hex(v, c == 'x' ? 2 : 4, &cp))
            return false;
        utf8_add(out, cp);
        return true;
    }
    const char *hit = memchr(from, c, sizeof(from) - 1);
    if (hit == NULL)
        return false;
    buf_add_char(out, to[hit - from]);
    return true;
}

static bool take_literal(struct parser *p, struct sv *v, struct sv *text)
{
    struct buf made = {0};
    char quote = v->ptr[0];
    *v = sv_skip(*v, 1);
    while (v->len > 0 && v->ptr[0] != quote) {
        char c = v->ptr[0];
        *v = sv_skip(*v, 1);
        if (c != '\\') {
            buf_add_char(&made, c);
        } else if (!take_escape(v, &made)) {
            v->len = 0;
        }
    }
    bool ok = v->len > 0;
    *v = sv_skip(*v, ok ? 1 : 0);
    *text = made.len > 0 ? arena_copy(&p->made->arena, buf_sv(&made)) : SV_LIT("");
    buf_done(&made);
    return ok;
}

/* ['role'], .role and the same with content, after the loop's variable. */
static bool take_field(struct parser *p, struct sv *v, enum node_kind *kind)
{
    struct sv field;
    skip_blanks(v);
    if (v->len > 1 && v->ptr[0] == '.') {
        *v = sv_skip(*v, 1);
        field = take_name(v);
    } else if (v->len > 1 && v->ptr[0] == '[') {
        *v = sv_skip(*v, 1);
        skip_blanks(v);
        if (v->len == 0 || (v->ptr[0] != '\'' && v->ptr[0] != '"') || !take_literal(p, v, &field))
            return false;
        skip_blanks(v);
        if (v->len == 0 || v->ptr[0] != ']')
            return false;
        *v = sv_skip(*v, 1);
    } else {
        return false;
    }
    *kind = sv_eq(field, SV_LIT("role")) ? NODE_ROLE : NODE_CONTENT;
    return sv_eq(field, SV_LIT("role")) || sv_eq(field, SV_LIT("content"));
}

static bool take_variable(struct parser *p, struct sv *v, struct node ***tail)
{
    struct sv name = take_name(v);
    enum node_kind kind;
    if (name.len == 0)
        return false;
    if (p->loop_name.len > 0 && sv_eq(name, p->loop_name)) {
        if (!take_field(p, v, &kind))
            return false;
        node_add(p, tail, kind);
        return true;
    }
    for (size_t i = 0; i < p->name_count; i++)
        if (sv_eq(name, p->names[i].name)) {
            node_add(p, tail, NODE_TEXT)->text = arena_copy(&p->made->arena, p->names[i].value);
            return true;
        }
    return false;
}

/* {{ term + term ~ term }} */
static bool parse_expression(struct parser *p, struct sv inside, struct node ***tail)
{
    struct sv v = inside;
    for (int terms = 0; terms < MAX_TERMS; terms++) {
        skip_blanks(&v);
        if (v.len > 0 && (v.ptr[0] == '\'' || v.ptr[0] == '"')) {
            struct sv text;
            if (!take_literal(p, &v, &text))
                break;
            node_add(p, tail, NODE_TEXT)->text = text;
        } else if (!take_variable(p, &v, tail)) {
            break;
        }
        skip_blanks(&v);
        if (v.len == 0)
            return true;
        if (v.ptr[0] != '+' && v.ptr[0] != '~')
            break;
        v = sv_skip(v, 1);
    }
    return unsupported(p, inside);
}

static bool parse_for(struct parser *p, struct sv v, struct node ***tail)
{
    struct sv whole = v;
    skip_blanks(&v);
    struct sv name = take_name(&v);
    skip_blanks(&v);
    bool ok = sv_eq(take_name(&v), SV_LIT("in"));
    skip_blanks(&v);
    ok = ok && sv_eq(take_name(&v), SV_LIT("messages"));
    skip_blanks(&v);
    if (!ok || v.len > 0 || name.len == 0 || p->loop_name.len > 0)
        return unsupported(p, whole);
    struct node *loop = node_add(p, tail, NODE_FOR);
    p->loop_name = name;
    enum stop stop = parse_nodes(p, &loop->body);
    p->loop_name = SV_LIT("");
    if (stop == STOP_FAILED)
        return false;
    return stop == STOP_ENDFOR || unsupported(p, SV_LIT("a loop without endfor"));
}

static bool parse_if(struct parser *p, struct sv v, struct node ***tail)
{
    if (!sv_eq(sv_trim(v), SV_LIT("add_generation_prompt")))
        return unsupported(p, v);
    struct node *branch = node_add(p, tail, NODE_IF_GENERATION);
    enum stop stop = parse_nodes(p, &branch->body);
    if (stop == STOP_ELSE)
        stop = parse_nodes(p, &branch->other);
    if (stop == STOP_FAILED)
        return false;
    return stop == STOP_ENDIF || unsupported(p, SV_LIT("an if without endif"));
}

/* The inside of {% %}.  STOP_END: go on with the list. */
static enum stop parse_statement(struct parser *p, struct sv inside, struct node ***tail)
{
    static const struct {
        const char *name;
        enum stop stop;
    } ends[] = {{"else", STOP_ELSE}, {"endif", STOP_ENDIF}, {"endfor", STOP_ENDFOR}};
    struct sv v = sv_trim(inside);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (sv_eq(v, sv_from(ends[i].name)))
            return ends[i].stop;
    struct sv word = take_name(&v);
    bool ok;
    if (sv_eq(word, SV_LIT("for")))
        ok = parse_for(p, v, tail);
    else if (sv_eq(word, SV_LIT("if")))
        ok = parse_if(p, v, tail);
    else
        ok = unsupported(p, inside);
    return ok ? STOP_END : STOP_FAILED;
}

/* Adds the text before a tag (or before the end), with white space taken off as the tags around it say. */
static void add_text(struct parser *p, struct sv text, char tag, char sign, struct node ***tail)
{
    if (p->eat_space)
        skip_blanks(&text);
    if (sign == '-') {
        while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
            text.len--;
    } else if (sign != '+' && (tag == '%' || tag == '#')) {
        size_t n = text.len;
        while (n > 0 && (text.ptr[n - 1] == ' ' || text.ptr[n - 1] == '\t'))
            n--;
        if (n > 0 ? text.ptr[n - 1] == '\n' : p->line_starting)
            text.len = n;
    }
    if (text.len > 0)
        node_add(p, tail, NODE_TEXT)->text = text;
}

/* End of a tag's inside: the first closing mark outside of string literals. */
static size_t find_close(struct sv v, struct sv mark, bool literals)
{
    char quote = 0;
    for (size_t i = 0; i < v.len; i++) {
        char c = v.ptr[i];
        if (quote != 0) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = 0;
        } else if (literals && (c == '\'' || c == '"')) {
            quote = c;
        } else if (sv_starts(sv_skip(v, i), mark)) {
            return i;
        }
    }
    return v.len;
}

/* Start of the next tag, or the length of the rest. */
static size_t find_tag(struct sv v)
{
    for (size_t i = 0; i + 1 < v.len; i++)
        if (v.ptr[i] == '{' && (v.ptr[i + 1] == '{' || v.ptr[i + 1] == '%' || v.ptr[i + 1] == '#'))
            return i;
    return v.len;
}

/* Reads one tag at the start of the rest: its kind, and what is inside without the signs. */
static bool take_tag(struct parser *p, char *tag, struct sv *inside)
{
    *tag = p->rest.ptr[1];
    struct sv v = sv_skip(p->rest, 2);
    if (v.len > 0 && (v.ptr[0] == '-' || v.ptr[0] == '+'))
        v = sv_skip(v, 1);
    char mark[2] = {*tag == '{' ? '}' : *tag, '}'};
    size_t close = find_close(v, sv_make(mark, 2), *tag != '#');
    if (close == v.len)
        return unsupported(p, SV_LIT("a tag that is not closed"));
    *inside = sv_make(v.ptr, close);
    p->rest = sv_skip(v, close + 2);
    char sign = close > 0 ? v.ptr[close - 1] : ' ';
    if (sign == '-' || sign == '+')
        inside->len--;
    p->eat_space = sign == '-';
    p->line_starting = false;
    if (*tag != '{' && sign != '+' && sign != '-' && sv_starts(p->rest, SV_LIT("\n"))) {
        p->rest = sv_skip(p->rest, 1);
        p->line_starting = true;
    }
    return true;
}

static enum stop parse_nodes(struct parser *p, struct node **list)
{
    struct node **tail = list;
    if (p->depth == MAX_DEPTH) {
        unsupported(p, SV_LIT("deep nesting"));
        return STOP_FAILED;
    }
    p->depth++;
    enum stop stop = STOP_END;
    while (stop == STOP_END && p->rest.len > 0) {
        size_t at = find_tag(p->rest);
        struct sv text = sv_make(p->rest.ptr, at);
        p->rest = sv_skip(p->rest, at);
        char tag = p->rest.len > 1 ? p->rest.ptr[1] : 0;
        add_text(p, text, tag, p->rest.len > 2 ? p->rest.ptr[2] : ' ', &tail);
        p->eat_space = false;
        if (p->rest.len == 0)
            break;
        struct sv inside;
        if (!take_tag(p, &tag, &inside))
            stop = STOP_FAILED;
        else if (tag == '{')
            stop = parse_expression(p, inside, &tail) ? STOP_END : STOP_FAILED;
        else if (tag == '%')
            stop = parse_statement(p, inside, &tail);
    }
    p->depth--;
    return stop;
}

/* Line ends become \n; the last one goes. */
static struct sv clean_source(struct arena *arena, struct sv source)
{
    char *out = arena_alloc(arena, source.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < source.len; i++) {
        char c = source.ptr[i];
        if (c == '\r') {
            if (i + 1 < source.len && source.ptr[i + 1] == '\n')
                i++;
            c = '\n';
        }
        out[n++] = c;
    }
    if (n > 0 && out[n - 1] == '\n')
        n--;
    return sv_make(out, n);
}

struct chat_template *chat_template_compile(struct sv source, const struct chat_name *names,
                                            size_t name_count, struct error *err)
{
    struct chat_template *c = mem_new(struct chat_template);
    struct parser p = {.made = c,
                       .line_starting = true,
                       .loop_name = SV_LIT(""),
                       .names = names,
                       .name_count = name_count,
                       .err = err};
    p.rest = clean_source(&c->arena, source);
    enum stop stop = parse_nodes(&p, &c->nodes);
    if (stop == STOP_END)
        return c;
    if (stop != STOP_FAILED)
        unsupported(&p, SV_LIT("an end without a beginning"));
    chat_template_free(c);
    return NULL;
}

void chat_template_free(struct chat_template *c)
{
    if (c == NULL)
        return;
    arena_done(&c->arena);
    free(c);
}

struct rendering {
    struct sv role;
    struct sv content;
    bool add_generation_prompt;
    struct buf *out;
};

static void render_nodes(const struct node *node, const struct rendering *r)
{
    for (; node != NULL; node = node->next) {
        switch (node->kind) {
        case NODE_TEXT:
            buf_add(r->out, node->text);
            break;
        case NODE_ROLE:
            buf_add(r->out, r->role);
            break;
        case NODE_CONTENT:
            buf_add(r->out, r->content);
            break;
        case NODE_FOR: /* there is one message */
            render_nodes(node->body, r);
            break;
        case NODE_IF_GENERATION:
            render_nodes(r->add_generation_prompt ? node->body : node->other, r);
            break;
        }
    }
}

void chat_template_render(const struct chat_template *c, struct sv role, struct sv content,
                          bool add_generation_prompt, struct buf *out)
{
    struct rendering r = {role, content, add_generation_prompt, out};
    render_nodes(c->nodes, &r);
}

struct chat_template *chat_template_of(const struct tokenizer *t, bool *present, struct error *err)
{
    *present = t->chat_template.ptr != NULL;
    if (!*present)
        return NULL;
    return chat_template_compile(t->chat_template, t->chat_names, t->chat_name_count, err);
}
