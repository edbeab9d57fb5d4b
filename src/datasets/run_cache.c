/* See run_cache.h.  Example: of the window "stra| iron gate| plus" (bars are anchors) the text and ids of " iron gate" are
 * copied, "stra" and " plus" are decoded and encoded. */
#include "datasets/run_cache.h"

#include "base/alloc.h"
#include "datasets/parallel.h"

#include <stdlib.h>

enum { FEWEST_ANCHORS = 64, PIECES = 64 };

/* A place before allowed[at % n] in the cyclic text. */
struct mark {
    size_t at;
    size_t text_at;  /* in the text from the first mark on */
    size_t ids_at;   /* in the ids of that text */
    size_t unsteady; /* stretches before it whose ids say another text */
};

/* What stands between two marks. */
struct stretch {
    struct buf text;
    struct token_ids ids;
    bool steady;
};

struct run_cache {
    const struct length_target *lt;
    const struct random_source *source;
    size_t longest;
    uint8_t *edges; /* by id */
    struct mark *marks;
    size_t mark_count;
    size_t mark_cap;
    struct buf text;
    struct token_ids ids;
    /* the shared prefix, up to its last anchor, and the ids behind that */
    struct buf head_text;
    struct token_ids head_ids;
    struct token_ids behind;
    struct stretch *stretches; /* while it is built */
};

static uint32_t id_at(const struct random_source *source, size_t at)
{
    size_t k = at % source->allowed_count;
    return source->allowed != NULL ? source->allowed[k] : (uint32_t)k;
}

/* ---- places ------------------------------------------------------------------------------------------------------- */

enum edge { STARTS_PLACE = 1u << 0, ENDS_IN_LETTER = 1u << 1 };

#define BROKEN "\xEF\xBF\xBD" /* U+FFFD, what is left of a byte that is no character by itself */

/* An id for a letter, and one for half a character (or the letter again where there is none). */
struct probes {
    uint32_t letter;
    uint32_t half;
    struct sv half_text;
};

static bool find_probes(const struct length_target *lt, uint32_t size, struct probes *probes)
{
    struct token_ids letter = {0};
    struct buf text = {0};
    struct error err;
    bool ok =
        tokenizer_encode(lt->tokenizer, SV_LIT("a"), false, &letter, &err) && letter.count == 1;
    if (ok)
        *probes = (struct probes){letter.items[0], letter.items[0], SV_LIT("a")};
    for (uint32_t id = 0; ok && id < size && probes->half == probes->letter; id++) {
        buf_reset(&text);
        if (tokenizer_decode(lt->tokenizer, &id, 1, false, &text, &err) &&
            sv_eq(buf_sv(&text), SV_LIT(BROKEN)))
            *probes = (struct probes){probes->letter, id, SV_LIT(BROKEN)};
    }
    token_ids_done(&letter);
    buf_done(&text);
    return ok;
}

/* What a token's text is like behind other text.  Tokens that stand for single bytes are no edges, for they read otherwise
 * when bytes stand beside them. */
static unsigned edges_of(const struct length_target *lt, const struct probes *probes, uint32_t id,
                         struct buf *tmp)
{
    uint32_t ids[4] = {probes->letter, probes->half, id, probes->half};
    size_t half = probes->half_text.len;
    struct error err;
    buf_reset(tmp);
    if (!tokenizer_decode(lt->tokenizer, ids, 4, false, tmp, &err) || tmp->len < 1 + 2 * half ||
        !sv_ends(buf_sv(tmp), probes->half_text))
        return 0;
    struct sv text = sv_make(tmp->ptr + 1 + half, tmp->len - 1 - 2 * half);
    unsigned edges = (places_starts(lt->places, text) ? STARTS_PLACE : 0u) |
                     (places_ends(text) ? ENDS_IN_LETTER : 0u);
    if (edges == 0)
        return 0;
    size_t before = tmp->len; /* the same text must come without the half characters */
    ids[1] = id;
    if (!tokenizer_decode(lt->tokenizer, ids, 2, false, tmp, &err))
        return 0;
    struct sv alone = sv_make(tmp->ptr + before + 1, tmp->len - before - 1);
    return sv_eq(alone, sv_make(tmp->ptr + 1 + half, before - 1 - 2 * half)) ? edges : 0;
}

