/* See jsonl.h. */
#include "datasets/format/jsonl.h"

#include "tokenizer/utf8.h"

#include <stdarg.h>
#include <stdio.h>

bool jsonl_init(struct jsonl *j, const char *name, struct sv text, struct error *err)
{
    *j = (struct jsonl){.name = name, .rest = text};
    if (sv_starts(text, SV_LIT("\xFF\xFE")) || sv_starts(text, SV_LIT("\xFE\xFF")))
        return error_set(err, E_PARSE, "'%s' is UTF-16; save it as UTF-8", name);
    if (sv_starts(text, SV_LIT("\xEF\xBB\xBF")))
        j->rest = sv_skip(text, 3);
    return true;
}

bool jsonl_error(const struct jsonl *j, struct error *err, const char *format, ...)
{
    char reason[512];
    va_list args;
    va_start(args, format);
    int wanted = vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    if (wanted < 0)
        reason[0] = '\0';
    return error_set(err, E_PARSE, "'%s': line %zu: %s", j->name, j->number, reason);
}

/* Columns count characters, as editors show them. */
static size_t column_of(struct sv line, size_t offset)
{
    size_t column = 1;
    for (size_t i = 0; i < offset && i < line.len; i++)
        column += ((unsigned char)line.ptr[i] & 0xC0) != 0x80;
    return column;
}

static bool error_at(const struct jsonl *j, size_t offset, const char *reason, struct error *err)
{
    return error_set(err, E_PARSE, "'%s': line %zu, column %zu: %s", j->name, j->number,
                     column_of(j->line, offset), reason);
}

bool jsonl_malformed(const struct jsonl *j, size_t offset, struct error *err)
{
    char reason[64];
    if (offset >= j->line.len)
        return error_at(j, offset, "malformed JSON, the line ends too early", err);
    unsigned char c = (unsigned char)j->line.ptr[offset];
    if (c > 0x20 && c < 0x7F)
        snprintf(reason, sizeof(reason), "malformed JSON at '%c'", c);
    else
        snprintf(reason, sizeof(reason), "malformed JSON at byte 0x%02X", c);
    return error_at(j, offset, reason, err);
}

enum jsonl_result jsonl_next(struct jsonl *j, struct error *err)
{
    while (j->rest.len > 0) {
        size_t n = sv_find(j->rest, '\n');
        j->line = sv_make(j->rest.ptr, n);
        j->rest = sv_skip(j->rest, n + 1);
        j->number++;
        if (j->line.len > 0 && j->line.ptr[j->line.len - 1] == '\r')
            j->line.len--;
        if (sv_trim(j->line).len == 0)
            continue;
        size_t good = utf8_first_invalid(j->line);
        if (good < j->line.len) {
            error_at(j, good, "not valid UTF-8", err);
            return JSONL_FAILED;
        }
        return JSONL_LINE;
    }
    return JSONL_END;
}
