/* tokenizer.h - text to token ids and back, as the server does it.
 * Use: tokenizer_load for local files, or tokenizer_new_remote around a server's /tokenize and /detokenize; then
 * tokenizer_encode / tokenizer_decode; tokenizer_free.
 * Threads: a tokenizer may be used by many threads, each with its own struct token_ids / buf.
 * Errors: struct error; an unsupported part of a file is named, never ignored. */
#ifndef VB_TOKENIZER_TOKENIZER_H
#define VB_TOKENIZER_TOKENIZER_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>

struct token_ids {
    uint32_t *items;
    size_t count;
    size_t cap;
};
void token_ids_done(struct token_ids *ids);

struct tokenizer;

/* `path`: a tokenizer file (tokenizer.json, a rank file of tiktoken, tekken.json, a SentencePiece model) or a folder that
 * holds one, or vocab.json with merges.txt; tokenizer_config.json and the like beside it are read too.
 * add_bos_token and add_eos_token of the configuration are obeyed for SentencePiece models, as Python's library does. */
struct tokenizer *tokenizer_load(const char *path, struct error *err);
/* The merges of a tokenizer.json are read at the first text to encode, which then fails when they are bad. */
/* As above, but special tokens are added as tokenizer.json alone says. */
struct tokenizer *tokenizer_load_plain(const char *path, struct error *err);

/* What a tokenizer is for: SERVE obeys the configuration beside the file as a server does, PLAIN is the file alone. */
enum tokenizer_use { TOKENIZER_SERVE, TOKENIZER_PLAIN };

/* Finds a tokenizer by name: a built-in encoding, a local folder or a file.  When there is none of these NULL is returned
 * and *missing (may be NULL) is set; a tokenizer that is there but cannot be loaded is an error without it. */
struct tokenizer *tokenizer_resolve(const char *id, enum tokenizer_use use, bool *missing,
                                    struct error *err);
/* As tokenizer_load, for a folder that belongs to the name: messages and the description say that. */
struct tokenizer *tokenizer_load_folder(const char *folder, const char *name,
                                        enum tokenizer_use use, struct error *err);
/* The names of the files that tokenizers are loaded from, best first, and of those that are read beside one of these; NULL
 * behind the last.  Whoever fetches files fetches these. */
const char *tokenizer_main_file(size_t i);
const char *tokenizer_side_file(const char *main_file, size_t i);

/* Posts `body` (JSON) to the server path ("/tokenize", "/detokenize") and appends the reply body.  Called from as many
 * threads at a time as there are connections. */
typedef bool tokenizer_post_fn(void *user, const char *path, struct sv body, struct buf *reply,
                               struct error *err);
struct tokenizer_server {
    tokenizer_post_fn *post;
    void *user;
    const char *url;      /* without the path, for messages */
    unsigned connections; /* at most, at a time; 0 counts as 1 */
};
/* A tokenizer that asks the server; probes it at once (text "test"; vocabulary estimated as
 * max(2 * max id, 131072), HUB_AND_TOKENIZERS 4).  Up to 64 MiB of answers are kept.  *server is copied. */
struct tokenizer *tokenizer_new_remote(const char *model, const struct tokenizer_server *server,
                                       struct error *err);
void tokenizer_free(struct tokenizer *t);

/* Appends to *ids. */
bool tokenizer_encode(const struct tokenizer *t, struct sv text, bool add_special,
                      struct token_ids *ids, struct error *err);
/* Appends UTF-8; incomplete sequences become U+FFFD as the reference's lossy decode. */
bool tokenizer_decode(const struct tokenizer *t, const uint32_t *ids, size_t count,
                      bool skip_special, struct buf *out, struct error *err);

/* Many texts over several threads (0: as many as cores, or as connections to the server); ids[i] is appended to.  The
 * first failure is reported. */
bool tokenizer_encode_many(const struct tokenizer *t, const struct sv *texts, size_t count,
                           bool add_special, unsigned threads, struct token_ids *ids,
                           struct error *err);

/* The text of one token as the vocabulary has it; ptr NULL when there is none (or the server knows only). */
struct sv tokenizer_token_text(const struct tokenizer *t, uint32_t id);

/* Entries without / with added tokens (Python's vocab_size and len(tokenizer)). */
uint32_t tokenizer_vocab_size(const struct tokenizer *t);
uint32_t tokenizer_full_size(const struct tokenizer *t);
/* Tokens that encode(text, add_special) adds to a single text. */
uint32_t tokenizer_special_count(const struct tokenizer *t);
/* Is the id one of the special ids (all_special_ids of Python's tokenizer)? */
bool tokenizer_is_special(const struct tokenizer *t, uint32_t id);
bool tokenizer_is_remote(const struct tokenizer *t);
/* Questions to the server that may be under way at a time; 0: a local tokenizer, cores are the limit. */
unsigned tokenizer_connections(const struct tokenizer *t);
/* One sentence: kind and vocabulary size, for the log. */
const char *tokenizer_describe(const struct tokenizer *t);

#endif
