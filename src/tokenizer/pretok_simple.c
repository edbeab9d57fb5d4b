/* The pre-tokenizers that look at one character at a time: white space, punctuation, digits, a delimiter; and Metaspace,
 * which writes spaces as a visible character. */
#include "tokenizer/pretokenizer.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"

static bool load_nothing(struct pretok_step *step, const struct js_value *value,
                         struct arena *arena, struct error *err)
{
    (void)step;
    (void)value;
    (void)arena;
    (void)err;
    return true;
}

/* Every character with one of the flags is a match of its own. */
static void flag_spans(struct sv piece, uint32_t flags, struct span_list *spans)
{
    uint32_t cp;
    size_t covered = 0;
    spans->count = 0;
    for (size_t at = 0; at < piece.len;) {
        size_t n = utf8_next(piece.ptr + at, &cp);
        if ((unicode_flags(cp) & flags) != 0) {
            if (at > covered)
                pretok_span_add(spans, covered, at, false);
            pretok_span_add(spans, at, at + n, true);
            covered = at + n;
        }
        at += n;
    }
    if (covered < piece.len)
        pretok_span_add(spans, covered, piece.len, false);
}

/* ---- Digits: numbers (Nd, Nl, No), as runs or one by one ---------------------------------------------------------- */

static bool digits_load(struct pretok_step *step, const struct js_value *value, struct arena *arena,
                        struct error *err)
{
    (void)arena;
    (void)err;
    js_as_bool(js_get(value, "individual_digits"), &step->individual_digits);
    return true;
}

static bool digits_split(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                         struct piece_list *out, struct error *err)
{
    (void)err;
    flag_spans(piece, UC_NUMERIC, &scratch->spans);
    pretok_emit(&scratch->spans, step->individual_digits ? SPLIT_ISOLATED : SPLIT_CONTIGUOUS, piece,
                out);
    return true;
}

/* ---- Punctuation --------------------------------------------------------------------------------------------------- */

static bool punctuation_load(struct pretok_step *step, const struct js_value *value,
                             struct arena *arena, struct error *err)
{
    (void)arena;
    struct sv name;
    step->behavior = SPLIT_ISOLATED;
    if (js_as_sv(js_get(value, "behavior"), &name) && !pretok_behavior(name, &step->behavior))
        return error_set(err, E_UNSUPPORTED, "behavior '" SV_FMT "' is unknown", SV_ARG(name));
    return true;
}

static bool punctuation_split(const struct pretok_step *step, struct sv piece,
                              struct scratch *scratch, struct piece_list *out, struct error *err)
{
    (void)err;
    flag_spans(piece, UC_PUNCT, &scratch->spans);
    pretok_emit(&scratch->spans, step->behavior, piece, out);
    return true;
}

/* ---- white space --------------------------------------------------------------------------------------------------- */

static bool whitespace_split_split(const struct pretok_step *step, struct sv piece,
                                   struct scratch *scratch, struct piece_list *out,
                                   struct error *err)
{
    (void)step;
    (void)err;
    flag_spans(piece, UC_SPACE, &scratch->spans);
    pretok_emit(&scratch->spans, SPLIT_REMOVED, piece, out);
    return true;
}

/* BertPreTokenizer: white space goes, punctuation stands alone. */
static bool bert_split(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                       struct piece_list *out, struct error *err)
{
    (void)step;
    (void)scratch;
    (void)err;
    size_t start = 0;
    uint32_t cp;
    for (size_t at = 0; at < piece.len;) {
        size_t n = utf8_next(piece.ptr + at, &cp);
        uint32_t flags = unicode_flags(cp);
        if ((flags & (UC_SPACE | UC_PUNCT)) != 0) {
            piece_list_add(out, sv_make(piece.ptr + start, at - start));
            if ((flags & UC_SPACE) == 0)
                piece_list_add(out, sv_make(piece.ptr + at, n));
            start = at + n;
        }
        at += n;
    }
    piece_list_add(out, sv_skip(piece, start));
    return true;
}

/* Whitespace: \w+|[^\w\s]+, where \w has the two joiners as well (the reference's engine here is another one). */
static bool whitespace_split(const struct pretok_step *step, struct sv piece,
                             struct scratch *scratch, struct piece_list *out, struct error *err)
{
    (void)step;
    (void)scratch;
    (void)err;
    uint32_t before = UC_SPACE;
    size_t start = 0;
    uint32_t cp;
    for (size_t at = 0; at < piece.len;) {
        size_t n = utf8_next(piece.ptr + at, &cp);
        bool joiner = cp == 0x200C || cp == 0x200D;
        uint32_t kind = joiner ? UC_WORD : unicode_flags(cp) & (UC_WORD | UC_SPACE);
        if (kind != before) {
            if (before != UC_SPACE)
                piece_list_add(out, sv_make(piece.ptr + start, at - start));
            start = at;
            before = kind;
        }
        at += n;
    }
    if (before != UC_SPACE)
        piece_list_add(out, sv_skip(piece, start));
    return true;
}

