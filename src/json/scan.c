/* The cursor over a JSON text.  An error empties the rest of the text (end = at), so that every function fails by
 * itself afterwards and none needs to look at `bad` first.  Nested values are stepped over without recursion: one bit
 * per open bracket says whether it is an object. */
#include "json/scan.h"

#include "json/text_priv.h"

/* An event has some twenty strings of a dozen bytes: calls and results in memory would cost more than the look. */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Classes of bytes, by what a value that begins with them would be. */
static const uint8_t value_type[256] = {
    ['n'] = JS_NULL,   ['t'] = JS_BOOL,   ['f'] = JS_BOOL,   ['"'] = JS_STRING, ['['] = JS_ARRAY,
    ['{'] = JS_OBJECT, ['-'] = JS_NUMBER, ['0'] = JS_NUMBER, ['1'] = JS_NUMBER, ['2'] = JS_NUMBER,
    ['3'] = JS_NUMBER, ['4'] = JS_NUMBER, ['5'] = JS_NUMBER, ['6'] = JS_NUMBER, ['7'] = JS_NUMBER,
    ['8'] = JS_NUMBER, ['9'] = JS_NUMBER,
};

static bool fail_at(struct js_scan *s, const char *at)
{
    s->at = at;
    s->end = at;
    s->bad = true;
    return false;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A line end and what indents the next line. */
static __attribute__((noinline)) const char *skip_indent(const char *at, const char *end)
{
#ifdef __SSE2__
    while (end - at >= 16) {
        __m128i bytes;
        memcpy(&bytes, at, sizeof(bytes));
        __m128i blanks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(' ')),
                                      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
        blanks = _mm_or_si128(blanks, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\t')));
        blanks = _mm_or_si128(blanks, _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r')));
        unsigned others = ~(unsigned)_mm_movemask_epi8(blanks) & 0xffff;
        if (others != 0)
            return at + __builtin_ctz(others);
        at += 16;
    }
#endif
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* Most texts are written without blanks or with single ones. */
static inline const char *skip_blanks(const char *at, const char *end)
{
    if (at == end || (unsigned char)*at > ' ')
        return at;
    if (*at == ' ' && end - at >= 2 && (unsigned char)at[1] > ' ')
        return at + 1;
    return skip_indent(at, end);
}

/* Value of a hexadecimal digit, or 16. */
static unsigned hex_value(char c)
{
    if (is_digit(c))
        return (unsigned)(c - '0');
    unsigned letter = (unsigned)((unsigned char)c | 0x20u) - 'a';
    return letter < 6 ? letter + 10 : 16;
}

/* The four digits of a \u escape as a number; above 0xffff when they are no such digits. */
static uint32_t hex4(const char *at, const char *end)
{
    if (end - at < 4)
        return UINT32_MAX;
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        unsigned digit = hex_value(at[i]);
        if (digit == 16)
            return UINT32_MAX;
        value = value << 4 | digit;
    }
    return value;
}

/* `at` stands on a backslash; returns the place after the escape, NULL when it is none. */
static const char *skip_escape(const char *at, const char *end)
{
    if (end - at < 2)
        return NULL;
    switch (at[1]) {
    case '"':
    case '\\':
    case '/':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
        return at + 2;
    case 'u':
        return hex4(at + 2, end) <= 0xffff ? at + 6 : NULL;
    default:
        return NULL;
    }
}

/* `at` stands after the opening quote; returns the closing quote.  On failure NULL, and *broken is the place. */
static __attribute__((noinline)) const char *long_string_end(const char *at, const char *end,
                                                             bool *escaped, const char **broken)
{
    for (;;) {
        at = js_plain_end(at, end, 0);
        if (at < end && *at == '"')
            return at;
        const char *next = at < end && *at == '\\' ? skip_escape(at, end) : NULL;
        if (next == NULL) {
            *broken = at;
            return NULL;
        }
        *escaped = true;
        at = next;
    }
}

/* The same; names and short values end within the first look. */
static ALWAYS_INLINE const char *string_end(const char *at, const char *end, bool *escaped,
                                            const char **broken)
{
    *escaped = false;
#ifdef __SSE2__
    if (__builtin_expect(end - at >= 16, 1)) {
        unsigned stops = js_stops16(at, 0);
        const char *stop = at + __builtin_ctz(stops | 1u << 15);
        if (__builtin_expect(stops != 0 && *stop == '"', 1))
            return stop;
    }
#endif
    return long_string_end(at, end, escaped, broken);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* `at` stands on '-' or a digit.  Returns the end of the number (RFC 8259 6); NULL when malformed. */
static const char *number_end(const char *at, const char *end)
{
    if (*at == '-')
        at++;
    if (at == end || !is_digit(*at))
        return NULL;
    at = *at == '0' ? at + 1 : skip_digits(at, end);
    if (at < end && *at == '.') {
        if (++at == end || !is_digit(*at))
            return NULL;
        at = skip_digits(at, end);
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        if (at == end || !is_digit(*at))
            return NULL;
        at = skip_digits(at, end);
    }
    return at;
}

/* The end of true, false or null that begins at `at`; NULL when it is another word. */
static const char *word_end(const char *at, const char *end)
{
    size_t left = (size_t)(end - at);
    if (left >= 4 && (memcmp(at, "true", 4) == 0 || memcmp(at, "null", 4) == 0))
        return at + 4;
    if (left >= 5 && memcmp(at, "false", 5) == 0)
        return at + 5;
    return NULL;
}

void js_scan_init(struct js_scan *s, struct sv text)
{
    const char *ptr = text.ptr != NULL ? text.ptr : "";
    *s = (struct js_scan){.at = ptr, .end = ptr + text.len, .start = ptr};
}

enum js_type js_scan_peek(struct js_scan *s)
{
    s->at = skip_blanks(s->at, s->end);
    enum js_type type = s->at < s->end ? value_type[(unsigned char)*s->at] : JS_BAD;
    if (type == JS_BAD)
        fail_at(s, s->at);
    return type;
}

/* Consumes `c` after white space. */
static ALWAYS_INLINE bool take_char(struct js_scan *s, char c)
{
    const char *at = skip_blanks(s->at, s->end);
    if (at == s->end || *at != c)
        return fail_at(s, at);
    s->at = at + 1;
    return true;
}

bool js_scan_object(struct js_scan *s)
{
    return take_char(s, '{');
}

bool js_scan_array(struct js_scan *s)
{
    return take_char(s, '[');
}

/* The string at `at`, where no blank stands. */
static ALWAYS_INLINE bool take_string(struct js_scan *s, const char *at, struct sv *raw,
                                      bool *escaped)
{
    if (at == s->end || *at != '"')
        return fail_at(s, at);
    const char *broken = at;
    const char *close = string_end(at + 1, s->end, escaped, &broken);
    if (close == NULL)
        return fail_at(s, broken);
    raw->ptr = at + 1;
    raw->len = (size_t)(close - at - 1);
    s->at = close + 1;
    return true;
}

/* The separator before the next member or element: false at `close` (consumed) and on error. */
static ALWAYS_INLINE bool take_separator(struct js_scan *s, bool *first, char close)
{
    const char *at = skip_blanks(s->at, s->end);
    if (at == s->end)
        return fail_at(s, at);
    if (*at == close) {
        s->at = at + 1;
        return false;
    }
    if (!*first) {
        if (*at != ',')
            return fail_at(s, at);
        at = skip_blanks(at + 1, s->end);
        if (at == s->end)
            return fail_at(s, at);
    }
    *first = false;
    s->at = at;
    return true;
}

bool js_scan_member(struct js_scan *s, bool *first, struct sv *key)
{
    bool escaped;
    if (!take_separator(s, first, '}') || !take_string(s, s->at, key, &escaped))
        return false;
    return take_char(s, ':');
}

bool js_scan_element(struct js_scan *s, bool *first)
{
    if (!take_separator(s, first, ']'))
        return false;
    return value_type[(unsigned char)*s->at] != JS_BAD || fail_at(s, s->at);
}

bool js_scan_string(struct js_scan *s, struct sv *raw, bool *escaped)
{
    return take_string(s, skip_blanks(s->at, s->end), raw, escaped);
}

bool js_scan_number(struct js_scan *s, struct sv *text)
{
    const char *at = skip_blanks(s->at, s->end);
    if (at == s->end || value_type[(unsigned char)*at] != JS_NUMBER)
        return fail_at(s, at);
    const char *after = number_end(at, s->end);
    if (after == NULL)
        return fail_at(s, at);
    *text = sv_make(at, (size_t)(after - at));
    s->at = after;
    return true;
}

bool js_scan_u64(struct js_scan *s, uint64_t *value)
{
    struct sv text;
    if (!js_scan_number(s, &text))
        return false;
    uint64_t sum = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]) || __builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (unsigned)(text.ptr[i] - '0'), &sum))
            return false;
    }
    *value = sum;
    return true;
}

