/* jinja_priv.h - the tree of a compiled template, between jinja_parse.c and jinja_eval.c.
 * Threads: read-only after parsing.  Errors: none. */
#ifndef VB_TOKENIZER_JINJA_PRIV_H
#define VB_TOKENIZER_JINJA_PRIV_H

#include "tokenizer/jinja.h"

enum jinja_op {
    OP_CONST,
    OP_NAME,
    OP_ATTR,  /* a.text */
    OP_INDEX, /* a[b] */
    OP_SLICE, /* a[b:c:d] */
    OP_CALL,  /* a(args) */
    OP_FILTER,
    OP_TEST,
    OP_NOT,
    OP_NEGATE,
    OP_AND,
    OP_OR,
    OP_IF, /* b if a else c */
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_FLOOR, /* // */
    OP_MODULO,
    OP_CONCAT,
    OP_EQUAL,
    OP_LESS, /* a < b */
    OP_LESS_EQUAL,
    OP_IN,
    OP_LIST,
    OP_TUPLE,
    OP_DICT /* args: key, value, key, value */
};

struct jinja_arg {
    struct sv name; /* len 0: by position */
    struct jinja_expr *value;
    struct jinja_arg *next;
};

struct jinja_expr {
    enum jinja_op op;
    struct sv text;
    struct jinja_value value;
    struct jinja_expr *a;
    struct jinja_expr *b;
    struct jinja_expr *c;
    struct jinja_expr *d;
    struct jinja_arg *args;
};

enum jinja_statement {
    NODE_TEXT,
    NODE_OUTPUT,
    NODE_IF,
    NODE_FOR,
    NODE_SET,       /* names[0] = expr; with attr: names[0].attr = expr */
    NODE_SET_BLOCK, /* names[0] = what the body renders */
    NODE_MACRO,
    NODE_FILTER, /* what the body renders, filtered */
    NODE_BREAK,
    NODE_CONTINUE
};

enum { JINJA_MAX_TARGETS = 4 };

#define JINJA_BODY "(body)" /* no name that a template could write */

struct jinja_node {
    enum jinja_statement kind;
    struct sv text;
    struct sv names[JINJA_MAX_TARGETS];
    size_t name_count;
    struct sv attr;
    struct jinja_expr *expr;
    struct jinja_expr
        *filter;              /* for ... if; filters around a body, which has the name JINJA_BODY */
    struct jinja_arg *params; /* macro: names and defaults */
    struct jinja_node *body;
    struct jinja_node *other; /* else */
    struct jinja_node *next;
};

struct jinja {
    struct arena arena;
    struct jinja_node *nodes;
};

#endif
