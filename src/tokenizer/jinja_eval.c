/* Walks the tree with a chain of scopes: a loop's body and a macro have one of their own, an `if` has none, as in Jinja.
 * What a rendering makes lives in the caller's arena.  The number of steps is bounded, so no template runs for ever. */
#include "tokenizer/jinja_filters.h"

#include "base/alloc.h"

#include <math.h>
#include <time.h>

enum {
    MAX_STEPS = 20000000,
    MAX_CALLS = 40,
    MAX_DEPTH = 500,       /* of blocks and expressions inside each other */
    MAX_BYTES = 256 << 20, /* of what a rendering makes, and of its text */
};

struct scope {
    struct jinja_value names; /* a mapping */
    struct scope *outer;
};

enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_FAILED };

static struct jinja_value eval(struct jinja_run *r, struct scope *s, const struct jinja_expr *e);
static enum flow run_nodes(struct jinja_run *r, struct scope *s, const struct jinja_node *n,
                           struct buf *out);

/* ---- names ---------------------------------------------------------------------------------------------------------- */

static struct jinja_value look_up(const struct scope *s, struct sv name)
{
    struct jinja_value found = {0};
    for (; s != NULL; s = s->outer)
        if (jinja_dict_find(&s->names, jinja_string(name), &found))
            break;
    return found;
}

static struct jinja_value attribute(struct jinja_run *r, struct jinja_value of, struct sv name)
{
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(r, "an undefined value has no attribute", name);
    return jinja_attribute(of, name);
}

static struct jinja_value item_at(struct jinja_run *r, struct jinja_value of,
                                  struct jinja_value index)
{
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(r, "an undefined value has no items",
                          index.kind == JINJA_STRING ? index.text : SV_LIT("[]"));
    return jinja_item(r, of, index);
}

/* Python's rules for the bounds of a slice. */
static int64_t bound(struct jinja_value v, int64_t count, int64_t usual, bool backward)
{
    int64_t low = backward ? -1 : 0;
    int64_t high = backward ? count - 1 : count;
    if (v.kind != JINJA_INT)
        return usual;
    int64_t at = v.number < 0 ? v.number + count : v.number;
    return at < low ? low : at > high ? high : at;
}

static struct jinja_value slice(struct jinja_run *r, struct scope *s, const struct jinja_expr *e)
{
    struct jinja_value none = {0};
    struct jinja_value of = eval(r, s, e->a);
    struct jinja_value from = e->b != NULL ? eval(r, s, e->b) : none;
    struct jinja_value to = e->c != NULL ? eval(r, s, e->c) : none;
    struct jinja_value step = e->d != NULL ? eval(r, s, e->d) : none;
    bool text = of.kind == JINJA_STRING;
    struct jinja_value list = text ? jinja_characters(r, of.text) : of;
    if (list.kind != JINJA_LIST || list.list->shape >= JINJA_VIEW)
        return jinja_fail(r, "only lists and strings can be sliced", SV_LIT("[:]"));
    int64_t by = step.kind == JINJA_INT && step.number != 0 ? step.number : 1;
    int64_t count = (int64_t)list.list->count;
    int64_t at = bound(from, count, by < 0 ? count - 1 : 0, by < 0);
    int64_t end = bound(to, count, by < 0 ? -1 : count, by < 0);
    struct jinja_value made = jinja_list_new(r->arena);
    made.list->shape = list.list->shape;
    for (; by < 0 ? at > end : at < end; at += by)
        jinja_list_add(&made, list.list->items[at], r->arena);
    if (text) {
        made = jinja_join(r, made, SV_LIT(""));
        made.safe = of.safe;
    }
    return made;
}

/* ---- calls ---------------------------------------------------------------------------------------------------------- */

static struct jinja_value call_macro(struct jinja_run *r, struct scope *s,
                                     const struct jinja_node *macro, const struct jinja_arg *args)
{
    struct scope *root = s;
    struct buf made = {0};
    struct scope inner = {.names = jinja_dict_new(r->arena)};
    if (++r->calls > MAX_CALLS)
        return jinja_fail(r, "macros call each other too deeply", macro->text);
    while (root->outer != NULL)
        root = root->outer;
    inner.outer = root;
    for (const struct jinja_arg *param = macro->params; param != NULL; param = param->next)
        if (param->value != NULL)
            jinja_dict_set(&inner.names, param->name, eval(r, root, param->value), r->arena);
    const struct jinja_arg *param = macro->params;
    for (; args != NULL && !r->failed; args = args->next) {
        if (args->name.len == 0 && param == NULL)
            return jinja_fail(r, "a macro gets too many arguments", macro->text);
        struct sv name = args->name.len > 0 ? args->name : param->name;
        jinja_dict_set(&inner.names, name, eval(r, s, args->value), r->arena);
        param = args->name.len == 0 ? param->next : param;
    }
    run_nodes(r, &inner, macro->body, &made);
    r->calls--;
    struct jinja_value result = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    return result;
}

