/* chat_template.h - renders a tokenizer's chat template as Python's library does (jinja.h says what is understood).
 * Use: chat_template_of a tokenizer, or chat_template_compile and chat_template_try; chat_template_render...;
 * chat_template_free.
 * Threads: read-only after compiling.  Errors: E_UNSUPPORTED with the construct that is beyond this version; a template
 * that refuses the messages (raise_exception) is E_RESULT; an argument that cannot be given is E_CONFIG. */
#ifndef VB_TOKENIZER_CHAT_TEMPLATE_H
#define VB_TOKENIZER_CHAT_TEMPLATE_H

#include "json/tree.h"
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

/* The template of a tokenizer, tried with one message so that what it refuses is known before the first prompt;
 * *present says whether it has one at all (if not, NULL without an error). */
struct chat_template *chat_template_of(const struct tokenizer *t, bool *present, struct error *err);
/* The same with further arguments for apply_chat_template of Python's library: an object, or NULL.  Their members are
 * variables of the template and win over special tokens of the same name; "chat_template" is another template. */
struct chat_template *chat_template_with(const struct tokenizer *t, const struct js_value *kwargs,
                                         bool *present, struct error *err);

/* Everything is copied; `kwargs` as above. */
struct chat_template *chat_template_compile(struct sv source, const struct chat_name *names,
                                            size_t name_count, const struct js_value *kwargs,
                                            struct error *err);
/* Does it take a message of a user?  Some constructs are found out only when they are met. */
bool chat_template_try(const struct chat_template *c, struct error *err);
void chat_template_free(struct chat_template *c);

/* Appends the rendering of one message. */
void chat_template_render(const struct chat_template *c, struct sv role, struct sv content,
                          bool add_generation_prompt, struct buf *out);
/* Appends the rendering of several. */
bool chat_template_render_all(const struct chat_template *c, const struct chat_message *messages,
                              size_t count, bool add_generation_prompt, struct buf *out,
                              struct error *err);
/* The same for messages of any form: a JSON array. */
bool chat_template_render_json(const struct chat_template *c, const struct js_value *messages,
                               bool add_generation_prompt, struct buf *out, struct error *err);

#endif
