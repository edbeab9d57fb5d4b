/* Tokens are kept sorted; the candidates at a position are narrowed byte by byte with two binary searches, so a set of
 * thousands costs no more than its longest content. */
#include "tokenizer/added.h"

#include "base/alloc.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

void added_add(struct added_set *set, struct added_token token)
{
    if (token.content.len == 0)
        return;
    MEM_GROW(set->items, set->count, set->cap);
    set->items[set->count++] = token;
    set->starts[(unsigned char)token.content.ptr[0]] = true;
}

static int compare(const void *a, const void *b)
{
    struct sv x = ((const struct added_token *)a)->content;
    struct sv y = ((const struct added_token *)b)->content;
    int order = memcmp(x.ptr, y.ptr, x.len < y.len ? x.len : y.len);
    if (order != 0)
        return order;
    return (x.len > y.len) - (x.len < y.len);
}

void added_sort(struct added_set *set)
{
    if (set->count > 0)
        qsort(set->items, set->count, sizeof(*set->items), compare);
    set->only_start = -1;
    if (set->count > 0 && set->items[0].content.ptr[0] == set->items[set->count - 1].content.ptr[0])
        set->only_start = (unsigned char)set->items[0].content.ptr[0];
}

void added_done(struct added_set *set)
{
    free(set->items);
    *set = (struct added_set){0};
}

/* First of items[lo..hi) whose byte at `depth` is at least `c`; all of them share the first `depth` bytes. */
static size_t lower(const struct added_set *set, size_t lo, size_t hi, size_t depth, int c)
{
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        struct sv content = set->items[mid].content;
        int byte = depth < content.len ? (unsigned char)content.ptr[depth] : -1;
        if (byte < c)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The longest token at text[at], or NULL. */
static const struct added_token *longest_at(const struct added_set *set, struct sv text, size_t at)
{
    const struct added_token *best = NULL;
    size_t lo = 0;
    size_t hi = set->count;
    for (size_t depth = 0; at + depth < text.len && lo < hi; depth++) {
        int c = (unsigned char)text.ptr[at + depth];
        lo = lower(set, lo, hi, depth, c);
        hi = lower(set, lo, hi, depth, c + 1);
        /* Of tokens with these bytes in common the one that ends here is first. */
        if (lo < hi && set->items[lo].content.len == depth + 1)
            best = &set->items[lo];
    }
    return best;
}

static bool touches_word(struct sv text, size_t start, size_t end)
{
    uint32_t cp;
    if (start > 0) {
        utf8_prev(text.ptr, text.ptr + start, &cp);
        if (unicode_is_word(cp))
            return true;
    }
    if (end == text.len)
        return false;
    utf8_next(text.ptr + end, &cp);
    return unicode_is_word(cp);
}

static size_t spaces_before(struct sv text, size_t at, size_t limit)
{
    while (at > limit) {
        uint32_t cp;
        const char *before = utf8_prev(text.ptr, text.ptr + at, &cp);
        if (!unicode_is_space(cp))
            break;
        at = (size_t)(before - text.ptr);
    }
    return at > limit ? at : limit;
}

static size_t spaces_after(struct sv text, size_t at)
{
    while (at < text.len) {
        uint32_t cp;
        size_t n = utf8_next(text.ptr + at, &cp);
        if (!unicode_is_space(cp))
            break;
        at += n;
    }
    return at;
}

bool added_find(const struct added_set *set, struct sv text, size_t *from, size_t *taken,
                struct added_match *match)
{
    if (set->count == 0)
        return false;
    for (size_t at = *from; at < text.len; at++) {
        if (set->only_start >= 0) {
            const char *hit = memchr(text.ptr + at, set->only_start, text.len - at);
            if (hit == NULL)
                return false;
            at = (size_t)(hit - text.ptr);
        } else if (!set->starts[(unsigned char)text.ptr[at]]) {
            continue;
        }
        const struct added_token *token = longest_at(set, text, at);
        if (token == NULL)
            continue;
        size_t end = at + token->content.len;
        /* A token refused as no single word is passed over as a whole, as in the reference. */
        if (token->single_word && touches_word(text, at, end)) {
            at = end - 1;
            continue;
        }
        *from = end;
        match->id = token->id;
        match->start = token->lstrip ? spaces_before(text, at, *taken) : at;
        match->end = token->rstrip ? spaces_after(text, end) : end;
        /* What rstrip took may hold the start of this one. */
        if (match->start < *taken)
            match->start = *taken;
        if (match->end < *taken)
            match->end = *taken;
        *taken = match->end;
        return true;
    }
    return false;
}
