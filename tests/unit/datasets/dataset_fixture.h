/* dataset_fixture.h - a configuration, a tokenizer and the process-wide streams for tests that build a data set.
 * Use: fixture_init; change `config`; fixture_build; fixture_done.  Threads: one.  Errors: in `err`. */
#ifndef VB_TESTS_DATASET_FIXTURE_H
#define VB_TESTS_DATASET_FIXTURE_H

#include "datasets/dataset.h"
#include "tokenizer/load.h"

struct fixture {
    struct config config;
    struct tokenizer *tokenizer;
    struct mt19937 py;
    struct mt19937 npl;
    struct workload workload;
    struct error err;
    struct buf notices; /* one a line */
};

static inline void fixture_notice(void *user, const char *sentence)
{
    struct buf *notices = user;
    buf_add_str(notices, sentence);
    buf_add_char(notices, '\n');
}

/* The settings of the recorded cases: 24 tokens in, 8 out, 4 prompts, seed 0. */
static inline void fixture_init(struct fixture *f, const char *dataset)
{
    *f = (struct fixture){0};
    f->config = (struct config){.dataset_name = dataset,
                                .num_prompts = 4,
                                .random_input_len = 24,
                                .random_output_len = 8,
                                .custom_output_len = 6};
}

static inline bool fixture_build(struct fixture *f)
{
    struct dataset_context context = {.config = &f->config,
                                      .tokenizer = f->tokenizer,
                                      .py = &f->py,
                                      .npl = &f->npl,
                                      .notice = fixture_notice,
                                      .user = &f->notices};
    py_seed(&f->py, f->config.seed);
    npl_seed(&f->npl, (uint32_t)f->config.seed);
    return dataset_build(&context, &f->workload, &f->err);
}

static inline void fixture_done(struct fixture *f)
{
    workload_done(&f->workload);
    tokenizer_free(f->tokenizer);
    buf_done(&f->notices);
}

#endif
