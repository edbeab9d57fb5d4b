/* Each decoder turns a list of texts into a list of texts; ByteLevel alone, the usual case, never makes a list. */
#include "tokenizer/decoder.h"

#include "base/alloc.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum { MAX_DEPTH = 8 };

struct text_list {
    struct sv *items;
    size_t count;
    struct arena arena;
};

struct decoder_type {
    const char *name;
    bool (*load)(struct decoder_step *step, const struct js_value *value, struct arena *arena,
                 struct error *err); /* NULL: nothing to read */
    void (*apply)(const struct decoder_step *step, struct text_list *list); /* NULL: ByteLevel */
};

/* ---- the kinds ------------------------------------------------------------------------------------------------- */

/* Joins everything into one text. */
static void fuse(const struct decoder_step *step, struct text_list *list)
{
    (void)step;
    struct buf all = {0};
    for (size_t i = 0; i < list->count; i++)
        buf_add(&all, list->items[i]);
    if (list->count == 0)
        return;
    list->items[0] = arena_copy(&list->arena, buf_sv(&all));
    list->count = 1;
    buf_done(&all);
}

static void byte_level(const struct decoder_step *step, struct text_list *list)
{
    struct buf bytes = {0};
    for (size_t i = 0; i < list->count; i++) {
        struct sv text = list->items[i];
        size_t start = bytes.len;
        for (size_t at = 0; at < text.len;) {
            uint32_t cp;
            at += utf8_next(text.ptr + at, &cp);
            int byte = vocab_byte_of(cp);
            if (byte < 0) { /* an added token: its own text */
                bytes.len = start;
                buf_add(&bytes, text);
                break;
            }
            buf_add_char(&bytes, (char)byte);
        }
    }
    struct buf fixed = {0};
    utf8_add_lossy(&fixed, buf_sv(&bytes));
    if (list->count > 0) {
        list->items[0] = arena_copy(&list->arena, buf_sv(&fixed));
        list->count = 1;
    }
    buf_done(&fixed);
    buf_done(&bytes);
    (void)step;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_byte_token(struct sv text, unsigned char *byte)
{
    if (text.len != 6 || !sv_starts(text, SV_LIT("<0x")) || text.ptr[5] != '>')
        return false;
    int high = hex_value(text.ptr[3]);
    int low = hex_value(text.ptr[4]);
    *byte = (unsigned char)(high * 16 + low);
    return high >= 0 && low >= 0;
}

/* A run of byte tokens is text when it is valid UTF-8, else one U+FFFD a byte. */
static void byte_fallback(const struct decoder_step *step, struct text_list *list)
{
    (void)step;
    size_t kept = 0;
    for (size_t i = 0; i < list->count;) {
        struct buf run = {0};
        unsigned char byte;
        size_t end = i;
        for (; end < list->count && is_byte_token(list->items[end], &byte); end++)
            buf_add_char(&run, (char)byte);
        if (end == i) {
            list->items[kept++] = list->items[i++];
            continue;
        }
        if (utf8_valid(buf_sv(&run)))
            list->items[kept++] = arena_copy(&list->arena, buf_sv(&run));
        else
            for (; i < end; i++)
                list->items[kept++] = SV_LIT("\xEF\xBF\xBD");
        i = end;
        buf_done(&run);
    }
    list->count = kept;
}

static bool replace_load(struct decoder_step *step, const struct js_value *value,
                         struct arena *arena, struct error *err)
{
    struct sv pattern;
    struct sv content;
    const struct js_value *p = js_get(value, "pattern");
    if (!js_as_sv(js_get(value, "content"), &content))
        return error_set(err, E_PARSE, "no content");
    step->content = arena_copy(arena, content);
    if (js_as_sv(js_get(p, "Regex"), &pattern)) {
        step->regex = regex_compile(pattern, REGEX_ONIGURUMA, err);
        return step->regex != NULL;
    }
    if (!js_as_sv(js_get(p, "String"), &pattern) || pattern.len == 0)
        return error_set(err, E_PARSE, "the pattern is neither Regex nor String");
    step->pattern = arena_copy(arena, pattern);
    return true;
}

static bool replace_find(const struct decoder_step *step, struct regex_work *work, struct sv text,
                         size_t from, size_t *start, size_t *end)
{
    if (step->regex != NULL)
        return regex_find(step->regex, work, text, from, start, end) == REGEX_FOUND &&
               *end > *start;
    const char *hit =
        memmem(text.ptr + from, text.len - from, step->pattern.ptr, step->pattern.len);
    if (hit == NULL)
        return false;
    *start = (size_t)(hit - text.ptr);
    *end = *start + step->pattern.len;
    return true;
}

static void replace(const struct decoder_step *step, struct text_list *list)
{
    struct regex_work work = {0};
    struct buf made = {0};
    for (size_t i = 0; i < list->count; i++) {
        struct sv text = list->items[i];
        size_t done = 0;
        size_t start;
        size_t end;
        buf_reset(&made);
        while (done < text.len && replace_find(step, &work, text, done, &start, &end)) {
            buf_add(&made, sv_make(text.ptr + done, start - done));
            buf_add(&made, step->content);
            done = end;
        }
        if (done == 0)
            continue;
        buf_add(&made, sv_skip(text, done));
        list->items[i] = arena_copy(&list->arena, buf_sv(&made));
    }
    buf_done(&made);
    regex_work_done(&work);
}

static bool strip_load(struct decoder_step *step, const struct js_value *value, struct arena *arena,
                       struct error *err)
{
    struct sv content;
    int64_t start = 0;
    int64_t stop = 0;
    if (!js_as_sv(js_get(value, "content"), &content) || content.len == 0 ||
        !js_as_i64(js_get(value, "start"), &start) || !js_as_i64(js_get(value, "stop"), &stop) ||
        start < 0 || stop < 0)
        return error_set(err, E_PARSE, "content, start and stop are needed");
    step->content = arena_copy(arena, content);
    step->start = (size_t)start;
    step->stop = (size_t)stop;
    return true;
}

static void strip(const struct decoder_step *step, struct text_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        struct sv *text = &list->items[i];
        for (size_t k = 0; k < step->start && sv_starts(*text, step->content); k++)
            *text = sv_skip(*text, step->content.len);
        for (size_t k = 0; k < step->stop && sv_ends(*text, step->content); k++)
            text->len -= step->content.len;
    }
}

