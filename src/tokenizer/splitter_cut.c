/* Many pieces at once, for the patterns that cut words, numbers, symbols and white space.  Stretches of ASCII, nearly all
 * of the traffic, are cut here by one table and eight bytes at a time; where a piece touches another character the scanner
 * of splitter.c decides.  Both give the same pieces (tests/unit/tokenizer/test_pretokenizer.c compares them).
 *
 * Each grammar is one instance of cut_ascii, made by the compiler from constant arguments. */
#include "tokenizer/splitter.h"

#include <string.h>

enum kind { UPPER, LOWER, DIGIT, SPACE, BREAK, BLANK, SYMBOL, HIGH, END };

enum grammar { CL100K, O200K, GPT2 };

/* The grammar is a constant in every instance. */
#define INLINE static inline __attribute__((always_inline))

#define ONES  0x0101010101010101u
#define HIGHS 0x8080808080808080u

/* BREAK: a line end.  BLANK: other white space but the space itself. */
#define C4(k) k, k, k, k
#define SY4   C4(SYMBOL)
#define UP8   C4(UPPER), C4(UPPER)
#define LO8   C4(LOWER), C4(LOWER)
#define HI32  C4(HIGH), C4(HIGH), C4(HIGH), C4(HIGH), C4(HIGH), C4(HIGH), C4(HIGH), C4(HIGH)
/* clang-format off */
static const uint8_t kinds[256] = {
    SY4, SY4, SYMBOL, BLANK, BREAK, BLANK, BLANK, BREAK, SYMBOL, SYMBOL,
    SY4, SY4, SY4, SY4,
    SPACE, SYMBOL, SYMBOL, SYMBOL, SY4, SY4, SY4,
    C4(DIGIT), C4(DIGIT), DIGIT, DIGIT, SYMBOL, SYMBOL, SY4,
    SYMBOL, UPPER, UPPER, UPPER, C4(UPPER), UP8, UP8, UPPER, UPPER, UPPER, SYMBOL, SY4,
    SYMBOL, LOWER, LOWER, LOWER, C4(LOWER), LO8, LO8, LOWER, LOWER, LOWER, SYMBOL, SY4,
    HI32, HI32, HI32, HI32,
};
/* clang-format on */

INLINE enum kind kind_at(const char *at, const char *end)
{
    return at < end ? (enum kind)kinds[(unsigned char)*at] : END;
}

static inline bool is_letter(enum kind kind)
{
    return kind <= LOWER;
}

/* Bit 7 of each byte that is no letter from `first` on to the 25th behind it. */
static inline uint64_t others(uint64_t eight, unsigned char first)
{
    uint64_t low = eight & ~HIGHS;
    uint64_t from = low + ONES * (0x80u - first);
    uint64_t past = low + ONES * (0x80u - 26 - first);
    return ~(from & ~past & ~eight) & HIGHS;
}

static inline size_t first_marked(uint64_t marks)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (size_t)__builtin_ctzll(marks) >> 3;
#else
    return (size_t)__builtin_clzll(marks) >> 3;
#endif
}

/* End of the run of lower-case letters, or with `both` of letters. */
INLINE const char *letters(const char *at, const char *end, bool both)
{
    uint64_t eight;
    while (end - at >= (ptrdiff_t)sizeof(eight)) {
        memcpy(&eight, at, sizeof(eight));
        uint64_t marks = others(both ? eight | ONES * 0x20 : eight, 'a');
        if (marks != 0)
            return at + first_marked(marks);
        at += sizeof(eight);
    }
    while (at < end &&
           (kinds[(unsigned char)*at] == LOWER || (both && kinds[(unsigned char)*at] == UPPER)))
        at++;
    return at;
}

INLINE const char *run_of(const char *at, const char *end, enum kind kind)
{
    while (kind_at(at, end) == kind)
        at++;
    return at;
}

/* The rest of a word of ASCII letters; NULL when another character follows, which may belong to it. */
INLINE const char *word(const char *at, const char *end, enum grammar grammar)
{
    if (grammar == O200K)
        at = letters(run_of(at, end, UPPER), end, false);
    else
        at = letters(at, end, true);
    return kind_at(at, end) == HIGH ? NULL : at;
}

/* 's 't 're 've 'm 'll 'd at an apostrophe; `at` when it is none, NULL when another character follows. */
INLINE const char *contraction(const char *at, const char *end, bool nocase)
{
    unsigned char fold = nocase ? 0x20 : 0;
    if (end - at < 2)
        return at;
    if (kind_at(at + 1, end) == HIGH)
        return NULL;
    unsigned char c = (unsigned char)at[1] | fold;
    unsigned char d = end - at > 2 ? (unsigned char)at[2] | fold : 0;
    if (c == 's' || c == 't' || c == 'm' || c == 'd')
        return at + 2;
    if ((c == 'l' && d == 'l') || ((c == 'r' || c == 'v') && d == 'e'))
        return at + 3;
    return at;
}

