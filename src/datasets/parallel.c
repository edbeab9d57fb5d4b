/* See parallel.h.  Threads live for one call: a call is worth milliseconds, starting a thread some 20 microseconds. */
#include "datasets/parallel.h"

#include "tokenizer/tokenizer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { THREADS_MAX = 64, FEW_PIECES = 8 };

struct pieces {
    atomic_size_t next;
    size_t count;
    parallel_piece_fn *piece;
    void *user;
};

unsigned parallel_threads(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 1;
    int n = CPU_COUNT(&set);
    return n < 1 ? 1 : n > THREADS_MAX ? THREADS_MAX : (unsigned)n;
}

unsigned parallel_tokenizing(const struct tokenizer *tokenizer, size_t pieces)
{
    unsigned connections = tokenizer != NULL ? tokenizer_connections(tokenizer) : 0;
    if (connections > 0)
        return connections;
    return pieces < FEW_PIECES ? 1 : parallel_threads();
}

static void *work(void *arg)
{
    struct pieces *p = arg;
    for (;;) {
        size_t index = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (index >= p->count)
            return NULL;
        p->piece(p->user, index);
    }
}

void parallel_for(size_t count, unsigned threads, parallel_piece_fn *piece, void *user)
{
    struct pieces p = {.count = count, .piece = piece, .user = user};
    pthread_t helpers[THREADS_MAX];
    unsigned started = 0;
    while (started + 1 < threads && started + 1 < count && started + 1 < THREADS_MAX &&
           pthread_create(&helpers[started], NULL, work, &p) == 0)
        started++;
    work(&p);
    for (unsigned i = 0; i < started; i++)
        pthread_join(helpers[i], NULL);
}
