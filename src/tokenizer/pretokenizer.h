/* pretokenizer.h - cuts a text into the pieces that the model sees one by one.
 * A chain of steps (a Sequence is flattened into it); each works on the pieces of the one before.  One file per kind,
 * one table in pretokenizer.c lists them.
 * Use: pretok_load; pretok_run; pretok_done.  Threads: read-only after loading.
 * Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_PRETOKENIZER_H
#define VB_TOKENIZER_PRETOKENIZER_H

#include "base/error.h"
#include "tokenizer/scratch.h"
#include "json/tree.h"

enum split_behavior {
    SPLIT_REMOVED,
    SPLIT_ISOLATED,
    SPLIT_MERGED_WITH_PREVIOUS,
    SPLIT_MERGED_WITH_NEXT,
    SPLIT_CONTIGUOUS,
    SPLIT_BEHAVIOR_COUNT
};

/* What a step remembers; each kind uses its own fields. */
struct pretok_step {
    const struct pretok_type *type;
    bool add_prefix_space;        /* ByteLevel */
    bool use_regex;               /* ByteLevel */
    struct regex *regex;          /* Split */
    struct sv literal;            /* Split by a string; in the tokenizer's arena */
    enum split_behavior behavior; /* Split */
    bool invert;                  /* Split */
    bool individual_digits;       /* Digits */
};

struct pretok_type {
    const char *name;
    bool (*load)(struct pretok_step *step, const struct js_value *value, struct arena *arena,
                 struct error *err);
    /* Appends the pieces of one piece. */
    bool (*split)(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                  struct piece_list *out, struct error *err);
};

extern const struct pretok_type pretok_byte_level;
extern const struct pretok_type pretok_digits;
extern const struct pretok_type pretok_split;

struct pretok_chain {
    struct pretok_step *steps;
    size_t count;
    size_t cap;
};

/* `value`: the pre_tokenizer of a tokenizer.json; null or absent gives an empty chain. */
bool pretok_load(struct pretok_chain *chain, const struct js_value *value, struct arena *arena,
                 struct error *err);
void pretok_done(struct pretok_chain *chain);
/* Does the text reach the model as bytes (the last step is ByteLevel)? */
bool pretok_is_byte_level(const struct pretok_chain *chain);

/* The pieces of `text`, in *pieces until the next run. */
bool pretok_run(const struct pretok_chain *chain, struct sv text, struct scratch *scratch,
                const struct piece_list **pieces, struct error *err);

#endif
