/* Digits: cuts numbers (Nd, Nl, No) from the rest, as runs or one by one. */
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

static bool load(struct pretok_step *step, const struct js_value *value, struct arena *arena,
                 struct error *err)
{
    (void)arena;
    (void)err;
    js_as_bool(js_get(value, "individual_digits"), &step->individual_digits);
    return true;
}

static bool split(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                  struct piece_list *out, struct error *err)
{
    (void)scratch;
    (void)err;
    size_t start = 0;
    bool before = false;
    for (size_t at = 0; at < piece.len;) {
        uint32_t cp;
        size_t n = utf8_next(piece.ptr + at, &cp);
        bool digit = unicode_is_numeric(cp);
        if (digit != before || (digit && step->individual_digits)) {
            piece_list_add(out, sv_make(piece.ptr + start, at - start));
            start = at;
        }
        before = digit;
        at += n;
    }
    piece_list_add(out, sv_skip(piece, start));
    return true;
}

const struct pretok_type pretok_digits = {.name = "Digits", .load = load, .split = split};
