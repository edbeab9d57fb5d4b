/* Classes come from utf8proc's tables; ASCII, nearly all of the traffic, from one of 128 bytes. */
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <utf8proc.h>

/* 0 other, 1 space, 2 letter, 3 number: the numbers of enum unicode_class. */
static const unsigned char ascii_class[128] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0, 0, 0, 0,
    0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0,
    0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 0, 0, 0, 0, 0,
};

bool unicode_is_space(uint32_t cp)
{
    if (cp < 128)
        return ascii_class[cp] == UNICODE_SPACE;
    switch (cp) {
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
        return true;
    default:
        return cp >= 0x2000 && cp <= 0x200A;
    }
}

bool unicode_is_numeric(uint32_t cp)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c == UTF8PROC_CATEGORY_ND || c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_NO;
}

static bool is_letter(uint32_t cp)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO;
}

enum unicode_class unicode_class(uint32_t cp)
{
    if (cp < 128)
        return (enum unicode_class)ascii_class[cp];
    if (is_letter(cp))
        return UNICODE_LETTER;
    if (unicode_is_numeric(cp))
        return UNICODE_NUMBER;
    return unicode_is_space(cp) ? UNICODE_SPACE : UNICODE_OTHER;
}

bool unicode_is_word(uint32_t cp)
{
    utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NL) || c == UTF8PROC_CATEGORY_PC;
}

bool unicode_is_plain_nfc(struct sv text)
{
    /* U+0300, the first combining mark, begins with 0xCC; nothing below it composes or decomposes under NFC. */
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0xCC)
            return false;
    return true;
}

void unicode_nfc(struct sv text, struct buf *out)
{
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t n =
        utf8proc_map((const utf8proc_uint8_t *)text.ptr, (utf8proc_ssize_t)text.len, &made,
                     UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (n < 0) /* only invalid UTF-8 does this, and the caller has excluded that */
        buf_add(out, text);
    else
        buf_add(out, sv_make((const char *)made, (size_t)n));
    free(made);
}
