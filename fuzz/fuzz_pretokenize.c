/* The hand-made scanners against PCRE2: every pattern of the table cuts a text exactly as the translated pattern does, and
 * a built-in encoding gives every text back.  The first byte chooses the pattern; bytes that are no UTF-8 are repaired. */
#include "tokenizer/regex.h"
#include "tokenizer/splitter.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_PATTERNS = 32 };

static void compare(const struct splitter *s, const struct regex *re, struct regex_work *work,
                    struct sv text)
{
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t start = text.len;
        size_t end = text.len;
        enum regex_result found = regex_find(re, work, text, at, &start, &end);
        if (found == REGEX_TOO_HARD)
            return;
        for (; at < start;
             at += utf8_next(text.ptr + at, &cp)) /* a gap: the scanner finds none either */
            if (s->next(s, text, at) != at)
                abort();
        if (found == REGEX_NONE)
            break;
        if (s->next(s, text, at) != end) {
            fprintf(stderr, "pattern %s at %zu: scanner %zu, pattern %zu\n", s->name, at,
                    s->next(s, text, at), end);
            abort();
        }
        at = end;
    }
}

/* Many pieces at once are the pieces one by one. */
static void compare_cut(const struct splitter *s, struct sv text)
{
    const char *ends[3];
    for (size_t at = 0, piece = 0; s->cut != NULL && at < text.len;) {
        size_t count = s->cut(s, text, at, ends, 1 + piece++ % 3);
        if (count == 0)
            abort();
        for (size_t i = 0; i < count; i++) {
            size_t end = s->next(s, text, at);
            if (ends[i] != text.ptr + end) {
                fprintf(stderr, "pattern %s at %zu: cut %zu, scanner %zu\n", s->name, at,
                        (size_t)(ends[i] - text.ptr), end);
                abort();
            }
            at = end;
        }
    }
}

static void round_trip(struct sv text)
{
    static struct tokenizer *t;
    struct token_ids ids = {0};
    struct buf back = {0};
    struct error err;
    if (t == NULL)
        t = tokenizer_resolve("p50k_base", TOKENIZER_PLAIN, NULL, &err);
    if (t == NULL || !tokenizer_encode(t, text, false, &ids, &err) ||
        !tokenizer_decode(t, ids.items, ids.count, false, &back, &err) ||
        !sv_eq(buf_sv(&back), text))
        abort();
    token_ids_done(&ids);
    buf_done(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct regex *patterns[MAX_PATTERNS];
    static struct regex_work work;
    struct error err;
    struct sv pattern;
    struct buf text = {0};
    if (size < 2)
        return 0;
    size_t which = data[0] % splitter_count();
    const struct splitter *s = splitter_at(which, &pattern);
    if (patterns[which] == NULL)
        patterns[which] = regex_compile(pattern, REGEX_FANCY, &err);
    if (patterns[which] == NULL)
        abort();
    utf8_add_lossy(&text, sv_make((const char *)data + 1, size - 1));
    compare(s, patterns[which], &work, buf_sv(&text));
    compare_cut(s, buf_sv(&text));
    round_trip(buf_sv(&text));
    buf_done(&text);
    return 0;
}
