/* jinja.h - the part of Jinja that chat templates are written in.
 * Understood: {{ }} {% %} {# #} with white-space control under trim_blocks and lstrip_blocks; if/elif/else, for (with
 * `if`, else, loop, break, continue), set (names, namespace attributes, blocks), macros, filter blocks; operators, slices,
 * conditional expressions; the usual filters, tests and methods of strings and mappings; namespace, range,
 * raise_exception, strftime_now.  What is not understood is an error that names it, when compiling or when it is met.
 * Use: jinja_compile; jinja_render with the variables; jinja_free.
 * Threads: a compiled template is read-only; every rendering has an arena of its own.
 * Errors: struct error, code E_UNSUPPORTED or, from raise_exception, E_RESULT. */
#ifndef VB_TOKENIZER_JINJA_H
#define VB_TOKENIZER_JINJA_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "json/tree.h"

#include <stdint.h>

enum jinja_kind {
    JINJA_UNDEFINED,
    JINJA_NONE,
    JINJA_BOOL,
    JINJA_INT,
    JINJA_FLOAT,
    JINJA_STRING,
    JINJA_LIST,
    JINJA_DICT,
    JINJA_MACRO
};

struct jinja_value {
    enum jinja_kind kind;
    int64_t number; /* JINJA_INT, JINJA_BOOL */
    double real;    /* JINJA_FLOAT */
    bool safe;      /* JINJA_STRING: went through the filter `safe` */
    struct sv text; /* JINJA_STRING; JINJA_FLOAT: digits of a whole number that is too large */
    struct jinja_list *list;
    struct jinja_dict *dict;
    const struct jinja_node *macro; /* JINJA_MACRO; NULL: a method of a mapping */
};

enum jinja_shape {
    JINJA_PLAIN,
    JINJA_TUPLE,
    JINJA_VIEW,     /* of a mapping: items(), keys(), values() */
    JINJA_ITERATOR, /* what a filter makes one by one; always true */
};

struct jinja_list {
    struct jinja_value *items;
    size_t count;
    size_t cap;
    enum jinja_shape shape;
};

struct jinja_dict {
    struct jinja_value *keys;
    struct jinja_value *values;
    size_t count;
    size_t cap;
    bool is_namespace;
};

/* Values live in the arena; texts are not copied. */
struct jinja_value jinja_string(struct sv text);
struct jinja_value jinja_bool(bool value);
struct jinja_value jinja_list_new(struct arena *arena);
void jinja_list_add(struct jinja_value *list, struct jinja_value item, struct arena *arena);
struct jinja_value jinja_dict_new(struct arena *arena);
void jinja_dict_set(struct jinja_value *dict, struct sv key, struct jinja_value value,
                    struct arena *arena);
/* With a key of any kind. */
void jinja_dict_put(struct jinja_value *dict, struct jinja_value key, struct jinja_value value,
                    struct arena *arena);
/* Python's truth: empty, zero and none are false. */
bool jinja_is_true(struct jinja_value v);
/* The value of a JSON text; texts are copied into the arena. */
struct jinja_value jinja_from_json(const struct js_value *json, struct arena *arena);

struct jinja;

struct jinja *jinja_compile(struct sv source, struct error *err);
void jinja_free(struct jinja *j);
/* Appends the rendering; `variables` is a mapping whose values live in `arena`. */
bool jinja_render(const struct jinja *j, const struct jinja_value *variables, struct arena *arena,
                  struct buf *out, struct error *err);

#endif
