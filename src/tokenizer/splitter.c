/* Each scanner tries the alternatives of its pattern in order; since all of them are runs of one class with at most one
 * character in front, one look at the first two characters decides nearly always.
 *
 * White space, common to all: of `\s*[\r\n]+|\s+(?!\S)|\s+` a run that holds a line end is cut behind its last one; else
 * a run before more text leaves its last character to what follows; a run at the end is one piece.
 * Example (cl100k): "a  b\n\n c" gives "a" " " " b" "\n\n" " c". */
#include "tokenizer/splitter.h"

#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACE_TAIL   "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define UPPER        "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER        "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define UPPER_NO_HAN "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define LOWER_NO_HAN "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define BEFORE       "[^\\r\\n\\p{L}\\p{N}]?"

enum {
    UPPER_FLAGS = UC_LU | UC_LT | UC_LM | UC_LO | UC_M,
    LOWER_FLAGS = UC_LL | UC_LM | UC_LO | UC_M,
    WORDS = UC_SPACE | UC_L | UC_N,
};

/* Flags of the character at `at` and its length; 0 flags and length 0 at the end. */
static inline uint32_t flags_at(struct sv text, size_t at, size_t *n)
{
    uint32_t cp;
    if (at >= text.len) {
        *n = 0;
        return 0;
    }
    unsigned char c = (unsigned char)text.ptr[at];
    if (c < 128) {
        *n = 1;
        return unicode_ascii[c];
    }
    *n = utf8_next(text.ptr + at, &cp);
    return unicode_flags_beyond_ascii(cp);
}

/* End of the run of characters with one of the flags. */
static inline size_t run(struct sv text, size_t at, uint32_t flags)
{
    size_t n;
    while (at < text.len && (flags_at(text, at, &n) & flags) != 0)
        at += n;
    return at;
}

/* End of the run of characters with none of the flags. */
static inline size_t run_without(struct sv text, size_t at, uint32_t flags)
{
    size_t n;
    while (at < text.len && (flags_at(text, at, &n) & flags) == 0)
        at += n;
    return at;
}

static inline bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static inline size_t run_line_ends(struct sv text, size_t at, bool slash)
{
    while (at < text.len && (is_line_end(text.ptr[at]) || (slash && text.ptr[at] == '/')))
        at++;
    return at;
}

static inline char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
}

/* End of a contraction at `at`, or `at`.  With (?i) also U+017F, the long s. */
static inline size_t contraction(struct sv text, size_t at, bool nocase)
{
    if (at + 1 >= text.len || text.ptr[at] != '\'')
        return at;
    char c = text.ptr[at + 1];
    char d = at + 2 < text.len ? text.ptr[at + 2] : '\0';
    if (nocase) {
        if (c == '\xC5' && d == '\xBF')
            return at + 3;
        c = lower(c);
        d = lower(d);
    }
    if (c == 's' || c == 't' || c == 'm' || c == 'd')
        return at + 2;
    if ((c == 'l' && d == 'l') || ((c == 'r' || c == 'v') && d == 'e'))
        return at + 3;
    return at;
}

static inline size_t digits(struct sv text, size_t at, unsigned max)
{
    size_t n;
    for (unsigned i = 0; (max == 0 || i < max) && (flags_at(text, at, &n) & UC_N) != 0; i++)
        at += n;
    return at;
}

/* White space at `at`; `lines` when the pattern has \s*[\r\n]+. */
static size_t white_space(struct sv text, size_t at, bool lines, bool tail_first)
{
    size_t end = at;
    size_t last = at;     /* start of the run's last character */
    size_t line_end = at; /* behind its last line end */
    size_t n;
    while ((flags_at(text, end, &n) & UC_SPACE) != 0) {
        last = end;
        end += n;
        if (is_line_end(text.ptr[last]))
            line_end = end;
    }
    if (end == text.len && tail_first)
        return end;
    if (lines && line_end > at)
        return line_end;
    return end < text.len && last > at ? last : end;
}

static size_t next_cl100k(const struct splitter *s, struct sv text, size_t at)
{
    size_t n;
    size_t n2;
    size_t end;
    if (s->contractions && text.ptr[at] == '\'' && (end = contraction(text, at, true)) > at)
        return end;
    uint32_t first = flags_at(text, at, &n);
    if ((first & s->letters) != 0)
        return run(text, at + n, s->letters);
    if ((first & UC_N) != 0)
        return digits(text, at, s->max_digits);
    uint32_t second = flags_at(text, at + n, &n2);
    if ((second & s->letters) != 0 && !is_line_end(text.ptr[at]))
        return run(text, at + n + n2, s->letters);
    size_t symbols = at;
    if (text.ptr[at] == ' ' && n2 > 0 && (second & s->other_not) == 0)
        symbols++;
    if (symbols > at || (first & s->other_not) == 0)
        return run_line_ends(text, run_without(text, symbols, s->other_not), s->slash);
    return white_space(text, at, true, s->tail_first);
}

