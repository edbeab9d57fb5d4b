/* A hash table with chains, and a list of all entries from the newest to the oldest.  One lock is enough: what is kept
 * here costs a round trip to a server otherwise. */
#include "tokenizer/remote_cache.h"

#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>

enum { FIRST_BUCKETS = 256, LARGEST_SHARE = 8 };

struct remote_entry {
    struct remote_entry *chain;
    struct remote_entry *newer, *older;
    uint64_t hash;
    size_t question_len;
    size_t answer_len;
    char bytes[]; /* the question, then the answer */
};

void remote_cache_init(struct remote_cache *c, size_t limit_bytes)
{
    *c = (struct remote_cache){.limit_bytes = limit_bytes};
    pthread_mutex_init(&c->lock, NULL);
}

void remote_cache_done(struct remote_cache *c)
{
    for (struct remote_entry *e = c->newest, *older; e != NULL; e = older) {
        older = e->older;
        free(e);
    }
    free(c->buckets);
    pthread_mutex_destroy(&c->lock);
    *c = (struct remote_cache){0};
}

/* FNV-1a, 64 bits. */
static uint64_t hash_of(struct sv text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static size_t cost(size_t question_len, size_t answer_len)
{
    return sizeof(struct remote_entry) + question_len + answer_len;
}

/* Where the pointer to the entry is, or to the end of its chain. */
static struct remote_entry **find(const struct remote_cache *c, uint64_t hash, struct sv question)
{
    struct remote_entry **at = &c->buckets[hash & (c->bucket_count - 1)];
    while (*at != NULL &&
           ((*at)->hash != hash || !sv_eq(sv_make((*at)->bytes, (*at)->question_len), question)))
        at = &(*at)->chain;
    return at;
}

static void unlink_entry(struct remote_cache *c, struct remote_entry *e)
{
    *(e->newer != NULL ? &e->newer->older : &c->newest) = e->older;
    *(e->older != NULL ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct remote_cache *c, struct remote_entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest != NULL ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void drop_oldest(struct remote_cache *c)
{
    struct remote_entry *e = c->oldest;
    *find(c, e->hash, sv_make(e->bytes, e->question_len)) = e->chain;
    unlink_entry(c, e);
    c->bytes -= cost(e->question_len, e->answer_len);
    c->count--;
    free(e);
}

static void grow(struct remote_cache *c)
{
    free(c->buckets);
    c->bucket_count = c->bucket_count == 0 ? FIRST_BUCKETS : c->bucket_count * 2;
    c->buckets = mem_array(c->bucket_count, sizeof(*c->buckets));
    for (struct remote_entry *e = c->newest; e != NULL; e = e->older) {
        struct remote_entry **bucket = &c->buckets[e->hash & (c->bucket_count - 1)];
        e->chain = *bucket;
        *bucket = e;
    }
}

bool remote_cache_get(struct remote_cache *c, struct sv question, struct buf *answer)
{
    uint64_t hash = hash_of(question);
    pthread_mutex_lock(&c->lock);
    struct remote_entry *e = c->bucket_count > 0 ? *find(c, hash, question) : NULL;
    if (e != NULL) {
        buf_add(answer, sv_make(e->bytes + e->question_len, e->answer_len));
        unlink_entry(c, e);
        link_newest(c, e);
    }
    pthread_mutex_unlock(&c->lock);
    return e != NULL;
}

void remote_cache_put(struct remote_cache *c, struct sv question, struct sv answer)
{
    size_t bytes = cost(question.len, answer.len);
    uint64_t hash = hash_of(question);
    if (bytes > c->limit_bytes / LARGEST_SHARE)
        return;
    pthread_mutex_lock(&c->lock);
    if (c->count >= c->bucket_count)
        grow(c);
    struct remote_entry **at = find(c, hash, question);
    if (*at == NULL) { /* else another thread asked the same at the same time */
        struct remote_entry *e = mem_alloc(bytes);
        *e = (struct remote_entry){
            .hash = hash, .question_len = question.len, .answer_len = answer.len};
        memcpy(e->bytes, question.ptr, question.len);
        if (answer.len > 0)
            memcpy(e->bytes + question.len, answer.ptr, answer.len);
        *at = e;
        link_newest(c, e);
        c->count++;
        c->bytes += bytes;
        while (c->bytes > c->limit_bytes)
            drop_oldest(c);
    }
    pthread_mutex_unlock(&c->lock);
}
