/* Walks the tree with a chain of scopes: a loop's body and a macro have one of their own, an `if` has none, as in Jinja.
 * What a rendering makes lives in the caller's arena.  The number of steps is bounded, so no template runs for ever. */
#include "tokenizer/jinja_filters.h"

#include "base/alloc.h"

#include <time.h>

enum { MAX_STEPS = 20000000, MAX_CALLS = 40 };

struct scope {
    struct jinja_value names; /* a mapping */
    struct scope *outer;
};

enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE, FLOW_FAILED };

static struct jinja_value eval(struct jinja_run *r, struct scope *s, const struct jinja_expr *e);
static enum flow run_nodes(struct jinja_run *r, struct scope *s, const struct jinja_node *n,
                           struct buf *out);

struct jinja_value jinja_string(struct sv text)
{
    return (struct jinja_value){.kind = JINJA_STRING, .text = text};
}

struct jinja_value jinja_bool(bool value)
{
    return (struct jinja_value){.kind = JINJA_BOOL, .number = value};
}

struct jinja_value jinja_list_new(struct arena *arena)
{
    return (struct jinja_value){.kind = JINJA_LIST,
                                .list = arena_array(arena, 1, sizeof(struct jinja_list))};
}

void jinja_list_add(struct jinja_value *list, struct jinja_value item, struct arena *arena)
{
    struct jinja_list *l = list->list;
    if (l->count == l->cap) {
        size_t cap = l->cap * 2 + 4;
        struct jinja_value *items = arena_array(arena, cap, sizeof(*items));
        if (l->count > 0)
            memcpy(items, l->items, l->count * sizeof(*items));
        l->items = items;
        l->cap = cap;
    }
    l->items[l->count++] = item;
}

struct jinja_value jinja_dict_new(struct arena *arena)
{
    return (struct jinja_value){.kind = JINJA_DICT,
                                .dict = arena_array(arena, 1, sizeof(struct jinja_dict))};
}

void jinja_dict_set(struct jinja_value *dict, struct sv key, struct jinja_value value,
                    struct arena *arena)
{
    struct jinja_dict *d = dict->dict;
    for (size_t i = 0; i < d->count; i++)
        if (sv_eq(d->keys[i], key)) {
            d->values[i] = value;
            return;
        }
    if (d->count == d->cap) {
        size_t cap = d->cap * 2 + 4;
        struct sv *keys = arena_array(arena, cap, sizeof(*keys));
        struct jinja_value *values = arena_array(arena, cap, sizeof(*values));
        if (d->count > 0) {
            memcpy(keys, d->keys, d->count * sizeof(*keys));
            memcpy(values, d->values, d->count * sizeof(*values));
        }
        d->keys = keys;
        d->values = values;
        d->cap = cap;
    }
    d->keys[d->count] = key;
    d->values[d->count++] = value;
}

/* ---- names ---------------------------------------------------------------------------------------------------------- */

static struct jinja_value look_up(const struct scope *s, struct sv name)
{
    struct jinja_value found = {0};
    for (; s != NULL; s = s->outer)
        if (jinja_dict_find(&s->names, name, &found))
            break;
    return found;
}

static struct jinja_value attribute(struct jinja_run *r, struct jinja_value of, struct sv name)
{
    struct jinja_value found = {0};
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(r, "an undefined value has no attribute", name);
    if (of.kind == JINJA_DICT)
        jinja_dict_find(&of, name, &found);
    return found;
}