static bool metaspace_load(struct decoder_step *step, const struct js_value *value,
                           struct arena *arena, struct error *err)
{
    struct sv text = SV_LIT("\u2581");
    bool old = true;
    (void)err;
    js_as_sv(js_get(value, "replacement"), &text);
    step->pattern = arena_copy(arena, text);
    js_as_bool(js_get(value, "add_prefix_space"), &old);
    step->keep_first = !old;
    if (js_as_sv(js_get(value, "prepend_scheme"), &text))
        step->keep_first = sv_eq(text, SV_LIT("never"));
    return true;
}

/* In the first token the marks go, in all others they are spaces. */
static void metaspace(const struct decoder_step *step, struct text_list *list)
{
    struct decoder_step blank = *step;
    blank.content = SV_LIT(" ");
    struct text_list first = {.items = list->items, .count = 1};
    if (list->count == 0)
        return;
    struct decoder_step dropped = *step;
    dropped.content = SV_LIT("");
    struct sv whole = list->items[0];
    if (!step->keep_first) {
        first.arena = list->arena;
        replace(&dropped, &first);
        list->arena = first.arena;
        whole = list->items[0];
    }
    replace(&blank, list);
    if (!step->keep_first)
        list->items[0] = whole;
}

static bool word_piece_load(struct decoder_step *step, const struct js_value *value,
                            struct arena *arena, struct error *err)
{
    struct sv prefix = SV_LIT("##");
    (void)err;
    js_as_sv(js_get(value, "prefix"), &prefix);
    step->pattern = arena_copy(arena, prefix);
    step->cleanup = true;
    js_as_bool(js_get(value, "cleanup"), &step->cleanup);
    return true;
}

static void clean_up(struct buf *text)
{
    static const char *const pairs[][2] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},     {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},   {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
    };
    struct buf made = {0};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct sv rest = buf_sv(text);
        struct sv from = sv_from(pairs[i][0]);
        const char *hit;
        buf_reset(&made);
        while (rest.len > 0 && (hit = memmem(rest.ptr, rest.len, from.ptr, from.len)) != NULL) {
            buf_add(&made, sv_make(rest.ptr, (size_t)(hit - rest.ptr)));
            buf_add_str(&made, pairs[i][1]);
            rest = sv_skip(rest, (size_t)(hit - rest.ptr) + from.len);
        }
        buf_add(&made, rest);
        struct buf swap = *text;
        *text = made;
        made = swap;
    }
    buf_done(&made);
}

