/* See position.h. */
#include "datasets/format/position.h"

#include "tokenizer/utf8.h"

#include <stdarg.h>
#include <stdio.h>

bool position_error(const char *name, struct sv text, size_t offset, struct error *err,
                    const char *format, ...)
{
    char reason[512];
    size_t line = 1;
    size_t column = 1;
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    if (wanted < 0)
        reason[0] = '\0';
    for (size_t i = 0; i < offset && i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c == '\n') {
            line++;
            column = 1;
        } else {
            column += (c & 0xC0) != 0x80;
        }
    }
    return error_set(err, E_PARSE, "'%s': line %zu, column %zu: %s", name, line, column, reason);
}

bool position_malformed(const char *name, struct sv text, size_t offset, struct error *err)
{
    if (offset >= text.len)
        return position_error(name, text, offset, err, "malformed JSON, the text ends too early");
    unsigned char c = (unsigned char)text.ptr[offset];
    if (c > 0x20 && c < 0x7F)
        return position_error(name, text, offset, err, "malformed JSON at '%c'", c);
    return position_error(name, text, offset, err, "malformed JSON at byte 0x%02X", c);
}

bool position_check_text(const char *name, struct sv *text, struct error *err)
{
    if (sv_starts(*text, SV_LIT("\xFF\xFE")) || sv_starts(*text, SV_LIT("\xFE\xFF")))
        return error_set(err, E_PARSE, "'%s' is UTF-16; save it as UTF-8", name);
    if (sv_starts(*text, SV_LIT("\xEF\xBB\xBF")))
        *text = sv_skip(*text, 3);
    size_t good = utf8_first_invalid(*text);
    if (good < text->len)
        return position_error(name, *text, good, err, "not valid UTF-8");
    return true;
}
