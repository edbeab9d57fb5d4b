/* ByteLevel: puts a space in front when asked to and cuts by the GPT-2 pattern.  Bytes stay bytes when nothing after it
 * wants to see the characters that stand for them. */
#include "tokenizer/pretokenizer.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocab.h"

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

static struct sv spelled(struct sv piece, struct arena *arena)
{
    struct buf text = {0};
    for (size_t i = 0; i < piece.len; i++)
        utf8_add(&text, vocab_char_of((unsigned char)piece.ptr[i]));
    struct sv copy = arena_copy(arena, buf_sv(&text));
    buf_done(&text);
    return copy;
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
    for (size_t at = 0; at < piece.len;) {
        size_t end = step->use_regex ? splitter_gpt2.next(&splitter_gpt2, piece, at) : piece.len;
        struct sv part = sv_make(piece.ptr + at, end - at);
        piece_list_add(out, step->spell ? spelled(part, &scratch->arena) : part);
        at = end;
    }
    return true;
}

const struct pretok_type pretok_byte_level = {.name = "ByteLevel", .load = load, .split = split};
