/* Filters, tests and methods but for those of texts; each does what Python and Jinja do with the kinds of values that chat
 * templates have. */
#include "tokenizer/jinja_filters.h"

#include "base/num.h"
#include "tokenizer/utf8.h"

enum { SORT_MAX = 4096 }; /* items; sorting takes time by the square */

struct jinja_value jinja_fail(struct jinja_run *r, const char *what, struct sv where)
{
    if (!r->failed)
        error_set(r->err, r->raised ? E_RESULT : E_UNSUPPORTED, "chat template: %s: '%.*s'", what,
                  (int)(where.len < 200 ? where.len : 200), where.ptr);
    r->failed = true;
    return (struct jinja_value){0};
}

struct jinja_value jinja_argument(const struct jinja_call *call, size_t place, const char *name)
{
    for (size_t i = 0; i < call->count; i++)
        if (call->names[i].len > 0 && sv_eq(call->names[i], sv_from(name)))
            return call->values[i];
    if (place < call->count && call->names[place].len == 0)
        return call->values[place];
    return (struct jinja_value){0};
}

int jinja_order(struct jinja_run *r, struct jinja_value a, struct jinja_value b)
{
    while (a.kind == JINJA_LIST && b.kind == JINJA_LIST) { /* the first items that differ decide */
        const struct jinja_list *x = a.list;
        const struct jinja_list *y = b.list;
        size_t i = 0;
        while (i < x->count && i < y->count && jinja_equal(x->items[i], y->items[i]))
            i++;
        if (i == x->count || i == y->count)
            return (x->count > y->count) - (x->count < y->count);
        a = x->items[i];
        b = y->items[i];
    }
    if (a.kind == JINJA_STRING && b.kind == JINJA_STRING) {
        size_t n = a.text.len < b.text.len ? a.text.len : b.text.len;
        int order = n > 0 ? memcmp(a.text.ptr, b.text.ptr, n) : 0;
        order = order != 0 ? order : (a.text.len > b.text.len) - (a.text.len < b.text.len);
        return (order > 0) - (order < 0);
    }
    if (jinja_is_number(a) && jinja_is_number(b)) {
        if (a.kind != JINJA_FLOAT && b.kind != JINJA_FLOAT)
            return (a.number > b.number) - (a.number < b.number);
        return (jinja_real(a) > jinja_real(b)) - (jinja_real(a) < jinja_real(b));
    }
    jinja_fail(r, "these values cannot be compared", SV_LIT("< >"));
    return 0;
}

bool jinja_contains(struct jinja_run *r, struct jinja_value of, struct jinja_value item)
{
    struct jinja_value unused;
    if (of.kind == JINJA_STRING && item.kind == JINJA_STRING)
        return item.text.len == 0 ||
               (of.text.len > 0 &&
                memmem(of.text.ptr, of.text.len, item.text.ptr, item.text.len) != NULL);
    if (of.kind == JINJA_DICT)
        return jinja_dict_find(&of, item, &unused);
    if (of.kind == JINJA_LIST) {
        r->steps += (unsigned)(of.list->count / 16);
        for (size_t i = 0; i < of.list->count; i++)
            if (jinja_equal(of.list->items[i], item))
                return true;
        return false;
    }
    if (of.kind != JINJA_UNDEFINED)
        jinja_fail(r, "'in' needs a list, a mapping or a string", SV_LIT("in"));
    return false;
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
        jinja_list_add(&list, v.dict->keys[i], r->arena);
    return list;
}

/* ---- filters -------------------------------------------------------------------------------------------------------- */

static struct jinja_value iterator_new(struct jinja_run *r)
{
    struct jinja_value list = jinja_list_new(r->arena);
    list.list->shape = JINJA_ITERATOR;
    return list;
}

static struct jinja_value view_new(struct jinja_run *r)
{
    struct jinja_value list = jinja_list_new(r->arena);
    list.list->shape = JINJA_VIEW;
    return list;
}

