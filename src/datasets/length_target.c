/* See length_target.h.  Example of an anchor: of "... green ideas sl|eep" with the last id to be replaced, everything
 * before " ideas" stays as it is; the rounds decode and encode " ideas sl...". */
#include "datasets/length_target.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
    TRIES = 10,
    ANCHOR_FIRST = 24,    /* ids looked back at first for an anchor, */
    ANCHOR_LAST = 1 << 14 /* and at most */
};

static bool decode(const struct length_target *lt, const uint32_t *ids, size_t count,
                   struct buf *text, struct error *err)
{
    return tokenizer_decode(lt->tokenizer, ids, count, false, text, err);
}

/* ---- which tokenizers have anchors ------------------------------------------------------------------------------ */

/* Is `end` (which the probe's text ends with) encoded and decoded by itself as it is behind "ab"? */
static bool stands_alone(const struct length_target *lt, struct sv end)
{
    struct token_ids whole = {0};
    struct token_ids head = {0};
    struct token_ids tail = {0};
    struct buf text = {0};
    struct error err;
    bool ok = tokenizer_encode(lt->tokenizer, SV_LIT("ab cd efg, hi"), false, &whole, &err) &&
              tokenizer_encode(lt->tokenizer, SV_LIT("ab"), false, &head, &err) &&
              tokenizer_encode(lt->tokenizer, end, false, &tail, &err) && tail.count > 0 &&
              head.count + tail.count == whole.count &&
              memcmp(whole.items, head.items, head.count * sizeof(*head.items)) == 0 &&
              memcmp(whole.items + head.count, tail.items, tail.count * sizeof(*tail.items)) == 0 &&
              decode(lt, tail.items, tail.count, &text, &err) && sv_eq(buf_sv(&text), end);
    token_ids_done(&whole);
    token_ids_done(&head);
    token_ids_done(&tail);
    buf_done(&text);
    return ok;
}

/* Tokens that decoding can leave out. */
static bool *find_special(const struct length_target *lt)
{
    bool *special = mem_array(lt->vocab_size, sizeof(*special));
    struct buf text = {0};
    struct error err;
    for (uint32_t id = 0; id < lt->vocab_size; id++) {
        buf_reset(&text);
        special[id] = tokenizer_decode(lt->tokenizer, &id, 1, true, &text, &err) && text.len == 0 &&
                      decode(lt, &id, 1, &text, &err) && text.len > 0;
    }
    buf_done(&text);
    return special;
}

void length_target_init(struct length_target *lt, const struct tokenizer *tokenizer,
                        bool find_anchor)
{
    *lt = (struct length_target){.tokenizer = tokenizer,
                                 .vocab_size = tokenizer_vocab_size(tokenizer)};
    if (!find_anchor || tokenizer_is_remote(tokenizer))
        return;
    if (stands_alone(lt, SV_LIT(" cd efg, hi")))
        lt->anchor = ANCHOR_SPACE_KEPT;
    else if (stands_alone(lt, SV_LIT("cd efg, hi")))
        lt->anchor = ANCHOR_SPACE_DROPPED;
    if (lt->anchor == ANCHOR_NONE)
        return;
    lt->places = places_new(tokenizer);
    if (lt->anchor == ANCHOR_SPACE_DROPPED) {
        lt->special = find_special(lt);
        places_words_only(lt->places);
    }
}

