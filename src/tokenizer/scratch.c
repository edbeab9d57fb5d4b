/* See scratch.h. */
#include "tokenizer/scratch.h"

#include "base/alloc.h"

#include <stdlib.h>

void piece_list_add(struct piece_list *list, struct sv piece)
{
    if (piece.len == 0)
        return;
    MEM_GROW(list->items, list->count, list->cap);
    list->items[list->count++] = piece;
}

void scratch_done(struct scratch *s)
{
    arena_done(&s->arena);
    free(s->pieces[0].items);
    free(s->pieces[1].items);
    free(s->spans.items);
    buf_done(&s->text);
    regex_work_done(&s->regex);
    bpe_work_done(&s->bpe);
}
