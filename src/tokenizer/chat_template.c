/* A chat template is a Jinja template with the variables that Python's library gives it: messages, tools, documents,
 * add_generation_prompt, the special tokens by name, and whatever else is wished. */
#include "tokenizer/chat_template.h"

#include "base/alloc.h"
#include "tokenizer/jinja.h"
#include "tokenizer/tokenizer_priv.h"

#include <stdlib.h>

struct chat_template {
    struct jinja *jinja;
    struct arena arena;
    struct jinja_value variables; /* but for messages and add_generation_prompt */
};

static bool render(const struct chat_template *c, struct jinja_value messages, bool generation,
                   struct arena *arena, struct buf *out, struct error *err)
{
    struct jinja_value variables = jinja_dict_new(arena);
    const struct jinja_dict *kept = c->variables.dict;
    for (size_t i = 0; i < kept->count; i++)
        jinja_dict_put(&variables, kept->keys[i], kept->values[i], arena);
    jinja_dict_set(&variables, SV_LIT("messages"), messages, arena);
    jinja_dict_set(&variables, SV_LIT("add_generation_prompt"), jinja_bool(generation), arena);
    return jinja_render(c->jinja, &variables, arena, out, err);
}

/* ---- arguments of apply_chat_template ------------------------------------------------------------------------------ */

enum argument_kind {
    ARGUMENT_TAKEN,    /* the caller gives it already: a TypeError in Python */
    ARGUMENT_FALSE,    /* does not go with text as the result and a prompt to go on from */
    ARGUMENT_IDLE,     /* is about the tokens, of which none are made */
    ARGUMENT_TEMPLATE, /* another template */
    ARGUMENT_LIST,     /* a variable: none or a list of objects */
};

struct argument {
    const char *name;
    enum argument_kind kind;
};

/* transformers 5: PreTrainedTokenizerBase.apply_chat_template.  Every other name is a variable of the template. */
static const struct argument arguments[] = {
    {"conversation", ARGUMENT_TAKEN},
    {"messages", ARGUMENT_TAKEN},
    {"add_generation_prompt", ARGUMENT_TAKEN},
    {"tokenize", ARGUMENT_TAKEN},
    {"continue_final_message", ARGUMENT_FALSE},
    {"return_assistant_tokens_mask", ARGUMENT_FALSE},
    {"sanitize_control_tokens", ARGUMENT_FALSE},
    {"padding", ARGUMENT_IDLE},
    {"truncation", ARGUMENT_IDLE},
    {"max_length", ARGUMENT_IDLE},
    {"return_tensors", ARGUMENT_IDLE},
    {"return_dict", ARGUMENT_IDLE},
    {"tokenizer_kwargs", ARGUMENT_IDLE},
    {"chat_template", ARGUMENT_TEMPLATE},
    {"tools", ARGUMENT_LIST},
    {"documents", ARGUMENT_LIST},
};

static bool is_false(const struct js_value *value)
{
    struct arena arena = {0};
    struct jinja_value v = jinja_from_json(value, &arena);
    bool yes = !jinja_is_true(v);
    arena_done(&arena);
    return yes;
}

static bool is_list_of_objects(const struct js_value *value)
{
    if (value->type != JS_ARRAY)
        return false;
    for (const struct js_value *item = value->first; item != NULL; item = item->next)
        if (item->type != JS_OBJECT)
            return false;
    return true;
}

static bool take_argument(struct chat_template *c, const struct argument *argument,
                          const struct js_value *value, struct sv *source, struct error *err)
{
    const char *name = argument->name;
    switch (argument->kind) {
    case ARGUMENT_TAKEN:
        return error_set(err, E_CONFIG, "'%s' cannot be given: the data set decides it", name);
    case ARGUMENT_FALSE:
        return is_false(value) ||
               error_set(err, E_CONFIG, "'%s' does not go with prompts that are sent as text",
                         name);
    case ARGUMENT_TEMPLATE:
        if (value->type == JS_NULL)
            return true;
        return js_as_sv(value, source) ||
               error_set(err, E_CONFIG, "'%s' must be the text of a template", name);
    case ARGUMENT_LIST:
        if (value->type != JS_NULL && !is_list_of_objects(value))
            return error_set(err, E_CONFIG, "'%s' must be a list of objects", name);
        jinja_dict_set(&c->variables, sv_from(name), jinja_from_json(value, &c->arena), &c->arena);
        return true;
    case ARGUMENT_IDLE:
    default:
        return true;
    }
}

