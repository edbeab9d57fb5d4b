/* chat_requests.h - requests from rows of text that Python renders with the model's chat template, as one user message.
 * Use: chat_requests_build with the rows of a file; it shuffles, takes --num-prompts of them, renders and counts on all
 * cores.  Lengths count special tokens, as Python does; without a tokenizer a prompt counts 1 token.
 * Threads: called from one.  Errors: struct error. */
#ifndef VB_DATASETS_CHAT_REQUESTS_H
#define VB_DATASETS_CHAT_REQUESTS_H

#include "datasets/custom_rows.h"
#include "datasets/dataset.h"
#include "tokenizer/chat_template.h"

/* The template to render prompts with, the caller's; NULL: they are sent as they are, which a notice has told. */
struct chat_template *chat_requests_template(const struct dataset_context *context);

/* Each row's output_tokens becomes its output length.  0 prompts asked for stands for all rows.
 * `kwargs`: text of a JSON object with further arguments for the template (chat_template.h), or NULL. */
bool chat_requests_build(const struct dataset_context *context, const struct custom_rows *rows,
                         const char *kwargs, struct workload *workload, struct error *err);

#endif
