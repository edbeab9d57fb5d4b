/* body_priv.h - a request body under construction: the members of its JSON object in their order on the wire.
 * Use: body_new, then the API's own members by body_add_*, then body_finish: it puts the sampling flags and the extra
 * keys in and writes the template.  A key that exists is replaced in its place, as in a Python dict.
 * Lifetime: texts are copied into the body's arena; body_finish frees all.
 * Threads: one owner.  Errors: body_finish fills struct error. */
#ifndef VB_BACKENDS_BODY_PRIV_H
#define VB_BACKENDS_BODY_PRIV_H

#include "backends/backend.h"
#include "base/arena.h"

enum body_slot { BODY_FIXED, BODY_PROMPT, BODY_OUTPUT_LEN };

struct body_member {
    struct sv key;       /* plain text */
    enum body_slot slot; /* what is filled in per request, between the two texts */
    struct sv before;    /* JSON text; for BODY_FIXED the whole value */
    struct sv after;
};

struct body {
    struct arena arena;
    struct body_member *members;
    size_t count;
    size_t cap;
};

void body_add_json(struct body *b, const char *key, const char *json);
void body_add_string(struct body *b, const char *key, const char *text);
/* The value is before + (prompt or output length) + after. */
void body_add_slot(struct body *b, const char *key, enum body_slot slot, const char *before,
                   const char *after);
/* "stream": true and "stream_options". */
void body_add_stream(struct body *b);
/* "ignore_eos" when the config has it on. */
void body_add_ignore_eos(struct body *b, const struct config *config);

bool body_finish(struct body *b, const struct config *config, struct body_template *t,
                 struct error *err);

#endif