/* ---- CharDelimiterSplit: the delimiter goes ------------------------------------------------------------------------- */

static bool delimiter_load(struct pretok_step *step, const struct js_value *value,
                           struct arena *arena, struct error *err)
{
    struct sv text;
    if (!js_as_sv(js_get(value, "delimiter"), &text) || text.len == 0)
        return error_set(err, E_PARSE, "no delimiter");
    step->literal = arena_copy(arena, text);
    return true;
}

static bool delimiter_split(const struct pretok_step *step, struct sv piece,
                            struct scratch *scratch, struct piece_list *out, struct error *err)
{
    (void)scratch;
    (void)err;
    const char *hit;
    while (piece.len > 0 &&
           (hit = memmem(piece.ptr, piece.len, step->literal.ptr, step->literal.len)) != NULL) {
        piece_list_add(out, sv_make(piece.ptr, (size_t)(hit - piece.ptr)));
        piece = sv_skip(piece, (size_t)(hit - piece.ptr) + step->literal.len);
    }
    piece_list_add(out, piece);
    return true;
}

/* ---- Metaspace ------------------------------------------------------------------------------------------------------ */

static bool metaspace_load(struct pretok_step *step, const struct js_value *value,
                           struct arena *arena, struct error *err)
{
    struct sv text = SV_LIT("\u2581");
    bool old;
    js_as_sv(js_get(value, "replacement"), &text);
    if (text.len == 0)
        return error_set(err, E_PARSE, "no replacement");
    step->literal = arena_copy(arena, text);
    step->cut = true;
    js_as_bool(js_get(value, "split"), &step->cut);
    if (js_as_bool(js_get(value, "add_prefix_space"), &old) && !old)
        step->prepend = PREPEND_NEVER;
    if (!js_as_sv(js_get(value, "prepend_scheme"), &text))
        return true;
    if (sv_eq(text, SV_LIT("always")))
        step->prepend = PREPEND_ALWAYS;
    else if (sv_eq(text, SV_LIT("first")))
        step->prepend = PREPEND_FIRST;
    else if (sv_eq(text, SV_LIT("never")))
        step->prepend = PREPEND_NEVER;
    else
        return error_set(err, E_UNSUPPORTED, "prepend_scheme '" SV_FMT "' is unknown",
                         SV_ARG(text));
    return true;
}

static struct sv metaspace_text(const struct pretok_step *step, struct sv piece,
                                struct scratch *scratch)
{
    struct buf made = {0};
    bool first = scratch->origin != NULL && piece.ptr == scratch->origin;
    bool marked = piece.ptr[0] == ' ' || sv_starts(piece, step->literal);
    if (!marked && (step->prepend == PREPEND_ALWAYS || (step->prepend == PREPEND_FIRST && first)))
        buf_add(&made, step->literal);
    for (size_t done = 0; done < piece.len;) {
        struct sv rest = sv_skip(piece, done);
        size_t space = sv_find(rest, ' ');
        buf_add(&made, sv_make(rest.ptr, space));
        if (space < rest.len)
            buf_add(&made, step->literal);
        done += space + 1;
    }
    struct sv text = arena_copy(&scratch->arena, buf_sv(&made));
    buf_done(&made);
    return text;
}

static bool metaspace_split(const struct pretok_step *step, struct sv piece,
                            struct scratch *scratch, struct piece_list *out, struct error *err)
{
    (void)err;
    struct sv text = metaspace_text(step, piece, scratch);
    while (step->cut && text.len > step->literal.len) {
        const char *next = memmem(text.ptr + 1, text.len - 1, step->literal.ptr, step->literal.len);
        if (next == NULL)
            break;
        piece_list_add(out, sv_make(text.ptr, (size_t)(next - text.ptr)));
        text = sv_skip(text, (size_t)(next - text.ptr));
    }
    piece_list_add(out, text);
    return true;
}

const struct pretok_type pretok_metaspace = {
    .name = "Metaspace", .load = metaspace_load, .split = metaspace_split};
const struct pretok_type pretok_digits = {
    .name = "Digits", .load = digits_load, .split = digits_split};
const struct pretok_type pretok_punctuation = {
    .name = "Punctuation", .load = punctuation_load, .split = punctuation_split};
const struct pretok_type pretok_bert = {
    .name = "BertPreTokenizer", .load = load_nothing, .split = bert_split};
const struct pretok_type pretok_whitespace = {
    .name = "Whitespace", .load = load_nothing, .split = whitespace_split};
const struct pretok_type pretok_whitespace_split = {
    .name = "WhitespaceSplit", .load = load_nothing, .split = whitespace_split_split};
const struct pretok_type pretok_char_delimiter = {
    .name = "CharDelimiterSplit", .load = delimiter_load, .split = delimiter_split};
