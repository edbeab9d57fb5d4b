/* decoder.h - token texts back to one text: the decoders of HF tokenizers, a Sequence flattened into a chain.
 * ByteLevel joins the bytes of all tokens and reads them as UTF-8 with repairs; no decoder at all joins the texts by
 * single spaces.
 * Use: decoder_load; decoder_run; decoder_done.  Threads: read-only after loading.
 * Errors: struct error; an unknown kind is named. */
#ifndef VB_TOKENIZER_DECODER_H
#define VB_TOKENIZER_DECODER_H

#include "base/arena.h"
#include "base/error.h"
#include "json/tree.h"
#include "tokenizer/regex.h"
#include "tokenizer/vocab.h"

struct decoder_step {
    const struct decoder_type *type;
    struct sv pattern; /* texts live in the tokenizer's arena */
    struct sv content;
    struct regex *regex;
    size_t start;
    size_t stop;
    bool cleanup;
    bool keep_first; /* Metaspace: the first one is a space like all others */
};

struct decoder {
    struct decoder_step *steps;
    size_t count;
    size_t cap;
    const struct vocab
        *spelled;     /* ByteLevel alone: where tokens are the bytes they spell; else NULL */
    struct vocab own; /* that one, when the tokenizer's vocabulary keeps texts */
};

bool decoder_load(struct decoder *d, const struct js_value *value, struct arena *arena,
                  struct error *err);
void decoder_done(struct decoder *d);
/* A step by hand, by the name of its type. */
struct decoder_step *decoder_add(struct decoder *d, const char *name);
/* Is it ByteLevel and nothing else? */
bool decoder_is_byte_level(const struct decoder *d);

/* After the vocabulary, which stays where it is, is complete. */
void decoder_settle(struct decoder *d, const struct vocab *vocab);

/* Appends valid UTF-8.  Ids without a token are dropped, special ones too with skip_special. */
void decoder_run(const struct decoder *d, const struct vocab *vocab, const uint32_t *ids,
                 size_t count, bool skip_special, struct buf *out);

#endif
