/* The Berkeley function calling data set: one JSON-lines file a category, BFCL_v3_CATEGORY.json, whose rows have a list of
 * turns, `question`, and `function`, one or more descriptions (DATASETS 13.3).  The first turn's messages are sent as
 * they are, with the descriptions as tools.  Categories take turns, then everything is shuffled by Python's generator. */
#include "base/alloc.h"
#include "base/file.h"
#include "datasets/format/jsonl.h"
#include "datasets/hf_priv.h"
#include "json/writer.h"

#include <stdlib.h>

enum { MAX_CATEGORIES = 64 };

struct category {
    struct buf path;
    struct file_map map;
    struct sv *lines;
    size_t *numbers;
    size_t count;
    size_t cap;
    size_t number_cap;
};

/* A row: category and line. */
struct place {
    size_t category;
    size_t line;
};

struct bfcl {
    struct hf_build *b;
    struct category categories[MAX_CATEGORIES];
    size_t category_count;
    struct place *places;
    size_t count;
    struct arena tree;
    struct buf json;
    struct buf text;
    struct buf rendered;
    struct token_ids ids;
    size_t unrendered; /* rows that the chat template refused */
    struct error reason;
};

/* ---- files -------------------------------------------------------------------------------------------------------- */

static bool read_lines(struct category *c, struct error *err)
{
    struct jsonl j;
    enum jsonl_result result;
    if (!jsonl_init(&j, c->path.ptr, c->map.view, err))
        return false;
    while ((result = jsonl_next(&j, err)) == JSONL_LINE) {
        MEM_GROW(c->lines, c->count, c->cap);
        if (c->number_cap < c->cap)
            c->numbers = mem_resize(c->numbers, c->number_cap = c->cap, sizeof(*c->numbers));
        c->numbers[c->count] = j.number;
        c->lines[c->count++] = j.line;
    }
    return result == JSONL_END;
}

static bool no_category(const struct hf_source *source, struct sv name, struct error *err)
{
    struct buf list = {0};
    for (size_t i = 0; i < source->count; i++) {
        struct sv file = source->names[i];
        if (sv_starts(file, SV_LIT("BFCL_v3_")) && sv_ends(file, SV_LIT(".json")))
            buf_add_fmt(&list, "%s" SV_FMT, list.len > 0 ? ", " : "", (int)(file.len - 13),
                        file.ptr + 8);
    }
    error_set(err, E_CONFIG, "--bfcl-categories: '%s' has no category '" SV_FMT "'; it has %s",
              source->path, SV_ARG(name), list.len > 0 ? buf_cstr(&list) : "none");
    buf_done(&list);
    return false;
}

static bool open_category(struct bfcl *f, struct sv name, struct error *err)
{
    struct category *c = &f->categories[f->category_count];
    struct hf_source *source = f->b->source;
    struct buf file = {0};
    buf_add_fmt(&file, "BFCL_v3_" SV_FMT ".json", SV_ARG(name));
    bool there = source->place != HF_FILE && hf_source_has(source, buf_sv(&file));
    bool ok = there ? hf_source_fetch(source, buf_sv(&file), &c->path, err) &&
                          file_map_open(c->path.ptr, &c->map, err)
                    : no_category(source, name, err);
    buf_done(&file);
    f->category_count += ok;
    return ok && read_lines(c, err);
}

static bool open_categories(struct bfcl *f, struct error *err)
{
    const char *given = f->b->context->config->bfcl_categories;
    struct sv rest = sv_from(given);
    struct sv name;
    while (sv_split(&rest, ',', &name)) {
        name = sv_trim(name);
        if (name.len == 0)
            continue;
        if (f->category_count == MAX_CATEGORIES)
            return error_set(err, E_LIMIT, "--bfcl-categories: more than %d", MAX_CATEGORIES);
        if (!open_category(f, name, err))
            return false;
    }
    return f->category_count > 0 || (open_category(f, SV_LIT("simple"), err) &&
                                     open_category(f, SV_LIT("live_simple"), err) &&
                                     open_category(f, SV_LIT("multiple"), err));
}

