/* A slot holds a free scratch or NULL; taking and giving are single exchanges. */
#include "tokenizer/scratch.h"

#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>

void piece_list_add(struct piece_list *list, struct sv piece)
{
    if (piece.len == 0)
        return;
    MEM_GROW(list->items, list->count, list->cap);
    list->items[list->count++] = piece;
}

static void scratch_free(struct scratch *s)
{
    arena_done(&s->arena);
    free(s->pieces[0].items);
    free(s->pieces[1].items);
    free(s->spans.items);
    buf_done(&s->text);
    regex_work_done(&s->regex);
    bpe_work_done(&s->bpe);
    unigram_work_done(&s->unigram);
    free(s);
}

struct scratch *scratch_take(struct scratch_pool *pool)
{
    for (size_t i = 0; i < SCRATCH_POOL_SIZE; i++) {
        struct scratch *s = atomic_exchange(&pool->slots[i], NULL);
        if (s != NULL)
            return s;
    }
    return mem_new(struct scratch);
}

void scratch_give(struct scratch_pool *pool, struct scratch *s)
{
    arena_done(&s->arena);
    s->arena = (struct arena){0};
    buf_reset(&s->text);
    for (size_t i = 0; i < SCRATCH_POOL_SIZE; i++) {
        struct scratch *free_slot = NULL;
        if (atomic_compare_exchange_strong(&pool->slots[i], &free_slot, s))
            return;
    }
    scratch_free(s);
}

void scratch_pool_done(struct scratch_pool *pool)
{
    for (size_t i = 0; i < SCRATCH_POOL_SIZE; i++) {
        struct scratch *s = atomic_exchange(&pool->slots[i], NULL);
        if (s != NULL)
            scratch_free(s);
    }
}
