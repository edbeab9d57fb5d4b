/* hf.h - data sets of the hub for other files of this room.
 * Use: hf_conversations.  Threads: one.  Errors: struct error. */
#ifndef VB_DATASETS_HF_H
#define VB_DATASETS_HF_H

#include "datasets/dataset.h"

/* Appends the conversations of --dataset-path as the JSON of a ShareGPT file, in the order of the rows: up to twice
 * --num-prompts of those with four messages or more. */
bool hf_conversations(const struct dataset_context *context, struct buf *out, struct error *err);

#endif
