/* Classes come from a two-stage table of kinds; ASCII, nearly all of the traffic, from one of 128 words.
 * NFC is made only around the characters that may take part in it: everything else is copied, since most texts are in
 * NFC but for a handful of places. */
#include "tokenizer/unicode.h"

#include "tokenizer/unicode_table_priv.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

#define CT 0
#define SP (UC_SPACE)
#define PU (UC_P | UC_PUNCT)
#define SY (UC_S | UC_PUNCT)
#define DI (UC_N | UC_ND | UC_WORD | UC_NUMERIC)
#define UP (UC_LU | UC_WORD)
#define LO (UC_LL | UC_WORD)
#define RE (UC_BERT_REMOVED)

/* clang-format off */
const uint32_t unicode_ascii[128] = {
    RE, RE, RE, RE, RE, RE, RE, RE, RE, SP, SP, SP | RE, SP | RE, SP, RE, RE,
    RE, RE, RE, RE, RE, RE, RE, RE, RE, RE, RE, RE, RE, RE, RE, RE,
    SP, PU, PU, PU, SY, PU, PU, PU, PU, PU, PU, SY, PU, PU, PU, PU,
    DI, DI, DI, DI, DI, DI, DI, DI, DI, DI, PU, PU, SY, SY, SY, PU,
    PU, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP,
    UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, UP, PU, PU, PU, SY, PU | UC_WORD,
    SY, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO,
    LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, LO, PU, SY, PU, SY, RE,
};
/* clang-format on */

uint32_t unicode_flags_beyond_ascii(uint32_t cp)
{
    if (cp > 0x10FFFF)
        return 0;
    return unicode_kinds[unicode_points[(size_t)unicode_blocks[cp >> 7] << 7 | (cp & 127)]];
}

bool unicode_is_space(uint32_t cp)
{
    return (unicode_flags(cp) & UC_SPACE) != 0;
}

bool unicode_is_numeric(uint32_t cp)
{
    return (unicode_flags(cp) & UC_NUMERIC) != 0;
}

bool unicode_is_word(uint32_t cp)
{
    return (unicode_flags(cp) & UC_WORD) != 0;
}

void unicode_lower(uint32_t cp, struct buf *out)
{
    if (cp < 128) {
        buf_add_char(out, (char)(cp >= 'A' && cp <= 'Z' ? cp + 32 : cp));
        return;
    }
    if (cp == 0x130) { /* the only one that becomes two: i and a dot above */
        buf_add_str(out, "i\xCC\x87");
        return;
    }
    size_t lo = 0;
    size_t hi = sizeof(unicode_lowers) / sizeof(unicode_lowers[0]);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (unicode_lowers[mid].from < cp)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo < sizeof(unicode_lowers) / sizeof(unicode_lowers[0]) && unicode_lowers[lo].from == cp)
        cp = unicode_lowers[lo].to;
    utf8_add(out, cp);
}

/* Ranges of characters whose upper-case or title-case form has several characters; a few others lie between them. */
static const uint32_t unicode_several[][2] = {
    {0x149, 0x149},   {0x1F0, 0x1F0},   {0x390, 0x390},   {0x3B0, 0x3B0},   {0x587, 0x587},
    {0x1E96, 0x1E9A}, {0x1F50, 0x1F50}, {0x1F52, 0x1F52}, {0x1F54, 0x1F54}, {0x1F56, 0x1F56},
    {0x1F80, 0x1FAF}, {0x1FB2, 0x1FB4}, {0x1FB6, 0x1FB7}, {0x1FBC, 0x1FBC}, {0x1FC2, 0x1FC4},
    {0x1FC6, 0x1FC7}, {0x1FCC, 0x1FCC}, {0x1FD2, 0x1FD3}, {0x1FD6, 0x1FD7}, {0x1FE2, 0x1FE4},
    {0x1FE6, 0x1FE7}, {0x1FF2, 0x1FF4}, {0x1FF6, 0x1FF7}, {0x1FFC, 0x1FFC}, {0xFB00, 0xFB06},
    {0xFB13, 0xFB17},
};

bool unicode_upper(uint32_t cp, bool title, struct buf *out)
{
    if (cp < 128) {
        buf_add_char(out, (char)(cp >= 'a' && cp <= 'z' ? cp - 32 : cp));
        return true;
    }
    if (cp == 0xDF) {
        buf_add_str(out, title ? "Ss" : "SS");
        return true;
    }
    for (size_t i = 0; i < sizeof(unicode_several) / sizeof(unicode_several[0]); i++)
        if (cp >= unicode_several[i][0] && cp <= unicode_several[i][1])
            return false;
    utf8proc_int32_t made =
        title ? utf8proc_totitle((utf8proc_int32_t)cp) : utf8proc_toupper((utf8proc_int32_t)cp);
    utf8_add(out, (uint32_t)made);
    return true;
}