static void word_piece(const struct decoder_step *step, struct text_list *list)
{
    struct buf made = {0};
    for (size_t i = 0; i < list->count; i++) {
        struct sv text = list->items[i];
        buf_reset(&made);
        if (i > 0 && sv_starts(text, step->pattern))
            text = sv_skip(text, step->pattern.len);
        else if (i > 0)
            buf_add_char(&made, ' ');
        buf_add(&made, text);
        if (step->cleanup)
            clean_up(&made);
        list->items[i] = arena_copy(&list->arena, buf_sv(&made));
    }
    buf_done(&made);
}

static bool bpe_load(struct decoder_step *step, const struct js_value *value, struct arena *arena,
                     struct error *err)
{
    struct sv suffix = SV_LIT("</w>");
    js_as_sv(js_get(value, "suffix"), &suffix);
    if (suffix.len == 0)
        return error_set(err, E_PARSE, "the suffix is empty");
    step->pattern = arena_copy(arena, suffix);
    return true;
}

static void bpe(const struct decoder_step *step, struct text_list *list)
{
    struct decoder_step one = *step;
    struct text_list part = {.count = 1, .arena = list->arena};
    for (size_t i = 0; i < list->count; i++) {
        one.content = i + 1 < list->count ? SV_LIT(" ") : SV_LIT("");
        part.items = &list->items[i];
        replace(&one, &part);
    }
    list->arena = part.arena;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct decoder_type types[] = {
    {"ByteLevel", NULL, byte_level},
    {"ByteFallback", NULL, byte_fallback},
    {"Fuse", NULL, fuse},
    {"Replace", replace_load, replace},
    {"Strip", strip_load, strip},
    {"Metaspace", metaspace_load, metaspace},
    {"WordPiece", word_piece_load, word_piece},
    {"BPEDecoder", bpe_load, bpe},
};

static struct decoder_step *step_add(struct decoder *d, const struct decoder_type *type)
{
    MEM_GROW(d->steps, d->count, d->cap);
    struct decoder_step *step = &d->steps[d->count++];
    *step = (struct decoder_step){.type = type};
    return step;
}

struct decoder_step *decoder_add(struct decoder *d, const char *name)
{
    return step_add(d, SV_ROW(sv_from(name), types));
}

static bool load(struct decoder *d, const struct js_value *value, struct arena *arena, int depth,
                 struct error *err)
{
    struct sv name;
    if (value == NULL || value->type == JS_NULL)
        return true;
    if (!js_as_sv(js_get(value, "type"), &name))
        return error_set(err, E_PARSE, "a decoder has no type");
    if (sv_eq(name, SV_LIT("Sequence"))) {
        const struct js_value *list = js_get(value, "decoders");
        if (list == NULL || list->type != JS_ARRAY || depth == MAX_DEPTH)
            return error_set(err, E_PARSE, "decoder Sequence: bad 'decoders'");
        if (list->count == 0) /* joined without spaces, unlike no decoder */
            decoder_add(d, "Fuse");
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load(d, item, arena, depth + 1, err))
                return false;
        return true;
    }
    const struct decoder_type *type = SV_ROW(name, types);
    if (type == NULL)
        return error_set(err, E_UNSUPPORTED, "decoder '" SV_FMT "' is not supported", SV_ARG(name));
    struct decoder_step *step = step_add(d, type);
    return type->load == NULL || type->load(step, value, arena, err) ||
           error_context(err, "decoder %s", type->name);
}

bool decoder_load(struct decoder *d, const struct js_value *value, struct arena *arena,
                  struct error *err)
{
    return load(d, value, arena, 0, err);
}

void decoder_done(struct decoder *d)
{
    for (size_t i = 0; i < d->count; i++)
        regex_free(d->steps[i].regex);
    free(d->steps);
    vocab_done(&d->own);
    *d = (struct decoder){0};
}

bool decoder_is_byte_level(const struct decoder *d)
{
    return d->count == 1 && d->steps[0].type->apply == byte_level;
}