static struct jinja_value item_at(struct jinja_run *r, struct jinja_value of,
                                  struct jinja_value index)
{
    if (index.kind == JINJA_STRING)
        return attribute(r, of, index.text);
    if (index.kind != JINJA_INT && index.kind != JINJA_BOOL)
        return jinja_fail(r, "this index is not supported", SV_LIT("[]"));
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(r, "an undefined value has no items", SV_LIT("[]"));
    struct jinja_value list = of;
    if (of.kind == JINJA_STRING)
        list = jinja_characters(r, of.text);
    if (list.kind != JINJA_LIST)
        return (struct jinja_value){0};
    int64_t at = index.number < 0 ? index.number + (int64_t)list.list->count : index.number;
    if (at < 0 || at >= (int64_t)list.list->count)
        return (struct jinja_value){0};
    return list.list->items[at];
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
    if (list.kind != JINJA_LIST)
        return jinja_fail(r, "only lists and strings can be sliced", SV_LIT("[:]"));
    int64_t by = step.kind == JINJA_INT && step.number != 0 ? step.number : 1;
    int64_t count = (int64_t)list.list->count;
    int64_t at = bound(from, count, by < 0 ? count - 1 : 0, by < 0);
    int64_t end = bound(to, count, by < 0 ? -1 : count, by < 0);
    struct jinja_value made = jinja_list_new(r->arena);
    for (; by < 0 ? at > end : at < end; at += by)
        jinja_list_add(&made, list.list->items[at], r->arena);
    return text ? jinja_join(r, made, SV_LIT("")) : made;
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

static struct jinja_value call_function(struct jinja_run *r, struct scope *s, struct sv name,
                                        const struct jinja_arg *args)
{
    struct jinja_value values[3] = {{0}};
    size_t count = 0;
    if (sv_eq(name, SV_LIT("namespace")) || sv_eq(name, SV_LIT("dict"))) {
        struct jinja_value made = jinja_dict_new(r->arena);
        for (; args != NULL && !r->failed; args = args->next)
            jinja_dict_set(&made, args->name, eval(r, s, args->value), r->arena);
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
    for (; args != NULL && call->count < JINJA_MAX_ARGS; args = args->next) {
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
        if (named.kind == JINJA_MACRO)
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

static struct jinja_value arithmetic(struct jinja_run *r, enum jinja_op op, struct jinja_value a,
                                     struct jinja_value b)
{
    struct jinja_value made = {.kind = JINJA_INT};
    bool numbers = (a.kind == JINJA_INT || a.kind == JINJA_BOOL) &&
                   (b.kind == JINJA_INT || b.kind == JINJA_BOOL);
    if (op == OP_ADD && a.kind == JINJA_STRING && b.kind == JINJA_STRING) {
        char *text = arena_alloc(r->arena, a.text.len + b.text.len + 1);
        memcpy(text, a.text.ptr, a.text.len);
        memcpy(text + a.text.len, b.text.ptr, b.text.len);
        return jinja_string(sv_make(text, a.text.len + b.text.len));
    }
    if (op == OP_ADD && a.kind == JINJA_LIST && b.kind == JINJA_LIST) {
        made = jinja_list_new(r->arena);
        for (size_t i = 0; i < a.list->count; i++)
            jinja_list_add(&made, a.list->items[i], r->arena);
        for (size_t i = 0; i < b.list->count; i++)
            jinja_list_add(&made, b.list->items[i], r->arena);
        return made;
    }
    if (!numbers || ((op == OP_DIVIDE || op == OP_MODULO) && b.number == 0))
        return jinja_fail(r, "these values do not go together", SV_LIT("+ - * // %"));
    int64_t n = 0;
    bool over = false;
    if (op == OP_ADD)
        over = __builtin_add_overflow(a.number, b.number, &n);
    else if (op == OP_SUBTRACT)
        over = __builtin_sub_overflow(a.number, b.number, &n);
    else if (op == OP_MULTIPLY)
        over = __builtin_mul_overflow(a.number, b.number, &n);
    else if (b.number == -1)
        over = op == OP_DIVIDE && __builtin_sub_overflow(0, a.number, &n);
    else {
        int64_t rest = a.number % b.number;
        bool down = rest != 0 && (rest < 0) != (b.number < 0); /* Python rounds down */
        n = op == OP_DIVIDE ? a.number / b.number - down : rest + (down ? b.number : 0);
    }
    if (over)
        return jinja_fail(r, "a number is too large", SV_LIT("+ - * //"));
    made.number = n;
    return made;
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
    int order;
    if (a.kind == JINJA_STRING && b.kind == JINJA_STRING) {
        size_t n = a.text.len < b.text.len ? a.text.len : b.text.len;
        order = memcmp(a.text.ptr, b.text.ptr, n);
        order = order != 0 ? order : (a.text.len > b.text.len) - (a.text.len < b.text.len);
    } else if (a.kind == JINJA_INT && b.kind == JINJA_INT) {
        order = (a.number > b.number) - (a.number < b.number);
    } else {
        return jinja_fail(r, "these values cannot be compared", SV_LIT("< >"));
    }
    return jinja_bool(op == OP_LESS ? order < 0 : order <= 0);
}

static struct jinja_value collect(struct jinja_run *r, struct scope *s, const struct jinja_expr *e)
{
    bool list = e->op == OP_LIST;
    struct jinja_value made = list ? jinja_list_new(r->arena) : jinja_dict_new(r->arena);
    for (const struct jinja_arg *arg = e->args; arg != NULL && !r->failed; arg = arg->next) {
        struct jinja_value first = eval(r, s, arg->value);
        if (list) {
            jinja_list_add(&made, first, r->arena);
            continue;
        }
        arg = arg->next;
        if (arg == NULL || first.kind != JINJA_STRING)
            return jinja_fail(r, "keys must be strings", SV_LIT("{}"));
        jinja_dict_set(&made, first.text, eval(r, s, arg->value), r->arena);
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

static struct jinja_value eval(struct jinja_run *r, struct scope *s, const struct jinja_expr *e)
{
    struct jinja_value a;
    if (r->failed || e == NULL)
        return (struct jinja_value){0};
    if (++r->steps > MAX_STEPS)
        return jinja_fail(r, "the template takes too many steps", SV_LIT(""));
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
        return jinja_bool(!jinja_true(eval(r, s, e->a)));
    case OP_NEGATE:
        return arithmetic(r, OP_SUBTRACT, (struct jinja_value){.kind = JINJA_INT},
                          eval(r, s, e->a));
    case OP_AND:
        a = eval(r, s, e->a);
        return jinja_true(a) ? eval(r, s, e->b) : a;
    case OP_OR:
        a = eval(r, s, e->a);
        return jinja_true(a) ? a : eval(r, s, e->b);
    case OP_IF:
        return eval(r, s, jinja_true(eval(r, s, e->a)) ? e->b : e->c);
    case OP_ADD:
    case OP_SUBTRACT:
    case OP_MULTIPLY:
    case OP_DIVIDE:
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
            if (jinja_true(eval(r, &inner, n->filter)))
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

static void run_set(struct jinja_run *r, struct scope *s, const struct jinja_node *n)
{
    struct jinja_value value;
    if (n->kind == NODE_SET_BLOCK) {
        struct buf made = {0};
        run_nodes(r, s, n->body, &made);
        value = jinja_string(arena_copy(r->arena, buf_sv(&made)));
        buf_done(&made);
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
    if (of.kind == JINJA_DICT)
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
        return run_nodes(r, s, jinja_true(eval(r, s, n->expr)) ? n->body : n->other, out);
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
    for (; n != NULL && !r->failed; n = n->next) {
        enum flow flow = run_node(r, s, n, out);
        if (flow != FLOW_ON)
            return flow;
    }
    return r->failed ? FLOW_FAILED : FLOW_ON;
}

bool jinja_render(const struct jinja *j, const struct jinja_value *variables, struct arena *arena,
                  struct buf *out, struct error *err)
{
    struct jinja_run r = {.arena = arena, .err = err};
    struct scope given = {.names = *variables};
    struct scope root = {.names = jinja_dict_new(arena), .outer = NULL};
    size_t start = out->len;
    for (size_t i = 0; i < given.names.dict->count; i++)
        jinja_dict_set(&root.names, given.names.dict->keys[i], given.names.dict->values[i], arena);
    run_nodes(&r, &root, j->nodes, out);
    if (r.failed)
        out->len = start;
    return !r.failed;
}