void length_target_done(struct length_target *lt)
{
    free(lt->special);
    places_free(lt->places);
    *lt = (struct length_target){0};
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Text behind the anchor becomes what the ids there say, and the ids what that text gives. */
static bool round_trip(const struct length_target *lt, struct length_fit *fit, struct error *err)
{
    fit->steady = false;
    fit->text.len = fit->anchor_bytes;
    if (!decode(lt, fit->ids.items + fit->anchor_ids, fit->ids.count - fit->anchor_ids, &fit->text,
                err))
        return false;
    fit->ids.count = fit->anchor_ids;
    fit->anchored = fit->anchored || fit->anchor_ids > 0;
    return tokenizer_encode(lt->tokenizer, sv_skip(buf_sv(&fit->text), fit->anchor_bytes), false,
                            &fit->ids, err);
}

/* The text up to the anchor is what its ids say, which is not what they were made of where encoding normalizes. */
static bool move_anchor(const struct length_target *lt, struct length_fit *fit, size_t to)
{
    struct error err;
    size_t from = fit->anchor_ids;
    for (size_t i = from; lt->special != NULL && i < to; i++)
        if (fit->ids.items[i] >= lt->vocab_size || lt->special[fit->ids.items[i]])
            return false;
    if (fit->steady) { /* then only what follows must be decoded to know where it begins */
        buf_reset(&fit->tmp_text);
        if (!decode(lt, fit->ids.items + to, fit->ids.count - to, &fit->tmp_text, &err))
            return false;
        if (sv_ends(buf_sv(&fit->text), buf_sv(&fit->tmp_text))) {
            fit->anchor_ids = to;
            fit->anchor_bytes = fit->text.len - fit->tmp_text.len;
            return true;
        }
    }
    fit->text.len = fit->anchor_bytes;
    if (!decode(lt, fit->ids.items + from, to - from, &fit->text, &err))
        return false;
    if (lt->anchor == ANCHOR_SPACE_DROPPED)
        buf_add_char(&fit->text, ' ');
    fit->anchor_ids = to;
    fit->anchor_bytes = fit->text.len;
    return true;
}

/* How many ids of ids[0..count) give exactly the text `head`; `count` when none do.  Half characters decode to more than
 * they end up as, so equal lengths alone say little. */
static size_t ids_before(const struct length_target *lt, const uint32_t *ids, size_t count,
                         struct sv head, struct buf *tmp)
{
    size_t low = 0;
    size_t high = count;
    struct error err;
    while (low < high) {
        size_t middle = (low + high) / 2;
        buf_reset(tmp);
        if (!decode(lt, ids, middle, tmp, &err))
            return count;
        if (tmp->len < head.len)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t more = 0; more < 4 && low + more < count; more++) {
        buf_reset(tmp);
        if (decode(lt, ids, low + more, tmp, &err) && sv_eq(buf_sv(tmp), head))
            return low + more;
    }
    return count;
}

/* An anchor among the last `back` ids before `limit`, the number of ids that are sure to stay. */
static bool try_anchor(const struct length_target *lt, struct length_fit *fit, size_t limit,
                       size_t back)
{
    struct error err;
    const uint32_t *ids = fit->ids.items + (limit - back);
    buf_reset(&fit->tmp_text);
    if (!decode(lt, ids, back, &fit->tmp_text, &err))
        return false;
    size_t place = places_find(lt->places, buf_sv(&fit->tmp_text));
    if (place == fit->tmp_text.len)
        return false;
    size_t before = ids_before(lt, ids, back, sv_make(fit->tmp_text.ptr, place), &fit->tmp_head);
    if (before == back)
        return false;
    size_t to = limit - back + before;
    return to <= fit->anchor_ids || move_anchor(lt, fit, to);
}

static void set_anchor(const struct length_target *lt, struct length_fit *fit)
{
    size_t limit = fit->ids.count < fit->target ? fit->ids.count : fit->target;
    if (fit->anchor_ids >= limit) {
        fit->anchor_ids = 0;
        fit->anchor_bytes = 0;
    }
    if (lt->anchor == ANCHOR_NONE)
        return;
    for (size_t back = ANCHOR_FIRST; back < limit && back <= ANCHOR_LAST; back *= 4)
        if (try_anchor(lt, fit, limit, back))
            return;
}

static void pad_or_cut(const struct length_target *lt, struct length_fit *fit)
{
    struct token_ids *ids = &fit->ids;
    while (ids->count < fit->target) {
        MEM_GROW(ids->items, ids->count, ids->cap);
        ids->items[ids->count++] = lt->pad(lt->user);
    }
    ids->count = fit->target;
}

/* After Python's last try.  The cut draws nothing, so the stream stays Python's. */
static bool last_cut(const struct length_target *lt, struct length_fit *fit, struct error *err)
{
    fit->finished = true;
    if (fit->ids.count <= fit->target)
        return true;
    fit->anchor_ids = 0;
    fit->anchor_bytes = 0;
    fit->ids.count = fit->target;
    return round_trip(lt, fit, err);
}

/* Rounds until the end or, unless `draw`, until ids must be drawn. */
static bool go(const struct length_target *lt, struct length_fit *fit, bool draw, struct error *err)
{
    while (!fit->finished) {
        if (fit->ids.count == fit->target) {
            fit->finished = true;
        } else if (fit->tries_left == 0) {
            if (!last_cut(lt, fit, err))
                return false;
        } else {
            if (fit->ids.count < fit->target && !draw)
                return true;
            set_anchor(lt, fit);
            pad_or_cut(lt, fit);
            fit->tries_left--;
            if (!round_trip(lt, fit, err))
                return false;
        }
    }
    return true;
}

void length_fit_reset(struct length_fit *fit, size_t target)
{
    fit->ids.count = 0;
    buf_reset(&fit->text);
    fit->target = target;
    fit->finished = false;
    fit->anchored = false;
    fit->steady = false;
    fit->tries_left = TRIES;
    fit->anchor_ids = 0;
    fit->anchor_bytes = 0;
}

bool length_fit_start(const struct length_target *lt, struct length_fit *fit, struct error *err)
{
    return round_trip(lt, fit, err) && go(lt, fit, false, err);
}

bool length_fit_resume(const struct length_target *lt, struct length_fit *fit, struct error *err)
{
    return go(lt, fit, false, err);
}

bool length_fit_go_on(const struct length_target *lt, struct length_fit *fit, struct error *err)
{
    return go(lt, fit, true, err);
}

bool length_fit_verify(const struct length_target *lt, struct length_fit *fit, bool *same,
                       struct error *err)
{
    *same = true;
    if (!fit->anchored)
        return true;
    fit->tmp_ids.count = 0;
    if (!tokenizer_encode(lt->tokenizer, buf_sv(&fit->text), false, &fit->tmp_ids, err))
        return false;
    *same =
        fit->tmp_ids.count == fit->ids.count &&
        memcmp(fit->tmp_ids.items, fit->ids.items, fit->ids.count * sizeof(*fit->ids.items)) == 0;
    return true;
}

void length_fit_done(struct length_fit *fit)
{
    token_ids_done(&fit->ids);
    token_ids_done(&fit->tmp_ids);
    buf_done(&fit->text);
    buf_done(&fit->tmp_text);
    buf_done(&fit->tmp_head);
    *fit = (struct length_fit){0};
}
