/* Puts a request body together.  All keys of an API pass through one ordered list, so that the rule "an extra key
 * replaces in its place, else it is appended" is written once for all of them.  The list is then written as JSON or as
 * a form, each member one stretch of parts. */
#include "backends/body_priv.h"

#include "base/alloc.h"
#include "json/tree.h"
#include "json/writer.h"

#include <assert.h>
#include <stdlib.h>

void body_template_done(struct body_template *t)
{
    arena_done(&t->arena);
    *t = (struct body_template){0};
}

bool body_has(const struct body_template *t, enum body_part_kind kind)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->parts[i].kind == kind)
            return true;
    }
    return false;
}

void body_model_text(const struct body_template *t, const char *name, struct buf *out)
{
    if (t->is_form) {
        buf_add_str(out, name);
        return;
    }
    struct js_writer w;
    js_writer_init(&w, out);
    js_cstring(&w, name);
}

/* ---- members --------------------------------------------------------------------------------------------------- */

static struct body_member *find_member(const struct body *b, struct sv key)
{
    for (size_t i = 0; i < b->count; i++) {
        if (sv_eq(b->members[i].key, key))
            return &b->members[i];
    }
    return NULL;
}

static void set_member(struct body *b, struct body_member member)
{
    struct body_member *there = find_member(b, member.key);
    if (there != NULL) {
        *there = member;
        return;
    }
    MEM_GROW(b->members, b->count, b->cap);
    b->members[b->count++] = member;
}

void body_add_json(struct body *b, const char *key, const char *json)
{
    set_member(b, (struct body_member){.key = sv_from(key), .json = sv_from(json)});
}

void body_add_pieces(struct body *b, const char *key, const struct body_piece *pieces, size_t count)
{
    set_member(b,
               (struct body_member){.key = sv_from(key), .pieces = pieces, .piece_count = count});
}

void body_add_optional(struct body *b, const char *key, const struct body_piece *piece)
{
    set_member(b, (struct body_member){
                      .key = sv_from(key), .pieces = piece, .piece_count = 1, .optional = true});
}

void body_add_model(struct body *b)
{
    static const struct body_piece pieces[] = {{PART_MODEL, NULL}};
    body_add_pieces(b, "model", pieces, BODY_COUNT(pieces));
}

void body_add_prompt(struct body *b, const char *key)
{
    static const struct body_piece pieces[] = {{PART_PROMPT, NULL}};
    body_add_pieces(b, key, pieces, BODY_COUNT(pieces));
}

void body_add_output_len(struct body *b, const char *key)
{
    static const struct body_piece pieces[] = {{PART_OUTPUT_LEN, NULL}};
    body_add_pieces(b, key, pieces, BODY_COUNT(pieces));
}

void body_add_stream(struct body *b)
{
    body_add_json(b, "stream", "true");
    body_add_json(b, "stream_options", "{\"include_usage\":true}");
}

void body_add_truncate(struct body *b, const struct config *config)
{
    if (!config->plain_openai)
        body_add_json(b, "truncate_prompt_tokens", "-1");
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
            set_member(b, (struct body_member){.key = pair->key, .json = pair->value});
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
        struct body_member member = {.key = value->key,
                                     .json = arena_copy(&b->arena, buf_sv(&json))};
        if (value->type == JS_ARRAY && value->first != NULL && value->first->type != JS_NUMBER)
            member.elements = value->count;
        set_member(b, member);
    }
    buf_done(&json);
    return true;
}

/* ---- parts ----------------------------------------------------------------------------------------------------- */

struct part_writer {
    struct body_template *t;
    struct buf text; /* not yet a part */
};

static void add_part(struct part_writer *w, enum body_part_kind kind, struct sv text)
{
    struct body_template *t = w->t;
    assert(t->count < BODY_MAX_PARTS);
    t->parts[t->count++] = (struct body_part){kind, text};
}

static void flush_text(struct part_writer *w)
{
    if (w->text.len > 0)
        add_part(w, PART_TEXT, arena_copy(&w->t->arena, buf_sv(&w->text)));
    buf_reset(&w->text);
}

static void add_pieces(struct part_writer *w, const struct body_member *member)
{
    for (size_t i = 0; i < member->piece_count; i++) {
        const struct body_piece *piece = &member->pieces[i];
        if (piece->kind == PART_TEXT) {
            buf_add_str(&w->text, piece->text);
            continue;
        }
        flush_text(w);
        add_part(w, piece->kind, sv_from(piece->text));
    }
}

