/* The merges of a tokenizer.json, from their text to triples of ids.  Nothing of a merge but three ids is needed, and
 * finding ids is waiting for memory; so merges are gathered and looked up many at a time (vocab_find_many).  Most files
 * list the merges in the order of the tokens that they make, so those are not looked up at all when the guess holds. */
#include "base/alloc.h"
#include "json/scan.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

enum { BATCH = 128, MAX_KEPT = 1 << 20 };

/* Where the parts' bytes lie in `kept`: left, then right; `joined` is elsewhere when the right part loses a prefix. */
struct waiting {
    uint32_t at;
    uint32_t left;
    uint32_t right;
    uint32_t joined;
    uint32_t joined_len;
};

struct merge_reader {
    struct tokenizer *t;
    struct buf spare[2];
    struct buf kept;
    struct waiting waiting[BATCH];
    struct vocab_key keys[2 * BATCH];
    uint32_t parts[2 * BATCH];
    uint32_t made[BATCH];
    size_t count;
    size_t prefix;      /* bytes that the right part loses */
    uint32_t rank;      /* of the first one waiting */
    uint32_t last_made; /* what the merge before made */
};

/* When the merges come late, the added tokens are there already. */
static uint32_t own_token(const struct vocab *v, uint32_t id)
{
    return (vocab_flags(v, id) & TOKEN_ADDED) != 0 ? VOCAB_NONE : id;
}

static void add_text(const struct vocab *v, struct sv kept, struct buf *out)
{
    for (size_t i = 0; v->byte_level && i < kept.len; i++)
        utf8_add(out, vocab_char_of((unsigned char)kept.ptr[i]));
    if (!v->byte_level)
        buf_add(out, kept);
}

static bool unknown_parts(struct merge_reader *r, struct sv left, struct sv right,
                          struct error *err)
{
    return error_set(err, E_PARSE,
                     "merge %u ('" SV_FMT "' '" SV_FMT "') uses tokens that are not in the "
                     "vocabulary",
                     r->rank, SV_ARG(left), SV_ARG(right));
}

static bool unknown_kept(struct merge_reader *r, const struct waiting *w, struct error *err)
{
    const char *at = r->kept.ptr + w->at;
    buf_reset(&r->spare[0]);
    buf_reset(&r->spare[1]);
    add_text(&r->t->vocab, sv_make(at, w->left), &r->spare[0]);
    add_text(&r->t->vocab, sv_make(at + w->left, w->right), &r->spare[1]);
    return unknown_parts(r, buf_sv(&r->spare[0]), buf_sv(&r->spare[1]), err);
}

static bool is_joined(const struct vocab *v, uint32_t id, struct sv joined)
{
    unsigned wanted = TOKEN_HERE | (v->byte_level ? TOKEN_SPELLED : 0);
    return (vocab_flags(v, id) & (wanted | TOKEN_ADDED | TOKEN_CHANGED)) == wanted &&
           sv_eq(vocab_bytes(v, id), joined);
}

/* The token after the one made last, or that one once more; else all others are looked up. */
static void find_made(struct merge_reader *r)
{
    const struct vocab *v = &r->t->vocab;
    uint32_t where[BATCH];
    uint32_t found[BATCH];
    size_t open = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct waiting *w = &r->waiting[i];
        struct sv joined = sv_make(r->kept.ptr + w->joined, w->joined_len);
        uint32_t guess = r->last_made + 1;
        if (v->repeats || (!is_joined(v, guess, joined) && !is_joined(v, --guess, joined))) {
            r->keys[open] = (struct vocab_key){joined.ptr, w->joined_len,
                                               vocab_hash(joined.ptr, w->joined_len)};
            where[open++] = (uint32_t)i;
            r->last_made++; /* a single one out of order does no harm to the next */
        } else {
            r->last_made = guess;
        }
        r->made[i] = guess;
    }
    vocab_find_many(v, r->keys, open, found);
    for (size_t i = 0; i < open; i++)
        r->made[where[i]] = own_token(v, found[i]);
    if (open > 0 && where[open - 1] == r->count - 1)
        r->last_made = found[open - 1];
}

/* Looks up what waits. */
static bool flush(struct merge_reader *r, struct error *err)
{
    const struct vocab *v = &r->t->vocab;
    for (size_t i = 0; i < r->count; i++) {
        const struct waiting *w = &r->waiting[i];
        const char *at = r->kept.ptr + w->at;
        r->keys[2 * i] = (struct vocab_key){at, w->left, vocab_hash(at, w->left)};
        r->keys[2 * i + 1] =
            (struct vocab_key){at + w->left, w->right, vocab_hash(at + w->left, w->right)};
    }
    vocab_find_many(v, r->keys, 2 * r->count, r->parts);
    find_made(r);
    for (size_t i = 0; i < r->count; i++) {
        uint32_t left = own_token(v, r->parts[2 * i]);
        uint32_t right = own_token(v, r->parts[2 * i + 1]);
        if (left == VOCAB_NONE || right == VOCAB_NONE || r->made[i] == VOCAB_NONE)
            return unknown_kept(r, &r->waiting[i], err);
        bpe_add_merge(&r->t->model.bpe, left, right, r->made[i], r->rank++);
    }
    r->count = 0;
    buf_reset(&r->kept);
    return true;
}