INLINE const char *symbols(const struct splitter *s, const char *at, const char *end,
                           enum grammar grammar)
{
    at = run_of(at, end, SYMBOL);
    if (kind_at(at, end) == HIGH)
        return NULL;
    if (grammar != GPT2)
        while (at < end && (*at == '\n' || *at == '\r' || (s->slash && *at == '/')))
            at++;
    return at;
}

INLINE const char *digits(const struct splitter *s, const char *at, const char *end)
{
    const char *from = at;
    size_t most = s->max_digits > 0 ? s->max_digits : SIZE_MAX;
    while ((size_t)(at - from) < most && kind_at(at, end) == DIGIT)
        at++;
    return (size_t)(at - from) < most && kind_at(at, end) == HIGH ? NULL : at;
}

INLINE const char *white_space(const struct splitter *s, const char *at, const char *end,
                               enum grammar grammar)
{
    const char *from = at;
    const char *line_end = NULL;
    uint64_t eight;
    for (;;) {
        enum kind kind = kind_at(at, end);
        if (kind == HIGH)
            return NULL;
        if (kind < SPACE || kind > BLANK)
            break;
        at++;
        if (kind == BREAK)
            line_end = at;
        while (kind == SPACE && end - at >= (ptrdiff_t)sizeof(eight)) {
            memcpy(&eight, at, sizeof(eight));
            if (eight != ONES * ' ')
                break;
            at += sizeof(eight);
        }
    }
    if (at == end && s->tail_first)
        return at;
    if (grammar != GPT2 && line_end != NULL)
        return line_end;
    return at < end && at - from > 1 ? at - 1 : at;
}

/* A word behind the one character that it takes along. */
INLINE const char *fronted(const struct splitter *s, const char *at, const char *end,
                           enum grammar grammar)
{
    at = word(at, end, grammar);
    if (grammar == O200K && at != NULL && s->contractions && at < end && *at == '\'')
        at = contraction(at, end, true);
    return at;
}

/* End of the piece at `at`, NULL when it is not for this file. */
INLINE const char *piece(const struct splitter *s, const char *at, const char *end,
                         enum grammar grammar)
{
    enum kind kind = kind_at(at, end);
    if (is_letter(kind))
        return fronted(s, at, end, grammar);
    enum kind next = kind_at(at + 1, end);
    if (kind == SPACE) {
        if (is_letter(next))
            return fronted(s, at + 1, end, grammar);
        if (next == SYMBOL)
            return symbols(s, at + 1, end, grammar);
        if (grammar == GPT2 && next == DIGIT)
            return digits(s, at + 1, end);
        return white_space(s, at, end, grammar);
    }
    if (kind == SYMBOL) {
        if (grammar != O200K && *at == '\'' && (grammar == GPT2 || s->contractions)) {
            const char *behind = contraction(at, end, grammar == CL100K);
            if (behind != at)
                return behind;
        }
        if (grammar != GPT2 && is_letter(next))
            return fronted(s, at + 1, end, grammar);
        return next == HIGH ? NULL : symbols(s, at, end, grammar);
    }
    if (kind == DIGIT)
        return digits(s, at, end);
    if (kind == HIGH)
        return NULL;
    if (kind == BLANK && grammar != GPT2 && is_letter(next))
        return fronted(s, at + 1, end, grammar);
    return next == HIGH ? NULL : white_space(s, at, end, grammar);
}

INLINE size_t cut_ascii(const struct splitter *s, struct sv text, size_t from, const char **ends,
                        size_t most, enum grammar grammar)
{
    const char *at = text.ptr + from;
    const char *end = text.ptr + text.len;
    size_t count = 0;
    while (count < most && at < end) {
        const char *next = piece(s, at, end, grammar);
        if (next == NULL)
            next = text.ptr + s->next(s, text, (size_t)(at - text.ptr));
        at = next;
        ends[count++] = at;
    }
    return count;
}

size_t splitter_cut_cl100k(const struct splitter *s, struct sv text, size_t from, const char **ends,
                           size_t most)
{
    return cut_ascii(s, text, from, ends, most, CL100K);
}

size_t splitter_cut_o200k(const struct splitter *s, struct sv text, size_t from, const char **ends,
                          size_t most)
{
    return cut_ascii(s, text, from, ends, most, O200K);
}

size_t splitter_cut_gpt2(const struct splitter *s, struct sv text, size_t from, const char **ends,
                         size_t most)
{
    return cut_ascii(s, text, from, ends, most, GPT2);
}