static uint8_t *find_edges(const struct length_target *lt, const struct random_source *source)
{
    struct probes probes;
    struct buf tmp = {0};
    uint8_t *edges = NULL;
    if (find_probes(lt, source->vocab_size, &probes)) {
        edges = mem_array(source->vocab_size, 1);
        for (uint32_t id = 0; id < source->vocab_size; id++)
            edges[id] = (uint8_t)edges_of(lt, &probes, id, &tmp);
    }
    buf_done(&tmp);
    return edges;
}

static bool is_place(const uint8_t *edges, uint32_t before, uint32_t id)
{
    return (edges[before] & ENDS_IN_LETTER) != 0 && (edges[id] & STARTS_PLACE) != 0;
}

/* ---- building ----------------------------------------------------------------------------------------------------- */

static bool find_marks(struct run_cache *c)
{
    const struct random_source *source = c->source;
    size_t reach = source->allowed_count + c->longest;
    for (size_t at = 1; c->edges != NULL && at < reach; at++) {
        if (!is_place(c->edges, id_at(source, at - 1), id_at(source, at)))
            continue;
        MEM_GROW(c->marks, c->mark_count, c->mark_cap);
        c->marks[c->mark_count++] = (struct mark){.at = at};
    }
    return c->mark_count >= FEWEST_ANCHORS;
}

/* Appends the text of ids behind an anchor (or at the beginning) and what encoding it gives; *steady becomes false when
 * these ids say another text. */
static bool add_part(const struct length_target *lt, const uint32_t *ids, size_t count, bool behind,
                     struct buf *text, struct token_ids *out, struct buf *tmp, bool *steady,
                     struct error *err)
{
    if (behind && lt->anchor == ANCHOR_SPACE_DROPPED)
        buf_add_char(text, ' ');
    size_t start = text->len;
    size_t first = out->count;
    if (!tokenizer_decode(lt->tokenizer, ids, count, false, text, err) ||
        !tokenizer_encode(lt->tokenizer, sv_skip(buf_sv(text), start), false, out, err))
        return false;
    buf_reset(tmp);
    if (!tokenizer_decode(lt->tokenizer, out->items + first, out->count - first, false, tmp, err))
        return false;
    *steady = *steady && sv_eq(buf_sv(tmp), sv_skip(buf_sv(text), start));
    return true;
}

static void make_stretches(void *user, size_t piece)
{
    struct run_cache *c = user;
    size_t count = c->mark_count - 1;
    struct token_ids ids = {0};
    struct buf tmp = {0};
    for (size_t i = count * piece / PIECES; i < count * (piece + 1) / PIECES; i++) {
        struct error err;
        ids.count = 0;
        random_run(c->source, c->marks[i].at % c->source->allowed_count,
                   c->marks[i + 1].at - c->marks[i].at, &ids);
        c->stretches[i].steady = true;
        /* A local tokenizer does not fail. */
        (void)!add_part(c->lt, ids.items, ids.count, true, &c->stretches[i].text,
                        &c->stretches[i].ids, &tmp, &c->stretches[i].steady, &err);
    }
    token_ids_done(&ids);
    buf_done(&tmp);
}

static void add_ids(struct token_ids *to, const uint32_t *ids, size_t count)
{
    if (to->cap - to->count < count) {
        to->cap = to->count + count + to->count / 2;
        to->items = mem_resize(to->items, to->cap, sizeof(*to->items));
    }
    if (count > 0)
        memcpy(to->items + to->count, ids, count * sizeof(*ids));
    to->count += count;
}

static void join_stretches(struct run_cache *c)
{
    for (size_t i = 0; i + 1 < c->mark_count; i++) {
        struct stretch *s = &c->stretches[i];
        buf_add(&c->text, buf_sv(&s->text));
        add_ids(&c->ids, s->ids.items, s->ids.count);
        c->marks[i + 1].text_at = c->text.len;
        c->marks[i + 1].ids_at = c->ids.count;
        c->marks[i + 1].unsteady = c->marks[i].unsteady + !s->steady;
        buf_done(&s->text);
        token_ids_done(&s->ids);
    }
    free(c->stretches);
    c->stretches = NULL;
}