/* A merge of parts that the vocabulary keeps as texts, though it spells bytes. */
static bool add_odd(struct merge_reader *r, struct sv left, struct sv right, struct error *err)
{
    const struct vocab *v = &r->t->vocab;
    struct buf joined = {0};
    if (!flush(r, err))
        return false;
    buf_add(&joined, left);
    buf_add(&joined, sv_skip(right, r->prefix));
    uint32_t ids[3] = {own_token(v, vocab_find(v, left)), own_token(v, vocab_find(v, right)),
                       own_token(v, vocab_find(v, buf_sv(&joined)))};
    buf_done(&joined);
    if (ids[0] == VOCAB_NONE || ids[1] == VOCAB_NONE || ids[2] == VOCAB_NONE)
        return unknown_parts(r, left, right, err);
    bpe_add_merge(&r->t->model.bpe, ids[0], ids[1], ids[2], r->rank++);
    return true;
}

/* The bytes of a part behind what is kept; false when it spells none. */
static bool keep(struct merge_reader *r, struct sv part, uint32_t *len)
{
    char *to = r->kept.ptr + r->kept.len; /* room is there */
    size_t n = part.len;
    if (r->t->vocab.byte_level)
        n = vocab_spell(part, to);
    else if (n > 0)
        memcpy(to, part.ptr, n);
    if (n == SIZE_MAX)
        return false;
    *len = (uint32_t)n;
    r->kept.len += n;
    return true;
}

static bool add_merge(struct merge_reader *r, struct sv left, struct sv right, struct error *err)
{
    struct waiting w;
    if ((r->count == BATCH || r->kept.len > MAX_KEPT) && !flush(r, err))
        return false;
    if (left.len > VOCAB_MAX_BYTES || right.len > VOCAB_MAX_BYTES)
        return add_odd(r, left, right, err);
    buf_reserve(&r->kept, 2 * (left.len + right.len) + VOCAB_SLACK);
    w.at = (uint32_t)r->kept.len;
    w.joined = w.at;
    if (!keep(r, left, &w.left) || !keep(r, right, &w.right)) {
        r->kept.len = w.at;
        return add_odd(r, left, right, err);
    }
    w.joined_len = w.left + w.right;
    if (r->prefix > 0) {
        uint32_t rest;
        w.joined = (uint32_t)r->kept.len;
        if (!keep(r, left, &w.joined_len) || !keep(r, sv_skip(right, r->prefix), &rest)) {
            r->kept.len = w.at;
            return add_odd(r, left, right, err);
        }
        w.joined_len += rest;
    }
    r->waiting[r->count++] = w;
    return true;
}

/* "a b" or ["a", "b"] */
static bool merge_parts(struct js_scan *s, struct merge_reader *r, struct sv *left,
                        struct sv *right)
{
    if (js_scan_peek(s) == JS_ARRAY) {
        bool first = true;
        js_scan_array(s);
        return js_scan_element(s, &first) && load_scan_text(s, &r->spare[0], left) &&
               js_scan_element(s, &first) && load_scan_text(s, &r->spare[1], right) &&
               !js_scan_element(s, &first);
    }
    struct sv both;
    if (!load_scan_text(s, &r->spare[0], &both))
        return false;
    size_t space = sv_find(both, ' ');
    if (space == both.len)
        return false;
    *left = sv_make(both.ptr, space);
    *right = sv_skip(both, space + 1);
    return sv_find(*right, ' ') == right->len;
}

bool load_merges(struct tokenizer *t, struct sv raw, struct error *err)
{
    struct js_scan s;
    struct sv left;
    struct sv right;
    bool first = true;
    bool ok = true;
    js_scan_init(&s, raw);
    if (raw.ptr == NULL || !js_scan_array(&s))
        return error_set(err, E_PARSE, "model.merges is no list");
    struct merge_reader *r = mem_new(struct merge_reader);
    r->t = t;
    r->prefix = t->model.bpe.options.prefix.len;
    bpe_reserve(&t->model.bpe, raw.len / 16);
    while (ok && js_scan_element(&s, &first)) {
        if (merge_parts(&s, r, &left, &right))
            ok = add_merge(r, left, right, err);
        else
            ok = flush(r, err) &&
                 error_set(err, E_PARSE, "merge %u is not a pair of tokens", r->rank);
    }
    ok = ok && flush(r, err);
    buf_done(&r->spare[0]);
    buf_done(&r->spare[1]);
    buf_done(&r->kept);
    mem_free_ptr(&r);
    if (ok)
        bpe_finish(&t->model.bpe);
    return ok;
}
