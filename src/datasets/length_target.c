/* See length_target.h. */
#include "datasets/length_target.h"

#include "base/alloc.h"

enum { TRIES = 10 };

static bool round_trip(struct length_target *lt, struct token_ids *ids, struct buf *text,
                       struct error *err)
{
    buf_reset(text);
    if (!tokenizer_decode(lt->tokenizer, ids->items, ids->count, false, text, err))
        return false;
    ids->count = 0;
    return tokenizer_encode(lt->tokenizer, buf_sv(text), false, ids, err);
}

static void pad_or_cut(struct length_target *lt, struct token_ids *ids, size_t target)
{
    while (ids->count < target) {
        MEM_GROW(ids->items, ids->count, ids->cap);
        ids->items[ids->count++] = lt->pad(lt->user);
    }
    ids->count = target;
}

bool length_target_fit(struct length_target *lt, struct token_ids *ids, size_t target,
                       struct buf *text, struct error *err)
{
    for (int left = TRIES;; left--) {
        if (!round_trip(lt, ids, text, err))
            return false;
        if (left == 0 || ids->count == target)
            break;
        pad_or_cut(lt, ids, target);
    }
    if (ids->count > target) {
        /* Python stops here.  The cut draws nothing, so the stream stays Python's. */
        ids->count = target;
        if (!round_trip(lt, ids, text, err))
            return false;
    }
    if (ids->count > target)
        lt->surplus += (int64_t)(ids->count - target);
    else
        lt->deficit += (int64_t)(target - ids->count);
    lt->missed += ids->count != target;
    return true;
}