/* One of the words, of the given type. */
static bool take_word(struct js_scan *s, enum js_type type, char *first)
{
    const char *at = skip_blanks(s->at, s->end);
    if (at == s->end || value_type[(unsigned char)*at] != type)
        return fail_at(s, at);
    const char *after = word_end(at, s->end);
    if (after == NULL)
        return fail_at(s, at);
    *first = *at;
    s->at = after;
    return true;
}

bool js_scan_bool(struct js_scan *s, bool *value)
{
    char first;
    if (!take_word(s, JS_BOOL, &first))
        return false;
    *value = first == 't';
    return true;
}

bool js_scan_null(struct js_scan *s)
{
    char first;
    return take_word(s, JS_NULL, &first);
}

/* The open brackets of a value that is being stepped over. */
struct nesting {
    unsigned depth;
    uint64_t is_object[JS_MAX_DEPTH / 64];
};

static bool in_object(const struct nesting *n)
{
    unsigned top = n->depth - 1;
    return (n->is_object[top / 64] >> (top % 64) & 1) != 0;
}

static bool push(struct nesting *n, bool object)
{
    if (n->depth == JS_MAX_DEPTH)
        return false;
    uint64_t bit = UINT64_C(1) << (n->depth % 64);
    uint64_t *word = &n->is_object[n->depth / 64];
    *word = object ? *word | bit : *word & ~bit;
    n->depth++;
    return true;
}

