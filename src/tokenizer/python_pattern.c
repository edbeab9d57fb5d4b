/* HUB_AND_TOKENIZERS 3: behind the first `pat_str` either a list of literals that is joined by `|`, or one literal. */
#include "tokenizer/python_pattern.h"

/* Position of `what`, or text.len. */
static size_t find(struct sv text, const char *what)
{
    size_t n = strlen(what);
    const char *hit = text.len > 0 ? memmem(text.ptr, text.len, what, n) : NULL;
    return hit != NULL ? (size_t)(hit - text.ptr) : text.len;
}

static struct sv skip_blanks(struct sv text)
{
    for (;;) {
        while (text.len > 0 && strchr(" \t\r\n,(\\", text.ptr[0]) != NULL)
            text = sv_skip(text, 1);
        if (text.len == 0 || text.ptr[0] != '#')
            return text;
        text = sv_skip(text, sv_find(text, '\n'));
    }
}

/* One string literal at the start of *rest; its content stays as it is written. */
static bool literal(struct sv *rest, struct sv *content)
{
    struct sv text = skip_blanks(*rest);
    if (text.len > 0 && (text.ptr[0] == 'r' || text.ptr[0] == 'R'))
        text = sv_skip(text, 1);
    if (text.len == 0 || (text.ptr[0] != '"' && text.ptr[0] != '\''))
        return false;
    char quote = text.ptr[0];
    bool triple = text.len > 2 && text.ptr[1] == quote && text.ptr[2] == quote;
    size_t n = triple ? 3 : 1;
    text = sv_skip(text, n);
    for (size_t at = 0; at < text.len; at++) {
        if (text.ptr[at] == '\\') {
            at++;
            continue;
        }
        bool ends = text.ptr[at] == quote &&
                    (!triple ||
                     (at + 2 < text.len && text.ptr[at + 1] == quote && text.ptr[at + 2] == quote));
        if (!ends)
            continue;
        *content = sv_make(text.ptr, at);
        *rest = sv_skip(text, at + n);
        return true;
    }
    return false;
}

void python_pattern(struct sv source, struct buf *out)
{
    struct sv content;
    size_t start = find(source, "pat_str");
    if (start == source.len)
        return;
    struct sv rest = sv_skip(source, start + strlen("pat_str"));
    size_t join = find(rest, ".join(");
    if (join < rest.len) {
        struct sv list = sv_skip(rest, join);
        list = sv_skip(list, sv_find(list, '[') + 1);
        for (bool first = true; literal(&list, &content); first = false) {
            if (!first)
                buf_add_char(out, '|');
            buf_add(out, content);
        }
        if (out->len > 0)
            return;
    }
    rest = sv_skip(rest, sv_find(rest, '=') + 1);
    if (literal(&rest, &content))
        buf_add(out, content);
}