static struct jinja_value pairs(struct jinja_run *r, struct jinja_value of)
{
    struct jinja_value list = view_new(r);
    if (of.kind == JINJA_UNDEFINED)
        return list;
    if (of.kind != JINJA_DICT)
        return jinja_fail(r, "only a mapping has items", SV_LIT("items"));
    for (size_t i = 0; i < of.dict->count; i++) {
        struct jinja_value pair = jinja_list_new(r->arena);
        pair.list->shape = JINJA_TUPLE;
        jinja_list_add(&pair, of.dict->keys[i], r->arena);
        jinja_list_add(&pair, of.dict->values[i], r->arena);
        jinja_list_add(&list, pair, r->arena);
    }
    return list;
}

/* What a name with dots leads to in an item: "function.name", "0". */
static struct jinja_value attribute_of(struct jinja_value item, struct sv path)
{
    struct sv name;
    for (struct sv rest = path; sv_split(&rest, '.', &name);) {
        struct jinja_value found = {0};
        uint64_t index;
        if (item.kind == JINJA_DICT)
            jinja_dict_find(&item, jinja_string(name), &found);
        else if (item.kind == JINJA_LIST && num_parse_u64(name, &index) && index < item.list->count)
            found = item.list->items[index];
        item = found;
    }
    return item;
}

/* The test that is named by argument `at` of a call, with the arguments behind it. */
static bool passes(struct jinja_run *r, struct jinja_value v, const struct jinja_call *call,
                   size_t at)
{
    if (at >= call->count)
        return jinja_is_true(v);
    struct jinja_call test = {.name = call->values[at].text};
    for (size_t i = at + 1; i < call->count; i++)
        test.values[test.count++] = call->values[i];
    return jinja_test(r, v, &test);
}

/* select, reject: (test, value ...); selectattr, rejectattr: (name, test, value ...). */
static struct jinja_value select_by(struct jinja_run *r, struct jinja_value of,
                                    const struct jinja_call *call, bool by_attribute)
{
    struct jinja_value made = iterator_new(r);
    bool keep = call->name.ptr[0] == 's';
    if (!jinja_is_true(of)) /* Jinja does not look what it is then */
        return made;
    if (by_attribute && (call->count == 0 || call->values[0].kind != JINJA_STRING))
        return jinja_fail(r, "the name of an attribute is missing", call->name);
    struct jinja_value list = jinja_items_of(r, of);
    for (size_t i = 0; !r->failed && i < list.list->count; i++) {
        struct jinja_value item = list.list->items[i];
        struct jinja_value v = by_attribute ? attribute_of(item, call->values[0].text) : item;
        if (passes(r, v, call, by_attribute) == keep)
            jinja_list_add(&made, item, r->arena);
    }
    return made;
}

static struct jinja_value map_one(struct jinja_run *r, struct jinja_value item,
                                  const struct jinja_call *call)
{
    struct jinja_value name = jinja_argument(call, SIZE_MAX, "attribute");
    if (name.kind == JINJA_STRING) {
        struct jinja_value got = attribute_of(item, name.text);
        struct jinja_value usual = jinja_argument(call, SIZE_MAX, "default");
        return got.kind == JINJA_UNDEFINED ? usual : got;
    }
    if (call->count == 0 || call->values[0].kind != JINJA_STRING)
        return jinja_fail(r, "this use of map is not supported", call->name);
    struct jinja_call filter = {.name = call->values[0].text};
    for (size_t i = 1; i < call->count; i++) {
        filter.names[filter.count] = call->names[i];
        filter.values[filter.count++] = call->values[i];
    }
    return jinja_filter(r, item, &filter);
}

static struct jinja_value map_by(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call)
{
    struct jinja_value made = iterator_new(r);
    if (!jinja_is_true(of))
        return made;
    struct jinja_value list = jinja_items_of(r, of);
    for (size_t i = 0; !r->failed && i < list.list->count; i++)
        jinja_list_add(&made, map_one(r, list.list->items[i], call), r->arena);
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
    struct jinja_value made = iterator_new(r);
    struct jinja_value list = jinja_items_of(r, of);
    for (size_t i = r->failed ? 0 : list.list->count; i-- > 0;)
        jinja_list_add(&made, list.list->items[i], r->arena);
    return of.kind == JINJA_STRING ? jinja_join(r, made, SV_LIT("")) : made;
}

