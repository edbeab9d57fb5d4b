/* text_priv.h - steps over plain text many bytes at a time: what reader and writer of JSON strings share.
 * Use: js_plain_end(at, end, 0) finds where a raw string stops being plain; with JS_STOP_HIGH it stops at bytes
 * >= 0x80 too.  Threads: pure functions.  Errors: none. */
#ifndef VB_JSON_TEXT_PRIV_H
#define VB_JSON_TEXT_PRIV_H

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define JS_ONES      UINT64_C(0x0101010101010101)
#define JS_HIGHS     UINT64_C(0x8080808080808080)
#define JS_STOP_HIGH JS_HIGHS

static inline uint64_t js_load8(const char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word); /* the first byte must be the lowest */
#endif
    return word;
}

#ifdef __SSE2__
/* One bit a byte of the 16 at `at`: it is '"', '\\', below 0x20 or, with JS_STOP_HIGH, above 0x7f. */
static inline unsigned js_stops16(const char *at, uint64_t stop_high)
{
    __m128i bytes;
    memcpy(&bytes, at, sizeof(bytes));
    __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    __m128i stops = _mm_or_si128(_mm_or_si128(quote, slash), control);
    if (stop_high != 0)
        stops = _mm_or_si128(stops, bytes);
    return (unsigned)_mm_movemask_epi8(stops);
}
#endif

/* First of '"', '\\', a byte below 0x20 (or, with JS_STOP_HIGH, above 0x7f) in [at, end), else end.
 * (v - 1) & ~v sets the top bit of the lowest zero byte of v; borrows may set false bits only above it, and only the
 * lowest is used.  A zero byte of word ^ 0x22.. is a quote; word - 0x20.. borrows in bytes below 0x20. */
static inline const char *js_plain_end(const char *at, const char *end, uint64_t stop_high)
{
#ifdef __SSE2__
    while (end - at >= 16) {
        unsigned stops = js_stops16(at, stop_high);
        if (stops != 0)
            return at + __builtin_ctz(stops);
        at += 16;
    }
#endif
    while (end - at >= 8) {
        uint64_t word = js_load8(at);
        uint64_t quote = word ^ (JS_ONES * '"');
        uint64_t slash = word ^ (JS_ONES * '\\');
        uint64_t hit = ((quote - JS_ONES) & ~quote) | ((slash - JS_ONES) & ~slash) |
                       ((word - JS_ONES * 0x20) & ~word);
        hit = (hit & JS_HIGHS) | (word & stop_high);
        if (hit != 0)
            return at + (__builtin_ctzll(hit) >> 3);
        at += 8;
    }
    for (; at < end; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\' || c < 0x20 || (stop_high != 0 && c >= 0x80))
            break;
    }
    return at;
}

#endif
