/* pretokenizer.h - cuts a text into the pieces that the model sees one by one.
 * A chain of steps (a Sequence is flattened into it); each works on the pieces of the one before.  One table in
 * pretokenizer.c lists the kinds.
 * Use: pretok_load; pretok_settle; pretok_run; pretok_done.  Threads: read-only after loading.
 * Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_PRETOKENIZER_H
#define VB_TOKENIZER_PRETOKENIZER_H

#include "base/error.h"
#include "json/tree.h"
#include "tokenizer/scratch.h"
#include "tokenizer/splitter.h"

enum split_behavior {
    SPLIT_REMOVED,
    SPLIT_ISOLATED,
    SPLIT_MERGED_WITH_PREVIOUS,
    SPLIT_MERGED_WITH_NEXT,
    SPLIT_CONTIGUOUS,
    SPLIT_BEHAVIOR_COUNT
};

enum prepend_scheme { PREPEND_ALWAYS, PREPEND_FIRST, PREPEND_NEVER };

/* What a step remembers; each kind uses its own fields. */
struct pretok_step {
    const struct pretok_type *type;
    bool add_prefix_space; /* ByteLevel */
    bool use_regex;        /* ByteLevel */
    bool spell; /* ByteLevel: turn bytes into characters, as later steps want to see them */
    struct regex *regex;             /* Split */
    const struct splitter *splitter; /* Split: the pattern is a known one */
    struct sv
        literal; /* Split by a string, CharDelimiterSplit, Metaspace; in the tokenizer's arena */
    enum split_behavior behavior; /* Split, Punctuation */
    bool invert;                  /* Split */
    bool individual_digits;       /* Digits */
    bool cut;                     /* Metaspace */
    enum prepend_scheme prepend;  /* Metaspace */
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
extern const struct pretok_type pretok_split;
extern const struct pretok_type pretok_metaspace;
extern const struct pretok_type pretok_digits;
extern const struct pretok_type pretok_punctuation;
extern const struct pretok_type pretok_bert;
extern const struct pretok_type pretok_whitespace;
extern const struct pretok_type pretok_whitespace_split;
extern const struct pretok_type pretok_char_delimiter;

struct pretok_chain {
    struct pretok_step *steps;
    size_t count;
    size_t cap;
};

/* `value`: the pre_tokenizer of a tokenizer.json; null or absent gives an empty chain. */
bool pretok_load(struct pretok_chain *chain, const struct js_value *value, struct arena *arena,
                 struct error *err);
/* A Split by a pattern whose matches are kept and gaps dropped, as tiktoken cuts. */
bool pretok_add_pattern(struct pretok_chain *chain, struct sv pattern, struct arena *arena,
                        struct error *err);
/* A step by hand, zeroed but for its type. */
struct pretok_step *pretok_add(struct pretok_chain *chain, const struct pretok_type *type);
void pretok_done(struct pretok_chain *chain);
/* Does the text reach the model as bytes that no step has to see as characters (ByteLevel comes last)? */
bool pretok_is_byte_level(const struct pretok_chain *chain);
/* With `bytes` false ByteLevel spells bytes as characters. */
void pretok_settle(struct pretok_chain *chain, bool bytes);
/* The scanner that does the work of the whole chain, or NULL. */
const struct splitter *pretok_whole_splitter(const struct pretok_chain *chain);

/* The pieces of `text`, in *pieces until the next run. */
bool pretok_run(const struct pretok_chain *chain, struct sv text, struct scratch *scratch,
                const struct piece_list **pieces, struct error *err);

/* For the kinds: by name, and from the spans of one piece to pieces. */
bool pretok_behavior(struct sv name, enum split_behavior *behavior);
void pretok_span_add(struct span_list *list, size_t start, size_t end, bool match);
void pretok_emit(const struct span_list *spans, enum split_behavior behavior, struct sv piece,
                 struct piece_list *out);

#endif