static struct jinja_value plain_list(struct jinja_run *r, struct jinja_value of)
{
    struct jinja_value made = jinja_list_new(r->arena);
    struct jinja_value list = jinja_items_of(r, of);
    for (size_t i = 0; !r->failed && i < list.list->count; i++)
        jinja_list_add(&made, list.list->items[i], r->arena);
    return made;
}

/* ---- order ---- */

/* What items are ordered and compared by. */
struct ordering {
    struct sv attribute; /* len 0: the item itself */
    bool exact;          /* upper and lower case differ */
};

static struct jinja_value order_key(struct jinja_run *r, const struct ordering *o,
                                    struct jinja_value item)
{
    if (o->attribute.len > 0)
        item = attribute_of(item, o->attribute);
    return item.kind == JINJA_STRING && !o->exact ? jinja_lower(r, item.text) : item;
}

static struct ordering ordering_of(const struct jinja_call *call, size_t exact_at,
                                   size_t attribute_at)
{
    struct jinja_value name = jinja_argument(call, attribute_at, "attribute");
    return (struct ordering){
        .attribute = name.kind == JINJA_STRING ? name.text : SV_LIT(""),
        .exact = jinja_is_true(jinja_argument(call, exact_at, "case_sensitive")),
    };
}

/* Stable, as Python's sort; lists in templates are short. */
static void sort_items(struct jinja_run *r, struct jinja_list *list, const struct ordering *o,
                       bool backward)
{
    if (list->count > SORT_MAX)
        jinja_fail(r, "the list is too long to sort", SV_LIT("sort"));
    for (size_t i = 1; i < list->count && !r->failed; i++) {
        struct jinja_value item = list->items[i];
        struct jinja_value key = order_key(r, o, item);
        size_t at = i;
        for (; at > 0; at--) {
            int order = jinja_order(r, order_key(r, o, list->items[at - 1]), key);
            if (r->failed || (backward ? order >= 0 : order <= 0))
                break;
            list->items[at] = list->items[at - 1];
        }
        list->items[at] = item;
    }
}

static struct jinja_value sorted(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call)
{
    struct jinja_value made = plain_list(r, of);
    struct ordering o = ordering_of(call, 1, 2);
    if (!r->failed)
        sort_items(r, made.list, &o, jinja_is_true(jinja_argument(call, 0, "reverse")));
    return made;
}

static struct jinja_value dict_sorted(struct jinja_run *r, struct jinja_value of,
                                      const struct jinja_call *call)
{
    struct jinja_value by = jinja_argument(call, 1, "by");
    bool values = by.kind == JINJA_STRING && sv_eq(by.text, SV_LIT("value"));
    if (of.kind != JINJA_DICT)
        return jinja_fail(r, "only a mapping has items", call->name);
    struct jinja_value made = plain_list(r, pairs(r, of));
    struct ordering o = {.attribute = values ? SV_LIT("1") : SV_LIT("0"),
                         .exact = jinja_is_true(jinja_argument(call, 0, "case_sensitive"))};
    sort_items(r, made.list, &o, jinja_is_true(jinja_argument(call, 2, "reverse")));
    return made;
}

struct jinja_value jinja_sorted_dict(struct jinja_run *r, struct jinja_value dict)
{
    struct jinja_value list = plain_list(r, pairs(r, dict));
    struct ordering o = {.attribute = SV_LIT("0"), .exact = true};
    struct jinja_value made = jinja_dict_new(r->arena);
    sort_items(r, list.list, &o, false);
    for (size_t i = 0; i < list.list->count; i++) {
        const struct jinja_value *pair = list.list->items[i].list->items;
        jinja_dict_put(&made, pair[0], pair[1], r->arena);
    }
    return made;
}

