/* chat_template.h - renders simple chat templates exactly, and refuses all others by name.
 * Understood: text, {{ expressions }} of string literals, message['role'], message['content'] (or message.role ...)
 * and special-token names joined by + or ~, {% for message in messages %}, {% if add_generation_prompt %} with
 * {% else %}, comments, and white-space control, under trim_blocks and lstrip_blocks as Python's library sets them.
 * Use: chat_template_compile (or chat_template_of a tokenizer); chat_template_render; chat_template_free.
 * Threads: read-only after compiling.  Errors: E_UNSUPPORTED with the construct that is beyond this version. */
#ifndef VB_TOKENIZER_CHAT_TEMPLATE_H
#define VB_TOKENIZER_CHAT_TEMPLATE_H

#include "tokenizer/tokenizer.h"

/* A variable of the template: "bos_token" and its text. */
struct chat_name {
    struct sv name;
    struct sv value;
};

struct chat_template;

struct chat_template *chat_template_compile(struct sv source, const struct chat_name *names,
                                            size_t name_count, struct error *err);
void chat_template_free(struct chat_template *c);

/* Appends the rendering of one message. */
void chat_template_render(const struct chat_template *c, struct sv role, struct sv content,
                          bool add_generation_prompt, struct buf *out);

/* The template of a tokenizer; *present says whether it has one at all (if not, NULL without an error). */
struct chat_template *chat_template_of(const struct tokenizer *t, bool *present, struct error *err);

#endif