static struct jinja_value time_now(struct jinja_run *r, struct jinja_value format)
{
    char text[128];
    time_t now = time(NULL);
    struct tm parts;
    if (format.kind != JINJA_STRING || localtime_r(&now, &parts) == NULL)
        return jinja_fail(r, "strftime_now needs a format", SV_LIT("()"));
    struct sv copy = arena_copy(r->arena, format.text);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    size_t n = strftime(text, sizeof(text), copy.ptr, &parts);
#pragma GCC diagnostic pop
    return jinja_string(arena_copy(r->arena, sv_make(text, n)));
}

static void add_members(struct jinja_run *r, struct jinja_value *to, struct jinja_value from)
{
    for (size_t i = 0; i < from.dict->count; i++)
        jinja_dict_put(to, from.dict->keys[i], from.dict->values[i], r->arena);
}

static struct jinja_value call_function(struct jinja_run *r, struct scope *s, struct sv name,
                                        const struct jinja_arg *args)
{
    struct jinja_value values[3] = {{0}};
    size_t count = 0;
    if (sv_eq(name, SV_LIT("namespace")) || sv_eq(name, SV_LIT("dict"))) {
        struct jinja_value made = jinja_dict_new(r->arena);
        made.dict->is_namespace = name.ptr[0] == 'n';
        for (; args != NULL && !r->failed; args = args->next) {
            struct jinja_value value = eval(r, s, args->value);
            if (args->name.len > 0)
                jinja_dict_set(&made, args->name, value, r->arena);
            else if (value.kind == JINJA_DICT)
                add_members(r, &made, value);
            else
                return jinja_fail(r, "only a mapping has members to take", name);
        }
        return made;
    }
    for (; args != NULL && count < 3; args = args->next)
        values[count++] = eval(r, s, args->value);
    if (r->failed)
        return values[0];
    if (sv_eq(name, SV_LIT("raise_exception"))) {
        r->raised = true;
        return jinja_fail(r, "the template refuses",
                          count > 0 && values[0].kind == JINJA_STRING ? values[0].text : name);
    }
    if (sv_eq(name, SV_LIT("strftime_now")))
        return time_now(r, values[0]);
    if (!sv_eq(name, SV_LIT("range")) || count == 0 || values[0].kind != JINJA_INT)
        return jinja_fail(r, "this function is not supported", name);
    struct jinja_value made = jinja_list_new(r->arena);
    int64_t from = count > 1 ? values[0].number : 0;
    int64_t to = count > 1 ? values[1].number : values[0].number;
    int64_t by = count > 2 && values[2].number != 0 ? values[2].number : 1;
    for (int64_t i = from; by > 0 ? i < to : i > to; i += by) {
        if (made.list->count > 100000)
            return jinja_fail(r, "the range is too long", name);
        jinja_list_add(&made, (struct jinja_value){.kind = JINJA_INT, .number = i}, r->arena);
    }
    return made;
}

static size_t eval_args(struct jinja_run *r, struct scope *s, const struct jinja_arg *args,
                        struct jinja_call *call)
{
    for (; args != NULL; args = args->next) {
        if (call->count == JINJA_MAX_ARGS) {
            jinja_fail(r, "too many arguments", call->name);
            return 0;
        }
        call->names[call->count] = args->name;
        call->values[call->count++] = eval(r, s, args->value);
    }
    return call->count;
}

static struct jinja_value call_expr(struct jinja_run *r, struct scope *s,
                                    const struct jinja_expr *e)
{
    const struct jinja_expr *callee = e->a;
    if (callee->op == OP_NAME) {
        struct jinja_value named = look_up(s, callee->text);
        if (named.kind == JINJA_MACRO && named.macro != NULL)
            return call_macro(r, s, named.macro, e->args);
        return call_function(r, s, callee->text, e->args);
    }
    if (callee->op != OP_ATTR)
        return jinja_fail(r, "this call is not supported", SV_LIT("()"));
    struct jinja_call call = {.name = callee->text};
    struct jinja_value of = eval(r, s, callee->a);
    eval_args(r, s, e->args, &call);
    return r->failed ? of : jinja_method(r, of, &call);
}