static struct jinja_value extreme(struct jinja_run *r, struct jinja_value of,
                                  const struct jinja_call *call, int wanted)
{
    struct ordering o = ordering_of(call, 0, 1);
    struct jinja_value list = jinja_items_of(r, of);
    struct jinja_value best = {0};
    for (size_t i = 0; !r->failed && i < list.list->count; i++) {
        struct jinja_value item = list.list->items[i];
        if (i == 0 || jinja_order(r, order_key(r, &o, item), order_key(r, &o, best)) == wanted)
            best = item;
    }
    return best;
}

static struct jinja_value unique(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call)
{
    struct ordering o = ordering_of(call, 0, 1);
    struct jinja_value made = iterator_new(r);
    struct jinja_value seen = jinja_list_new(r->arena);
    struct jinja_value list = jinja_items_of(r, of);
    if (!r->failed && list.list->count > SORT_MAX)
        return jinja_fail(r, "the list is too long", call->name);
    for (size_t i = 0; !r->failed && i < list.list->count; i++) {
        struct jinja_value key = order_key(r, &o, list.list->items[i]);
        if (jinja_contains(r, seen, key))
            continue;
        jinja_list_add(&seen, key, r->arena);
        jinja_list_add(&made, list.list->items[i], r->arena);
    }
    return made;
}

/* ---- numbers ---- */

static struct jinja_value to_int(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call)
{
    struct jinja_value usual = jinja_argument(call, 0, "default");
    struct jinja_value made = {.kind = JINJA_INT};
    double real = 0;
    if (of.kind == JINJA_UNDEFINED || call->count > 1)
        return jinja_fail(r, "this is no number", SV_LIT("int"));
    if (of.kind == JINJA_INT || of.kind == JINJA_BOOL)
        return (struct jinja_value){.kind = JINJA_INT, .number = of.number};
    if (of.kind == JINJA_STRING && num_parse_i64(sv_trim(of.text), &made.number))
        return made;
    bool is = of.kind == JINJA_FLOAT ||
              (of.kind == JINJA_STRING && num_parse_double(sv_trim(of.text), &real));
    real = of.kind == JINJA_FLOAT ? of.real : real;
    if (!is || !(real > -9e18 && real < 9e18))
        return usual.kind == JINJA_UNDEFINED ? made : usual;
    made.number = (int64_t)real;
    return made;
}

static struct jinja_value to_float(struct jinja_run *r, struct jinja_value of,
                                   const struct jinja_call *call)
{
    struct jinja_value usual = jinja_argument(call, 0, "default");
    struct jinja_value made = {.kind = JINJA_FLOAT};
    if (of.kind == JINJA_UNDEFINED)
        return jinja_fail(r, "this is no number", SV_LIT("float"));
    if (jinja_is_number(of))
        made.real = jinja_real(of);
    else if (of.kind != JINJA_STRING || !num_parse_double(sv_trim(of.text), &made.real))
        return usual.kind == JINJA_UNDEFINED ? made : usual;
    return made;
}

static struct jinja_value absolute(struct jinja_run *r, struct jinja_value of)
{
    if (!jinja_is_number(of) || of.number == INT64_MIN)
        return jinja_fail(r, "this is no number", SV_LIT("abs"));
    of.number = of.number < 0 ? -of.number : of.number;
    of.real = of.real < 0 ? -of.real : of.real;
    of.kind = of.kind == JINJA_BOOL ? JINJA_INT : of.kind;
    return of;
}

static struct jinja_value usual_for(struct jinja_value of, const struct jinja_call *call)
{
    struct jinja_value usual = jinja_argument(call, 0, "default_value");
    bool falsy = jinja_is_true(jinja_argument(call, 1, "boolean")) && !jinja_is_true(of);
    if (of.kind != JINJA_UNDEFINED && !falsy)
        return of;
    return usual.kind == JINJA_UNDEFINED ? jinja_string(SV_LIT("")) : usual;
}

