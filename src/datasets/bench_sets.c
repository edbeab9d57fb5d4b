/* Data sets "spec_bench" and "speed-bench": prompts of local files, by category (DATASETS 10, 11).
 * spec_bench is JSON lines with `turns` and `category`.  speed-bench is a folder with SUBSET.jsonl, a JSON-lines file or a
 * JSON array; a row's prompt is turns[0] or messages[0].content, and rows whose text must first be fetched from
 * elsewhere (masked ones) or that have several turns are left out. */
#include "base/alloc.h"
#include "base/file.h"
#include "datasets/chat_requests.h"
#include "datasets/custom_rows.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/jsonl.h"
#include "datasets/format/position.h"
#include "datasets/hub_files.h"
#include "json/scan.h"

#include <stdlib.h>

#define MASKED "FULL BENCHMARK DATA SHOULD BE FETCHED"

enum { MIN_TOKENS = 4 };

struct fields {
    struct sv turn;     /* raw first turn or message; ptr NULL: none */
    struct sv category; /* raw; ptr NULL: none */
    bool multiturn;
};

struct bench_set {
    const struct dataset_context *context;
    const char *path;
    bool speed;
    const char *category; /* NULL: all */
    uint32_t output_len;
    uint64_t max_len;
    struct arena arena;
    struct custom_rows rows;
    struct sv *categories; /* beside rows, as many */
    size_t category_cap;
    size_t total, no_turns, masked, multiturn, other_category, tiny, cut;
};

static struct sv string_of(struct sv raw)
{
    return raw.len >= 2 && raw.ptr[0] == '"' ? sv_make(raw.ptr + 1, raw.len - 2) : (struct sv){0};
}

/* The first element of a list of strings, or the content of the first of a list of messages. */
static struct sv first_text(struct sv raw)
{
    struct js_scan s;
    struct sv key;
    struct sv value;
    bool first = true;
    js_scan_init(&s, raw);
    if (js_scan_peek(&s) != JS_ARRAY)
        return (struct sv){0};
    js_scan_array(&s);
    if (!js_scan_element(&s, &first))
        return (struct sv){0};
    if (js_scan_peek(&s) == JS_STRING)
        return js_scan_skip(&s, &value) ? string_of(value) : (struct sv){0};
    if (js_scan_peek(&s) != JS_OBJECT)
        return (struct sv){0};
    js_scan_object(&s);
    first = true;
    while (js_scan_member(&s, &first, &key) && js_scan_skip(&s, &value))
        if (js_key_is(key, SV_LIT("content")))
            return string_of(value);
    return (struct sv){0};
}

/* The scanner stands before an object; false: malformed. */
static bool read_fields(const struct bench_set *b, struct js_scan *s, struct fields *fields)
{
    struct sv key;
    struct sv raw;
    struct sv messages = {0};
    bool first = true;
    *fields = (struct fields){0};
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        if (!js_scan_skip(s, &raw))
            return false;
        if (js_key_is(key, SV_LIT("turns")))
            fields->turn = first_text(raw);
        else if (js_key_is(key, SV_LIT("messages")))
            messages = first_text(raw);
        else if (js_key_is(key, SV_LIT("category")))
            fields->category = string_of(raw);
        else if (js_key_is(key, SV_LIT("multiturn")))
            fields->multiturn = sv_eq(raw, SV_LIT("true"));
    }
    if (b->speed && messages.ptr != NULL)
        fields->turn = messages; /* Python's column */
    return !s->bad;
}

static bool in_category(const struct bench_set *b, struct sv raw)
{
    struct buf name = {0};
    if (b->category == NULL)
        return true;
    struct sv wanted = sv_from(b->category);
    bool ok = raw.ptr != NULL && js_unescape(raw, &name);
    bool same =
        ok && (b->speed ? sv_eq_nocase(buf_sv(&name), wanted) : sv_eq(buf_sv(&name), wanted));
    /* The throughput subsets spell one category in two ways. */
    if (ok && b->speed && sv_eq_nocase(wanted, SV_LIT("mixed_entropy")))
        same = same || sv_eq_nocase(buf_sv(&name), SV_LIT("mixed"));
    if (ok && b->speed && sv_eq_nocase(wanted, SV_LIT("mixed")))
        same = same || sv_eq_nocase(buf_sv(&name), SV_LIT("mixed_entropy"));
    buf_done(&name);
    return same;
}