static void write_json(const struct body *b, struct part_writer *w)
{
    buf_add_char(&w->text, '{');
    for (size_t i = 0; i < b->count; i++) {
        const struct body_member *member = &b->members[i];
        if (!member->optional) {
            buf_add_str(&w->text, i > 0 ? ",\"" : "\"");
            js_escape(&w->text, member->key);
            buf_add_str(&w->text, "\":");
        }
        buf_add(&w->text, member->json);
        add_pieces(w, member);
    }
    flush_text(w);
    add_part(w, PART_EXTRA, sv_make(NULL, 0));
    buf_add_char(&w->text, '}');
    flush_text(w);
}

/* A value as Python's str() gives it; lists and objects stay JSON. */
static void write_form_value(struct buf *out, struct sv json)
{
    if (sv_starts(json, SV_LIT("\"")))
        js_unescape(sv_make(json.ptr + 1, json.len - 2), out);
    else if (sv_eq(json, SV_LIT("true")))
        buf_add_str(out, "True");
    else if (sv_eq(json, SV_LIT("false")))
        buf_add_str(out, "False");
    else if (sv_eq(json, SV_LIT("null")))
        buf_add_str(out, "None");
    else
        buf_add(out, json);
}

/* A field's name in quotes: line ends and quotes would end it (RFC 7578 leaves this to the HTML standard). */
static void write_form_name(struct buf *out, struct sv name)
{
    for (size_t i = 0; i < name.len; i++) {
        char c = name.ptr[i];
        if (c == '"' || c == '\r' || c == '\n')
            buf_add_fmt(out, "%%%02X", (unsigned)c);
        else
            buf_add_char(out, c);
    }
}

/* multipart/form-data (RFC 7578): the file, then the members. */
static void write_form(const struct body *b, struct part_writer *w)
{
    buf_add_str(&w->text, "--" BODY_BOUNDARY "\r\nContent-Type: ");
    flush_text(w);
    add_part(w, PART_FILE_TYPE, sv_make(NULL, 0));
    buf_add_str(&w->text, "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"");
    flush_text(w);
    add_part(w, PART_FILE_NAME, sv_make(NULL, 0));
    buf_add_str(&w->text, "\"\r\n\r\n");
    flush_text(w);
    add_part(w, PART_FILE, sv_make(NULL, 0));
    for (size_t i = 0; i < b->count; i++) {
        const struct body_member *member = &b->members[i];
        buf_add_str(&w->text, "\r\n--" BODY_BOUNDARY "\r\nContent-Type: text/plain; charset=utf-8"
                              "\r\nContent-Disposition: form-data; name=\"");
        write_form_name(&w->text, member->key);
        buf_add_str(&w->text, "\"\r\n\r\n");
        write_form_value(&w->text, member->json);
        add_pieces(w, member);
    }
    buf_add_str(&w->text, "\r\n--" BODY_BOUNDARY "--\r\n");
    flush_text(w);
}

/* What the members say about the reply and the number of inputs. */
static void look_at_members(const struct body *b, struct body_template *t)
{
    static const char *const lists[] = {"documents", "input"};
    const struct body_member *encoding = find_member(b, SV_LIT("encoding_format"));
    if (encoding != NULL && sv_eq(encoding->json, SV_LIT("\"bytes\"")))
        t->reply = BODY_REPLY_BYTES;
    else if (encoding != NULL && sv_eq(encoding->json, SV_LIT("\"bytes_only\"")))
        t->reply = BODY_REPLY_BYTES_ONLY;
    for (size_t i = 0; i < 2 && !t->has_fixed_inputs; i++) {
        const struct body_member *list = find_member(b, sv_from(lists[i]));
        t->has_fixed_inputs = list != NULL && list->elements > 0;
        t->fixed_inputs = t->has_fixed_inputs ? (uint32_t)list->elements : 0;
    }
}

static void write_template(const struct body *b, struct body_template *t)
{
    *t = (struct body_template){.is_form = b->is_form};
    struct part_writer w = {.t = t};
    look_at_members(b, t);
    if (b->is_form)
        write_form(b, &w);
    else
        write_json(b, &w);
    buf_done(&w.text);
}

bool body_finish(struct body *b, const struct config *config, struct body_template *t,
                 struct error *err)
{
    add_sampling(b, config);
    bool ok = add_extra(b, config, err);
    if (ok)
        write_template(b, t);
    arena_done(&b->arena);
    free(b->members);
    *b = (struct body){0};
    return ok;
}
