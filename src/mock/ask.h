/* ask.h - what a generation or tokenizer request asks for, read from its JSON body.
 * Use: mock_ask_parse; on false answer with ask->status and the message.  Views point into the body.
 * Threads: pure.  Errors: false, with status, message and the parameter's name filled in. */
#ifndef VB_MOCK_ASK_H
#define VB_MOCK_ASK_H

#include "mock/tokens.h"

#include <stdbool.h>

struct mock_ask {
    bool chat;
    struct sv model; /* resolved text as sent between the quotes; NULL pointer when absent */
    uint64_t prompt_tokens;
    bool has_prompt;
    bool has_max_tokens;
    uint64_t max_tokens;
    uint64_t min_tokens;
    bool ignore_eos;
    bool stream;
    bool include_usage;
    bool continuous_usage;
    bool logprobs; /* wanted at all */

    /* when parsing failed */
    int status;
    const char *param; /* NULL: none */
    char message[200];
};

/* A body of /v1/completions, or of /v1/chat/completions when `chat`. */
bool mock_ask_parse(struct mock_ask *ask, bool chat, struct sv body);

/* A body of /tokenize ("prompt" or "messages"); the ids are appended. */
bool mock_ask_tokenize(struct mock_ask *ask, struct sv body, struct mock_tokens *out);
/* A body of /detokenize ("tokens"); the text is appended. */
bool mock_ask_detokenize(struct mock_ask *ask, struct sv body, struct buf *out);

#endif
