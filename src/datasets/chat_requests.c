/* See chat_requests.h. */
#include "datasets/chat_requests.h"

#include "base/alloc.h"
#include "datasets/dataset_priv.h"
#include "datasets/parallel.h"
#include "json/writer.h"

#include <stdlib.h>

enum { BATCH = 256 };

struct text_work {
    struct buf prompt;
    struct buf rendered;
    struct buf json;
    struct token_ids ids;
    uint32_t tokens;
    bool ok;
    struct error err;
};

struct chat_build {
    const struct dataset_context *context;
    const struct custom_rows *rows;
    const size_t *order;
    struct chat_template *template;
    struct text_work *work;
    size_t first; /* request that work[0] is for */
};

static void tell_unrendered(const struct dataset_context *context, bool present, const char *reason)
{
    const char *name =
        context->tokenizer != NULL ? tokenizer_describe(context->tokenizer) : "no tokenizer";
    if (present)
        dataset_notice(context,
                       "the chat template of this model is beyond this version (%s; %s): "
                       "prompts are sent as they are; --skip-chat-template silences this",
                       reason, name);
    else
        dataset_notice(context,
                       "there is no chat template (%s): prompts are sent as they are; "
                       "--skip-chat-template silences this",
                       name);
}

/* False only for arguments that cannot be given; no template at all is told and gives NULL. */
static bool find_template(const struct dataset_context *context, const char *kwargs,
                          struct chat_template **template, struct error *err)
{
    struct arena arena = {0};
    struct error reason = {0};
    bool present = false;
    bool ok = true;
    *template = NULL;
    if (context->config->skip_chat_template)
        return true;
    const struct js_value *tree = NULL;
    if (kwargs != NULL)
        tree = js_parse(&arena, sv_from(kwargs), "--chat-template-kwargs", &reason);
    if (context->tokenizer != NULL)
        *template = chat_template_with(context->tokenizer, tree, &present, &reason);
    if (*template == NULL && reason.code == E_CONFIG) {
        *err = reason;
        ok = error_context(err, "--chat-template-kwargs");
    } else if (*template == NULL) {
        tell_unrendered(context, present, reason.message);
    }
    arena_done(&arena);
    return ok;
}

struct chat_template *chat_requests_template(const struct dataset_context *context)
{
    struct chat_template *template;
    struct error unused;
    find_template(context, NULL, &template, &unused);
    return template;
}

static void make_text(void *user, size_t index)
{
    struct chat_build *b = user;
    struct text_work *work = &b->work[index];
    const struct tokenizer *tokenizer = b->context->tokenizer;
    buf_reset(&work->prompt);
    custom_row_text(&b->rows->items[b->order[b->first + index]], &work->prompt);
    struct sv text = buf_sv(&work->prompt);
    work->ok = true;
    if (b->template != NULL) {
        struct chat_message message = {SV_LIT("user"), text};
        buf_reset(&work->rendered);
        work->ok =
            chat_template_render_all(b->template, &message, 1, true, &work->rendered, &work->err) ||
            error_context(&work->err, "chat template");
        text = buf_sv(&work->rendered);
    }
    struct js_writer w;
    buf_reset(&work->json);
    js_writer_init(&w, &work->json);
    js_string(&w, text);
    work->ids.count = 0;
    work->ok = work->ok && (tokenizer == NULL ||
                            tokenizer_encode(tokenizer, text, true, &work->ids, &work->err));
    work->tokens = tokenizer == NULL ? 1 : (uint32_t)work->ids.count;
}

static bool add_requests(struct chat_build *b, struct workload *workload, struct error *err)
{
    const struct tokenizer *tokenizer = b->context->tokenizer;
    for (b->first = 0; b->first < workload->count; b->first += BATCH) {
        size_t n = workload->count - b->first < BATCH ? workload->count - b->first : BATCH;
        parallel_for(n, parallel_tokenizing(tokenizer, n), make_text, b);
        for (size_t i = 0; i < n; i++) {
            const struct text_work *work = &b->work[i];
            struct request *r = &workload->requests[b->first + i];
            if (!work->ok) {
                *err = work->err;
                return false;
            }
            r->prompt = dataset_json_prompt(workload, buf_sv(&work->json));
            r->prompt_len = work->tokens;
            r->output_len = b->rows->items[b->order[b->first + i]].output_tokens;
        }
    }
    return true;
}

bool chat_requests_build(const struct dataset_context *context, const struct custom_rows *rows,
                         const char *kwargs, struct workload *workload, struct error *err)
{
    const struct config *config = context->config;
    struct chat_template *template;
    if (!find_template(context, kwargs, &template, err))
        return false;
    size_t *order = dataset_order(context, rows->count);
    bool all = config->num_prompts == 0 || config->num_prompts > rows->count;
    dataset_requests_new(workload, all ? rows->count : (size_t)config->num_prompts);
    struct chat_build b = {.context = context,
                           .rows = rows,
                           .order = order,
                           .template = template,
                           .work = mem_array(BATCH, sizeof(*b.work))};
    bool ok = add_requests(&b, workload, err);
    for (size_t i = 0; i < BATCH; i++) {
        buf_done(&b.work[i].prompt);
        buf_done(&b.work[i].rendered);
        buf_done(&b.work[i].json);
        token_ids_done(&b.work[i].ids);
    }
    free(b.work);
    free(order);
    chat_template_free(b.template);
    return ok;
}
