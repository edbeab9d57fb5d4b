/* Data set "custom": prompts from a JSON-lines file, in shuffled or file order (DATASETS 8).
 * As Python's tool: prompts are rendered with the tokenizer's chat template unless --skip-chat-template; lengths count
 * special tokens; without a tokenizer a prompt counts 1 and 1 output token is asked for. */
#include "base/alloc.h"
#include "base/file.h"
#include "datasets/custom_rows.h"
#include "datasets/dataset_priv.h"
#include "tokenizer/chat_template.h"

#include <stdlib.h>

static bool check(const struct config *config, struct error *err)
{
    const char *path = config->dataset_path;
    if (path == NULL)
        return error_set(err, E_CONFIG,
                         "data set 'custom' needs --dataset-path (a file with one "
                         "{\"prompt\": ..., \"output_tokens\": ...} a line)");
    if (!sv_ends(sv_from(path), SV_LIT(".jsonl")))
        return error_set(err, E_CONFIG, "data set 'custom' reads .jsonl files only, not '%s'",
                         path);
    if (config->custom_output_len < -1 || config->custom_output_len == 0 ||
        config->custom_output_len > INT32_MAX)
        return error_set(err, E_CONFIG,
                         "--custom-output-len must be at least 1, or -1 for the "
                         "'output_tokens' of each line");
    return true;
}

/* The template to render with; NULL: prompts are sent as they are. */
static struct chat_template *find_template(const struct dataset_context *context)
{
    struct error reason = {0};
    bool present = false;
    if (context->config->skip_chat_template)
        return NULL;
    struct chat_template *c =
        context->tokenizer != NULL ? chat_template_of(context->tokenizer, &present, &reason) : NULL;
    if (c != NULL)
        return c;
    const char *name =
        context->tokenizer != NULL ? tokenizer_describe(context->tokenizer) : "no tokenizer";
    if (present)
        dataset_notice(context,
                       "the chat template of this model is beyond this version (%s; %s): "
                       "prompts are sent as they are; --skip-chat-template silences this",
                       reason.message, name);
    else
        dataset_notice(context,
                       "there is no chat template (%s): prompts are sent as they are; "
                       "--skip-chat-template silences this",
                       name);
    return NULL;
}

static bool count_tokens(const struct dataset_context *context, struct sv text,
                         struct token_ids *ids, uint32_t *count, struct error *err)
{
    if (context->tokenizer == NULL) {
        *count = 1;
        return true;
    }
    ids->count = 0;
    if (!tokenizer_encode(context->tokenizer, text, true, ids, err))
        return false;
    *count = (uint32_t)ids->count;
    return true;
}

static uint32_t output_len(const struct dataset_context *context, const struct custom_row *row)
{
    if (context->tokenizer == NULL)
        return 1;
    int64_t fixed = context->config->custom_output_len;
    return fixed == -1 ? row->output_tokens : (uint32_t)fixed;
}

static bool add_requests(const struct dataset_context *context, const struct custom_rows *rows,
                         const size_t *order, struct workload *workload, struct error *err)
{
    struct chat_template *template = find_template(context);
    struct buf prompt = {0};
    struct buf rendered = {0};
    struct buf json = {0};
    struct token_ids ids = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < workload->count; i++) {
        const struct custom_row *row = &rows->items[order[i]];
        struct request *r = &workload->requests[i];
        buf_reset(&prompt);
        custom_row_text(row, &prompt);
        struct sv text = buf_sv(&prompt);
        if (template != NULL) {
            buf_reset(&rendered);
            chat_template_render(template, SV_LIT("user"), text, true, &rendered);
            text = buf_sv(&rendered);
        }
        r->prompt = dataset_text_prompt(workload, text, &json);
        r->output_len = output_len(context, row);
        ok = count_tokens(context, text, &ids, &r->prompt_len, err);
    }
    chat_template_free(template);
    buf_done(&prompt);
    buf_done(&rendered);
    buf_done(&json);
    token_ids_done(&ids);
    return ok;
}

static bool build_from_rows(const struct dataset_context *context, const struct custom_rows *rows,
                            struct workload *workload, struct error *err)
{
    const struct config *config = context->config;
    size_t *order = mem_array(rows->count, sizeof(*order));
    for (size_t i = 0; i < rows->count; i++)
        order[i] = i;
    if (!config->disable_shuffle)
        py_shuffle(context->py, order, rows->count);
    /* 0 prompts stands for all rows. */
    bool all = config->num_prompts == 0 || config->num_prompts > rows->count;
    dataset_requests_new(workload, all ? rows->count : (size_t)config->num_prompts);
    bool ok = add_requests(context, rows, order, workload, err);
    free(order);
    if (ok && context->tokenizer == NULL)
        dataset_notice(context, "without a tokenizer every prompt counts as 1 token and 1 output "
                                "token is asked for");
    return ok;
}

bool custom_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    const struct config *config = context->config;
    struct file_map map = {0};
    struct custom_rows rows = {0};
    bool ok = check(config, err) && file_map_open(config->dataset_path, &map, err) &&
              custom_rows_parse(map.view, config->dataset_path, config->custom_output_len == -1,
                                &rows, err) &&
              build_from_rows(context, &rows, workload, err);
    custom_rows_done(&rows);
    file_map_close(&map);
    return ok || error_context(err, "data set 'custom'");
}
