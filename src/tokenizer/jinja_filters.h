/* jinja_filters.h - what templates do with values: filters, tests, methods, and the rules of truth, equality and printing.
 * Inner header of the Jinja files.  Threads: one rendering belongs to one thread.
 * Errors: jinja_fail marks the rendering as failed and gives an undefined value. */
#ifndef VB_TOKENIZER_JINJA_FILTERS_H
#define VB_TOKENIZER_JINJA_FILTERS_H

#include "tokenizer/jinja_priv.h"

/* One rendering. */
struct jinja_run {
    struct arena *arena;
    struct error *err;
    unsigned steps;
    unsigned calls;
    unsigned depth;
    bool failed;
    bool raised; /* by raise_exception */
};

enum { JINJA_MAX_ARGS = 8 };

struct jinja_call {
    struct sv name;
    size_t count;
    struct sv names[JINJA_MAX_ARGS];
    struct jinja_value values[JINJA_MAX_ARGS];
};

struct jinja_value jinja_fail(struct jinja_run *r, const char *what, struct sv where);
/* The argument at a place, or of a name; undefined when it is not given. */
struct jinja_value jinja_argument(const struct jinja_call *call, size_t place, const char *name);

bool jinja_is_number(struct jinja_value v);
double jinja_real(struct jinja_value v); /* of a number */
bool jinja_equal(struct jinja_value a, struct jinja_value b);
/* -1, 0 or 1 for two numbers, strings or lists of these; others fail. */
int jinja_order(struct jinja_run *r, struct jinja_value a, struct jinja_value b);
bool jinja_contains(struct jinja_run *r, struct jinja_value of, struct jinja_value item);
bool jinja_dict_find(const struct jinja_value *dict, struct jinja_value key,
                     struct jinja_value *value);
struct jinja_value jinja_sorted_dict(struct jinja_run *r, struct jinja_value dict);
/* What a for loop goes through, as a list. */
struct jinja_value jinja_items_of(struct jinja_run *r, struct jinja_value v);
struct jinja_value jinja_characters(struct jinja_run *r, struct sv text);
struct jinja_value jinja_join(struct jinja_run *r, struct jinja_value list, struct sv between);

/* jinja_print.c: appends what {{ v }} prints; the filter tojson. */
bool jinja_print(struct jinja_run *r, struct jinja_value v, struct buf *out);
struct jinja_value jinja_to_json(struct jinja_run *r, struct jinja_value of,
                                 const struct jinja_call *call);

/* jinja_text.c: filters and methods of texts. */
struct jinja_value jinja_to_text(struct jinja_run *r, struct jinja_value of);
struct jinja_value jinja_lower(struct jinja_run *r, struct sv text);
struct jinja_value jinja_text_filter(struct jinja_run *r, struct sv text,
                                     const struct jinja_call *call);
struct jinja_value jinja_text_method(struct jinja_run *r, struct sv text,
                                     const struct jinja_call *call);

struct jinja_value jinja_filter(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call);
bool jinja_test(struct jinja_run *r, struct jinja_value of, const struct jinja_call *call);
/* a.name and a[index]; undefined when there is none. */
struct jinja_value jinja_attribute(struct jinja_value of, struct sv name);
struct jinja_value jinja_item(struct jinja_run *r, struct jinja_value of, struct jinja_value index);
struct jinja_value jinja_method(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call);

#endif