/* ---- operators ------------------------------------------------------------------------------------------------------ */

static struct jinja_value join_lists(struct jinja_run *r, struct jinja_value a,
                                     struct jinja_value b)
{
    struct jinja_value made = jinja_list_new(r->arena);
    made.list->shape = a.list->shape;
    for (size_t i = 0; i < a.list->count; i++)
        jinja_list_add(&made, a.list->items[i], r->arena);
    for (size_t i = 0; i < b.list->count; i++)
        jinja_list_add(&made, b.list->items[i], r->arena);
    return made;
}

/* As Python's markupsafe: what is added to a safe text and is not safe itself is escaped for HTML. */
static void add_text(struct jinja_value v, bool escape, struct buf *out)
{
    if (!escape || v.safe) {
        buf_add(out, v.text);
        return;
    }
    for (size_t i = 0; i < v.text.len; i++) {
        char c = v.text.ptr[i];
        if (c == '&')
            buf_add_str(out, "&amp;");
        else if (c == '<' || c == '>')
            buf_add_str(out, c == '<' ? "&lt;" : "&gt;");
        else if (c == '"' || c == '\'')
            buf_add_str(out, c == '"' ? "&#34;" : "&#39;");
        else
            buf_add_char(out, c);
    }
}

static struct jinja_value add_texts(struct jinja_run *r, struct jinja_value a, struct jinja_value b)
{
    struct buf made = {0};
    bool safe = a.safe || b.safe;
    buf_reserve(&made, a.text.len + b.text.len + 1);
    add_text(a, safe, &made);
    add_text(b, safe, &made);
    struct jinja_value v = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    v.safe = safe;
    buf_done(&made);
    return v;
}

static struct jinja_value repeat_text(struct jinja_run *r, struct sv text, int64_t times)
{
    enum { LONGEST = 1 << 20 };
    struct buf made = {0};
    if (times > 0 && text.len > 0 && (uint64_t)times > LONGEST / text.len)
        return jinja_fail(r, "the text is too long", SV_LIT("*"));
    for (int64_t i = 0; i < times; i++)
        buf_add(&made, text);
    struct jinja_value v = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    return v;
}

/* Python rounds down, and the rest has the sign of the divisor. */
static struct jinja_value real_arithmetic(struct jinja_run *r, enum jinja_op op, double a, double b)
{
    struct jinja_value made = {.kind = JINJA_FLOAT};
    if ((op == OP_DIVIDE || op == OP_FLOOR || op == OP_MODULO) && b == 0)
        return jinja_fail(r, "division by zero", SV_LIT("/"));
    if (op == OP_ADD)
        made.real = a + b;
    else if (op == OP_SUBTRACT)
        made.real = a - b;
    else if (op == OP_MULTIPLY)
        made.real = a * b;
    else if (op == OP_DIVIDE)
        made.real = a / b;
    else if (op == OP_FLOOR)
        made.real = floor(a / b);
    else
        made.real = fmod(a, b) + (fmod(a, b) != 0 && (a < 0) != (b < 0) ? b : 0);
    return made;
}

static struct jinja_value whole_arithmetic(struct jinja_run *r, enum jinja_op op, int64_t a,
                                           int64_t b)
{
    struct jinja_value made = {.kind = JINJA_INT};
    bool over = false;
    if ((op == OP_FLOOR || op == OP_MODULO) && b == 0)
        return jinja_fail(r, "division by zero", SV_LIT("// %"));
    if (op == OP_ADD) {
        over = __builtin_add_overflow(a, b, &made.number);
    } else if (op == OP_SUBTRACT) {
        over = __builtin_sub_overflow(a, b, &made.number);
    } else if (op == OP_MULTIPLY) {
        over = __builtin_mul_overflow(a, b, &made.number);
    } else if (b == -1) {
        over = op == OP_FLOOR && __builtin_sub_overflow(0, a, &made.number);
    } else {
        int64_t rest = a % b;
        bool down = rest != 0 && (rest < 0) != (b < 0); /* Python rounds down */
        made.number = op == OP_FLOOR ? a / b - down : rest + (down ? b : 0);
    }
    return over ? jinja_fail(r, "a number is too large", SV_LIT("+ - * //")) : made;
}

