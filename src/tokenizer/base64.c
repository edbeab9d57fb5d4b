/* Four characters are three bytes; the last group may be short. */
#include "tokenizer/base64.h"

static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

bool base64_read(struct buf *out, struct sv text)
{
    while (text.len > 0 && text.ptr[text.len - 1] == '=')
        text.len--;
    if (text.len % 4 == 1)
        return false;
    char *to = buf_reserve(out, text.len / 4 * 3 + 3);
    size_t n = 0;
    unsigned bits = 0;
    unsigned have = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = value_of(text.ptr[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (unsigned)value;
        have += 6;
        if (have >= 8) {
            have -= 8;
            to[n++] = (char)(bits >> have & 0xFF);
        }
    }
    out->len += n;
    return true;
}
