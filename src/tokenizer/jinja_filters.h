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
    bool failed;
    bool raised; /* by raise_exception */
};

enum { JINJA_MAX_ARGS = 4 };

struct jinja_call {
    struct sv name;
    size_t count;
    struct sv names[JINJA_MAX_ARGS];
    struct jinja_value values[JINJA_MAX_ARGS];
};

struct jinja_value jinja_fail(struct jinja_run *r, const char *what, struct sv where);
bool jinja_true(struct jinja_value v);
bool jinja_equal(struct jinja_value a, struct jinja_value b);
bool jinja_contains(struct jinja_run *r, struct jinja_value of, struct jinja_value item);
bool jinja_dict_find(const struct jinja_value *dict, struct sv key, struct jinja_value *value);
/* Appends what {{ v }} prints. */
bool jinja_print(struct jinja_run *r, struct jinja_value v, struct buf *out);
struct jinja_value jinja_characters(struct jinja_run *r, struct sv text);
struct jinja_value jinja_join(struct jinja_run *r, struct jinja_value list, struct sv between);
/* What a for loop goes through, as a list. */
struct jinja_value jinja_items_of(struct jinja_run *r, struct jinja_value v);

struct jinja_value jinja_filter(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call);
bool jinja_test(struct jinja_run *r, struct jinja_value of, const struct jinja_call *call);
struct jinja_value jinja_method(struct jinja_run *r, struct jinja_value of,
                                const struct jinja_call *call);

#endif