/* Counts and cuts; *raw becomes the JSON text of what is left of the prompt. */
static bool limit_prompt(struct bench_set *b, struct sv *raw, bool *keep, struct error *err)
{
    const struct tokenizer *t = b->context->tokenizer;
    struct buf text = {0};
    struct token_ids ids = {0};
    bool ok = js_unescape(*raw, &text) && tokenizer_encode(t, buf_sv(&text), false, &ids, err);
    *keep = ok && ids.count >= MIN_TOKENS;
    b->tiny += ok && !*keep;
    if (*keep && b->max_len > 0 && ids.count > b->max_len) {
        struct buf json = {0};
        b->cut++;
        buf_reset(&text);
        ok = tokenizer_decode(t, ids.items, b->max_len, false, &text, err);
        struct sv literal = dataset_literal(buf_sv(&text), &json);
        *raw = arena_copy(&b->arena, sv_make(literal.ptr + 1, literal.len - 2));
        buf_done(&json);
    }
    buf_done(&text);
    token_ids_done(&ids);
    return ok;
}

static bool take_row(struct bench_set *b, const struct fields *fields, struct error *err)
{
    struct sv turn = fields->turn;
    bool keep = true;
    b->total++;
    if (turn.ptr == NULL || turn.len == 0) {
        b->no_turns++;
        return true;
    }
    if (b->speed && sv_starts(turn, SV_LIT(MASKED))) {
        b->masked++;
        return true;
    }
    if (b->speed && fields->multiturn) {
        b->multiturn++;
        return true;
    }
    if (!in_category(b, fields->category)) {
        b->other_category++;
        return true;
    }
    if (b->speed && !limit_prompt(b, &turn, &keep, err))
        return false;
    if (!keep)
        return true;
    MEM_GROW(b->rows.items, b->rows.count, b->rows.cap);
    if (b->category_cap < b->rows.cap) {
        b->category_cap = b->rows.cap;
        b->categories = mem_resize(b->categories, b->category_cap, sizeof(*b->categories));
    }
    b->categories[b->rows.count] = fields->category;
    b->rows.items[b->rows.count++] =
        (struct custom_row){.raw_prompt = turn, .output_tokens = b->output_len};
    return true;
}

static bool read_lines(struct bench_set *b, struct sv text, struct error *err)
{
    struct jsonl j;
    enum jsonl_result result;
    if (!jsonl_init(&j, b->path, text, err))
        return false;
    while ((result = jsonl_next(&j, err)) == JSONL_LINE) {
        struct js_scan s;
        struct fields fields;
        js_scan_init(&s, j.line);
        enum js_type type = js_scan_peek(&s);
        if (type != JS_OBJECT && type != JS_BAD)
            return jsonl_error(&j, err, "holds no object");
        if (!read_fields(b, &s, &fields) || !js_scan_end(&s))
            return jsonl_malformed(&j, js_scan_offset(&s), err);
        if (!take_row(b, &fields, err))
            return error_context(err, "'%s': line %zu", b->path, j.number);
    }
    return result == JSONL_END;
}

static bool read_array(struct bench_set *b, struct sv text, struct error *err)
{
    struct js_scan s;
    bool first = true;
    if (!position_check_text(b->path, &text, err))
        return false;
    js_scan_init(&s, text);
    js_scan_array(&s);
    while (js_scan_element(&s, &first)) {
        struct fields fields;
        if (js_scan_peek(&s) != JS_OBJECT)
            return position_error(b->path, text, js_scan_offset(&s), err, "a row is no object");
        if (!read_fields(b, &s, &fields))
            break;
        if (!take_row(b, &fields, err))
            return false;
    }
    return js_scan_end(&s) || position_malformed(b->path, text, js_scan_offset(&s), err);
}

static bool check_left(const struct bench_set *b, struct error *err)
{
    if (b->rows.count > 0)
        return true;
    return error_set(err, E_PARSE,
                     "'%s' has no usable row%s%s%s; of %zu, %zu have no text, %zu are masked, %zu "
                     "have several turns, %zu are of another category, %zu are below %d tokens",
                     b->path, b->category != NULL ? " of category '" : "",
                     b->category != NULL ? b->category : "", b->category != NULL ? "'" : "",
                     b->total, b->no_turns, b->masked, b->multiturn, b->other_category, b->tiny,
                     MIN_TOKENS);
}

