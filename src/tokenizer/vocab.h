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

#define VOCAB_NONE      UINT32_MAX
#define VOCAB_MAX_ID    ((1u << 21) - 2)
#define VOCAB_MAX_BYTES 65535u

struct token {
    struct sv text; /* as the file writes it; ptr NULL: no such id */
    struct sv
        bytes; /* what the ByteLevel decoder makes of it; the text itself in other vocabularies */
    bool special; /* an added token with special: true */
    bool added;   /* not the model's own */
    bool changed; /* an added token that decodes as its normalized text, in `bytes` */
    bool spelled; /* every character of the text stands for a byte */
};

struct vocab {
    struct arena *arena;
    struct token *tokens;
    uint32_t limit; /* ids are below this */
    uint32_t cap;
    uint32_t count;  /* distinct entries */
    bool byte_level; /* texts spell bytes; set before the first vocab_add */
    bool raw_bytes;  /* texts are bytes and need not be UTF-8 (rank files) */
    uint64_t *slots; /* open addressing from text to id: hash << 32 | id + 1; 0 is free */
    size_t mask;
    size_t used;
};

void vocab_init(struct vocab *v, struct arena *arena);
void vocab_done(struct vocab *v);
/* Makes room for so many entries at once. */
void vocab_reserve(struct vocab *v, size_t count);

/* Adds the token of an id; the text is copied into the arena. */
bool vocab_add(struct vocab *v, uint32_t id, struct sv text, struct error *err);
/* Makes an added token decode as another text, which lives in the arena. */
void vocab_show_as(struct vocab *v, uint32_t id, struct sv text);
/* VOCAB_NONE when absent. */
uint32_t vocab_find(const struct vocab *v, struct sv text);
const struct token *vocab_get(const struct vocab *v, uint32_t id);

/* The byte that a character of a byte-level vocabulary stands for, or -1. */
int vocab_byte_of(uint32_t cp);
/* The character that stands for a byte. */
uint32_t vocab_char_of(unsigned char byte);

#endif
