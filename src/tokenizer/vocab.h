/* vocab.h - the tokens of one tokenizer: id to text and bytes, and the way back.
 * A byte-level vocabulary spells bytes as printable characters (GPT-2's map: 33-126, 161-172 and 174-255 stand for
 * themselves, the other 68 bytes in order for U+0100 onwards); it is turned into bytes once, while loading, so the
 * engine never sees those characters again.
 * Use: vocab_init, vocab_add for every entry; then read; vocab_done.  Texts live in the arena given.
 * Threads: read-only after loading.  Errors: struct error. */
#ifndef VB_TOKENIZER_VOCAB_H
#define VB_TOKENIZER_VOCAB_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>

#define VOCAB_NONE   UINT32_MAX
#define VOCAB_MAX_ID ((1u << 24) - 1)

struct token {
    struct sv text;    /* as the file writes it; ptr NULL: no such id */
    struct sv bytes;   /* what the ByteLevel decoder makes of it */
    bool byte_spelled; /* every character of the text stands for a byte */
    bool special;      /* an added token with special: true */
};

/* Open addressing from text (or bytes) to id. */
struct vocab_map {
    uint32_t *slots; /* id + 1; 0 is free */
    size_t mask;
    size_t used;
};

struct vocab {
    struct arena *arena;
    struct token *tokens;
    uint32_t limit; /* ids are below this */
    uint32_t cap;
    uint32_t count; /* distinct entries */
    bool closed;    /* the model's own entries are all in: by_bytes takes no more */
    struct vocab_map by_text;
    struct vocab_map by_bytes; /* only byte-spelled entries of the model */
};

void vocab_init(struct vocab *v, struct arena *arena);
void vocab_done(struct vocab *v);

/* Adds or replaces the token of an id; the text is copied into the arena. */
bool vocab_add(struct vocab *v, uint32_t id, struct sv text, struct error *err);
/* VOCAB_NONE when absent. */
uint32_t vocab_find(const struct vocab *v, struct sv text);
/* By the bytes of a byte-spelled entry. */
uint32_t vocab_find_bytes(const struct vocab *v, struct sv bytes);
const struct token *vocab_get(const struct vocab *v, uint32_t id);

/* The byte that a character of a byte-level vocabulary stands for, or -1. */
int vocab_byte_of(uint32_t cp);

#endif
