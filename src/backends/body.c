/* Puts a request body together.  All keys of an API pass through one ordered list, so that the rule "an extra key
 * replaces in its place, else it is appended" is written once for all of them. */
#include "backends/body_priv.h"

#include "base/alloc.h"
#include "json/tree.h"
#include "json/writer.h"

#include <stdlib.h>

void body_template_done(struct body_template *t)
{
    buf_done(&t->head);
    buf_done(&t->middle);
    buf_done(&t->tail);
    *t = (struct body_template){0};
}

static void set_member(struct body *b, struct body_member member)
{
    for (size_t i = 0; i < b->count; i++) {
        if (sv_eq(b->members[i].key, member.key)) {
            b->members[i] = member;
            return;
        }
    }
    MEM_GROW(b->members, b->count, b->cap);
    b->members[b->count++] = member;
}

void body_add_json(struct body *b, const char *key, const char *json)
{
    set_member(b, (struct body_member){.key = sv_from(key), .before = sv_from(json)});
}

void body_add_string(struct body *b, const char *key, const char *text)
{
    struct buf json = {0};
    struct js_writer w;
    js_writer_init(&w, &json);
    js_cstring(&w, text);
    struct sv copy = arena_copy(&b->arena, buf_sv(&json));
    buf_done(&json);
    set_member(b, (struct body_member){.key = sv_from(key), .before = copy});
}

void body_add_slot(struct body *b, const char *key, enum body_slot slot, const char *before,
                   const char *after)
{
    set_member(b, (struct body_member){.key = sv_from(key),
                                       .slot = slot,
                                       .before = sv_from(before),
                                       .after = sv_from(after)});
}

void body_add_stream(struct body *b)
{
    body_add_json(b, "stream", "true");
    body_add_json(b, "stream_options", "{\"include_usage\":true}");
}

void body_add_ignore_eos(struct body *b, const struct config *config)
{
    if (config->ignore_eos && !config->plain_openai)
        body_add_json(b, "ignore_eos", "true");
}

/* Sampling parameters that OpenAI's own API does not know. */
static bool beyond_openai(struct sv key)
{
    return sv_eq(key, SV_LIT("top_k")) || sv_eq(key, SV_LIT("min_p")) ||
           sv_eq(key, SV_LIT("repetition_penalty"));
}

static void add_sampling(struct body *b, const struct config *config)
{
    for (size_t i = 0; i < config->sampling.count; i++) {
        const struct config_pair *pair = &config->sampling.items[i];
        if (!config->plain_openai || !beyond_openai(pair->key))
            set_member(b, (struct body_member){.key = pair->key, .before = pair->value});
    }
}

/* The keys of --extra-body, written compactly, numbers as they were given. */
static bool add_extra(struct body *b, const struct config *config, struct error *err)
{
    if (config->extra_body == NULL)
        return true;
    const struct js_value *extra =
        js_parse(&b->arena, sv_from(config->extra_body), "'--extra-body'", err);
    if (extra == NULL)
        return false;
    if (extra->type != JS_OBJECT)
        return error_set(err, E_USAGE, "'--extra-body' must be a JSON object");
    struct buf json = {0};
    for (const struct js_value *value = extra->first; value != NULL; value = value->next) {
        struct js_writer w;
        buf_reset(&json);
        js_writer_init(&w, &json);
        js_write_value(&w, value);
        struct sv copy = arena_copy(&b->arena, buf_sv(&json));
        set_member(b, (struct body_member){.key = value->key, .before = copy});
    }
    buf_done(&json);
    return true;
}

static void write_template(const struct body *b, struct body_template *t)
{
    struct buf *out = &t->head;
    buf_add_char(out, '{');
    for (size_t i = 0; i < b->count; i++) {
        const struct body_member *member = &b->members[i];
        buf_add_str(out, i > 0 ? ",\"" : "\"");
        js_escape(out, member->key);
        buf_add_str(out, "\":");
        buf_add(out, member->before);
        if (member->slot == BODY_PROMPT) {
            t->has_prompt = true;
            out = &t->middle;
        } else if (member->slot == BODY_OUTPUT_LEN) {
            t->has_output_len = true;
            out = &t->tail;
        }
        buf_add(out, member->after);
    }
    buf_add_char(out, '}');
}

bool body_finish(struct body *b, const struct config *config, struct body_template *t,
                 struct error *err)
{
    add_sampling(b, config);
    bool ok = add_extra(b, config, err);
    if (ok) {
        *t = (struct body_template){0};
        write_template(b, t);
    }
    arena_done(&b->arena);
    free(b->members);
    *b = (struct body){0};
    return ok;
}
