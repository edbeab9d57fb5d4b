/* ByteLevel: puts a space in front when asked to and cuts by the GPT-2 pattern
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * with a scanner written by hand: the alternatives are runs of one class, so no backtracking is needed.
 * Example: "it's  5" -> "it" "'s" " " " 5": of two spaces before a non-space the last goes with what follows. */
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

static bool load(struct pretok_step *step, const struct js_value *value, struct arena *arena,
                 struct error *err)
{
    (void)arena;
    (void)err;
    step->add_prefix_space = true; /* the reference's defaults for absent keys */
    step->use_regex = true;
    js_as_bool(js_get(value, "add_prefix_space"), &step->add_prefix_space);
    js_as_bool(js_get(value, "use_regex"), &step->use_regex);
    return true;
}

/* Length of the contraction at text[0] == '\'', 0 when there is none. */
static size_t contraction(struct sv text)
{
    if (text.len < 2)
        return 0;
    switch (text.ptr[1]) {
    case 's':
    case 't':
    case 'm':
    case 'd':
        return 2;
    case 'r':
    case 'v':
        return text.len > 2 && text.ptr[2] == 'e' ? 3 : 0;
    case 'l':
        return text.len > 2 && text.ptr[2] == 'l' ? 3 : 0;
    default:
        return 0;
    }
}

static enum unicode_class class_at(const char *at, size_t *n)
{
    uint32_t cp;
    *n = utf8_next(at, &cp);
    return unicode_class(cp);
}

/* Length of the piece at the start of a text that is not empty. */
static size_t first_piece(struct sv text)
{
    const char *end = text.ptr + text.len;
    const char *at = text.ptr;
    size_t n;
    if (*at == '\'' && (n = contraction(text)) > 0)
        return n;
    if (*at == ' ' && at + 1 < end && class_at(at + 1, &n) != UNICODE_SPACE)
        at++;
    enum unicode_class kind = class_at(at, &n);
    size_t last = 0; /* bytes of the run's last character */
    size_t characters = 0;
    while (at < end && class_at(at, &n) == kind) {
        at += n;
        last = n;
        characters++;
    }
    if (kind == UNICODE_SPACE && at < end && characters > 1)
        at -= last;
    return (size_t)(at - text.ptr);
}

static bool split(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                  struct piece_list *out, struct error *err)
{
    (void)err;
    if (step->add_prefix_space && piece.ptr[0] != ' ') {
        char *copy = arena_alloc(&scratch->arena, piece.len + 1);
        copy[0] = ' ';
        memcpy(copy + 1, piece.ptr, piece.len);
        piece = sv_make(copy, piece.len + 1);
    }
    if (!step->use_regex) {
        piece_list_add(out, piece);
        return true;
    }
    while (piece.len > 0) {
        size_t n = first_piece(piece);
        piece_list_add(out, sv_make(piece.ptr, n));
        piece = sv_skip(piece, n);
    }
    return true;
}

const struct pretok_type pretok_byte_level = {.name = "ByteLevel", .load = load, .split = split};
