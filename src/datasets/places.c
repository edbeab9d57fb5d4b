/* See places.h. */
#include "datasets/places.h"

#include "base/alloc.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { CODE_POINTS = 0x110000 };

struct places {
    bool words_only;
    uint8_t spanned[CODE_POINTS / 8]; /* code points that some entry has behind a letter */
};

static bool is_letter(uint32_t cp)
{
    return (unicode_flags(cp) & UC_L) != 0;
}

/* Could this stand behind a place, if no entry spans it? */
static bool is_follower(uint32_t cp)
{
    if (cp == ' ' || cp == '\n')
        return true;
    if (cp == '\'' || cp == 0x2019 || cp == 0xFFFD || unicode_is_word(cp))
        return false;
    return (unicode_flags(cp) & (UC_P | UC_S)) != 0;
}

static void note_token(struct places *p, struct sv text)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    bool letter = false;
    while (at < end) {
        uint32_t cp;
        at += utf8_next(at, &cp);
        if (letter)
            p->spanned[cp / 8] |= (uint8_t)(1u << cp % 8);
        letter = is_letter(cp);
    }
}

struct places *places_new(const struct tokenizer *tokenizer)
{
    struct places *p = mem_new(struct places);
    struct buf text = {0};
    struct error err;
    uint32_t size = tokenizer_full_size(tokenizer);
    for (uint32_t id = 0; id < size; id++) {
        buf_reset(&text);
        if (tokenizer_decode(tokenizer, &id, 1, false, &text, &err))
            note_token(p, buf_sv(&text));
    }
    buf_done(&text);
    return p;
}

void places_words_only(struct places *places)
{
    places->words_only = true;
}

void places_free(struct places *places)
{
    free(places);
}

bool places_starts(const struct places *p, struct sv text)
{
    uint32_t cp;
    if (text.len == 0)
        return false;
    size_t n = utf8_next(text.ptr, &cp);
    if (!is_follower(cp) || (p->spanned[cp / 8] >> cp % 8 & 1) != 0)
        return false;
    if (!p->words_only)
        return true;
    if (cp != ' ' || n == text.len)
        return false;
    utf8_next(text.ptr + n, &cp);
    return is_letter(cp);
}

bool places_ends(struct sv text)
{
    uint32_t cp;
    if (text.len == 0)
        return false;
    utf8_prev(text.ptr, text.ptr + text.len, &cp);
    return is_letter(cp);
}

size_t places_find(const struct places *p, struct sv text)
{
    bool letter = false;
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        size_t n = utf8_next(text.ptr + at, &cp);
        if (letter && places_starts(p, sv_skip(text, at)))
            return at;
        letter = is_letter(cp);
        at += n;
    }
    return text.len;
}
