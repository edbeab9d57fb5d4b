/* normalizer.h - changes a text before it is cut: null, NFC, and Sequences of these.
 * One row a kind in normalizer.c.  Use: normalizer_load; normalizer_apply.
 * Threads: read-only after loading.  Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_NORMALIZER_H
#define VB_TOKENIZER_NORMALIZER_H

#include "base/error.h"
#include "json/tree.h"

enum { NORMALIZER_MAX_STEPS = 16 };

/* Appends the normalized text to *out. */
typedef void normalizer_fn(struct sv text, struct buf *out);
/* May answer true when the text would stay as it is. */
typedef bool normalizer_idle_fn(struct sv text);

struct normalizer_type {
    const char *name;
    normalizer_idle_fn *idle;
    normalizer_fn *apply;
};

struct normalizer {
    const struct normalizer_type *steps[NORMALIZER_MAX_STEPS];
    size_t count;
};

bool normalizer_load(struct normalizer *n, const struct js_value *value, struct error *err);
/* The normalized text: the input itself when nothing changes, else a copy in the arena. */
struct sv normalizer_apply(const struct normalizer *n, struct sv text, struct arena *arena);

#endif