static struct jinja_value arithmetic(struct jinja_run *r, enum jinja_op op, struct jinja_value a,
                                     struct jinja_value b)
{
    if (op == OP_ADD && a.kind == JINJA_STRING && b.kind == JINJA_STRING)
        return add_texts(r, a, b);
    if (op == OP_ADD && a.kind == JINJA_LIST && b.kind == JINJA_LIST &&
        a.list->shape == b.list->shape && a.list->shape < JINJA_VIEW)
        return join_lists(r, a, b);
    if (op == OP_MULTIPLY && a.kind == JINJA_STRING && b.kind == JINJA_INT)
        return repeat_text(r, a.text, b.number);
    if (!jinja_is_number(a) || !jinja_is_number(b))
        return jinja_fail(r, "these values do not go together", SV_LIT("+ - * / // %"));
    if (a.kind == JINJA_FLOAT || b.kind == JINJA_FLOAT || op == OP_DIVIDE)
        return real_arithmetic(r, op, jinja_real(a), jinja_real(b));
    return whole_arithmetic(r, op, a.number, b.number);
}

static struct jinja_value concat(struct jinja_run *r, struct jinja_value a, struct jinja_value b)
{
    struct buf text = {0};
    if (jinja_print(r, a, &text))
        jinja_print(r, b, &text);
    struct jinja_value made = jinja_string(arena_copy(r->arena, buf_sv(&text)));
    buf_done(&text);
    return made;
}

static struct jinja_value compare(struct jinja_run *r, enum jinja_op op, struct jinja_value a,
                                  struct jinja_value b)
{
    if (op == OP_EQUAL)
        return jinja_bool(jinja_equal(a, b));
    if (op == OP_IN)
        return jinja_bool(jinja_contains(r, b, a));
    int order = jinja_order(r, a, b);
    return jinja_bool(op == OP_LESS ? order < 0 : order <= 0);
}

static struct jinja_value collect(struct jinja_run *r, struct scope *s, const struct jinja_expr *e)
{
    bool list = e->op != OP_DICT;
    struct jinja_value made = list ? jinja_list_new(r->arena) : jinja_dict_new(r->arena);
    if (e->op == OP_TUPLE)
        made.list->shape = JINJA_TUPLE;
    for (const struct jinja_arg *arg = e->args; arg != NULL && !r->failed; arg = arg->next) {
        struct jinja_value first = eval(r, s, arg->value);
        if (list) {
            jinja_list_add(&made, first, r->arena);
            continue;
        }
        arg = arg->next;
        if (arg == NULL || first.kind == JINJA_LIST || first.kind == JINJA_DICT)
            return jinja_fail(r, "this cannot be a key", SV_LIT("{}"));
        jinja_dict_put(&made, first, eval(r, s, arg->value), r->arena);
    }
    return made;
}

static struct jinja_value test_or_filter(struct jinja_run *r, struct scope *s,
                                         const struct jinja_expr *e)
{
    struct jinja_call call = {.name = e->text};
    struct jinja_value of = eval(r, s, e->a);
    eval_args(r, s, e->args, &call);
    if (r->failed)
        return of;
    if (e->op == OP_FILTER)
        return jinja_filter(r, of, &call);
    /* The functions of transformers are values too; templates ask whether they are there. */
    if (sv_eq(e->text, SV_LIT("defined")) && e->a->op == OP_NAME && of.kind == JINJA_UNDEFINED)
        return jinja_bool(sv_eq(e->a->text, SV_LIT("strftime_now")) ||
                          sv_eq(e->a->text, SV_LIT("raise_exception")));
    return jinja_bool(jinja_test(r, of, &call));
}

static bool within_limits(struct jinja_run *r, const struct buf *out)
{
    if (++r->steps > MAX_STEPS)
        jinja_fail(r, "the template takes too many steps", SV_LIT(""));
    else if (r->depth > MAX_DEPTH)
        jinja_fail(r, "the template is nested too deeply", SV_LIT(""));
    else if (r->arena->total_bytes > MAX_BYTES || (out != NULL && out->len > MAX_BYTES))
        jinja_fail(r, "the template makes too much text", SV_LIT(""));
    return !r->failed;
}

static struct jinja_value eval_op(struct jinja_run *r, struct scope *s, const struct jinja_expr *e);

static struct jinja_value eval(struct jinja_run *r, struct scope *s, const struct jinja_expr *e)
{
    struct jinja_value v = {0};
    if (r->failed || e == NULL || !within_limits(r, NULL))
        return v;
    r->depth++;
    v = eval_op(r, s, e);
    r->depth--;
    return v;
}

