/* ask.h - what a generation, pooling or tokenizer request asks for, read from its body.
 * Use: the mock_ask_* of the API; on false answer with ask->status and the message.  Views point into the body.
 * Threads: pure.  Errors: false, with status, message and the parameter's name filled in. */
#ifndef VB_MOCK_ASK_H
#define VB_MOCK_ASK_H

#include "mock/tokens.h"

#include <stdbool.h>

enum mock_api {
    MOCK_API_COMPLETIONS,
    MOCK_API_CHAT,
    MOCK_API_RESPONSES,
    MOCK_API_AUDIO,
    MOCK_API_EMBEDDINGS,
    MOCK_API_POOLING,
    MOCK_API_RERANK,
};

/* Of a pooling reply. */
enum mock_encoding {
    MOCK_ENCODING_FLOAT,
    MOCK_ENCODING_BASE64,
    MOCK_ENCODING_BYTES,
    MOCK_ENCODING_BYTES_ONLY,
};

struct mock_ask {
    enum mock_api api;
    bool chat;       /* the prompt is messages, or the answer comes in deltas */
    uint64_t inputs; /* pooling: texts, or documents of a rerank */
    enum mock_encoding encoding;
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

/* A body of /v1/responses. */
bool mock_ask_responses(struct mock_ask *ask, struct sv body);
/* A form of /v1/audio/transcriptions; `fields`: the request's header lines, which name the form's boundary. */
bool mock_ask_audio(struct mock_ask *ask, struct sv fields, struct sv body);
/* A body of /v1/embeddings and the like, /pooling or /v1/rerank. */
bool mock_ask_pool(struct mock_ask *ask, enum mock_api api, struct sv body);

/* A body of /tokenize ("prompt" or "messages"); the ids are appended. */
bool mock_ask_tokenize(struct mock_ask *ask, struct sv body, struct mock_tokens *out);
/* A body of /detokenize ("tokens"); the text is appended. */
bool mock_ask_detokenize(struct mock_ask *ask, struct sv body, struct buf *out);

#endif