/* The first rows of all categories, then the second ones, and so on; then shuffled by a generator of its own. */
static void order_rows(struct bfcl *f)
{
    const struct config *config = f->b->context->config;
    size_t total = 0;
    for (size_t c = 0; c < f->category_count; c++)
        total += f->categories[c].count;
    struct place *in_order = mem_array(total + 1, sizeof(*in_order));
    size_t *order = mem_array(total + 1, sizeof(*order));
    size_t at = 0;
    for (size_t line = 0; at < total; line++)
        for (size_t c = 0; c < f->category_count; c++)
            if (line < f->categories[c].count)
                in_order[at++] = (struct place){c, line};
    for (size_t i = 0; i < total; i++)
        order[i] = i;
    if (!config->disable_shuffle) {
        struct mt19937 g;
        py_seed(&g, config->seed);
        py_shuffle(&g, order, total);
    }
    f->places = mem_array(total + 1, sizeof(*f->places));
    for (size_t i = 0; i < total; i++)
        f->places[i] = in_order[order[i]];
    f->count = total;
    free(in_order);
    free(order);
}

/* ---- requests ----------------------------------------------------------------------------------------------------- */

static struct sv renamed(struct sv type)
{
    static const char *const names[][2] = {
        {"dict", "object"}, {"float", "number"}, {"tuple", "array"}, {"any", "string"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (sv_eq(type, sv_from(names[i][0])))
            return sv_from(names[i][1]);
    return type;
}

/* Types of the data set's own dialect become those of JSON Schema, at any depth. */
static void write_schema(struct js_writer *w, const struct js_value *v)
{
    if (v->type == JS_OBJECT) {
        js_begin_object(w);
        for (const struct js_value *m = v->first; m != NULL; m = m->next) {
            js_key_sv(w, m->key);
            if (m->type == JS_STRING && sv_eq(m->key, SV_LIT("type")))
                js_string(w, renamed(m->text));
            else
                write_schema(w, m);
        }
        js_end_object(w);
    } else if (v->type == JS_ARRAY) {
        js_begin_array(w);
        for (const struct js_value *m = v->first; m != NULL; m = m->next)
            write_schema(w, m);
        js_end_array(w);
    } else {
        js_write_value(w, v);
    }
}

static void write_tools(struct buf *out, const struct js_value *functions)
{
    bool list = functions->type == JS_ARRAY;
    struct js_writer w;
    js_writer_init(&w, out);
    js_begin_array(&w);
    for (const struct js_value *f = list ? functions->first : functions; f != NULL;
         f = list ? f->next : NULL) {
        js_begin_object(&w);
        js_key(&w, "type");
        js_cstring(&w, "function");
        js_key(&w, "function");
        write_schema(&w, f);
        js_end_object(&w);
    }
    js_end_array(&w);
}

/* The messages as the model will see them, with the tools; false: without a template, or it takes them not. */
static bool render(struct bfcl *f, const struct js_value *messages, struct sv tools)
{
    struct buf kwargs = {0};
    struct error reason = {0};
    bool present = false;
    buf_add_str(&kwargs, "{\"tools\":");
    buf_add(&kwargs, tools);
    buf_add_char(&kwargs, '}');
    const struct js_value *tree = js_parse(&f->tree, buf_sv(&kwargs), "tools", &reason);
    struct chat_template *c =
        tree != NULL ? chat_template_with(f->b->context->tokenizer, tree, &present, &reason) : NULL;
    buf_reset(&f->rendered);
    bool ok = c != NULL && chat_template_render_json(c, messages, true, &f->rendered, &reason);
    f->unrendered += present && !ok;
    if (present && !ok && f->unrendered == 1)
        f->reason = reason;
    chat_template_free(c);
    buf_done(&kwargs);
    return ok;
}

/* Tokens of the rendered messages; without a template, of their contents, one a line. */
static bool count_prompt(struct bfcl *f, const struct js_value *messages, struct sv tools,
                         uint32_t *count, struct error *err)
{
    struct sv content;
    buf_reset(&f->text);
    for (const struct js_value *m = messages->first; m != NULL; m = m->next) {
        if (js_as_sv(js_get(m, "content"), &content))
            buf_add(&f->text, content);
        if (m->next != NULL)
            buf_add_char(&f->text, '\n');
    }
    struct sv seen = render(f, messages, tools) ? buf_sv(&f->rendered) : buf_sv(&f->text);
    f->ids.count = 0;
    if (!tokenizer_encode(f->b->context->tokenizer, seen, true, &f->ids, err))
        return false;
    *count = (uint32_t)f->ids.count;
    return true;
}

static bool is_empty(const struct js_value *v)
{
    return v == NULL || v->type == JS_NULL ||
           ((v->type == JS_ARRAY || v->type == JS_OBJECT) && v->count == 0);
}

static bool add_row(struct bfcl *f, const struct js_value *row, struct error *err)
{
    struct hf_build *b = f->b;
    const struct js_value *messages = js_at(js_get(row, "question"), 0);
    const struct js_value *functions = js_get(row, "function");
    if (messages == NULL || messages->type != JS_ARRAY || is_empty(messages) ||
        is_empty(functions)) {
        b->skipped++;
        return true;
    }
    struct request *r = &b->workload->requests[b->workload->count];
    struct js_writer w;
    buf_reset(&f->json);
    js_writer_init(&w, &f->json);
    js_write_value(&w, messages);
    r->prompt = dataset_json_prompt(b->workload, buf_sv(&f->json));
    r->prompt.kind = PROMPT_MESSAGES;
    static const struct sv name = {"\"tools\":", 8};
    buf_reset(&f->json);
    buf_add(&f->json, name);
    write_tools(&f->json, functions);
    size_t end = f->json.len;
    buf_add_str(&f->json, ",\"tool_choice\":\"auto\"");
    r->extra = arena_copy(&b->workload->arena, buf_sv(&f->json));
    r->output_len = (uint32_t)b->output_len;
    b->workload->count++;
    return count_prompt(f, messages, sv_make(r->extra.ptr + name.len, end - name.len),
                        &r->prompt_len, err);
}

static bool add_rows(struct bfcl *f, struct error *err)
{
    struct hf_build *b = f->b;
    size_t wanted = (size_t)b->context->config->num_prompts;
    dataset_requests_new(b->workload, wanted);
    b->workload->count = 0;
    for (size_t i = 0; i < f->count && b->workload->count < wanted; i++) {
        const struct category *c = &f->categories[f->places[i].category];
        size_t line = f->places[i].line;
        struct sv raw = c->lines[line];
        struct jsonl j = {.name = c->path.ptr, .line = raw, .number = c->numbers[line]};
        struct js_scan s;
        js_scan_init(&s, raw);
        if (!js_scan_skip(&s, NULL) || !js_scan_end(&s))
            return jsonl_malformed(&j, js_scan_offset(&s), err);
        const struct js_value *row = js_parse(&f->tree, raw, "row", err);
        bool ok = row != NULL && (row->type == JS_OBJECT || jsonl_error(&j, err, "no object")) &&
                  (add_row(f, row, err) || error_context(err, "'%s'", c->path.ptr));
        arena_done(&f->tree);
        if (!ok)
            return false;
    }
    return b->workload->count > 0 ||
           error_set(err, E_PARSE, "'%s' has no row with a question and a function", b->id);
}

bool hf_bfcl_build(struct hf_build *b, struct error *err)
{
    struct bfcl *f = mem_new(struct bfcl);
    f->b = b;
    bool ok = open_categories(f, err);
    if (ok) {
        order_rows(f);
        ok = add_rows(f, err);
    }
    if (ok && b->skipped > 0)
        dataset_notice(b->context, "%zu rows have no question or no function: left out",
                       b->skipped);
    if (ok && f->unrendered > 0)
        dataset_notice(b->context,
                       "the chat template cannot be rendered for %zu rows, whose texts alone are "
                       "counted: %s",
                       f->unrendered, f->reason.message);
    for (size_t c = 0; c < MAX_CATEGORIES; c++) {
        buf_done(&f->categories[c].path);
        file_map_close(&f->categories[c].map);
        free(f->categories[c].lines);
        free(f->categories[c].numbers);
    }
    free(f->places);
    arena_done(&f->tree);
    buf_done(&f->json);
    buf_done(&f->text);
    buf_done(&f->rendered);
    token_ids_done(&f->ids);
    free(f);
    return ok;
}
