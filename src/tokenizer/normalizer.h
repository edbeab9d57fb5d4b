/* normalizer.h - changes a text before it is cut: the normalizers of HF tokenizers, a Sequence of them flattened.
 * One row a kind in normalizer.c; what is more than a few lines has a file of its own.
 * Use: normalizer_load; normalizer_apply; normalizer_done.
 * Threads: read-only after loading.  Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_NORMALIZER_H
#define VB_TOKENIZER_NORMALIZER_H

#include "base/arena.h"
#include "base/error.h"
#include "json/tree.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/regex.h"

enum { NORMALIZER_MAX_STEPS = 32 };

/* What a step remembers; each kind uses its own fields.  Texts live in the tokenizer's arena. */
struct normalizer_step {
    const struct normalizer_type *type;
    struct sv pattern;
    struct sv content;
    struct regex *regex;
    struct charsmap charsmap;
    int form;            /* enum unicode_form */
    bool left, right;    /* Strip */
    bool clean, cjk;     /* BertNormalizer */
    bool accents, lower; /* BertNormalizer */
};

struct normalizer_type {
    const char *name;
    bool (*load)(struct normalizer_step *step, const struct js_value *value, struct arena *arena,
                 struct error *err); /* NULL: nothing to read */
    /* Appends the normalized text to *out. */
    bool (*apply)(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                  struct buf *out);
    /* True when the text surely stays as it is; may be NULL. */
    bool (*idle)(const struct normalizer_step *step, struct sv text);
    int form;
};

struct normalizer {
    struct normalizer_step *steps;
    size_t count;
    size_t cap;
};

bool normalizer_load(struct normalizer *n, const struct js_value *value, struct arena *arena,
                     struct error *err);
void normalizer_done(struct normalizer *n);
/* Adds a step by hand. */
struct normalizer_step *normalizer_add(struct normalizer *n, const char *name);
/* SentencePiece's own: `left` puts a mark in front, `clean` removes extra spaces, `charsmap` may be empty. */
struct normalizer_step *normalizer_add_sentencepiece(struct normalizer *n);
/* Does a step spell bytes as characters? */
bool normalizer_spells_bytes(const struct normalizer *n);
/* The normalized text: the input itself when nothing changes, else a copy in the arena. */
bool normalizer_apply(const struct normalizer *n, struct sv text, struct arena *arena,
                      struct regex_work *work, struct sv *result, struct error *err);

#endif
