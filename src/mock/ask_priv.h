/* ask_priv.h - readers of single values that the request bodies of several APIs have.
 * Use: inside src/mock only.  Each consumes one value.
 * Threads: pure.  Errors: false; the first refusal is kept in *ask. */
#ifndef VB_MOCK_ASK_PRIV_H
#define VB_MOCK_ASK_PRIV_H

#include "json/scan.h"
#include "mock/ask.h"

/* Status 400 about a parameter (NULL: none); always false. */
bool mock_ask_refuse(struct mock_ask *ask, const char *param, const char *message);

/* A count, or null for "not given". */
bool mock_ask_count(struct mock_ask *ask, struct js_scan *s, const char *param, uint64_t *out);
bool mock_ask_flag(struct mock_ask *ask, struct js_scan *s, const char *param, bool *out);
bool mock_ask_model(struct mock_ask *ask, struct js_scan *s);
bool mock_ask_max_tokens(struct mock_ask *ask, struct js_scan *s);
/* Tokens of one JSON string, of messages: counted in the prompt, appended to `out` unless NULL. */
bool mock_ask_text(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out);
bool mock_ask_messages(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out);

/* Hands every member of the body to `member` and demands that nothing follows. */
typedef bool mock_ask_member_fn(struct mock_ask *ask, struct js_scan *s, struct sv key,
                                void *context);
bool mock_ask_body(struct mock_ask *ask, struct sv body, mock_ask_member_fn *member, void *context);

#endif