static bool take_arguments(struct chat_template *c, const struct js_value *kwargs,
                           struct sv *source, struct error *err)
{
    if (kwargs == NULL)
        return true;
    for (const struct js_value *value = kwargs->first; value != NULL; value = value->next) {
        const struct argument *argument = SV_ROW(value->key, arguments);
        if (argument == NULL)
            jinja_dict_set(&c->variables, arena_copy(&c->arena, value->key),
                           jinja_from_json(value, &c->arena), &c->arena);
        else if (!take_argument(c, argument, value, source, err))
            return false;
    }
    return true;
}

/* ---- templates ------------------------------------------------------------------------------------------------------ */

struct chat_template *chat_template_compile(struct sv source, const struct chat_name *names,
                                            size_t name_count, const struct js_value *kwargs,
                                            struct error *err)
{
    struct chat_template *c = mem_new(struct chat_template);
    struct jinja_value none = {.kind = JINJA_NONE};
    c->variables = jinja_dict_new(&c->arena);
    for (size_t i = 0; i < name_count; i++)
        jinja_dict_set(&c->variables, arena_copy(&c->arena, names[i].name),
                       jinja_string(arena_copy(&c->arena, names[i].value)), &c->arena);
    /* Python's library hands these on as None. */
    jinja_dict_set(&c->variables, SV_LIT("tools"), none, &c->arena);
    jinja_dict_set(&c->variables, SV_LIT("documents"), none, &c->arena);
    if (take_arguments(c, kwargs, &source, err) && source.ptr != NULL)
        c->jinja = jinja_compile(source, err);
    if (c->jinja == NULL) {
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

bool chat_template_try(const struct chat_template *c, struct error *err)
{
    struct chat_message probe = {SV_LIT("user"), SV_LIT("Hello")};
    struct buf out = {0};
    bool ok = chat_template_render_all(c, &probe, 1, true, &out, err);
    buf_done(&out);
    return ok;
}

bool chat_template_render_all(const struct chat_template *c, const struct chat_message *messages,
                              size_t count, bool add_generation_prompt, struct buf *out,
                              struct error *err)
{
    struct arena arena = {0};
    struct jinja_value list = jinja_list_new(&arena);
    for (size_t i = 0; i < count; i++) {
        struct jinja_value message = jinja_dict_new(&arena);
        jinja_dict_set(&message, SV_LIT("role"), jinja_string(messages[i].role), &arena);
        jinja_dict_set(&message, SV_LIT("content"), jinja_string(messages[i].content), &arena);
        jinja_list_add(&list, message, &arena);
    }
    bool ok = render(c, list, add_generation_prompt, &arena, out, err);
    arena_done(&arena);
    return ok;
}

bool chat_template_render_json(const struct chat_template *c, const struct js_value *messages,
                               bool add_generation_prompt, struct buf *out, struct error *err)
{
    struct arena arena = {0};
    bool ok = render(c, jinja_from_json(messages, &arena), add_generation_prompt, &arena, out, err);
    arena_done(&arena);
    return ok;
}

void chat_template_render(const struct chat_template *c, struct sv role, struct sv content,
                          bool add_generation_prompt, struct buf *out)
{
    struct error err;
    struct chat_message message = {role, content};
    if (!chat_template_render_all(c, &message, 1, add_generation_prompt, out, &err))
        buf_add(out, content); /* a template that went well with the probe */
}

struct chat_template *chat_template_with(const struct tokenizer *t, const struct js_value *kwargs,
                                         bool *present, struct error *err)
{
    struct sv own;
    *present = t->chat_template.ptr != NULL || js_as_sv(js_get(kwargs, "chat_template"), &own);
    if (!*present)
        return NULL;
    struct chat_template *c =
        chat_template_compile(t->chat_template, t->chat_names, t->chat_name_count, kwargs, err);
    if (c == NULL || chat_template_try(c, err))
        return c;
    chat_template_free(c);
    return NULL;
}

struct chat_template *chat_template_of(const struct tokenizer *t, bool *present, struct error *err)
{
    return chat_template_with(t, NULL, present, err);
}
