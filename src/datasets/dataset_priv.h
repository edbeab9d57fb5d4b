/* dataset_priv.h - what the files of the data sets share: the table's row and helpers for building requests.
 * Threads: as dataset_build.  Errors: struct error. */
#ifndef VB_DATASETS_DATASET_PRIV_H
#define VB_DATASETS_DATASET_PRIV_H

#include "datasets/dataset.h"

struct dataset_type {
    const char *name; /* canonical */
    const char *aliases[3];
    bool takes_path;  /* understands --dataset-path */
    bool oversamples; /* DATASETS 0.5 holds */
    bool (*build)(const struct dataset_context *context, struct workload *workload,
                  struct error *err);                     /* NULL: known, but beyond this version */
    bool (*needs_tokenizer)(const struct config *config); /* NULL: yes */
};

bool random_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err);
bool custom_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err);

void dataset_notice(const struct dataset_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The prompt of a text: its JSON string goes into the workload's arena.  `tmp` is overwritten. */
struct prompt dataset_text_prompt(struct workload *workload, struct sv text, struct buf *tmp);

/* Room for `count` requests in the arena, zeroed, due when the schedule decides. */
void dataset_requests_new(struct workload *workload, size_t count);

#endif
