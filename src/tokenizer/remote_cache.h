/* remote_cache.h - answers that were asked for once, by the bytes of the question; the least recently used ones make room.
 * Use: remote_cache_init; remote_cache_get before asking, remote_cache_put after; remote_cache_done.
 * Threads: safe.  Errors: none. */
#ifndef VB_TOKENIZER_REMOTE_CACHE_H
#define VB_TOKENIZER_REMOTE_CACHE_H

#include "base/buf.h"

#include <pthread.h>

struct remote_entry;

struct remote_cache {
    pthread_mutex_t lock;
    size_t limit_bytes;
    size_t bytes; /* of all entries, with what keeping them costs */
    struct remote_entry **buckets;
    size_t bucket_count; /* a power of two; 0: nothing was ever kept */
    size_t count;
    struct remote_entry *newest, *oldest;
};

/* Nothing is kept that would take more than an eighth of `limit_bytes`; 0 keeps nothing at all. */
void remote_cache_init(struct remote_cache *c, size_t limit_bytes);
void remote_cache_done(struct remote_cache *c);
/* Appends the answer; false when it is not there. */
bool remote_cache_get(struct remote_cache *c, struct sv question, struct buf *answer);
void remote_cache_put(struct remote_cache *c, struct sv question, struct sv answer);

#endif