/* "coding 80, math 80", largest first. */
static void report_categories(const struct bench_set *b)
{
    enum { SHOWN = 16 };
    struct sv names[SHOWN] = {{0}};
    size_t counts[SHOWN] = {0};
    size_t kinds = 0;
    for (size_t i = 0; i < b->rows.count; i++) {
        size_t k = 0;
        while (k < kinds && !sv_eq(names[k], b->categories[i]))
            k++;
        if (k == SHOWN)
            continue;
        names[k] = b->categories[i];
        counts[k]++;
        kinds = k == kinds ? kinds + 1 : kinds;
    }
    struct buf list = {0};
    for (size_t shown = 0; shown < kinds; shown++) {
        size_t best = 0;
        for (size_t k = 1; k < kinds; k++)
            best = counts[k] > counts[best] ? k : best;
        buf_add_fmt(&list, "%s" SV_FMT " %zu", shown > 0 ? ", " : "", SV_ARG(names[best]),
                    counts[best]);
        counts[best] = 0;
    }
    dataset_notice(b->context, "categories: %s", buf_cstr(&list));
    buf_done(&list);
}

static void report(const struct bench_set *b)
{
    if (b->speed)
        report_categories(b);
    if (b->cut > 0)
        dataset_notice(b->context, "%zu prompts were cut to --speed-bench-max-input-len", b->cut);
    if (b->masked > 0)
        dataset_notice(b->context,
                       "%zu of %zu rows are masked: their text must first be fetched with the data "
                       "set's own script",
                       b->masked, b->total);
}

static bool load(struct bench_set *b, struct workload *workload, struct error *err)
{
    struct file_map map = {0};
    if (b->context->tokenizer == NULL)
        return error_set(err, E_CONFIG, "a tokenizer is needed; give --tokenizer");
    if (!file_map_open(b->path, &map, err))
        return false;
    struct sv start =
        sv_trim(sv_starts(map.view, SV_LIT("\xEF\xBB\xBF")) ? sv_skip(map.view, 3) : map.view);
    bool array = b->speed && sv_starts(start, SV_LIT("["));
    bool ok =
        (array ? read_array(b, map.view, err) : read_lines(b, map.view, err)) && check_left(b, err);
    if (ok) {
        report(b);
        /* Python hands the arguments to speed_bench only. */
        const char *kwargs = b->speed ? b->context->config->chat_template_kwargs : NULL;
        ok = chat_requests_build(b->context, &b->rows, kwargs, workload, err);
    }
    custom_rows_done(&b->rows);
    free(b->categories);
    arena_done(&b->arena);
    file_map_close(&map);
    return ok;
}

bool spec_bench_build(const struct dataset_context *context, struct workload *workload,
                      struct error *err)
{
    const struct config *config = context->config;
    struct bench_set b = {.context = context,
                          .path = config->dataset_path,
                          .category = config->spec_bench_category,
                          .output_len = (uint32_t)config->spec_bench_output_len};
    bool ok = b.path != NULL ? load(&b, workload, err)
                             : error_set(err, E_CONFIG, "--dataset-path is needed");
    return ok || error_context(err, "data set 'spec_bench'");
}

bool speed_bench_build(const struct dataset_context *context, struct workload *workload,
                       struct error *err)
{
    const struct config *config = context->config;
    struct buf path = {0};
    struct bench_set b = {.context = context,
                          .path = config->dataset_path,
                          .speed = true,
                          .category = config->speed_bench_category,
                          .max_len = config->speed_bench_max_input_len,
                          .output_len = (uint32_t)config->speed_bench_output_len};
    bool ok = true;
    if (b.path == NULL) {
        ok = hub_files_speed_bench(context, config->speed_bench_subset, &path, err);
        b.path = buf_cstr(&path);
    } else if (file_is_dir(b.path)) {
        buf_add_fmt(&path, "%s/%s.jsonl", b.path, config->speed_bench_subset);
        b.path = buf_cstr(&path);
    }
    ok = ok && load(&b, workload, err);
    buf_done(&path);
    return ok || error_context(err, "data set 'speed-bench'");
}