/* A value that has no parts; returns its end, NULL when malformed. */
static inline const char *scalar_end(const char *at, const char *end, const char **broken)
{
    bool escaped;
    *broken = at;
    switch (value_type[(unsigned char)*at]) {
    case JS_STRING: {
        const char *close = string_end(at + 1, end, &escaped, broken);
        return close != NULL ? close + 1 : NULL;
    }
    case JS_NUMBER:
        return number_end(at, end);
    case JS_NULL:
    case JS_BOOL:
        return word_end(at, end);
    default:
        return NULL;
    }
}

/* `"name" :` up to the value; NULL when malformed. */
static inline const char *skip_name(const char *at, const char *end, const char **broken)
{
    bool escaped;
    *broken = at;
    if (at == end || *at != '"')
        return NULL;
    at = string_end(at + 1, end, &escaped, broken);
    if (at == NULL)
        return NULL;
    at = skip_blanks(at + 1, end);
    *broken = at;
    return at < end && *at == ':' ? skip_blanks(at + 1, end) : NULL;
}

/* After a value: steps over closing brackets and one comma (with the next name).  Returns the next value, or the end
 * of the whole value with n->depth 0; NULL when malformed. */
static const char *after_value(const char *at, const char *end, struct nesting *n,
                               const char **broken)
{
    while (n->depth > 0) {
        at = skip_blanks(at, end);
        *broken = at;
        if (at == end)
            return NULL;
        bool object = in_object(n);
        if (*at == ',') {
            at = skip_blanks(at + 1, end);
            return object ? skip_name(at, end, broken) : at;
        }
        if (*at != (object ? '}' : ']'))
            return NULL;
        n->depth--;
        at++;
    }
    return at;
}

/* `at` stands on '{' or '['.  Returns the first value inside, or, when the bracket closes at once, its end with
 * *empty set; NULL when malformed. */
static const char *open_bracket(const char *at, const char *end, struct nesting *n, bool *empty,
                                const char **broken)
{
    bool object = *at == '{';
    *broken = at;
    if (!push(n, object))
        return NULL;
    at = skip_blanks(at + 1, end);
    *empty = at < end && *at == (object ? '}' : ']');
    if (*empty) {
        n->depth--;
        return at + 1;
    }
    return object ? skip_name(at, end, broken) : at;
}

bool js_scan_skip(struct js_scan *s, struct sv *raw)
{
    const char *end = s->end;
    const char *start = skip_blanks(s->at, end);
    const char *at = start;
    const char *broken = at;
    struct nesting n;
    n.depth = 0;
    do {
        if (at == end)
            return fail_at(s, at);
        bool done = true; /* is `at` behind a whole value now? */
        if (*at == '{' || *at == '[')
            at = open_bracket(at, end, &n, &done, &broken);
        else
            at = scalar_end(at, end, &broken);
        if (at != NULL && done)
            at = after_value(at, end, &n, &broken);
        if (at == NULL)
            return fail_at(s, broken);
    } while (n.depth > 0);
    if (raw != NULL)
        *raw = sv_make(start, (size_t)(at - start));
    s->at = at;
    return true;
}

bool js_scan_end(struct js_scan *s)
{
    if (s->bad)
        return false;
    s->at = skip_blanks(s->at, s->end);
    return s->at == s->end || fail_at(s, s->at);
}