static struct jinja_value eval_op(struct jinja_run *r, struct scope *s, const struct jinja_expr *e)
{
    struct jinja_value a;
    switch (e->op) {
    case OP_CONST:
        return e->value;
    case OP_NAME:
        return look_up(s, e->text);
    case OP_ATTR:
        return attribute(r, eval(r, s, e->a), e->text);
    case OP_INDEX:
        a = eval(r, s, e->a);
        return r->failed ? a : item_at(r, a, eval(r, s, e->b));
    case OP_SLICE:
        return slice(r, s, e);
    case OP_CALL:
        return call_expr(r, s, e);
    case OP_FILTER:
    case OP_TEST:
        return test_or_filter(r, s, e);
    case OP_NOT:
        return jinja_bool(!jinja_is_true(eval(r, s, e->a)));
    case OP_NEGATE:
        return arithmetic(r, OP_SUBTRACT, (struct jinja_value){.kind = JINJA_INT},
                          eval(r, s, e->a));
    case OP_AND:
        a = eval(r, s, e->a);
        return jinja_is_true(a) ? eval(r, s, e->b) : a;
    case OP_OR:
        a = eval(r, s, e->a);
        return jinja_is_true(a) ? a : eval(r, s, e->b);
    case OP_IF:
        return eval(r, s, jinja_is_true(eval(r, s, e->a)) ? e->b : e->c);
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_DIVIDE:
    case OP_FLOOR:
    case OP_MODULO:
        a = eval(r, s, e->a);
        return r->failed ? a : arithmetic(r, e->op, a, eval(r, s, e->b));
    case OP_CONCAT:
        a = eval(r, s, e->a);
        return r->failed ? a : concat(r, a, eval(r, s, e->b));
    case OP_EQUAL:
    case OP_LESS:
    case OP_LESS_EQUAL:
    case OP_IN:
        a = eval(r, s, e->a);
        return r->failed ? a : compare(r, e->op, a, eval(r, s, e->b));
    case OP_LIST:
    case OP_TUPLE:
    case OP_DICT:
        return collect(r, s, e);
    default:
        return (struct jinja_value){0};
    }
}

/* ---- statements ------------------------------------------------------------------------------------------------------ */

static void assign(struct jinja_run *r, struct scope *s, const struct jinja_node *n,
                   struct jinja_value value)
{
    if (n->name_count == 1) {
        jinja_dict_set(&s->names, n->names[0], value, r->arena);
        return;
    }
    if (value.kind != JINJA_LIST || value.list->count != n->name_count) {
        jinja_fail(r, "the number of names and values differs", n->names[0]);
        return;
    }
    for (size_t i = 0; i < n->name_count; i++)
        jinja_dict_set(&s->names, n->names[i], value.list->items[i], r->arena);
}

static void set_loop(struct jinja_run *r, struct scope *s, const struct jinja_list *items, size_t i)
{
    struct jinja_value loop = jinja_dict_new(r->arena);
    int64_t count = (int64_t)items->count;
    int64_t at = (int64_t)i;
    const struct {
        const char *name;
        int64_t number;
    } numbers[] = {{"index0", at},
                   {"index", at + 1},
                   {"length", count},
                   {"revindex", count - at},
                   {"revindex0", count - at - 1}};
    for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
        jinja_dict_set(&loop, sv_from(numbers[k].name),
                       (struct jinja_value){.kind = JINJA_INT, .number = numbers[k].number},
                       r->arena);
    jinja_dict_set(&loop, SV_LIT("first"), jinja_bool(i == 0), r->arena);
    jinja_dict_set(&loop, SV_LIT("last"), jinja_bool(i + 1 == items->count), r->arena);
    if (i > 0)
        jinja_dict_set(&loop, SV_LIT("previtem"), items->items[i - 1], r->arena);
    if (i + 1 < items->count)
        jinja_dict_set(&loop, SV_LIT("nextitem"), items->items[i + 1], r->arena);
    jinja_dict_set(&s->names, SV_LIT("loop"), loop, r->arena);
}

