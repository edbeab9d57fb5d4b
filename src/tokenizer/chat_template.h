/* chat_template.h - renders a tokenizer's chat template as Python's library does (jinja.h says what is understood).
 * Use: chat_template_compile (or chat_template_of a tokenizer); chat_template_render; chat_template_free.
 * Threads: read-only after compiling.  Errors: E_UNSUPPORTED with the construct that is beyond this version, when compiling;
 * a template that refuses the messages (raise_exception) is E_RESULT. */
#ifndef VB_TOKENIZER_CHAT_TEMPLATE_H
#define VB_TOKENIZER_CHAT_TEMPLATE_H

#include "tokenizer/tokenizer.h"

/* A variable of the template: "bos_token" and its text. */
struct chat_name {
    struct sv name;
    struct sv value;
};

struct chat_message {
    struct sv role;
    struct sv content;
};

struct chat_template;

struct chat_template *chat_template_compile(struct sv source, const struct chat_name *names,
                                            size_t name_count, struct error *err);
void chat_template_free(struct chat_template *c);

/* Appends the rendering of one message. */
void chat_template_render(const struct chat_template *c, struct sv role, struct sv content,
                          bool add_generation_prompt, struct buf *out);
/* Appends the rendering of several. */
bool chat_template_render_all(const struct chat_template *c, const struct chat_message *messages,
                              size_t count, bool add_generation_prompt, struct buf *out,
                              struct error *err);

/* The template of a tokenizer; *present says whether it has one at all (if not, NULL without an error). */
struct chat_template *chat_template_of(const struct tokenizer *t, bool *present, struct error *err);

#endif
