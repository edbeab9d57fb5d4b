/* vocab.h - the tokens of one tokenizer: id to bytes, and the way back.
 * A byte-level vocabulary spells bytes as printable characters (GPT-2's map: 33-126, 161-172 and 174-255 stand for
 * themselves, the other 68 bytes in order for U+0100 onwards).  Such texts are kept as the bytes they spell, which says the
 * same; a text with another character is kept as it is.
 * Use: vocab_init, vocab_reserve when sizes are known, vocab_add for every entry; then read; vocab_done.
 * All bytes lie in one block: views of it die at the next vocab_add or vocab_show_as.
 * Threads: read-only after loading.  Errors: struct error. */
#ifndef VB_TOKENIZER_VOCAB_H
#define VB_TOKENIZER_VOCAB_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>
#include <string.h>

#define VOCAB_NONE      UINT32_MAX
#define VOCAB_MAX_ID    ((1u << 21) - 2)
#define VOCAB_MAX_BYTES 65535u

enum {
    VOCAB_SLACK = 16,  /* bytes behind the last token that may be read */
    VOCAB_STAGED = 16, /* tokens that wait for their slots */
};

enum token_flag {
    TOKEN_HERE = 1 << 0,    /* there is such an id */
    TOKEN_SPECIAL = 1 << 1, /* an added token with special: true */
    TOKEN_ADDED = 1 << 2,   /* not the model's own */
    TOKEN_SPELLED = 1 << 3, /* the file spells these bytes in characters */
    TOKEN_BROKEN = 1 << 4,  /* not UTF-8 by itself */
    TOKEN_CHANGED =
        1
        << 5, /* decodes as another text than the file's; the first record stands before the bytes */
};

struct token {
    uint32_t at; /* its bytes in the block */
    uint16_t len;
    uint8_t flags;
};

struct vocab {
    struct buf block;
    struct token *tokens;
    uint32_t limit; /* ids are below this */
    uint32_t cap;
    uint32_t count;  /* entries */
    bool byte_level; /* texts spell bytes; set before the first vocab_add */
    bool raw_bytes;  /* texts are bytes and need not be UTF-8 (rank files) */
    bool repeats;    /* some text has several ids */
    uint32_t *
        slots; /* open addressing from bytes to id: bits of the hash, then 21 of id + 1; 0 is free */
    size_t mask;
    size_t used;
    struct {
        uint32_t id;
        uint32_t hash;
    } staged[VOCAB_STAGED];
    unsigned staged_count;
};

void vocab_init(struct vocab *v);
void vocab_done(struct vocab *v);
/* Makes room at once for so many entries and bytes of all their texts, as far as they are known. */
void vocab_reserve(struct vocab *v, size_t count, size_t bytes);

/* Adds the token of an id; the text is copied.  Of several ids of one text the first is found. */
bool vocab_add(struct vocab *v, uint32_t id, struct sv text, struct error *err);
/* The same for many, of which none can be found before vocab_commit: each asks for its slot's memory, which has arrived when
 * the last of them go in. */
bool vocab_stage(struct vocab *v, uint32_t id, struct sv text, struct error *err);
void vocab_commit(struct vocab *v);
/* Makes an added token decode as another text. */
bool vocab_show_as(struct vocab *v, uint32_t id, struct sv text, struct error *err);
/* VOCAB_NONE when absent. */
uint32_t vocab_find(const struct vocab *v, struct sv text);
/* The text as the file writes it, made in `spare` when it is not kept like that; ptr NULL: no such id. */
struct sv vocab_text(const struct vocab *v, uint32_t id, struct buf *spare);

/* For many lookups: keys as the vocabulary keeps them.  `out` has room for the bytes of the text; returns how many, or
 * SIZE_MAX when the text does not spell bytes. */
size_t vocab_spell(struct sv text, char *out);
struct vocab_key {
    const char *ptr;
    uint32_t len;
    uint32_t hash; /* vocab_hash */
};
uint32_t vocab_hash(const char *ptr, size_t len);
/* ids[i] of the entry whose kept bytes are keys[i], all of them spelled in a byte-level vocabulary. */
void vocab_find_many(const struct vocab *v, const struct vocab_key *keys, size_t count,
                     uint32_t *ids);

static inline unsigned vocab_flags(const struct vocab *v, uint32_t id)
{
    return id < v->limit ? v->tokens[id].flags : 0;
}

static inline bool vocab_has(const struct vocab *v, uint32_t id)
{
    return (vocab_flags(v, id) & TOKEN_HERE) != 0;
}

static inline void vocab_mark(struct vocab *v, uint32_t id, unsigned flags)
{
    v->tokens[id].flags = (uint8_t)(v->tokens[id].flags | flags);
}

/* The bytes that the token of an id below the limit stands for; a text that spells none stands for itself. */
static inline struct sv vocab_bytes(const struct vocab *v, uint32_t id)
{
    return sv_make(v->block.ptr + v->tokens[id].at, v->tokens[id].len);
}

/* The token of an id below the limit as the file has it, whatever it is shown as. */
static inline struct token vocab_kept(const struct vocab *v, uint32_t id)
{
    struct token token = v->tokens[id];
    if ((token.flags & TOKEN_CHANGED) != 0)
        memcpy(&token, v->block.ptr + token.at - sizeof(token), sizeof(token));
    return token;
}

/* The byte that a character of a byte-level vocabulary stands for, or -1. */
int vocab_byte_of(uint32_t cp);
/* The character that stands for a byte. */
uint32_t vocab_char_of(unsigned char byte);

#endif
