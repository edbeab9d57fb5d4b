/* Merges that are read at the first text.  They are most of the work of loading, and prompts of ids never need them.
 * A failure stays: every text gets the same message. */
#include "base/alloc.h"
#include "tokenizer/tokenizer_priv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct late {
    struct tokenizer *t;
    pthread_mutex_t lock;
    atomic_bool settled; /* merges and the model are as they stay */
    bool ok;
    struct buf merges;
    struct error err;
};

struct late *late_new(struct tokenizer *t, struct sv merges)
{
    struct late *late = mem_new(struct late);
    late->t = t;
    pthread_mutex_init(&late->lock, NULL);
    buf_add(&late->merges, merges);
    return late;
}

bool late_ready(struct late *late, struct error *err)
{
    if (!atomic_load_explicit(&late->settled, memory_order_acquire)) {
        pthread_mutex_lock(&late->lock);
        if (!atomic_load_explicit(&late->settled, memory_order_relaxed)) {
            late->ok = load_merges(late->t, buf_sv(&late->merges), &late->err);
            buf_done(&late->merges);
            load_trim();
            if (!late->ok && late->t->description.ptr != NULL) /* else the loader says whose */
                error_context(&late->err, "%s", late->t->description.ptr);
            atomic_store_explicit(&late->settled, true, memory_order_release);
        }
        pthread_mutex_unlock(&late->lock);
    }
    if (!late->ok)
        *err = late->err;
    return late->ok;
}

void late_free(struct late *late)
{
    if (late == NULL)
        return;
    pthread_mutex_destroy(&late->lock);
    buf_done(&late->merges);
    free(late);
}
