/* The table of normalizers and the steps themselves. */
#include "tokenizer/normalizer.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "tokenizer/unicode.h"
#include "tokenizer/utf8.h"
#include "tokenizer/vocab.h"

#include <stdlib.h>

enum { MAX_DEPTH = 8 };

/* ---- normal forms ---------------------------------------------------------------------------------------------- */

static bool form_apply(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                       struct buf *out)
{
    (void)work;
    unicode_normalize((enum unicode_form)step->form, text, out);
    return true;
}

static bool form_idle(const struct normalizer_step *step, struct sv text)
{
    return unicode_is_plain((enum unicode_form)step->form, text);
}

/* ---- characters one by one -------------------------------------------------------------------------------------- */

static bool lower_apply(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                        struct buf *out)
{
    (void)step;
    (void)work;
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        at += utf8_next(text.ptr + at, &cp);
        unicode_lower(cp, out);
    }
    return true;
}

static void drop_flags(struct sv text, uint32_t flags, struct buf *out)
{
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t n = utf8_next(text.ptr + at, &cp);
        if ((unicode_flags(cp) & flags) == 0)
            buf_add(out, sv_make(text.ptr + at, n));
        at += n;
    }
}

static bool accents_apply(const struct normalizer_step *step, struct sv text,
                          struct regex_work *work, struct buf *out)
{
    (void)step;
    (void)work;
    drop_flags(text, UC_STRIP_ACCENTS, out);
    return true;
}

static bool nmt_drops(uint32_t cp)
{
    return (cp >= 1 && cp <= 8) || cp == 0xB || (cp >= 0xE && cp <= 0x1F) || cp == 0x7F ||
           cp == 0x8F || cp == 0x9F;
}

static bool nmt_is_space(uint32_t cp)
{
    return cp == 9 || cp == 0xA || cp == 0xC || cp == 0xD || cp == 0x1680 ||
           (cp >= 0x200B && cp <= 0x200F) || cp == 0x2028 || cp == 0x2029 || cp == 0x2581 ||
           cp == 0xFEFF || cp == 0xFFFD;
}

static bool nmt_apply(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                      struct buf *out)
{
    (void)step;
    (void)work;
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t n = utf8_next(text.ptr + at, &cp);
        if (nmt_is_space(cp))
            buf_add_char(out, ' ');
        else if (!nmt_drops(cp))
            buf_add(out, sv_make(text.ptr + at, n));
        at += n;
    }
    return true;
}

static bool bytes_apply(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                        struct buf *out)
{
    (void)step;
    (void)work;
    for (size_t i = 0; i < text.len; i++)
        utf8_add(out, vocab_char_of((unsigned char)text.ptr[i]));
    return true;
}

/* ---- Strip, Prepend, Replace ------------------------------------------------------------------------------------ */

static bool strip_load(struct normalizer_step *step, const struct js_value *value,
                       struct arena *arena, struct error *err)
{
    (void)arena;
    (void)err;
    js_as_bool(js_get(value, "strip_left"), &step->left);
    js_as_bool(js_get(value, "strip_right"), &step->right);
    return true;
}

static bool strip_apply(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                        struct buf *out)
{
    (void)work;
    uint32_t cp;
    while (step->left && text.len > 0) {
        size_t n = utf8_next(text.ptr, &cp);
        if (!unicode_is_space(cp))
            break;
        text = sv_skip(text, n);
    }
    while (step->right && text.len > 0) {
        const char *last = utf8_prev(text.ptr, text.ptr + text.len, &cp);
        if (!unicode_is_space(cp))
            break;
        text.len = (size_t)(last - text.ptr);
    }
    buf_add(out, text);
    return true;
}

static bool prepend_load(struct normalizer_step *step, const struct js_value *value,
                         struct arena *arena, struct error *err)
{
    struct sv content;
    if (!js_as_sv(js_get(value, "prepend"), &content))
        return error_set(err, E_PARSE, "no 'prepend'");
    step->content = arena_copy(arena, content);
    return true;
}

static bool prepend_apply(const struct normalizer_step *step, struct sv text,
                          struct regex_work *work, struct buf *out)
{
    (void)work;
    if (text.len > 0)
        buf_add(out, step->content);
    buf_add(out, text);
    return true;
}