enum filter_kind {
    FILTER_DEFAULT,
    FILTER_LENGTH,
    FILTER_JSON,
    FILTER_JOIN,
    FILTER_FIRST,
    FILTER_LAST,
    FILTER_LIST,
    FILTER_REVERSE,
    FILTER_ITEMS,
    FILTER_SELECT,
    FILTER_SELECT_BY,
    FILTER_MAP,
    FILTER_INT,
    FILTER_FLOAT,
    FILTER_ABS,
    FILTER_TEXT,
    FILTER_SORT,
    FILTER_DICTSORT,
    FILTER_MIN,
    FILTER_MAX,
    FILTER_UNIQUE,
};

struct filter {
    const char *name;
    enum filter_kind kind;
};

static const struct filter filters[] = {
    {"default", FILTER_DEFAULT},
    {"d", FILTER_DEFAULT},
    {"length", FILTER_LENGTH},
    {"count", FILTER_LENGTH},
    {"tojson", FILTER_JSON},
    {"join", FILTER_JOIN},
    {"first", FILTER_FIRST},
    {"last", FILTER_LAST},
    {"list", FILTER_LIST},
    {"reverse", FILTER_REVERSE},
    {"items", FILTER_ITEMS},
    {"select", FILTER_SELECT},
    {"reject", FILTER_SELECT},
    {"selectattr", FILTER_SELECT_BY},
    {"rejectattr", FILTER_SELECT_BY},
    {"map", FILTER_MAP},
    {"int", FILTER_INT},
    {"float", FILTER_FLOAT},
    {"abs", FILTER_ABS},
    {"string", FILTER_TEXT},
    {"safe", FILTER_TEXT},
    {"sort", FILTER_SORT},
    {"dictsort", FILTER_DICTSORT},
    {"min", FILTER_MIN},
    {"max", FILTER_MAX},
    {"unique", FILTER_UNIQUE},
};

static struct jinja_value join_by(struct jinja_run *r, struct jinja_value of,
                                  const struct jinja_call *call)
{
    struct jinja_value between = jinja_to_text(r, jinja_argument(call, 0, "d"));
    struct jinja_value name = jinja_argument(call, 1, "attribute");
    if (name.kind == JINJA_STRING) {
        struct jinja_call map = {.name = SV_LIT("map"), .count = 1};
        map.names[0] = SV_LIT("attribute");
        map.values[0] = name;
        of = map_by(r, of, &map);
    }
    return r->failed ? of : jinja_join(r, of, between.text);
}

/* What is made of a safe text is safe; the filters and methods that would escape their arguments then are refused. */
static struct jinja_value keep_safe(struct jinja_run *r, struct jinja_value of,
                                    const struct jinja_call *call, struct jinja_value made)
{
    static const char *const plain[] = {"title", "replace"};
    static const char *const refused[] = {"format", "join", "indent"};
    if (of.kind != JINJA_STRING || !of.safe || made.kind != JINJA_STRING)
        return made;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
        if (sv_eq(call->name, sv_from(refused[i])))
            return jinja_fail(r, "this is not supported behind the filter safe", call->name);
    made.safe = true;
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
        if (sv_eq(call->name, sv_from(plain[i])))
            made.safe = false;
    return made;
}

