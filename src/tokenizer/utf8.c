/* UTF-8 decoding by the table of Unicode 3.9 (well-formed byte sequences): the second byte's range depends on the
 * first, so overlong forms, surrogates and values past U+10FFFF fall out without further tests. */
#include "tokenizer/utf8.h"

static bool second_ok(unsigned char lead, unsigned char c)
{
    switch (lead) {
    case 0xE0:
        return c >= 0xA0 && c <= 0xBF;
    case 0xED:
        return c >= 0x80 && c <= 0x9F;
    case 0xF0:
        return c >= 0x90 && c <= 0xBF;
    case 0xF4:
        return c >= 0x80 && c <= 0x8F;
    default:
        return c >= 0x80 && c <= 0xBF;
    }
}

static int length_of_lead(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF)
        return 3;
    if (lead >= 0xF0 && lead <= 0xF4)
        return 4;
    return 0;
}

int utf8_decode(const char *at, const char *end, uint32_t *cp)
{
    unsigned char lead = (unsigned char)at[0];
    int need = length_of_lead(lead);
    if (need == 0)
        return -1;
    if (need == 1) {
        *cp = lead;
        return 1;
    }
    uint32_t value = lead & (0x7Fu >> need);
    for (int i = 1; i < need; i++) {
        if (at + i == end)
            return -i;
        unsigned char c = (unsigned char)at[i];
        if (i == 1 ? !second_ok(lead, c) : (c & 0xC0) != 0x80)
            return -i;
        value = (value << 6) | (c & 0x3Fu);
    }
    *cp = value;
    return need;
}

size_t utf8_next(const char *at, uint32_t *cp)
{
    unsigned char lead = (unsigned char)at[0];
    if (lead < 0x80) {
        *cp = lead;
        return 1;
    }
    if (lead < 0xE0) {
        *cp = ((lead & 0x1Fu) << 6) | ((unsigned char)at[1] & 0x3Fu);
        return 2;
    }
    if (lead < 0xF0) {
        *cp = ((lead & 0x0Fu) << 12) | (((unsigned char)at[1] & 0x3Fu) << 6) |
              ((unsigned char)at[2] & 0x3Fu);
        return 3;
    }
    *cp = ((lead & 0x07u) << 18) | (((unsigned char)at[1] & 0x3Fu) << 12) |
          (((unsigned char)at[2] & 0x3Fu) << 6) | ((unsigned char)at[3] & 0x3Fu);
    return 4;
}

const char *utf8_prev(const char *begin, const char *end, uint32_t *cp)
{
    const char *at = end - 1;
    while (at > begin && ((unsigned char)*at & 0xC0) == 0x80)
        at--;
    utf8_next(at, cp);
    return at;
}

size_t utf8_first_invalid(struct sv text)
{
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    while (at < end) {
        uint64_t eight;
        if (end - at >= 8) {
            memcpy(&eight, at, 8);
            if ((eight & 0x8080808080808080u) == 0) {
                at += 8;
                continue;
            }
        }
        uint32_t cp;
        int n = utf8_decode(at, end, &cp);
        if (n < 0)
            return (size_t)(at - text.ptr);
        at += n;
    }
    return text.len;
}

bool utf8_valid(struct sv text)
{
    return utf8_first_invalid(text) == text.len;
}

void utf8_add(struct buf *out, uint32_t cp)
{
    char *at = buf_reserve(out, 4);
    if (cp < 0x80) {
        at[0] = (char)cp;
        out->len += 1;
    } else if (cp < 0x800) {
        at[0] = (char)(0xC0 | (cp >> 6));
        at[1] = (char)(0x80 | (cp & 0x3F));
        out->len += 2;
    } else if (cp < 0x10000) {
        at[0] = (char)(0xE0 | (cp >> 12));
        at[1] = (char)(0x80 | ((cp >> 6) & 0x3F));
        at[2] = (char)(0x80 | (cp & 0x3F));
        out->len += 3;
    } else {
        at[0] = (char)(0xF0 | (cp >> 18));
        at[1] = (char)(0x80 | ((cp >> 12) & 0x3F));
        at[2] = (char)(0x80 | ((cp >> 6) & 0x3F));
        at[3] = (char)(0x80 | (cp & 0x3F));
        out->len += 4;
    }
}

void utf8_add_lossy(struct buf *out, struct sv bytes)
{
    while (bytes.len > 0) {
        size_t good = utf8_first_invalid(bytes);
        buf_add(out, sv_make(bytes.ptr, good));
        bytes = sv_skip(bytes, good);
        if (bytes.len == 0)
            return;
        uint32_t cp;
        int n = utf8_decode(bytes.ptr, bytes.ptr + bytes.len, &cp);
        buf_add(out, SV_LIT("\xEF\xBF\xBD"));
        bytes = sv_skip(bytes, (size_t)-n);
    }
}
