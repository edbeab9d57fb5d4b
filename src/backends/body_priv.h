/* body_priv.h - a request body under construction: its members in their order on the wire.
 * Use: zeroed, then the API's own members by body_add_*, then body_finish: it puts the sampling flags and the extra
 * keys in and writes the template.  A key that exists is replaced in its place, as in a Python dict.
 * Lifetime: keys and pieces are constants or live in the body's arena; body_finish frees all.
 * Threads: one owner.  Errors: body_finish fills struct error. */
#ifndef VB_BACKENDS_BODY_PRIV_H
#define VB_BACKENDS_BODY_PRIV_H

#include "backends/api_priv.h"

/* In front of every part of a form. */
#define BODY_BOUNDARY AUDIO_BOUNDARY

/* Part of a value that differs from request to request. */
struct body_piece {
    enum body_part_kind kind;
    const char *text; /* PART_TEXT, PART_WRAPPER */
};

struct body_member {
    struct sv key;   /* plain text */
    struct sv json;  /* the value, JSON text, when it is the same for all requests (no pieces) */
    size_t elements; /* of that value when it is a list of anything but numbers */
    const struct body_piece *pieces;
    size_t piece_count;
    bool optional; /* the one piece brings comma and key itself */
};

struct body {
    struct arena arena;
    struct body_member *members;
    size_t count;
    size_t cap;
    bool is_form;
};

#define BODY_COUNT(pieces) (sizeof(pieces) / sizeof((pieces)[0]))

void body_add_model(struct body *b);
void body_add_json(struct body *b, const char *key, const char *json);
/* The value is made of pieces, which must outlive body_finish. */
void body_add_pieces(struct body *b, const char *key, const struct body_piece *pieces,
                     size_t count);
/* A member that only some requests have; never the first. */
void body_add_optional(struct body *b, const char *key, const struct body_piece *piece);
void body_add_prompt(struct body *b, const char *key);
void body_add_output_len(struct body *b, const char *key);
/* "stream": true and "stream_options". */
void body_add_stream(struct body *b);
/* vLLM's "truncate_prompt_tokens": cut to what the model takes. */
void body_add_truncate(struct body *b, const struct config *config);
/* "ignore_eos" when the config has it on. */
void body_add_ignore_eos(struct body *b, const struct config *config);

bool body_finish(struct body *b, const struct config *config, struct body_template *t,
                 struct error *err);

#endif