size_t js_scan_offset(const struct js_scan *s)
{
    return (size_t)(s->at - s->start);
}

/* Can a value that begins with `first` end with `last`?  Texts that are still arriving mostly cannot. */
static bool ends_may_match(char first, char last)
{
    switch (value_type[(unsigned char)first]) {
    case JS_OBJECT:
        return last == '}';
    case JS_ARRAY:
        return last == ']';
    case JS_STRING:
        return last == '"';
    case JS_NUMBER:
        return is_digit(last);
    case JS_NULL:
        return last == 'l';
    case JS_BOOL:
        return last == 'e';
    default:
        return false;
    }
}

bool js_is_complete(struct sv text)
{
    while (text.len > 0 && is_blank(text.ptr[text.len - 1]))
        text.len--;
    struct js_scan s;
    js_scan_init(&s, text);
    s.at = skip_blanks(s.at, s.end);
    if (s.at == s.end || !ends_may_match(*s.at, s.end[-1]))
        return false;
    return js_scan_skip(&s, NULL) && js_scan_end(&s);
}

static size_t put_utf8(char out[4], uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    if (point < 0x800) {
        out[0] = (char)(0xc0 | point >> 6);
        out[1] = (char)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        out[0] = (char)(0xe0 | point >> 12);
        out[1] = (char)(0x80 | (point >> 6 & 0x3f));
        out[2] = (char)(0x80 | (point & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | point >> 18);
    out[1] = (char)(0x80 | (point >> 12 & 0x3f));
    out[2] = (char)(0x80 | (point >> 6 & 0x3f));
    out[3] = (char)(0x80 | (point & 0x3f));
    return 4;
}

/* A \u escape at `at`, or two that form a surrogate pair: "\ud83d\ude00" is U+1F600 (RFC 8259 7).  Returns the place
 * after it, NULL on a bad escape; a half of a pair that stands alone is U+FFFD. */
static const char *resolve_u(const char *at, const char *end, uint32_t *point)
{
    uint32_t unit = hex4(at + 2, end);
    if (unit > 0xffff)
        return NULL;
    at += 6;
    *point = unit;
    if (unit < 0xd800 || unit > 0xdfff)
        return at;
    *point = 0xfffd;
    if (unit >= 0xdc00 || end - at < 6 || at[0] != '\\' || at[1] != 'u')
        return at;
    uint32_t low = hex4(at + 2, end);
    if (low < 0xdc00 || low > 0xdfff)
        return at;
    *point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    return at + 6;
}

/* The escape at `at` (a backslash) as UTF-8 in out; returns the place after it, NULL on a bad escape. */
static const char *resolve_escape(const char *at, const char *end, char out[4], size_t *len)
{
    static const char plain[256] = {
        ['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
        ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
    };
    if (end - at < 2)
        return NULL;
    if (at[1] == 'u') {
        uint32_t point = 0;
        at = resolve_u(at, end, &point);
        *len = put_utf8(out, point);
        return at;
    }
    out[0] = plain[(unsigned char)at[1]];
    *len = 1;
    return out[0] != '\0' ? at + 2 : NULL;
}

bool js_unescape(struct sv raw, struct buf *out)
{
    size_t before = out->len;
    const char *at = raw.ptr;
    const char *end = raw.len > 0 ? at + raw.len : at;
    while (at < end) {
        const char *slash = memchr(at, '\\', (size_t)(end - at));
        const char *stop = slash != NULL ? slash : end;
        buf_add(out, sv_make(at, (size_t)(stop - at)));
        at = stop;
        if (slash != NULL) {
            char bytes[4];
            size_t len;
            at = resolve_escape(slash, end, bytes, &len);
            if (at == NULL) {
                out->len = before;
                return false;
            }
            buf_add(out, sv_make(bytes, len));
        }
    }
    return true;
}

bool js_key_is(struct sv raw_key, struct sv name)
{
    if (raw_key.len == 0 || memchr(raw_key.ptr, '\\', raw_key.len) == NULL)
        return sv_eq(raw_key, name);
    const char *at = raw_key.ptr;
    const char *end = raw_key.ptr + raw_key.len;
    size_t matched = 0;
    while (at < end) {
        char bytes[4] = {*at};
        size_t len = 1;
        at = *at == '\\' ? resolve_escape(at, end, bytes, &len) : at + 1;
        if (at == NULL || name.len - matched < len || memcmp(name.ptr + matched, bytes, len) != 0)
            return false;
        matched += len;
    }
    return matched == name.len;
}
