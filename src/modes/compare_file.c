/* Detailed files are large, so a tree is made of what is left without the per-request lists; those are scanned. */
#include "modes/compare_file.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"
#include "json/scan.h"

/* The per-request lists; the first five are read. */
enum list { TTFTS, ITLS, LATENCIES, OUTPUT_LENS, ERRORS, LIST_COUNT };
static const char *const lists[] = {"ttfts",           "itls",         "latencies",
                                    "output_lens",     "errors",       "input_lens",
                                    "generated_texts", "start_times",  "queue_times",
                                    "failed_requests", "server_ttfts", "server_queue_times"};

/* ---- text -------------------------------------------------------------------------------------------------------- */

/* Python writes NaN, Infinity and -Infinity, which are no JSON: outside of strings they become null. */
static void plain_json(struct buf *text)
{
    static const struct sv words[] = {{"NaN", 3}, {"-Infinity", 9}, {"Infinity", 8}};
    struct buf out = {0};
    struct sv rest = buf_sv(text);
    bool inside = false;
    bool changed = false;
    for (size_t i = 0; i < rest.len;) {
        char c = rest.ptr[i];
        size_t w = 0;
        while (!inside && w < 3 && !sv_starts(sv_skip(rest, i), words[w]))
            w++;
        if (!inside && w < 3) {
            buf_add_str(&out, "null");
            i += words[w].len;
            changed = true;
            continue;
        }
        if (inside && c == '\\' && i + 1 < rest.len)
            buf_add_char(&out, rest.ptr[i++]);
        else if (c == '"')
            inside = !inside;
        buf_add_char(&out, rest.ptr[i++]);
    }
    if (changed) {
        struct buf old = *text;
        *text = out;
        out = old;
    }
    buf_done(&out);
}

static struct sv last_line(struct sv text)
{
    struct sv line = {0};
    struct sv part;
    while (sv_split(&text, '\n', &part)) {
        part = sv_trim(part);
        if (part.len > 0)
            line = part;
    }
    return line;
}

/* The object that counts. */
static bool find_object(struct compare_file *f, struct sv *object, struct error *err)
{
    struct js_scan s;
    struct sv text = sv_trim(buf_sv(&f->text));
    struct error why;
    if (!js_is_complete(text)) {
        struct sv line = last_line(text);
        if (!js_is_complete(line)) {
            struct arena arena = {0};
            js_parse(&arena, text, "the file", &why);
            arena_done(&arena);
            return error_set(err, E_PARSE, "cannot parse result file '%s': %s", f->path,
                             text.len == 0 ? "it is empty" : why.message);
        }
        text = line;
    }
    js_scan_init(&s, text);
    if (js_scan_peek(&s) == JS_ARRAY) {
        bool first = true;
        js_scan_array(&s);
        text = (struct sv){0};
        while (js_scan_element(&s, &first))
            js_scan_skip(&s, &text);
        js_scan_init(&s, text);
    }
    if (text.len == 0 || js_scan_peek(&s) != JS_OBJECT)
        return error_set(err, E_PARSE, "result file '%s' holds no result object", f->path);
    *object = text;
    return true;
}

/* Everything but the per-request lists goes into `rest`, the lists that are read into found[]. */
static void split_object(struct sv object, struct buf *rest, struct sv found[LIST_COUNT])
{
    struct js_scan s;
    struct sv key;
    struct sv raw;
    bool first = true;
    js_scan_init(&s, object);
    js_scan_object(&s);
    buf_add_char(rest, '{');
    while (js_scan_member(&s, &first, &key)) {
        size_t i = 0;
        if (!js_scan_skip(&s, &raw))
            break;
        while (i < sizeof(lists) / sizeof(lists[0]) && !sv_eq(key, sv_from(lists[i])))
            i++;
        if (i < LIST_COUNT)
            found[i] = raw;
        if (i < sizeof(lists) / sizeof(lists[0]))
            continue;
        if (rest->ptr[rest->len - 1] != '{')
            buf_add_char(rest, ',');
        buf_add_fmt(rest, "\"" SV_FMT "\":", SV_ARG(key));
        buf_add(rest, raw);
    }
    buf_add_char(rest, '}');
}

/* ---- single requests --------------------------------------------------------------------------------------------- */