static const utf8proc_option_t form_options[] = {
    [UNICODE_NFC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE,
    [UNICODE_NFD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE,
    [UNICODE_NFKC] = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT,
    [UNICODE_NFKD] = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT,
};

static void library_form(enum unicode_form form, struct sv text, struct buf *out)
{
    if (text.len == 0)
        return;
    utf8proc_uint8_t *made = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text.ptr,
                                      (utf8proc_ssize_t)text.len, &made, form_options[form]);
    if (n < 0) /* only invalid UTF-8 does this, and the caller has excluded that */
        buf_add(out, text);
    else
        buf_add(out, sv_make((const char *)made, (size_t)n));
    free(made);
}

static size_t skip_ascii(struct sv text, size_t at)
{
    uint64_t word;
    while (at + 8 <= text.len) {
        memcpy(&word, text.ptr + at, 8);
        if ((word & 0x8080808080808080u) != 0)
            break;
        at += 8;
    }
    while (at < text.len && (unsigned char)text.ptr[at] < 0x80)
        at++;
    return at;
}

/* Start of the first character at or after `at` that NFC may touch, or text.len; *before is the start of the character
 * in front of it. */
static size_t next_check(struct sv text, size_t at, size_t *before)
{
    uint32_t cp;
    *before = at;
    while (at < text.len) {
        size_t plain = skip_ascii(text, at);
        if (plain > at) {
            *before = plain - 1;
            at = plain;
            continue;
        }
        size_t n = utf8_next(text.ptr + at, &cp);
        if ((unicode_flags(cp) & UC_NFC_CHECK) != 0)
            return at;
        *before = at;
        at += n;
    }
    return at;
}

static void nfc(struct sv text, struct buf *out)
{
    size_t done = 0;
    size_t before;
    uint32_t cp;
    for (;;) {
        size_t at = next_check(text, done, &before);
        if (at == text.len)
            break;
        size_t end = at;
        while (end < text.len) {
            size_t n = utf8_next(text.ptr + end, &cp);
            if ((unicode_flags(cp) & UC_NFC_CHECK) == 0)
                break;
            end += n;
        }
        buf_add(out, sv_make(text.ptr + done, before - done));
        library_form(UNICODE_NFC, sv_make(text.ptr + before, end - before), out);
        done = end;
    }
    buf_add(out, sv_skip(text, done));
}

void unicode_normalize(enum unicode_form form, struct sv text, struct buf *out)
{
    static const uint32_t kept[] = {[UNICODE_NFC] = 0,
                                    [UNICODE_NFD] = UC_NFD_KEPT,
                                    [UNICODE_NFKC] = UC_NFKC_KEPT,
                                    [UNICODE_NFKD] = UC_NFKD_KEPT};
    if (form == UNICODE_NFC) {
        nfc(text, out);
        return;
    }
    /* Characters that the reference does not know stay; what lies between them is normalized. */
    size_t start = 0;
    for (size_t at = 0; at < text.len;) {
        uint32_t cp;
        size_t n = utf8_next(text.ptr + at, &cp);
        if ((unicode_flags(cp) & kept[form]) != 0) {
            library_form(form, sv_make(text.ptr + start, at - start), out);
            buf_add(out, sv_make(text.ptr + at, n));
            start = at + n;
        }
        at += n;
    }
    library_form(form, sv_skip(text, start), out);
}

bool unicode_is_plain(enum unicode_form form, struct sv text)
{
    size_t before;
    if (form == UNICODE_NFC)
        return next_check(text, 0, &before) == text.len;
    return skip_ascii(text, 0) == text.len;
}

const char *unicode_newer_items(struct sv name)
{
    for (size_t i = 0; i < sizeof(unicode_newers) / sizeof(unicode_newers[0]); i++)
        if (sv_eq(name, sv_from(unicode_newers[i].name)))
            return unicode_newers[i].items;
    return "";
}

size_t unicode_cluster_end(struct sv text, size_t at)
{
    utf8proc_int32_t state = 0;
    uint32_t cp;
    uint32_t next;
    at += utf8_next(text.ptr + at, &cp);
    while (at < text.len) {
        size_t n = utf8_next(text.ptr + at, &next);
        if (utf8proc_grapheme_break_stateful((utf8proc_int32_t)cp, (utf8proc_int32_t)next, &state))
            break;
        cp = next;
        at += n;
    }
    return at;
}
