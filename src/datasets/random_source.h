/* random_source.h - what the random data sets share: numpy's generator, the ids that prompts may hold, lengths and
 * starts drawn in Python's order (DATASETS 0.9, 0.10, 1).
 * Use: random_source_init; random_params_draw for each group of sequences; random_sequence for the ids of one;
 * random_params_done.
 * Threads: one owner; random_sequence only reads.  Errors: struct error. */
#ifndef VB_DATASETS_RANDOM_SOURCE_H
#define VB_DATASETS_RANDOM_SOURCE_H

#include "datasets/dataset.h"
#include "datasets/length_target.h"
#include "datasets/text_job.h"

struct random_bounds {
    int64_t low; /* inclusive */
    int64_t high;
};

struct random_source {
    const struct tokenizer *tokenizer;
    struct pcg64 g;
    uint32_t vocab_size;
    const uint32_t *allowed; /* NULL: identity */
    size_t allowed_count;
};

struct random_params {
    size_t count;
    int64_t *in_lens;
    int64_t *out_lens;
    int64_t *offsets;
};

/* Which ids prompts may not hold (DATASETS 0.10). */
enum random_barred {
    BAR_NAMED,   /* bos, eos, pad ... of the tokenizer's configuration */
    BAR_FLAGGED, /* these and every added token that is special */
};

/* `name` of the data set, for messages. */
bool random_source_init(struct random_source *source, const struct dataset_context *context,
                        const char *name, enum random_barred barred, struct arena *arena,
                        struct error *err);
/* Length `len` less the special tokens that encoding adds. */
uint64_t random_real_len(const struct random_source *source, uint64_t len);
struct random_bounds random_bounds_around(uint64_t len, double ratio, int64_t least);
/* All input lengths, then all output lengths, then all offsets. */
void random_params_draw(struct random_source *source, size_t count, struct random_bounds in,
                        struct random_bounds out, struct random_params *params);
void random_params_done(struct random_params *params);

/* `count` ids drawn from the allowed ones, appended. */
void random_ids_draw(struct random_source *source, size_t count, struct token_ids *ids);
/* Where the run of sequence `index` of params begins among the allowed ids, when its number is `number`. */
uint64_t random_start(const struct random_source *source, const struct random_params *params,
                      size_t index, size_t number);
/* allowed[(start + j) mod n], j < count, appended. */
void random_run(const struct random_source *source, uint64_t start, size_t count,
                struct token_ids *ids);
uint32_t random_pad(struct random_source *source);

/* The sequences of the data sets random and random-mm: a shared prefix, then a run of each its own. */
struct random_plan {
    struct random_source source;
    struct random_params params;
    struct random_bounds in;
    struct random_bounds out;
    size_t prefix_len;
    struct token_ids prefix; /* after random_plan_fit_prefix */
    struct run_cache *cache; /* made when the job has many tokens to make; NULL: none */
};

/* Up to and including the drawn arrays.  `prefix_len`: of the shared prefix. */
bool random_plan_init(struct random_plan *plan, const struct dataset_context *context,
                      const char *name, enum random_barred barred, uint64_t prefix_len,
                      struct arena *arena, struct error *err);
/* Draws the prefix and gives it its length. */
bool random_plan_fit_prefix(struct random_plan *plan, struct error *err);
/* A job that makes the texts of the plan, as many as params.count; the caller adds `keep` and what else it needs.  Its
 * `user` is the plan: a data set that needs more has the plan as the first member of its own struct. */
struct text_job random_plan_job(struct random_plan *plan, const struct dataset_context *context);
void random_plan_done(struct random_plan *plan);

#endif
