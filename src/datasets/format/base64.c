/* See base64.h. */
#include "datasets/format/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

static int value_of(char c)
{
    const char *at = c != '\0' ? strchr(digits, c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

bool base64_decode(struct buf *out, struct sv text)
{
    size_t padding = 0;
    if (text.len % 4 != 0)
        return false;
    while (padding < 2 && padding < text.len && text.ptr[text.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < text.len; i += 4) {
        unsigned bits = 0;
        size_t given = i + 4 == text.len ? 4 - padding : 4;
        for (size_t k = 0; k < 4; k++) {
            int value = k < given ? value_of(text.ptr[i + k]) : 0;
            if (value < 0)
                return false;
            bits = bits << 6 | (unsigned)value;
        }
        for (size_t k = 0; k + 1 < given; k++)
            buf_add_char(out, (char)(bits >> (16 - 8 * k) & 255));
    }
    return true;
}
