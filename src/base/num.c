/* Numbers and text.  Shortest digits follow R. Giulietti, "The Schubfach way to render doubles" (2020): the interval
 * of reals that round to a double is scaled by a power of ten so that it holds at least one and at most a few
 * integers, with 128-bit products rounded to odd; the shortest, and of those the nearest to the double, is taken.
 * Worked example: 0.3 is c * 2^-54 with c = 5404319552844595; scaled by 10^17 its interval is about
 * 29999999999999996.1 to 30000000000000001.7, and 3 * 10^16 is the shortest integer inside. */
#include "base/num.h"

#include "base/alloc.h"
#include "base/num_pow10_priv.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* Takes an optional sign off; true when it is '-'. */
static bool take_sign(struct sv *text)
{
    bool negative = text->len > 0 && text->ptr[0] == '-';
    if (text->len > 0 && (negative || text->ptr[0] == '+'))
        *text = sv_skip(*text, 1);
    return negative;
}

static bool parse_digits(struct sv text, uint64_t *out)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (!is_digit(text.ptr[i]) || __builtin_mul_overflow(sum, 10u, &sum) ||
            __builtin_add_overflow(sum, (unsigned)(text.ptr[i] - '0'), &sum))
            return false;
    }
    *out = sum;
    return text.len > 0;
}

bool num_parse_u64(struct sv text, uint64_t *out)
{
    uint64_t size;
    bool negative = take_sign(&text);
    if (!parse_digits(text, &size) || (negative && size != 0))
        return false;
    *out = size;
    return true;
}

bool num_parse_i64(struct sv text, int64_t *out)
{
    uint64_t size;
    bool negative = take_sign(&text);
    if (!parse_digits(text, &size) || size > (uint64_t)INT64_MAX + negative)
        return false;
    *out = (int64_t)(negative ? 0 - size : size);
    return true;
}

static bool parse_word(struct sv text, double *out)
{
    if (sv_eq_nocase(text, SV_LIT("inf")) || sv_eq_nocase(text, SV_LIT("infinity")))
        *out = HUGE_VAL;
    else if (sv_eq_nocase(text, SV_LIT("nan")))
        *out = NAN;
    else
        return false;
    return true;
}

/* A decimal number taken apart: whole * 10^exponent, exact when `digits` (leading zeros not counted) is at most 19. */
struct decimal {
    uint64_t whole;
    size_t digits;
    int64_t exponent;
};

/* Digits from text[*at] on into d; returns how many there were. */
static size_t add_digits(struct sv text, size_t *at, struct decimal *d)
{
    size_t start = *at;
    for (; *at < text.len && is_digit(text.ptr[*at]); (*at)++) {
        if (d->digits > 0 || text.ptr[*at] != '0')
            d->digits++;
        if (d->digits <= 19)
            d->whole = d->whole * 10 + (unsigned)(text.ptr[*at] - '0');
    }
    return *at - start;
}

/* digits [. digits] [e [sign] digits] with a digit before or after the point, and nothing else. */
static bool take_apart(struct sv text, struct decimal *d)
{
    size_t at = 0;
    size_t count = add_digits(text, &at, d);
    if (at < text.len && text.ptr[at] == '.') {
        at++;
        size_t fraction = add_digits(text, &at, d);
        count += fraction;
        d->exponent = -(int64_t)fraction;
    }
    if (count == 0)
        return false;
    if (at < text.len && (text.ptr[at] | 0x20) == 'e') {
        at++;
        bool negative = at < text.len && text.ptr[at] == '-';
        if (at < text.len && (negative || text.ptr[at] == '+'))
            at++;
        size_t start = at;
        int64_t exponent = 0;
        for (; at < text.len && is_digit(text.ptr[at]); at++) {
            if (exponent < 1000000)
                exponent = exponent * 10 + (text.ptr[at] - '0');
        }
        if (at == start)
            return false;
        d->exponent += negative ? -exponent : exponent;
    }
    return at == text.len;
}

/* The slow way, right for every text: the C library rounds correctly, and the locale is always "C" here. */
static double parse_by_library(struct sv text)
{
    char small[64];
    if (text.len < sizeof(small)) {
        memcpy(small, text.ptr, text.len);
        small[text.len] = '\0';
        return strtod(small, NULL);
    }
    CLEANUP(mem_free_ptr) char *copy = mem_strndup(text.ptr, text.len);
    return strtod(copy, NULL);
}

bool num_parse_double(struct sv text, double *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool negative = take_sign(&text);
    double value;
    struct decimal d = {0};
    if (take_apart(text, &d)) {
        /* Both factors are exact doubles, so one rounding happens: the right one (Clinger 1990). */
        if (d.digits <= 19 && d.whole <= UINT64_C(1) << 53 && d.exponent >= -22 && d.exponent <= 22)
            value = d.exponent < 0 ? (double)d.whole / tens[-d.exponent]
                                   : (double)d.whole * tens[d.exponent];
        else
            value = parse_by_library(text);
    } else if (!parse_word(text, &value)) {
        return false;
    }
    *out = negative ? -value : value;
    return true;
}

/* floor(log10(2^e)), floor(log10(3/4 * 2^e)) and floor(log2(10^e)) for |e| <= 1233: products with the logarithms to
 * 22 and 19 binary places, which are near enough that the floor is right over the whole range. */
static int floor_log10_pow2(int e)
{
    return (e * 1262611) >> 22;
}

static int floor_log10_three_quarters_pow2(int e)
{
    return (e * 1262611 - 524031) >> 22;
}

