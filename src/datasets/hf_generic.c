/* Data sets that are not known by name: the columns are found by their names in the first row (DATASETS 13.1). */
#include "datasets/hf_priv.h"

#include "datasets/media.h"

static const char *const chat_columns[] = {"conversation", "conversations", "messages"};
static const char *const text_columns[] = {"prompt", "question", "problem",    "input",
                                           "text",   "content",  "instruction"};
static const char *const answer_columns[] = {"completion", "response", "answer",
                                             "output",     "solution", "answers"};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const struct hf_kind hf_generic = {.ids = {NULL}, .extract = hf_extract_generic};

static const struct js_value *role_of(const struct js_value *message)
{
    const struct js_value *role = js_get(message, "role");
    return role != NULL && js_get(message, "content") != NULL ? role : js_get(message, "from");
}

static const struct js_value *content_of(const struct js_value *message)
{
    bool openai = js_get(message, "role") != NULL && js_get(message, "content") != NULL;
    return js_get(message, openai ? "content" : "value");
}

static bool is_chat(const struct js_value *list)
{
    if (list == NULL || list->type != JS_ARRAY || list->count == 0)
        return false;
    for (const struct js_value *m = list->first; m != NULL; m = m->next)
        if (role_of(m) == NULL || content_of(m) == NULL)
            return false;
    return true;
}

static bool is_text_list(const struct js_value *list)
{
    if (list == NULL || list->type != JS_ARRAY || list->count == 0)
        return false;
    for (const struct js_value *v = list->first; v != NULL; v = v->next)
        if (v->type != JS_STRING)
            return false;
    return true;
}

static bool no_columns(const struct hf_build *b, const struct js_value *row, struct error *err)
{
    const char *column = b->context->config->hf_text_column;
    struct buf list = {0};
    size_t shown = 0;
    for (const struct js_value *v = row->first; v != NULL && shown < 24; v = v->next, shown++)
        buf_add_fmt(&list, "%s" SV_FMT, shown > 0 ? ", " : "", SV_ARG(v->key));
    buf_cstr(&list);
    if (column != NULL)
        error_set(err, E_CONFIG, "--hf-text-column: '%s' is no column of '%s'; it has %s", column,
                  b->id, list.ptr);
    else
        error_set(err, E_CONFIG,
                  "'%s' has no column that is known to hold prompts; it has %s; choose one with "
                  "--hf-text-column",
                  b->id, list.ptr);
    buf_done(&list);
    return false;
}

/* Rules 1 to 5; the names are constants or the user's. */
static bool find_prompt(struct hf_build *b, const struct js_value *row, struct error *err)
{
    struct hf_columns *c = &b->columns;
    const char *wanted = b->context->config->hf_text_column;
    if (wanted != NULL) {
        const struct js_value *value = js_get(row, wanted);
        c->prompt = sv_from(wanted);
        c->chat = is_chat(value);
        c->turns = is_text_list(value);
        return value != NULL || no_columns(b, row, err);
    }
    for (size_t i = 0; i < COUNT(chat_columns); i++) {
        if (is_chat(js_get(row, chat_columns[i]))) {
            c->prompt = sv_from(chat_columns[i]);
            c->chat = true;
            return true;
        }
    }
    if (is_text_list(js_get(row, "turns"))) {
        c->prompt = SV_LIT("turns");
        c->turns = true;
        return true;
    }
    if (js_get(row, "context") != NULL && js_get(row, "input") != NULL)
        return true;
    for (size_t i = 0; i < COUNT(text_columns); i++) {
        if (js_get(row, text_columns[i]) != NULL) {
            c->prompt = sv_from(text_columns[i]);
            return true;
        }
    }
    return no_columns(b, row, err);
}

bool hf_find_columns(struct hf_build *b, const struct js_value *row, struct error *err)
{
    struct hf_columns *c = &b->columns;
    if (!find_prompt(b, row, err))
        return false;
    for (size_t i = 0; !c->chat && c->answer.len == 0 && i < COUNT(answer_columns); i++)
        if (!sv_eq(sv_from(answer_columns[i]), c->prompt) && js_get(row, answer_columns[i]) != NULL)
            c->answer = sv_from(answer_columns[i]);
    dataset_notice(b->context, "'%s': prompts are in %s" SV_FMT "%s%s" SV_FMT "%s", b->id,
                   c->prompt.len > 0 ? "'" : "'context' and 'input", SV_ARG(c->prompt), "'",
                   c->answer.len > 0 ? ", answers in '" : "", SV_ARG(c->answer),
                   c->answer.len > 0 ? "'" : "");
    return true;
}

/* A text, or the texts of a list of parts one after the other. */
static bool add_content(const struct js_value *content, struct buf *out)
{
    struct sv text;
    if (js_as_sv(content, &text)) {
        buf_add(out, text);
        return true;
    }
    if (content == NULL || content->type != JS_ARRAY)
        return false;
    for (const struct js_value *part = content->first; part != NULL; part = part->next)
        if (js_as_sv(js_get(part, "text"), &text))
            buf_add(out, text);
    return out->len > 0;
}

static bool is_role(const struct js_value *message, const char *one, const char *other)
{
    struct sv role;
    return js_as_sv(role_of(message), &role) &&
           (sv_eq(role, sv_from(one)) || sv_eq(role, sv_from(other)));
}

static void add_chat(const struct js_value *list, struct hf_item *item)
{
    bool asked = false;
    if (list == NULL || list->type != JS_ARRAY)
        return;
    for (const struct js_value *m = list->first; m != NULL && !item->has_answer; m = m->next) {
        if (!asked && is_role(m, "user", "human"))
            asked = add_content(content_of(m), &item->text);
        else if (is_role(m, "assistant", "gpt"))
            item->has_answer = add_content(content_of(m), &item->answer);
    }
    /* An answer that stands before the question is not one to it; but the question is still the prompt. */
    for (const struct js_value *m = list->first; m != NULL && !asked; m = m->next)
        if (is_role(m, "user", "human"))
            asked = add_content(content_of(m), &item->text);
}

static void add_answer(const struct js_value *answer, struct hf_item *item)
{
    struct sv text;
    if (answer != NULL && answer->type == JS_ARRAY)
        answer = answer->first;
    if (!js_as_sv(answer, &text))
        return;
    item->has_answer = true;
    buf_add(&item->answer, text);
}

bool hf_extract_generic(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                        struct error *err)
{
    const struct hf_columns *c = &b->columns;
    const struct js_value *prompt = js_get_sv(row, c->prompt);
    struct sv text;
    (void)err;
    if (c->prompt.len == 0) {
        struct sv context;
        item->skip =
            !js_as_sv(js_get(row, "context"), &context) || !js_as_sv(js_get(row, "input"), &text);
        if (item->skip)
            return true;
        buf_add(&item->text, context);
        buf_add_str(&item->text, "\n\n");
        buf_add(&item->text, text);
    } else if (c->chat) {
        add_chat(prompt, item);
    } else if (js_as_sv(c->turns && prompt != NULL ? prompt->first : prompt, &text)) {
        buf_add(&item->text, text);
    }
    if (c->answer.len > 0)
        add_answer(js_get_sv(row, c->answer), item);
    item->skip = item->text.len == 0;
    return true;
}
