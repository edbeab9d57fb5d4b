/* Four characters are three bytes; '=' fills the last group. */
#include "base/base64.h"

#include <stdint.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* The value of a digit plus 1; 0 for every other character. */
/* clang-format off */
static const uint8_t values[256] = {
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
      0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  63,   0,   0,   0,  64,
     53,  54,  55,  56,  57,  58,  59,  60,  61,  62,   0,   0,   0,   0,   0,   0,
      0,   1,   2,   3,   4,   5,   6,   7,   8,   9,  10,  11,  12,  13,  14,  15,
     16,  17,  18,  19,  20,  21,  22,  23,  24,  25,  26,   0,   0,   0,   0,   0,
      0,  27,  28,  29,  30,  31,  32,  33,  34,  35,  36,  37,  38,  39,  40,  41,
     42,  43,  44,  45,  46,  47,  48,  49,  50,  51,  52,   0,   0,   0,   0,   0,
};
/* clang-format on */

static void put(char *to, unsigned bits)
{
    to[0] = digits[bits >> 18 & 63];
    to[1] = digits[bits >> 12 & 63];
    to[2] = digits[bits >> 6 & 63];
    to[3] = digits[bits & 63];
}

void base64_add(struct buf *out, struct sv bytes)
{
    const unsigned char *from = (const unsigned char *)bytes.ptr;
    size_t length = (bytes.len + 2) / 3 * 4;
    char *to = buf_reserve(out, length);
    size_t i = 0;
    for (; i + 3 <= bytes.len; i += 3, to += 4)
        put(to, (unsigned)from[i] << 16 | (unsigned)from[i + 1] << 8 | from[i + 2]);
    if (i < bytes.len) {
        bool two = i + 2 == bytes.len;
        put(to, (unsigned)from[i] << 16 | (two ? (unsigned)from[i + 1] << 8 : 0));
        to[3] = '=';
        if (!two)
            to[2] = '=';
    }
    out->len += length;
}

/* Three bytes of a group without padding. */
static bool read_group(const unsigned char *from, char *to)
{
    unsigned v[4];
    for (size_t k = 0; k < 4; k++) {
        if (values[from[k]] == 0)
            return false;
        v[k] = values[from[k]] - 1u;
    }
    unsigned bits = v[0] << 18 | v[1] << 12 | v[2] << 6 | v[3];
    to[0] = (char)(bits >> 16 & 0xFF);
    to[1] = (char)(bits >> 8 & 0xFF);
    to[2] = (char)(bits & 0xFF);
    return true;
}

bool base64_read(struct buf *out, struct sv text)
{
    const unsigned char *from = (const unsigned char *)text.ptr;
    size_t padding = 0;
    if (text.len % 4 != 0)
        return false;
    if (text.len == 0)
        return true;
    while (padding < 2 && from[text.len - 1 - padding] == '=')
        padding++;
    char *to = buf_reserve(out, text.len / 4 * 3);
    for (size_t i = 0; i + 4 < text.len; i += 4, to += 3)
        if (!read_group(from + i, to))
            return false;
    unsigned char last[4];
    memcpy(last, from + text.len - 4, 4);
    for (size_t k = 0; k < padding; k++)
        last[3 - k] = 'A'; /* zero bits */
    if (!read_group(last, to))
        return false;
    out->len += text.len / 4 * 3 - padding;
    return true;
}