/* The tokens again, as what their texts spell. */
static void spell_all(struct vocab *out, const struct vocab *vocab)
{
    struct error unused;
    vocab_init(out);
    out->byte_level = true;
    vocab_reserve(out, vocab->limit, vocab->block.len);
    for (uint32_t id = 0; id < vocab->limit; id++)
        if (vocab_has(vocab, id) && vocab_add(out, id, vocab_bytes(vocab, id), &unused))
            vocab_mark(out, id, vocab_flags(vocab, id) & (TOKEN_SPECIAL | TOKEN_ADDED));
}

void decoder_settle(struct decoder *d, const struct vocab *vocab)
{
    if (!decoder_is_byte_level(d))
        return;
    d->spelled = vocab;
    if (vocab->byte_level || vocab->raw_bytes)
        return;
    spell_all(&d->own, vocab);
    d->spelled = &d->own;
}

/* Repairs what was appended since `start`. */
static void repair(struct buf *out, size_t start)
{
    struct sv made = sv_make(out->ptr + start, out->len - start);
    size_t good = utf8_first_invalid(made);
    if (good == made.len)
        return;
    struct buf broken = {0};
    buf_add(&broken, sv_skip(made, good));
    out->len = start + good;
    utf8_add_lossy(out, buf_sv(&broken));
    buf_done(&broken);
}

/* Bytes of all tokens joined, as a character may be spread over several.  A token that is UTF-8 by itself neither ends nor
 * begins inside a character, so only runs of the others are looked at again. */
static void run_bytes(const struct vocab *vocab, const uint32_t *ids, size_t count,
                      bool skip_special, struct buf *out)
{
    unsigned skipped = skip_special ? TOKEN_SPECIAL : 0;
    size_t broken = SIZE_MAX; /* where the run of broken tokens began */
    for (size_t i = 0; i < count; i++) {
        struct token token = ids[i] < vocab->limit ? vocab->tokens[ids[i]] : (struct token){0};
        size_t len = token.len;
        if (len == 0 || (token.flags & skipped) != 0)
            continue;
        if ((token.flags & TOKEN_BROKEN) != 0) {
            broken = broken == SIZE_MAX ? out->len : broken;
        } else if (broken != SIZE_MAX) {
            repair(out, broken);
            broken = SIZE_MAX;
        }
        if (out->cap - out->len < len + VOCAB_SLACK)
            buf_reserve(out, len + VOCAB_SLACK);
        const char *from = vocab->block.ptr + token.at;
        if (len <= VOCAB_SLACK)
            memcpy(out->ptr + out->len, from, VOCAB_SLACK);
        else
            memcpy(out->ptr + out->len, from, len);
        out->len += len;
    }
    if (broken != SIZE_MAX)
        repair(out, broken);
}

/* What a token decodes as before any decoder: the file's text, or the one shown instead. */
static struct sv list_text(struct text_list *list, const struct vocab *vocab, uint32_t id)
{
    unsigned flags = vocab_flags(vocab, id);
    if ((flags & TOKEN_CHANGED) != 0 || (flags & TOKEN_SPELLED) == 0)
        return vocab_bytes(vocab, id);
    struct buf spare = {0};
    struct sv text = arena_copy(&list->arena, vocab_text(vocab, id, &spare));
    buf_done(&spare);
    return text;
}

void decoder_run(const struct decoder *d, const struct vocab *vocab, const uint32_t *ids,
                 size_t count, bool skip_special, struct buf *out)
{
    if (d->spelled != NULL) {
        run_bytes(d->spelled, ids, count, skip_special, out);
        return;
    }
    struct text_list list = {.items = mem_array(count + 1, sizeof(struct sv))};
    for (size_t i = 0; i < count; i++) {
        unsigned flags = vocab_flags(vocab, ids[i]);
        if ((flags & TOKEN_HERE) != 0 && !(skip_special && (flags & TOKEN_SPECIAL) != 0))
            list.items[list.count++] = list_text(&list, vocab, ids[i]);
    }
    for (size_t i = 0; i < d->count; i++)
        d->steps[i].type->apply(&d->steps[i], &list);
    for (size_t i = 0; i < list.count; i++) {
        if (d->count == 0 && i > 0)
            buf_add_char(out, ' ');
        buf_add(out, list.items[i]);
    }
    arena_done(&list.arena);
    free(list.items);
}
