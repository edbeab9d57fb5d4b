/* A chat template is a Jinja template with the variables that Python's library gives it: messages,
 * add_generation_prompt and the special tokens by name.  A template is tried when it is compiled, so that what it refuses is
 * known before the first prompt. */
#include "tokenizer/chat_template.h"

#include "base/alloc.h"
#include "tokenizer/jinja.h"
#include "tokenizer/tokenizer_priv.h"

#include <stdlib.h>

struct chat_template {
    struct jinja *jinja;
    struct arena arena;
    const struct chat_name *names;
    size_t name_count;
};

static bool render(const struct chat_template *c, const struct chat_message *messages, size_t count,
                   bool add_generation_prompt, struct buf *out, struct error *err)
{
    struct arena arena = {0};
    struct jinja_value variables = jinja_dict_new(&arena);
    struct jinja_value list = jinja_list_new(&arena);
    for (size_t i = 0; i < count; i++) {
        struct jinja_value message = jinja_dict_new(&arena);
        jinja_dict_set(&message, SV_LIT("role"), jinja_string(messages[i].role), &arena);
        jinja_dict_set(&message, SV_LIT("content"), jinja_string(messages[i].content), &arena);
        jinja_list_add(&list, message, &arena);
    }
    jinja_dict_set(&variables, SV_LIT("messages"), list, &arena);
    /* Python's library hands these on as None. */
    jinja_dict_set(&variables, SV_LIT("tools"), (struct jinja_value){.kind = JINJA_NONE}, &arena);
    jinja_dict_set(&variables, SV_LIT("documents"), (struct jinja_value){.kind = JINJA_NONE},
                   &arena);
    jinja_dict_set(&variables, SV_LIT("add_generation_prompt"), jinja_bool(add_generation_prompt),
                   &arena);
    for (size_t i = 0; i < c->name_count; i++)
        jinja_dict_set(&variables, c->names[i].name, jinja_string(c->names[i].value), &arena);
    bool ok = jinja_render(c->jinja, &variables, &arena, out, err);
    arena_done(&arena);
    return ok;
}

static void copy_names(struct chat_template *c, const struct chat_name *names, size_t count)
{
    struct chat_name *copy = arena_array(&c->arena, count + 1, sizeof(*copy));
    for (size_t i = 0; i < count; i++)
        copy[i] = (struct chat_name){arena_copy(&c->arena, names[i].name),
                                     arena_copy(&c->arena, names[i].value)};
    c->names = copy;
    c->name_count = count;
}

struct chat_template *chat_template_compile(struct sv source, const struct chat_name *names,
                                            size_t name_count, struct error *err)
{
    struct chat_message probe = {SV_LIT("user"), SV_LIT("Hello")};
    struct buf out = {0};
    struct jinja *jinja = jinja_compile(source, err);
    if (jinja == NULL)
        return NULL;
    struct chat_template *c = mem_new(struct chat_template);
    c->jinja = jinja;
    copy_names(c, names, name_count);
    bool ok = render(c, &probe, 1, true, &out, err) && render(c, &probe, 1, false, &out, err);
    buf_done(&out);
    if (!ok) {
        chat_template_free(c);
        return NULL;
    }
    return c;
}

void chat_template_free(struct chat_template *c)
{
    if (c == NULL)
        return;
    jinja_free(c->jinja);
    arena_done(&c->arena);
    free(c);
}

bool chat_template_render_all(const struct chat_template *c, const struct chat_message *messages,
                              size_t count, bool add_generation_prompt, struct buf *out,
                              struct error *err)
{
    return render(c, messages, count, add_generation_prompt, out, err);
}

void chat_template_render(const struct chat_template *c, struct sv role, struct sv content,
                          bool add_generation_prompt, struct buf *out)
{
    struct error err;
    struct chat_message message = {role, content};
    if (!render(c, &message, 1, add_generation_prompt, out, &err))
        buf_add(out, content); /* a template that went well with the probe */
}

struct chat_template *chat_template_of(const struct tokenizer *t, bool *present, struct error *err)
{
    *present = t->chat_template.ptr != NULL;
    if (!*present)
        return NULL;
    return chat_template_compile(t->chat_template, t->chat_names, t->chat_name_count, err);
}
