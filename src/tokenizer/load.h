/* load.h - from the text of a tokenizer.json (and of its neighbours) to a struct tokenizer.
 * tokenizer_load reads the files and calls this; tests and the fuzzer call it directly.
 * Threads: safe.  Errors: struct error; a part that is not supported is named. */
#ifndef VB_TOKENIZER_LOAD_H
#define VB_TOKENIZER_LOAD_H

#include "tokenizer/tokenizer.h"

struct tokenizer_files {
    const char *name;         /* for messages and the description */
    struct sv tokenizer_json; /* the main file, of whatever format; required */
    struct sv merges;         /* merges.txt beside vocab.json */
    struct sv added_json;     /* added_tokens.json; ptr NULL: absent */
    struct sv python[2];      /* tokenization_kimi.py, tokenizer.py, read for their pattern only */
    struct sv config_json;    /* tokenizer_config.json; ptr NULL: absent */
    struct sv model_config_json;   /* config.json; ptr NULL: absent */
    struct sv special_tokens_json; /* special_tokens_map.json; ptr NULL: absent */
    struct sv chat_template;       /* chat_template.jinja; ptr NULL: absent */
    bool named_only;               /* no token is special because of its flag alone */
    struct sv pad_token;           /* of the file's own padding; ptr NULL: none */
    bool file_only;                /* TOKENIZER_PLAIN */
    bool late;                     /* merges wait for the first text (late.c) */
};

/* Rank files, tekken.json, SentencePiece models, vocab.json with merges.txt: tokenizer_json is the text of the file. */
struct tokenizer *tiktoken_parse(const struct tokenizer_files *files, struct error *err);
struct tokenizer *tekken_parse(const struct tokenizer_files *files, struct error *err);
struct tokenizer *sentencepiece_parse(const struct tokenizer_files *files, struct error *err);
struct tokenizer *vocab_merges_parse(const struct tokenizer_files *files, struct error *err);
/* One of the encodings inside the program; NULL without an error when the name is none. */
struct tokenizer *builtin_load(const char *name);

struct tokenizer *tokenizer_parse(const struct tokenizer_files *files, struct error *err);

#endif