/* U*W+ or U+W* at `at`, where U and W share letters without case and marks: U* takes all it can and gives back down to
 * the last character that W can take. */
static size_t cased_word(struct sv text, size_t at, uint32_t not )
{
    size_t end = at;
    size_t shared = SIZE_MAX; /* end of the last character of the U run that W takes too */
    size_t n;
    uint32_t flags;
    while (((flags = flags_at(text, end, &n)) & UPPER_FLAGS) != 0 && (flags & not ) == 0) {
        end += n;
        if ((flags & LOWER_FLAGS) != 0)
            shared = end;
    }
    if ((flags & LOWER_FLAGS) != 0 && (flags & not ) == 0) {
        do
            end += n;
        while (((flags = flags_at(text, end, &n)) & LOWER_FLAGS) != 0 && (flags & not ) == 0);
        return end;
    }
    return shared != SIZE_MAX ? shared : end;
}

/* Did only the second alternative (U+W*) match, that is: has the word no character of W? */
static bool has_lower(struct sv text, size_t at, size_t end)
{
    size_t n;
    for (; at < end; at += n)
        if ((flags_at(text, at, &n) & LOWER_FLAGS) != 0)
            return true;
    return false;
}

static size_t word_o200k(const struct splitter *s, struct sv text, size_t at, uint32_t first,
                         size_t n)
{
    uint32_t not = s->han ? UC_HAN : 0;
    size_t end = at;
    bool front = (first & (UC_L | UC_N)) == 0 && !is_line_end(text.ptr[at]);
    if (front) {
        end = cased_word(text, at + n, not );
        if (end == at + n)
            end = at;
    }
    /* A mark may be the character in front or part of the word: the first alternative (with a character of W) is tried
     * both ways before the second. */
    if ((first & (UPPER_FLAGS | LOWER_FLAGS)) != 0 && (first & not ) == 0 &&
        (end == at || !has_lower(text, at + n, end)))
        end = cased_word(text, at, not );
    if (end > at && s->contractions)
        return contraction(text, end, true);
    return end;
}

static size_t next_o200k(const struct splitter *s, struct sv text, size_t at)
{
    size_t n;
    size_t n2;
    size_t end;
    uint32_t first = flags_at(text, at, &n);
    if (s->han && (first & UC_HAN) != 0)
        return run(text, at + n, UC_HAN);
    if ((end = word_o200k(s, text, at, first, n)) > at)
        return end;
    if ((first & UC_N) != 0)
        return digits(text, at, s->max_digits);
    uint32_t second = flags_at(text, at + n, &n2);
    size_t symbols = at;
    if (text.ptr[at] == ' ' && n2 > 0 && (second & s->other_not) == 0)
        symbols++;
    if (symbols > at || (first & s->other_not) == 0)
        return run_line_ends(text, run_without(text, symbols, s->other_not), s->slash);
    return white_space(text, at, true, s->tail_first);
}

static size_t next_gpt2(const struct splitter *s, struct sv text, size_t at)
{
    size_t n;
    size_t end;
    if (text.ptr[at] == '\'' && (end = contraction(text, at, false)) > at)
        return end;
    size_t start = at;
    uint32_t flags = flags_at(text, at, &n);
    if (text.ptr[at] == ' ') {
        size_t n2;
        uint32_t second = flags_at(text, at + 1, &n2);
        if (n2 > 0 && (second & UC_SPACE) == 0) {
            start++;
            flags = second;
        }
    }
    if ((flags & UC_L) != 0)
        return run(text, start, UC_L);
    if ((flags & UC_N) != 0)
        return run(text, start, UC_N);
    if ((flags & UC_SPACE) == 0)
        return run_without(text, start, UC_SPACE | UC_L | UC_N);
    return white_space(text, at, false, s->tail_first);
}

static bool ascii_letter(struct sv text, size_t at)
{
    return at < text.len && lower(text.ptr[at]) >= 'a' && lower(text.ptr[at]) <= 'z';
}

static size_t next_deepseek(const struct splitter *s, struct sv text, size_t at)
{
    size_t n;
    size_t n2;
    uint32_t first = flags_at(text, at, &n);
    if (n == 1 && (first & UC_PUNCT) != 0 && ascii_letter(text, at + 1)) {
        for (at++; ascii_letter(text, at); at++)
            ;
        return at;
    }
    if ((first & (UC_L | UC_M)) != 0)
        return run(text, at, UC_L | UC_M);
    uint32_t second = flags_at(text, at + n, &n2);
    if ((second & (UC_L | UC_M)) != 0 && (first & (UC_P | UC_S)) == 0 && !is_line_end(text.ptr[at]))
        return run(text, at + n, UC_L | UC_M);
    size_t symbols = text.ptr[at] == ' ' && (second & (UC_P | UC_S)) != 0 ? at + 1 : at;
    if (symbols > at || (first & (UC_P | UC_S)) != 0)
        return run_line_ends(text, run(text, symbols, UC_P | UC_S), false);
    if ((first & UC_SPACE) != 0)
        return white_space(text, at, true, s->tail_first);
    return at;
}