struct run_cache *run_cache_new(const struct length_target *lt, const struct random_source *source,
                                size_t longest)
{
    if (lt->anchor == ANCHOR_NONE || longest > source->allowed_count)
        return NULL;
    struct run_cache *c = mem_new(struct run_cache);
    c->lt = lt;
    c->source = source;
    c->longest = longest;
    c->edges = find_edges(lt, source);
    if (!find_marks(c)) {
        run_cache_free(c);
        return NULL;
    }
    c->stretches = mem_array(c->mark_count, sizeof(*c->stretches));
    parallel_for(PIECES, parallel_threads(), make_stretches, c);
    join_stretches(c);
    return c;
}

bool run_cache_set_prefix(struct run_cache *c, const struct token_ids *prefix, struct error *err)
{
    size_t last = 0; /* the last anchor in the prefix, 0: none */
    bool steady = true;
    struct buf tmp = {0};
    for (size_t i = prefix->count; last == 0 && i-- > 1;) {
        uint32_t before = prefix->items[i - 1];
        uint32_t id = prefix->items[i];
        if (before < c->source->vocab_size && id < c->source->vocab_size &&
            is_place(c->edges, before, id))
            last = i;
    }
    bool ok = last == 0 || add_part(c->lt, prefix->items, last, false, &c->head_text, &c->head_ids,
                                    &tmp, &steady, err);
    if (!steady) { /* rare: each prompt then does the prefix by itself */
        buf_reset(&c->head_text);
        c->head_ids.count = 0;
        last = 0;
    }
    add_ids(&c->behind, prefix->items + last, prefix->count - last);
    buf_done(&tmp);
    return ok;
}

/* ---- windows ------------------------------------------------------------------------------------------------------ */

/* The first mark at or after `at`. */
static const struct mark *mark_from(const struct run_cache *c, size_t at)
{
    size_t low = 0;
    size_t high = c->mark_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (c->marks[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return &c->marks[low];
}

bool run_cache_start(const struct run_cache *c, uint64_t start, size_t count,
                     struct length_fit *fit, bool *done, struct error *err)
{
    const struct mark *first = mark_from(c, start + 1);
    const struct mark *last = mark_from(c, start + count);
    const struct mark *end = c->marks + c->mark_count;
    struct token_ids *tmp = &fit->tmp_ids;
    bool steady = true;
    *done = false;
    if (c->lt->anchor == ANCHOR_NONE || count > c->longest || last == c->marks || first == end ||
        first >= --last)
        return true;
    buf_add(&fit->text, buf_sv(&c->head_text));
    add_ids(&fit->ids, c->head_ids.items, c->head_ids.count);
    tmp->count = 0;
    add_ids(tmp, c->behind.items, c->behind.count);
    random_run(c->source, start, first->at - start, tmp);
    if (!add_part(c->lt, tmp->items, tmp->count, c->head_ids.count > 0, &fit->text, &fit->ids,
                  &fit->tmp_text, &steady, err))
        return false;
    buf_add(&fit->text, sv_make(c->text.ptr + first->text_at, last->text_at - first->text_at));
    add_ids(&fit->ids, c->ids.items + first->ids_at, last->ids_at - first->ids_at);
    tmp->count = 0;
    random_run(c->source, last->at % c->source->allowed_count, start + count - last->at, tmp);
    if (!add_part(c->lt, tmp->items, tmp->count, true, &fit->text, &fit->ids, &fit->tmp_text,
                  &steady, err))
        return false;
    fit->steady = steady && first->unsteady == last->unsteady;
    fit->anchored = true;
    *done = true;
    return true;
}

void run_cache_free(struct run_cache *c)
{
    if (c == NULL)
        return;
    free(c->edges);
    free(c->marks);
    buf_done(&c->text);
    token_ids_done(&c->ids);
    buf_done(&c->head_text);
    token_ids_done(&c->head_ids);
    token_ids_done(&c->behind);
    free(c);
}