static bool replace_load(struct normalizer_step *step, const struct js_value *value,
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

static void replace_literal(const struct normalizer_step *step, struct sv text, struct buf *out)
{
    const char *hit;
    size_t done = 0;
    while (done < text.len && (hit = memmem(text.ptr + done, text.len - done, step->pattern.ptr,
                                            step->pattern.len)) != NULL) {
        size_t at = (size_t)(hit - text.ptr);
        buf_add(out, sv_make(text.ptr + done, at - done));
        buf_add(out, step->content);
        done = at + step->pattern.len;
    }
    buf_add(out, sv_skip(text, done));
}

static bool replace_apply(const struct normalizer_step *step, struct sv text,
                          struct regex_work *work, struct buf *out)
{
    if (step->regex == NULL) {
        replace_literal(step, text, out);
        return true;
    }
    size_t done = 0;
    size_t start;
    size_t end;
    uint32_t cp;
    for (size_t from = 0; from <= text.len;) {
        enum regex_result found = regex_find(step->regex, work, text, from, &start, &end);
        if (found == REGEX_TOO_HARD)
            return false;
        if (found == REGEX_NONE)
            break;
        buf_add(out, sv_make(text.ptr + done, start - done));
        buf_add(out, step->content);
        done = end;
        from = end > start ? end : end + (end < text.len ? utf8_next(text.ptr + end, &cp) : 1);
    }
    buf_add(out, sv_skip(text, done));
    return true;
}

static bool replace_idle(const struct normalizer_step *step, struct sv text)
{
    return step->regex == NULL &&
           memmem(text.ptr, text.len, step->pattern.ptr, step->pattern.len) == NULL;
}

/* ---- BertNormalizer: clean, spaces around ideographs, accents, lower case, in this order ------------------------- */

static bool bert_load(struct normalizer_step *step, const struct js_value *value,
                      struct arena *arena, struct error *err)
{
    (void)arena;
    (void)err;
    step->clean = true;
    step->cjk = true;
    step->lower = true;
    js_as_bool(js_get(value, "clean_text"), &step->clean);
    js_as_bool(js_get(value, "handle_chinese_chars"), &step->cjk);
    js_as_bool(js_get(value, "lowercase"), &step->lower);
    step->accents = step->lower; /* null means: as lowercase */
    js_as_bool(js_get(value, "strip_accents"), &step->accents);
    return true;
}

static void bert_first(const struct normalizer_step *step, struct sv text, struct buf *out)
{
    uint32_t cp;
    for (size_t at = 0; at < text.len;) {
        size_t n = utf8_next(text.ptr + at, &cp);
        uint32_t flags = unicode_flags(cp);
        struct sv one = sv_make(text.ptr + at, n);
        at += n;
        if (step->clean && (flags & UC_BERT_REMOVED) != 0)
            continue;
        if (step->clean && (flags & UC_SPACE) != 0)
            one = SV_LIT(" ");
        bool alone = step->cjk && (flags & UC_BERT_CJK) != 0;
        if (alone)
            buf_add_char(out, ' ');
        buf_add(out, one);
        if (alone)
            buf_add_char(out, ' ');
    }
}

static bool bert_apply(const struct normalizer_step *step, struct sv text, struct regex_work *work,
                       struct buf *out)
{
    struct buf parts[3] = {{0}};
    bert_first(step, text, &parts[0]);
    struct sv made = buf_sv(&parts[0]);
    if (step->accents) {
        unicode_normalize(UNICODE_NFD, made, &parts[1]);
        drop_flags(buf_sv(&parts[1]), UC_BERT_ACCENTS, &parts[2]);
        made = buf_sv(&parts[2]);
    }
    if (step->lower)
        lower_apply(step, made, work, out);
    else
        buf_add(out, made);
    for (size_t i = 0; i < 3; i++)
        buf_done(&parts[i]);
    return true;
}

/* ---- Precompiled ------------------------------------------------------------------------------------------------ */

static bool precompiled_load(struct normalizer_step *step, const struct js_value *value,
                             struct arena *arena, struct error *err)
{
    (void)arena;
    struct sv text;
    struct buf blob = {0};
    if (!js_as_sv(js_get(value, "precompiled_charsmap"), &text))
        return error_set(err, E_PARSE, "no precompiled_charsmap");
    bool ok = base64_read(&blob, text) || error_set(err, E_PARSE, "the map is not base64");
    ok = ok && charsmap_load(&step->charsmap, buf_sv(&blob), err);
    buf_done(&blob);
    return ok;
}

static bool precompiled_apply(const struct normalizer_step *step, struct sv text,
                              struct regex_work *work, struct buf *out)
{
    (void)work;
    charsmap_apply(&step->charsmap, text, out);
    return true;
}

/* ---- SentencePiece: the map by longest match, then spaces become marks ---------------------------------------------- */

static bool sentencepiece_apply(const struct normalizer_step *step, struct sv text,
                                struct regex_work *work, struct buf *out)
{
    (void)work;
    struct sv mark = SV_LIT("\xE2\x96\x81");
    bool after_space = step->clean;
    size_t start = out->len;
    for (size_t at = 0; at < text.len;) {
        struct sv made;
        size_t used;
        uint32_t cp;
        if (!charsmap_match(&step->charsmap, sv_skip(text, at), true, &used, &made)) {
            used = utf8_next(text.ptr + at, &cp);
            made = sv_make(text.ptr + at, used);
        }
        at += used;
        while (after_space && made.len > 0 && made.ptr[0] == ' ')
            made = sv_skip(made, 1);
        if (made.len == 0)
            continue;
        if (step->left && out->len == start)
            buf_add(out, mark);
        for (size_t i = 0; i < made.len; i++) {
            if (made.ptr[i] == ' ')
                buf_add(out, mark);
            else
                buf_add_char(out, made.ptr[i]);
        }
        after_space = step->clean && made.ptr[made.len - 1] == ' ';
    }
    while (step->clean && out->len - start >= mark.len &&
           sv_ends(sv_skip(buf_sv(out), start), mark))
        out->len -= mark.len;
    return true;
}

static const struct normalizer_type sentencepiece_type = {"", NULL, sentencepiece_apply, NULL, 0};

/* ---- the table -------------------------------------------------------------------------------------------------- */

static const struct normalizer_type types[] = {
    {"NFC", NULL, form_apply, form_idle, UNICODE_NFC},
    {"NFD", NULL, form_apply, form_idle, UNICODE_NFD},
    {"NFKC", NULL, form_apply, form_idle, UNICODE_NFKC},
    {"NFKD", NULL, form_apply, form_idle, UNICODE_NFKD},
    {"Lowercase", NULL, lower_apply, NULL, 0},
    {"StripAccents", NULL, accents_apply, NULL, 0},
    {"Nmt", NULL, nmt_apply, NULL, 0},
    {"ByteLevel", NULL, bytes_apply, NULL, 0},
    {"Strip", strip_load, strip_apply, NULL, 0},
    {"Prepend", prepend_load, prepend_apply, NULL, 0},
    {"Replace", replace_load, replace_apply, replace_idle, 0},
    {"BertNormalizer", bert_load, bert_apply, NULL, 0},
    {"Precompiled", precompiled_load, precompiled_apply, NULL, 0},
};

static struct normalizer_step *step_add(struct normalizer *n, const struct normalizer_type *type)
{
    MEM_GROW(n->steps, n->count, n->cap);
    struct normalizer_step *step = &n->steps[n->count++];
    *step = (struct normalizer_step){.type = type, .form = type->form};
    return step;
}

struct normalizer_step *normalizer_add(struct normalizer *n, const char *name)
{
    return step_add(n, SV_ROW(sv_from(name), types));
}

struct normalizer_step *normalizer_add_sentencepiece(struct normalizer *n)
{
    return step_add(n, &sentencepiece_type);
}

static bool load(struct normalizer *n, const struct js_value *value, struct arena *arena, int depth,
                 struct error *err)
{
    struct sv name;
    if (value == NULL || value->type == JS_NULL)
        return true;
    if (!js_as_sv(js_get(value, "type"), &name))
        return error_set(err, E_PARSE, "a normalizer has no type");
    if (sv_eq(name, SV_LIT("Sequence"))) {
        const struct js_value *list = js_get(value, "normalizers");
        if (list == NULL || list->type != JS_ARRAY || depth == MAX_DEPTH)
            return error_set(err, E_PARSE, "normalizer Sequence: bad 'normalizers'");
        for (const struct js_value *item = list->first; item != NULL; item = item->next)
            if (!load(n, item, arena, depth + 1, err))
                return false;
        return true;
    }
    const struct normalizer_type *type = SV_ROW(name, types);
    if (type == NULL)
        return error_set(err, E_UNSUPPORTED, "normalizer '" SV_FMT "' is not supported",
                         SV_ARG(name));
    if (n->count == NORMALIZER_MAX_STEPS)
        return error_set(err, E_UNSUPPORTED, "more than %d normalizers", NORMALIZER_MAX_STEPS);
    struct normalizer_step *step = step_add(n, type);
    return type->load == NULL || type->load(step, value, arena, err) ||
           error_context(err, "normalizer %s", type->name);
}

bool normalizer_load(struct normalizer *n, const struct js_value *value, struct arena *arena,
                     struct error *err)
{
    return load(n, value, arena, 0, err);
}

void normalizer_done(struct normalizer *n)
{
    for (size_t i = 0; i < n->count; i++) {
        regex_free(n->steps[i].regex);
        charsmap_done(&n->steps[i].charsmap);
    }
    free(n->steps);
    *n = (struct normalizer){0};
}

bool normalizer_spells_bytes(const struct normalizer *n)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->steps[i].type->apply == bytes_apply)
            return true;
    return false;
}

bool normalizer_apply(const struct normalizer *n, struct sv text, struct arena *arena,
                      struct regex_work *work, struct sv *result, struct error *err)
{
    for (size_t i = 0; i < n->count; i++) {
        const struct normalizer_step *step = &n->steps[i];
        if (step->type->idle != NULL && step->type->idle(step, text))
            continue;
        struct buf made = {0};
        bool ok = step->type->apply(step, text, work, &made);
        if (ok)
            text = arena_copy(arena, buf_sv(&made));
        buf_done(&made);
        if (!ok)
            return error_set(err, E_LIMIT, "a normalizer's pattern needs too much work");
    }
    *result = text;
    return true;
}
