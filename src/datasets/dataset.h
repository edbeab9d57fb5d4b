/* dataset.h - builds the workload of a data set; one file per data set, one table lists them.
 * Use: dataset_build once, before any measured request.
 * The three random streams are process-wide as in Python (RULINGS "seeds"): py and npl are seeded with --seed once by
 * the caller, drawn from in Python's order here, and the schedule draws on from npl afterwards.
 * Threads: called from one thread (heavy parts may use several inside).  Errors: struct error with file, line, reason. */
#ifndef VB_DATASETS_DATASET_H
#define VB_DATASETS_DATASET_H

#include "base/rng.h"
#include "config/config.h"
#include "datasets/workload.h"
#include "tokenizer/tokenizer.h"

struct hub_context;

struct dataset_context {
    const struct config *config;
    const struct tokenizer *tokenizer; /* NULL with --skip-tokenizer-init or for token ids */
    struct mt19937 *py;                /* Python's `random` */
    struct mt19937 *npl;               /* numpy's legacy stream */
    struct hub_context *hub;           /* where data sets are downloaded from; NULL: nowhere */
    /* Sentences for stderr (surplus of tokens, oversampling ...); may be NULL. */
    void (*notice)(void *user, const char *sentence);
    void *user;
};

bool dataset_build(const struct dataset_context *context, struct workload *workload,
                   struct error *err);

/* Does the data set, with these settings, need a tokenizer? */
bool dataset_needs_tokenizer(const struct config *config);
/* Name as given on the command line to the canonical name; NULL when unknown. */
const char *dataset_canonical_name(const char *name);

#endif
