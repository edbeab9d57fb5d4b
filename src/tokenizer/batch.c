/* Many texts at once: threads take the next few texts (the next one, when a server is asked) from a common counter until
 * none is left.  Results go to places that are fixed beforehand, so they do not depend on who did what. */
#include "base/alloc.h"
#include "tokenizer/tokenizer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_THREADS = 64, STEP = 8 };

struct batch {
    const struct tokenizer *t;
    const struct sv *texts;
    size_t count;
    bool add_special;
    size_t step; /* texts taken at a time */
    struct token_ids *ids;
    atomic_size_t next;
    atomic_bool failed;
    pthread_mutex_t lock;
    struct error err; /* the first one; under the lock */
};

static void *work(void *arg)
{
    struct batch *b = arg;
    while (!atomic_load_explicit(&b->failed, memory_order_relaxed)) {
        size_t start = atomic_fetch_add(&b->next, b->step);
        if (start >= b->count)
            break;
        size_t end = start + b->step < b->count ? start + b->step : b->count;
        for (size_t i = start; i < end; i++) {
            struct error err = {0};
            if (tokenizer_encode(b->t, b->texts[i], b->add_special, &b->ids[i], &err))
                continue;
            pthread_mutex_lock(&b->lock);
            if (!atomic_exchange(&b->failed, true))
                b->err = err;
            pthread_mutex_unlock(&b->lock);
            break;
        }
    }
    return NULL;
}

bool tokenizer_encode_many(const struct tokenizer *t, const struct sv *texts, size_t count,
                           bool add_special, unsigned threads, struct token_ids *ids,
                           struct error *err)
{
    unsigned connections = tokenizer_connections(t);
    struct batch b = {.t = t,
                      .texts = texts,
                      .count = count,
                      .add_special = add_special,
                      .step = connections > 0 ? 1 : STEP,
                      .ids = ids};
    pthread_t others[MAX_THREADS];
    unsigned started = 0;
    if (threads == 0)
        threads = connections;
    if (threads == 0) {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        threads = cores > 0 ? (unsigned)cores : 1;
    }
    if (threads > (count + b.step - 1) / b.step)
        threads = (unsigned)((count + b.step - 1) / b.step);
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    pthread_mutex_init(&b.lock, NULL);
    while (started + 1 < threads && pthread_create(&others[started], NULL, work, &b) == 0)
        started++;
    work(&b); /* this thread too; alone when no other can be had */
    for (unsigned i = 0; i < started; i++)
        pthread_join(others[i], NULL);
    pthread_mutex_destroy(&b.lock);
    if (atomic_load(&b.failed) && err != NULL)
        *err = b.err;
    return !atomic_load(&b.failed);
}
