/* Split: cuts at every match of a pattern.  `behavior` says what becomes of the matches, `invert` swaps matches and
 * gaps.  A match of no length makes no piece but ends the one before. */
#include "tokenizer/pretokenizer.h"

#include "base/alloc.h"
#include "tokenizer/utf8.h"

static const char *const behavior_names[SPLIT_BEHAVIOR_COUNT] = {
    [SPLIT_REMOVED] = "Removed",
    [SPLIT_ISOLATED] = "Isolated",
    [SPLIT_MERGED_WITH_PREVIOUS] = "MergedWithPrevious",
    [SPLIT_MERGED_WITH_NEXT] = "MergedWithNext",
    [SPLIT_CONTIGUOUS] = "Contiguous",
};

bool pretok_behavior(struct sv name, enum split_behavior *behavior)
{
    for (int i = 0; i < SPLIT_BEHAVIOR_COUNT; i++)
        if (sv_eq(name, sv_from(behavior_names[i]))) {
            *behavior = (enum split_behavior)i;
            return true;
        }
    return false;
}

static bool load(struct pretok_step *step, const struct js_value *value, struct arena *arena,
                 struct error *err)
{
    struct sv behavior;
    struct sv pattern;
    if (!js_as_sv(js_get(value, "behavior"), &behavior))
        return error_set(err, E_PARSE, "no behavior");
    if (!pretok_behavior(behavior, &step->behavior))
        return error_set(err, E_UNSUPPORTED, "behavior '" SV_FMT "' is unknown", SV_ARG(behavior));
    js_as_bool(js_get(value, "invert"), &step->invert);
    const struct js_value *p = js_get(value, "pattern");
    if (js_as_sv(js_get(p, "Regex"), &pattern)) {
        step->splitter = splitter_find(pattern);
        if (step->splitter == NULL)
            step->regex = regex_compile(pattern, REGEX_ONIGURUMA, err);
        return step->splitter != NULL || step->regex != NULL;
    }
    if (!js_as_sv(js_get(p, "String"), &pattern) || pattern.len == 0)
        return error_set(err, E_PARSE, "the pattern is neither Regex nor String");
    step->literal = arena_copy(arena, pattern);
    return true;
}

static enum regex_result find_by_scanner(const struct splitter *s, struct sv text, size_t from,
                                         size_t *start, size_t *end)
{
    uint32_t cp;
    for (size_t at = from; at < text.len; at += utf8_next(text.ptr + at, &cp)) {
        *end = s->next(s, text, at);
        if (*end > at) {
            *start = at;
            return REGEX_FOUND;
        }
    }
    return REGEX_NONE;
}

static enum regex_result find(const struct pretok_step *step, struct scratch *scratch,
                              struct sv text, size_t from, size_t *start, size_t *end)
{
    if (step->splitter != NULL)
        return find_by_scanner(step->splitter, text, from, start, end);
    if (step->regex != NULL)
        return regex_find(step->regex, &scratch->regex, text, from, start, end);
    const char *hit = from < text.len ? memmem(text.ptr + from, text.len - from, step->literal.ptr,
                                               step->literal.len)
                                      : NULL;
    if (hit == NULL)
        return REGEX_NONE;
    *start = (size_t)(hit - text.ptr);
    *end = *start + step->literal.len;
    return REGEX_FOUND;
}

void pretok_span_add(struct span_list *list, size_t start, size_t end, bool match)
{
    MEM_GROW(list->items, list->count, list->cap);
    list->items[list->count++] = (struct span){start, end, match};
}

/* Matches and the gaps between them, in order. */
static bool find_spans(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                       struct error *err)
{
    struct span_list *spans = &scratch->spans;
    spans->count = 0;
    size_t covered = 0;
    for (size_t from = 0; from <= piece.len;) {
        size_t start;
        size_t end;
        enum regex_result found = find(step, scratch, piece, from, &start, &end);
        if (found == REGEX_TOO_HARD)
            return error_set(err, E_LIMIT, "the split pattern needs too much work on this text");
        if (found == REGEX_NONE)
            break;
        if (end > start || start > covered) {
            if (start > covered)
                pretok_span_add(spans, covered, start, step->invert);
            pretok_span_add(spans, start, end, !step->invert);
            covered = end;
        }
        from = end;
        if (end == start) {
            uint32_t cp;
            from += end < piece.len ? utf8_next(piece.ptr + end, &cp) : 1;
        }
    }
    if (covered < piece.len)
        pretok_span_add(spans, covered, piece.len, step->invert);
    return true;
}

/* Does this span start a piece of its own? */
static bool starts_piece(enum split_behavior behavior, const struct span *before,
                         const struct span *here)
{
    switch (behavior) {
    case SPLIT_MERGED_WITH_PREVIOUS:
        return !here->match || before->match;
    case SPLIT_MERGED_WITH_NEXT:
        return !before->match || here->match;
    case SPLIT_CONTIGUOUS:
        return before->match != here->match;
    case SPLIT_REMOVED:
    case SPLIT_ISOLATED:
    case SPLIT_BEHAVIOR_COUNT:
    default:
        return true;
    }
}

void pretok_emit(const struct span_list *spans, enum split_behavior behavior, struct sv piece,
                 struct piece_list *out)
{
    for (size_t i = 0; i < spans->count;) {
        const struct span *first = &spans->items[i];
        size_t end = first->end;
        size_t next = i + 1;
        while (next < spans->count &&
               !starts_piece(behavior, &spans->items[next - 1], &spans->items[next]))
            end = spans->items[next++].end;
        if (!first->match || behavior != SPLIT_REMOVED)
            piece_list_add(out, sv_make(piece.ptr + first->start, end - first->start));
        i = next;
    }
}

static bool split(const struct pretok_step *step, struct sv piece, struct scratch *scratch,
                  struct piece_list *out, struct error *err)
{
    if (!find_spans(step, piece, scratch, err))
        return false;
    pretok_emit(&scratch->spans, step->behavior, piece, out);
    return true;
}

const struct pretok_type pretok_split = {.name = "Split", .load = load, .split = split};