/* Walks over one list; a missing one has no elements. */
struct walk {
    struct js_scan s;
    bool there;
    bool first;
};

static void walk_begin(struct walk *w, struct sv raw)
{
    *w = (struct walk){.there = raw.ptr != NULL, .first = true};
    if (!w->there)
        return;
    js_scan_init(&w->s, raw);
    w->there = js_scan_peek(&w->s) == JS_ARRAY && js_scan_array(&w->s);
}

/* The next element's text; false at the end. */
static bool walk_next(struct walk *w, struct sv *raw)
{
    return w->there && js_scan_element(&w->s, &w->first) && js_scan_skip(&w->s, raw);
}

static double number_of(struct sv raw)
{
    double value;
    return num_parse_double(raw, &value) ? value : 0.0;
}

/* Adds the gaps of one answer; returns their sum. */
static double add_gaps(struct compare_samples *samples, size_t request, struct sv raw)
{
    struct walk w;
    struct sv element;
    double sum = 0.0;
    walk_begin(&w, raw);
    while (walk_next(&w, &element)) {
        double gap = number_of(element);
        compare_samples_add(samples, COMPARE_ITL, request, 1000.0 * gap);
        sum += gap;
    }
    return sum;
}

struct request_row {
    struct sv raw[LIST_COUNT]; /* empty: the list is absent */
};

/* A success becomes request number samples->requests. */
static void add_request(struct compare_samples *samples, const struct request_row *row)
{
    double ttft = number_of(row->raw[TTFTS]);
    double latency = number_of(row->raw[LATENCIES]);
    double tokens = number_of(row->raw[OUTPUT_LENS]);
    bool failed = row->raw[ERRORS].len > 2 && !sv_eq(row->raw[ERRORS], SV_LIT("null"));
    if (failed || (!(ttft > 0.0) && !(latency > 0.0)))
        return;
    size_t request = samples->requests++;
    double gaps = add_gaps(samples, request, row->raw[ITLS]);
    if (!(latency > 0.0))
        latency = ttft + gaps;
    if (ttft > 0.0)
        compare_samples_add(samples, COMPARE_TTFT, request, 1000.0 * ttft);
    if (ttft > 0.0 && tokens > 1.0)
        compare_samples_add(samples, COMPARE_TPOT, request,
                            1000.0 * (latency - ttft) / (tokens - 1.0));
    compare_samples_add(samples, COMPARE_E2EL, request, 1000.0 * latency);
}

static void read_requests(struct compare_file *f, const struct sv found[LIST_COUNT])
{
    struct walk walks[LIST_COUNT];
    if (found[TTFTS].ptr == NULL && found[LATENCIES].ptr == NULL)
        return;
    for (size_t i = 0; i < LIST_COUNT; i++)
        walk_begin(&walks[i], found[i]);
    for (;;) {
        struct request_row row = {0};
        bool any = false;
        for (size_t i = 0; i < LIST_COUNT; i++)
            any = walk_next(&walks[i], &row.raw[i]) || any;
        if (!any)
            break;
        add_request(&f->samples, &row);
    }
    f->has_samples = f->samples.requests > 0;
}

/* ---- file -------------------------------------------------------------------------------------------------------- */

bool compare_file_read(struct compare_file *f, const char *path, struct error *err)
{
    *f = (struct compare_file){.path = path};
    struct sv object;
    struct sv found[LIST_COUNT] = {0};
    struct buf rest = {0};
    struct sv mode;
    if (!file_read(path, &f->text, err))
        return error_context(err, "cannot read result file '%s'", path);
    plain_json(&f->text);
    if (!find_object(f, &object, err))
        return false;
    split_object(object, &rest, found);
    f->result = js_parse(&f->arena, buf_sv(&rest), path, err);
    buf_done(&rest);
    if (f->result == NULL)
        return false;
    if (js_as_sv(js_get(f->result, "mode"), &mode) && sv_eq(mode, SV_LIT("sweep")))
        return error_set(err, E_PARSE,
                         "'%s' is about a whole sweep; compare the files of its points", path);
    f->runs = js_get(f->result, "runs");
    read_requests(f, found);
    return true;
}

void compare_file_done(struct compare_file *f)
{
    compare_samples_done(&f->samples);
    buf_done(&f->text);
    arena_done(&f->arena);
}
