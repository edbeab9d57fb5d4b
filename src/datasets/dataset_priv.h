/* dataset_priv.h - what the files of the data sets share: the table's row and helpers for building requests.
 * Threads: as dataset_build.  Errors: struct error. */
#ifndef VB_DATASETS_DATASET_PRIV_H
#define VB_DATASETS_DATASET_PRIV_H

#include "datasets/dataset.h"

typedef bool dataset_build_fn(const struct dataset_context *context, struct workload *workload,
                              struct error *err);

struct dataset_type {
    const char *name; /* canonical */
    const char *aliases[3];
    bool takes_path;  /* understands --dataset-path */
    bool oversamples; /* DATASETS 0.5 holds */
    dataset_build_fn *build;
    bool (*needs_tokenizer)(const struct config *config); /* NULL: yes */
};

bool random_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err);
bool random_mm_build(const struct dataset_context *context, struct workload *workload,
                     struct error *err);
bool random_rerank_build(const struct dataset_context *context, struct workload *workload,
                         struct error *err);
bool prefix_repetition_build(const struct dataset_context *context, struct workload *workload,
                             struct error *err);
bool sonnet_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err);
bool sharegpt_build(const struct dataset_context *context, struct workload *workload,
                    struct error *err);
bool burstgpt_build(const struct dataset_context *context, struct workload *workload,
                    struct error *err);
bool custom_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err);
bool custom_image_build(const struct dataset_context *context, struct workload *workload,
                        struct error *err);
bool custom_audio_build(const struct dataset_context *context, struct workload *workload,
                        struct error *err);
bool spec_bench_build(const struct dataset_context *context, struct workload *workload,
                      struct error *err);
bool speed_bench_build(const struct dataset_context *context, struct workload *workload,
                       struct error *err);
bool timed_trace_build(const struct dataset_context *context, struct workload *workload,
                       struct error *err);
bool hf_build(const struct dataset_context *context, struct workload *workload, struct error *err);
bool replay_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err);

void dataset_notice(const struct dataset_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The JSON string of a text, made in `tmp`, which is overwritten. */
struct sv dataset_literal(struct sv text, struct buf *tmp);
/* A prompt that is this JSON text, copied into the workload's arena. */
struct prompt dataset_json_prompt(struct workload *workload, struct sv json);
/* A request whose prompt is the list of the prompts of `texts`; lengths are the caller's. */
void dataset_list_request(struct workload *workload, struct request *request,
                          const struct request *texts, size_t count, struct buf *tmp);

/* The places of `count` rows in the order they are used: shuffled by Python's stream unless --disable-shuffle. */
size_t *dataset_order(const struct dataset_context *context, size_t count);

/* Sets the workload's allowed ids from the tokenizer; there must be one. */
bool dataset_allowed_ids(const struct dataset_context *context, struct workload *workload,
                         struct error *err);

/* Room for `count` requests in the arena, zeroed, due when the schedule decides. */
void dataset_requests_new(struct workload *workload, size_t count);

#endif