static int floor_log2_pow10(int e)
{
    return (e * 1741647) >> 19;
}

/* The upper 64 bits of g * factor / 2^64, the lowest bit set when anything was cut off ("rounded to odd"). */
static uint64_t scale_to_odd(struct pow10_row g, uint64_t factor)
{
    __extension__ unsigned __int128 product = g.low;
    product = (product * factor) >> 64;
    __extension__ unsigned __int128 high = g.high;
    product += high * factor;
    return (uint64_t)(product >> 64) | ((uint64_t)product > 1);
}

struct digits {
    uint64_t whole; /* value = whole * 10^exponent */
    int exponent;
};

/* The shortest decimal inside the rounding interval of c * 2^q; c > 0. */
static struct digits shortest(uint64_t c, int q, bool lower_is_closer)
{
    int k = lower_is_closer ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    int shift = q + floor_log2_pow10(-k) + 1;
    struct pow10_row g = pow10_rows[-k - POW10_FIRST];
    uint64_t odd = c & 1; /* an even c owns the ends of its interval */
    uint64_t lower = scale_to_odd(g, (4 * c - (lower_is_closer ? 1 : 2)) << shift) + odd;
    uint64_t middle = scale_to_odd(g, (4 * c) << shift);
    uint64_t upper = scale_to_odd(g, (4 * c + 2) << shift) - odd;
    uint64_t whole = middle / 4; /* all three are in quarters */

    if (whole >= 10) {
        uint64_t tens = whole / 10;
        bool below = lower <= 40 * tens;
        bool above = 40 * tens + 40 <= upper;
        if (below != above)
            return (struct digits){tens + above, k + 1};
    }
    bool below = lower <= 4 * whole;
    bool above = 4 * whole + 4 <= upper;
    if (below != above)
        return (struct digits){whole + above, k};
    uint64_t half = 4 * whole + 2;
    bool up = middle > half || (middle == half && (whole & 1) != 0);
    return (struct digits){whole + up, k};
}

static struct digits digits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0)
        return shortest(fraction, -1074, false);
    uint64_t c = fraction | UINT64_C(1) << 52;
    int q = exponent - 1075;
    if (q <= 0 && q > -53 && (c & ((UINT64_C(1) << -q) - 1)) == 0)
        return (struct digits){c >> -q, 0}; /* a whole number below 2^53 */
    return shortest(c, q, fraction == 0 && exponent > 1);
}

size_t num_format_u64(char out[NUM_TEXT_MAX], uint64_t value)
{
    char reversed[20];
    size_t len = 0;
    do {
        reversed[len++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < len; i++)
        out[i] = reversed[len - 1 - i];
    out[len] = '\0';
    return len;
}

static size_t put_exponent(char *out, int exponent)
{
    size_t len = 0;
    unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    out[len++] = 'e';
    out[len++] = exponent < 0 ? '-' : '+';
    if (size >= 100)
        out[len++] = (char)('0' + size / 100);
    out[len++] = (char)('0' + size / 10 % 10);
    out[len++] = (char)('0' + size % 10);
    return len;
}

/* Lays digits out as Python's repr does: point at `point` digits from the left when -4 < point <= 16, else an exponent
 * of two digits at least. */
static size_t lay_out(char *out, const char *digits, size_t count, int point, bool whole_mark)
{
    size_t len = 0;
    if (point <= -4 || point > 16) {
        out[len++] = digits[0];
        if (count > 1) {
            out[len++] = '.';
            memcpy(out + len, digits + 1, count - 1);
            len += count - 1;
        }
        return len + put_exponent(out + len, point - 1);
    }
    if (point <= 0) {
        memcpy(out, "0.000", 5);
        len = 2 + (size_t)-point;
        memcpy(out + len, digits, count);
        return len + count;
    }
    size_t before = (size_t)point;
    if (count <= before) {
        memcpy(out, digits, count);
        memset(out + count, '0', before - count);
        memcpy(out + before, ".0", 2);
        return before + (whole_mark ? 2 : 0);
    }
    memcpy(out, digits, before);
    out[before] = '.';
    memcpy(out + before + 1, digits + before, count - before);
    return count + 1;
}

static size_t format_shortest(char out[NUM_TEXT_MAX], double value, bool whole_mark)
{
    size_t len = 0;
    if (isnan(value)) {
        memcpy(out, "nan", 4);
        return 3;
    }
    if (signbit(value))
        out[len++] = '-';
    value = fabs(value);
    if (isinf(value)) {
        memcpy(out + len, "inf", 4);
        return len + 3;
    }
    struct digits d = value > 0 ? digits_of(value) : (struct digits){0};
    char digits[NUM_TEXT_MAX];
    size_t count = num_format_u64(digits, d.whole);
    int point = value > 0 ? (int)count + d.exponent : 1;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    len += lay_out(out + len, digits, count, point, whole_mark);
    assert(len < NUM_TEXT_MAX);
    out[len] = '\0';
    return len;
}

size_t num_format_double(char out[NUM_TEXT_MAX], double value)
{
    return format_shortest(out, value, true);
}

size_t num_format_short(char out[NUM_TEXT_MAX], double value)
{
    return format_shortest(out, value, false);
}

size_t num_format_fixed(char *out, size_t cap, double value, int decimals)
{
    int wanted = snprintf(out, cap, "%.*f", decimals, value);
    if (wanted < 0 || cap == 0)
        return 0;
    return (size_t)wanted < cap ? (size_t)wanted : cap - 1;
}
