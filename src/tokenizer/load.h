/* load.h - from the text of a tokenizer.json (and of its neighbours) to a struct tokenizer.
 * tokenizer_load reads the files and calls this; tests and the fuzzer call it directly.
 * Threads: safe.  Errors: struct error; a part that is not supported is named. */
#ifndef VB_TOKENIZER_LOAD_H
#define VB_TOKENIZER_LOAD_H

#include "tokenizer/tokenizer.h"

struct tokenizer_files {
    const char *name;              /* for messages and the description */
    struct sv tokenizer_json;      /* required */
    struct sv config_json;         /* tokenizer_config.json; ptr NULL: absent */
    struct sv special_tokens_json; /* special_tokens_map.json; ptr NULL: absent */
    struct sv chat_template;       /* chat_template.jinja; ptr NULL: absent */
    bool file_only;                /* TOKENIZER_FILE_ONLY */
};

struct tokenizer *tokenizer_parse(const struct tokenizer_files *files, struct error *err);

#endif