static size_t next_digits(const struct splitter *s, struct sv text, size_t at)
{
    return digits(text, at, s->max_digits);
}

/* [U+4E00-U+9FA5 U+3040-U+309F U+30A0-U+30FF]+ */
static size_t next_cjk(const struct splitter *s, struct sv text, size_t at)
{
    (void)s;
    while (at < text.len) {
        uint32_t cp;
        size_t n = utf8_next(text.ptr + at, &cp);
        if (!((cp >= 0x4E00 && cp <= 0x9FA5) || (cp >= 0x3040 && cp <= 0x30FF)))
            break;
        at += n;
    }
    return at;
}

#define CL100K(...)                                                                                \
    {                                                                                              \
        .next = next_cl100k, .cut = splitter_cut_cl100k, .contractions = true, .total = true,      \
        __VA_ARGS__                                                                                \
    }
#define O200K(...)                                                                                 \
    {                                                                                              \
        .next = next_o200k, .cut = splitter_cut_o200k, .other_not = WORDS, .total = true,          \
        __VA_ARGS__                                                                                \
    }

const struct splitter splitter_gpt2 = {
    .name = "gpt2", .next = next_gpt2, .cut = splitter_cut_gpt2, .total = true};

static const struct {
    const char *pattern;
    struct splitter splitter;
} table[] = {
    {"'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
     {.name = "gpt2", .next = next_gpt2, .cut = splitter_cut_gpt2, .total = true}},
    {"'(?:[sdmt]|ll|ve|re)| ?\\p{L}++| ?\\p{N}++| ?[^\\s\\p{L}\\p{N}]++|\\s++$|\\s+(?!\\S)|\\s",
     {.name = "r50k",
      .next = next_gpt2,
      .cut = splitter_cut_gpt2,
      .tail_first = true,
      .total = true}},
    {CONTRACTIONS "|" BEFORE "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACE_TAIL,
     CL100K(.name = "cl100k", .letters = UC_L, .max_digits = 3, .other_not = WORDS)},
    {CONTRACTIONS "|" BEFORE "\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACE_TAIL,
     CL100K(.name = "qwen2", .letters = UC_L, .max_digits = 1, .other_not = WORDS)},
    {CONTRACTIONS "|" BEFORE
                  "[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*" SPACE_TAIL,
     CL100K(.name = "qwen3.5", .letters = UC_L | UC_M, .max_digits = 1,
            .other_not = UC_SPACE | UC_L | UC_M | UC_N)},
    {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+| ?[^\\s\\p{L}\\p{N}]++"
     "[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s",
     CL100K(.name = "cl100k possessive", .letters = UC_L, .max_digits = 3, .other_not = WORDS,
            .tail_first = true)},
    {BEFORE UPPER "*" LOWER "+" CONTRACTIONS "?|" BEFORE UPPER "+" LOWER "*" CONTRACTIONS
                  "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACE_TAIL,
     O200K(.name = "o200k", .max_digits = 3, .contractions = true, .slash = true)},
    {BEFORE UPPER "*" LOWER "+|" BEFORE UPPER "+" LOWER
                  "*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*" SPACE_TAIL,
     O200K(.name = "tekken", .max_digits = 1, .slash = true)},
    {"[\\p{Han}]+|" BEFORE UPPER_NO_HAN "*" LOWER_NO_HAN "+" CONTRACTIONS "?|" BEFORE UPPER_NO_HAN
     "+" LOWER_NO_HAN "*" CONTRACTIONS "?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*" SPACE_TAIL,
     O200K(.name = "kimi", .max_digits = 3, .contractions = true, .han = true)},
    {"[!\"#$%&'()*+,\\-./"
     ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
     "?[\\p{P}\\p{S}]+[\r\n]*" SPACE_TAIL,
     {.name = "deepseek", .next = next_deepseek}},
    {"\\p{N}{1,3}", {.name = "digits", .next = next_digits, .max_digits = 3}},
    {"\\p{N}", {.name = "digit", .next = next_digits, .max_digits = 1}},
    {"[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+", {.name = "cjk", .next = next_cjk}},
};

size_t splitter_count(void)
{
    return sizeof(table) / sizeof(table[0]);
}

const struct splitter *splitter_at(size_t index, struct sv *pattern)
{
    *pattern = sv_from(table[index].pattern);
    return &table[index].splitter;
}

const struct splitter *splitter_find(struct sv pattern)
{
    for (size_t i = 0; i < splitter_count(); i++)
        if (sv_eq(pattern, sv_from(table[i].pattern)))
            return &table[i].splitter;
    return NULL;
}