struct jinja_value jinja_filter(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call)
{
    const struct filter *filter = SV_ROW(call->name, filters);
    struct jinja_value text;
    if (filter == NULL) {
        text = jinja_to_text(r, of);
        return r->failed ? text : keep_safe(r, of, call, jinja_text_filter(r, text.text, call));
    }
    switch (filter->kind) {
    case FILTER_DEFAULT:
        return usual_for(of, call);
    case FILTER_LENGTH:
        return length_of(r, of);
    case FILTER_JSON:
        return jinja_to_json(r, of, call);
    case FILTER_JOIN:
        return join_by(r, of, call);
    case FILTER_FIRST:
    case FILTER_LAST:
        return end_of(r, of, filter->kind == FILTER_LAST);
    case FILTER_LIST:
        return plain_list(r, of);
    case FILTER_REVERSE:
        return reversed(r, of);
    case FILTER_ITEMS:
        return pairs(r, of);
    case FILTER_SELECT:
    case FILTER_SELECT_BY:
        return select_by(r, of, call, filter->kind == FILTER_SELECT_BY);
    case FILTER_MAP:
        return map_by(r, of, call);
    case FILTER_INT:
        return to_int(r, of, call);
    case FILTER_FLOAT:
        return to_float(r, of, call);
    case FILTER_ABS:
        return absolute(r, of);
    case FILTER_SORT:
        return sorted(r, of, call);
    case FILTER_DICTSORT:
        return dict_sorted(r, of, call);
    case FILTER_MIN:
    case FILTER_MAX:
        return extreme(r, of, call, filter->kind == FILTER_MAX ? 1 : -1);
    case FILTER_UNIQUE:
        return unique(r, of, call);
    case FILTER_TEXT:
    default:
        text = jinja_to_text(r, of);
        text.safe = text.safe || call->name.ptr[1] == 'a';
        return text;
    }
}

static bool is_name(const struct jinja_call *call, const char *name)
{
    return sv_eq(call->name, sv_from(name));
}

/* ---- tests ---------------------------------------------------------------------------------------------------------- */

/* Tests that ask for an order; false for other names. */
static bool compared(struct jinja_run *r, struct jinja_value of, const struct jinja_call *call,
                     bool *yes)
{
    struct order {
        const char *name;
        bool below, same, above;
    };
    static const struct order orders[] = {
        {"lt", true, false, false}, {"lessthan", true, false, false},    {"<", true, false, false},
        {"le", true, true, false},  {"<=", true, true, false},           {"gt", false, false, true},
        {">", false, false, true},  {"greaterthan", false, false, true}, {"ge", false, true, true},
        {">=", false, true, true},
    };
    const struct order *asked = SV_ROW(call->name, orders);
    if (asked == NULL)
        return false;
    int order = jinja_order(r, of, call->values[0]);
    *yes = order < 0 ? asked->below : order > 0 ? asked->above : asked->same;
    return true;
}

/* Tests without arguments; false for other names. */
static bool by_kind(struct jinja_value of, const struct jinja_call *call, bool *yes)
{
    enum { TEXTS = 1u << JINJA_STRING | 1u << JINJA_LIST | 1u << JINJA_DICT };
    struct kinds {
        const char *name;
        unsigned kinds;
    };
    static const struct kinds all[] = {
        {"undefined", 1u << JINJA_UNDEFINED},
        {"defined", ~(1u << JINJA_UNDEFINED)},
        {"none", 1u << JINJA_NONE},
        {"string", 1u << JINJA_STRING},
        {"boolean", 1u << JINJA_BOOL},
        {"integer", 1u << JINJA_INT},
        {"float", 1u << JINJA_FLOAT},
        {"number", 1u << JINJA_INT | 1u << JINJA_BOOL | 1u << JINJA_FLOAT},
        {"mapping", 1u << JINJA_DICT},
        {"iterable", TEXTS | 1u << JINJA_UNDEFINED},
        {"sequence", TEXTS | 1u << JINJA_UNDEFINED},
        {"callable", 1u << JINJA_MACRO},
    };
    const struct kinds *asked = SV_ROW(call->name, all);
    bool truth = is_name(call, "true");
    if (truth || is_name(call, "false"))
        *yes = of.kind == JINJA_BOOL && (of.number != 0) == truth;
    else if (asked != NULL)
        *yes = (asked->kinds >> of.kind & 1) != 0;
    return truth || is_name(call, "false") || asked != NULL;
}

/* Tests with another value; false for other names. */
static bool by_value(struct jinja_run *r, struct jinja_value of, const struct jinja_call *call,
                     bool *yes)
{
    struct jinja_value other = call->values[0];
    bool same = jinja_equal(of, other);
    if (is_name(call, "equalto") || is_name(call, "eq") || is_name(call, "=="))
        *yes = same;
    else if (is_name(call, "ne") || is_name(call, "!="))
        *yes = !same;
    else if (is_name(call, "in"))
        *yes = jinja_contains(r, other, of);
    else if (is_name(call, "sameas"))
        *yes = of.kind == other.kind && of.kind != JINJA_LIST && of.kind != JINJA_DICT && same;
    else if (is_name(call, "divisibleby") && of.kind == JINJA_INT && other.number > 0)
        *yes = of.number % other.number == 0;
    else
        return compared(r, of, call, yes);
    return true;
}