static enum flow run_for(struct jinja_run *r, struct scope *s, const struct jinja_node *n,
                         struct buf *out)
{
    struct jinja_value all = jinja_items_of(r, eval(r, s, n->expr));
    struct jinja_value chosen = all;
    if (r->failed)
        return FLOW_FAILED;
    if (n->filter != NULL) {
        chosen = jinja_list_new(r->arena);
        for (size_t i = 0; i < all.list->count && !r->failed; i++) {
            struct scope inner = {.names = jinja_dict_new(r->arena), .outer = s};
            assign(r, &inner, n, all.list->items[i]);
            if (jinja_is_true(eval(r, &inner, n->filter)))
                jinja_list_add(&chosen, all.list->items[i], r->arena);
        }
    }
    for (size_t i = 0; i < chosen.list->count && !r->failed; i++) {
        struct scope inner = {.names = jinja_dict_new(r->arena), .outer = s};
        assign(r, &inner, n, chosen.list->items[i]);
        set_loop(r, &inner, chosen.list, i);
        if (run_nodes(r, &inner, n->body, out) == FLOW_BREAK)
            break;
    }
    if (chosen.list->count == 0)
        return run_nodes(r, s, n->other, out);
    return r->failed ? FLOW_FAILED : FLOW_ON;
}

/* What the body renders, behind the filters of {% filter %} and {% set x | filter %}. */
static struct jinja_value body_text(struct jinja_run *r, struct scope *s,
                                    const struct jinja_node *n)
{
    struct scope inner = {.names = jinja_dict_new(r->arena), .outer = s};
    struct buf made = {0};
    run_nodes(r, &inner, n->body, &made);
    struct jinja_value text = jinja_string(arena_copy(r->arena, buf_sv(&made)));
    buf_done(&made);
    if (r->failed || n->filter == NULL)
        return text;
    jinja_dict_set(&inner.names, SV_LIT(JINJA_BODY), text, r->arena);
    return eval(r, &inner, n->filter);
}

static void run_set(struct jinja_run *r, struct scope *s, const struct jinja_node *n)
{
    struct jinja_value value;
    if (n->kind == NODE_SET_BLOCK) {
        value = body_text(r, s, n);
    } else {
        value = eval(r, s, n->expr);
    }
    if (r->failed)
        return;
    if (n->attr.len == 0) {
        assign(r, s, n, value);
        return;
    }
    struct jinja_value of = look_up(s, n->names[0]);
    if (of.kind == JINJA_DICT && of.dict->is_namespace)
        jinja_dict_set(&of, n->attr, value, r->arena);
    else
        jinja_fail(r, "only a namespace has attributes to set", n->names[0]);
}

static enum flow run_node(struct jinja_run *r, struct scope *s, const struct jinja_node *n,
                          struct buf *out)
{
    switch (n->kind) {
    case NODE_TEXT:
        buf_add(out, n->text);
        return FLOW_ON;
    case NODE_OUTPUT:
        jinja_print(r, eval(r, s, n->expr), out);
        return FLOW_ON;
    case NODE_IF:
        return run_nodes(r, s, jinja_is_true(eval(r, s, n->expr)) ? n->body : n->other, out);
    case NODE_FOR:
        return run_for(r, s, n, out);
    case NODE_SET:
    case NODE_SET_BLOCK:
        run_set(r, s, n);
        return FLOW_ON;
    case NODE_MACRO:
        jinja_dict_set(&s->names, n->text, (struct jinja_value){.kind = JINJA_MACRO, .macro = n},
                       r->arena);
        return FLOW_ON;
    case NODE_FILTER:
        jinja_print(r, body_text(r, s, n), out);
        return FLOW_ON;
    case NODE_BREAK:
        return FLOW_BREAK;
    case NODE_CONTINUE:
    default:
        return FLOW_CONTINUE;
    }
}

static enum flow run_nodes(struct jinja_run *r, struct scope *s, const struct jinja_node *n,
                           struct buf *out)
{
    enum flow flow = FLOW_ON;
    r->depth++;
    for (; n != NULL && flow == FLOW_ON && within_limits(r, out); n = n->next)
        flow = run_node(r, s, n, out);
    r->depth--;
    return r->failed ? FLOW_FAILED : flow;
}

bool jinja_render(const struct jinja *j, const struct jinja_value *variables, struct arena *arena,
                  struct buf *out, struct error *err)
{
    struct jinja_run r = {.arena = arena, .err = err};
    struct scope given = {.names = *variables};
    struct scope root = {.names = jinja_dict_new(arena), .outer = NULL};
    size_t start = out->len;
    for (size_t i = 0; i < given.names.dict->count; i++)
        jinja_dict_put(&root.names, given.names.dict->keys[i], given.names.dict->values[i], arena);
    run_nodes(&r, &root, j->nodes, out);
    if (r.failed)
        out->len = start;
    return !r.failed;
}
