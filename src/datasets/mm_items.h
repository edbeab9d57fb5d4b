/* mm_items.h - which media items a request of the data set random-mm gets: sizes with weights, and limits.
 * The sizes are given in Python's syntax for a dict, "{(H, W, T): weight, ...}", T = 1 being an image; keys may be quoted.
 * Use: mm_items_parse; mm_items_count for a request, then mm_items_draw so many times or until it says no.
 * Threads: one owner.  Errors: struct error that names the flag. */
#ifndef VB_DATASETS_MM_ITEMS_H
#define VB_DATASETS_MM_ITEMS_H

#include "base/error.h"
#include "base/rng.h"
#include "base/sv.h"
#include "config/config.h"

enum { MM_MAX_BUCKETS = 64 };

struct mm_bucket {
    uint32_t height;
    uint32_t width;
    uint32_t frames; /* 1: an image */
};

struct mm_items {
    struct mm_bucket buckets[MM_MAX_BUCKETS]; /* those with a weight */
    double weights[MM_MAX_BUCKETS];           /* their sum is 1 */
    size_t bucket_count;
    uint64_t limit_images;
    uint64_t limit_videos;
    int64_t low; /* items of a request, inclusive */
    int64_t high;
};

/* Items drawn so far for one request. */
struct mm_state {
    struct mm_bucket buckets[MM_MAX_BUCKETS];
    double weights[MM_MAX_BUCKETS];
    size_t bucket_count;
    uint64_t images;
    uint64_t videos;
    uint64_t wanted;
};

bool mm_items_parse(struct mm_items *items, const struct config *config, struct error *err);
/* Begins a request: draws how many items it gets. */
void mm_items_begin(const struct mm_items *items, struct pcg64 *g, struct mm_state *state);
/* False when the request has its items, or when no kind is left under its limit. */
bool mm_items_draw(const struct mm_items *items, struct pcg64 *g, struct mm_state *state,
                   struct mm_bucket *bucket);

#endif
