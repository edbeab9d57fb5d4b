/* run_cache.h - the first round of length_target.h for many runs through the same vocabulary, without encoding each.
 * All prompts of a random data set are windows into one cyclic text, that of the allowed ids in order.  Between two
 * anchors (length_target.h) a window's text and its ids are those of the cyclic text, which is encoded once; only the ends
 * of each window are decoded and encoded by themselves.
 * Use: run_cache_new once there are many tokens to make; run_cache_set_prefix; run_cache_start for each window;
 * run_cache_free.  Threads: read-only after run_cache_set_prefix.  Errors: struct error. */
#ifndef VB_DATASETS_RUN_CACHE_H
#define VB_DATASETS_RUN_CACHE_H

#include "datasets/length_target.h"
#include "datasets/random_source.h"

struct run_cache;

/* `longest`: length of the longest window.  NULL when the tokenizer has no anchors or too few. */
struct run_cache *run_cache_new(const struct length_target *lt, const struct random_source *source,
                                size_t longest);
/* Ids that stand before every window. */
bool run_cache_set_prefix(struct run_cache *cache, const struct token_ids *prefix,
                          struct error *err);
/* fit, which is reset, gets what the first round would give for prefix and window; *done is false when the window does
 * not hold two anchors, and fit is unchanged. */
bool run_cache_start(const struct run_cache *cache, uint64_t start, size_t count,
                     struct length_fit *fit, bool *done, struct error *err);
void run_cache_free(struct run_cache *cache);

#endif
