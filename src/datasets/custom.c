/* Data set "custom": prompts from a JSON-lines file, in shuffled or file order (DATASETS 8).
 * As Python's tool: prompts are rendered with the tokenizer's chat template unless --skip-chat-template; without a
 * tokenizer 1 output token is asked for. */
#include "base/file.h"
#include "datasets/chat_requests.h"
#include "datasets/custom_rows.h"
#include "datasets/dataset_priv.h"

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

static void set_outputs(const struct dataset_context *context, struct custom_rows *rows)
{
    int64_t fixed = context->config->custom_output_len;
    for (size_t i = 0; i < rows->count; i++) {
        if (context->tokenizer == NULL)
            rows->items[i].output_tokens = 1;
        else if (fixed != -1)
            rows->items[i].output_tokens = (uint32_t)fixed;
    }
    if (context->tokenizer == NULL)
        dataset_notice(context, "without a tokenizer every prompt counts as 1 token and 1 output "
                                "token is asked for");
}

bool custom_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    const struct config *config = context->config;
    struct file_map map = {0};
    struct custom_rows rows = {0};
    bool ok = check(config, err) && file_map_open(config->dataset_path, &map, err) &&
              custom_rows_parse(map.view, config->dataset_path, config->custom_output_len == -1,
                                &rows, err);
    if (ok) {
        set_outputs(context, &rows);
        ok = chat_requests_build(context, &rows, config->chat_template_kwargs, workload, err);
    }
    custom_rows_done(&rows);
    file_map_close(&map);
    return ok || error_context(err, "data set 'custom'");
}