bool jinja_test(struct jinja_run *r, struct jinja_value of, const struct jinja_call *call)
{
    bool yes = false;
    if (by_kind(of, call, &yes) || (call->count > 0 && by_value(r, of, call, &yes)))
        return yes;
    if (of.kind == JINJA_INT && (is_name(call, "odd") || is_name(call, "even")))
        return (of.number % 2 != 0) == is_name(call, "odd");
    jinja_fail(r, "this test is not supported", call->name);
    return false;
}

/* ---- methods -------------------------------------------------------------------------------------------------------- */

static bool has_method(struct jinja_value of, struct sv name)
{
    static const char *const names[] = {"clear", "copy",    "fromkeys",   "get",    "items", "keys",
                                        "pop",   "popitem", "setdefault", "update", "values"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (of.kind == JINJA_DICT && !of.dict->is_namespace && sv_eq(name, sv_from(names[i])))
            return true;
    return false;
}

struct jinja_value jinja_attribute(struct jinja_value of, struct sv name)
{
    struct jinja_value found = {0};
    if (has_method(of, name)) /* before a key of this name, as getattr comes first in Jinja */
        return (struct jinja_value){.kind = JINJA_MACRO};
    if (of.kind == JINJA_DICT)
        jinja_dict_find(&of, jinja_string(name), &found);
    return found;
}

struct jinja_value jinja_item(struct jinja_run *r, struct jinja_value of, struct jinja_value index)
{
    struct jinja_value found = {0};
    if (of.kind == JINJA_DICT) {
        if (!jinja_dict_find(&of, index, &found) && index.kind == JINJA_STRING)
            found = jinja_attribute(of, index.text);
        return found;
    }
    if (index.kind != JINJA_INT && index.kind != JINJA_BOOL)
        return found;
    struct jinja_value list = of.kind == JINJA_STRING ? jinja_characters(r, of.text) : of;
    if (list.kind != JINJA_LIST || list.list->shape == JINJA_ITERATOR)
        return found;
    int64_t at = index.number < 0 ? index.number + (int64_t)list.list->count : index.number;
    if (at >= 0 && at < (int64_t)list.list->count)
        found = list.list->items[at];
    return found;
}

struct jinja_value jinja_method(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call)
{
    struct jinja_value found = {0};
    if (of.kind == JINJA_STRING && of.safe && is_name(call, "replace"))
        return jinja_fail(r, "this is not supported behind the filter safe", call->name);
    if (of.kind == JINJA_STRING)
        return keep_safe(r, of, call, jinja_text_method(r, of.text, call));
    if (!has_method(of, call->name))
        return jinja_fail(r, "this method is not supported", call->name);
    if (is_name(call, "items"))
        return pairs(r, of);
    if (is_name(call, "copy") || is_name(call, "keys") || is_name(call, "values")) {
        bool copy = is_name(call, "copy");
        found = copy ? jinja_dict_new(r->arena) : view_new(r);
        for (size_t i = 0; i < of.dict->count; i++)
            if (copy)
                jinja_dict_put(&found, of.dict->keys[i], of.dict->values[i], r->arena);
            else
                jinja_list_add(&found,
                               is_name(call, "keys") ? of.dict->keys[i] : of.dict->values[i],
                               r->arena);
        return found;
    }
    if (is_name(call, "get") && call->count > 0) {
        if (!jinja_dict_find(&of, call->values[0], &found))
            found = call->count > 1 ? call->values[1] : (struct jinja_value){.kind = JINJA_NONE};
        return found;
    }
    return jinja_fail(r, "this method is not supported", call->name);
}
