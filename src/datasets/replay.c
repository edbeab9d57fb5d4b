/* See replay.h.  The prompt is kept as the JSON text that stood on the wire, so nothing is lost or respelt. */
#include "datasets/replay.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/file.h"
#include "base/num.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/jsonl.h"
#include "json/tree.h"
#include "json/writer.h"

#include <stdlib.h>

enum { WRITE_STEP = 256 * 1024 };

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static void write_file(struct js_writer *w, const struct request_file *file)
{
    struct buf data = {0};
    base64_add(&data, file->bytes);
    js_key(w, "file");
    js_begin_object(w);
    js_key(w, "name");
    js_string(w, file->name);
    js_key(w, "length_s");
    js_double(w, file->length_s);
    js_key(w, "data");
    js_string(w, buf_sv(&data));
    js_end_object(w);
    buf_done(&data);
}

static void write_request(const struct workload *w, const struct request *r, uint64_t due_ns,
                          struct buf *prompt, struct buf *out)
{
    struct js_writer j;
    buf_reset(prompt);
    workload_prompt_write(w, &r->prompt, prompt);
    js_writer_init(&j, out);
    js_begin_object(&j);
    js_key(&j, r->prompt.kind == PROMPT_MESSAGES ? "messages" : "prompt");
    js_raw(&j, buf_sv(prompt));
    js_key(&j, "prompt_len");
    js_uint(&j, r->prompt_len);
    js_key(&j, "output_len");
    js_uint(&j, r->output_len);
    if (due_ns != UINT64_MAX) {
        js_key(&j, "due_ns");
        js_uint(&j, due_ns);
    }
    if (r->sequences > 0) {
        js_key(&j, "sequences");
        js_uint(&j, r->sequences);
    }
    if (r->media.len > 0) {
        js_key(&j, "media");
        js_begin_array(&j);
        js_raw(&j, r->media);
        js_end_array(&j);
    }
    if (r->extra.len > 0) {
        buf_reset(prompt);
        buf_add_char(prompt, '{');
        buf_add(prompt, r->extra);
        buf_add_char(prompt, '}');
        js_key(&j, "extra");
        js_raw(&j, buf_sv(prompt));
    }
    if (r->file != NULL)
        write_file(&j, r->file);
    js_end_object(&j);
    buf_add_char(out, '\n');
}

bool workload_save(const struct workload *w, const uint64_t *due_ns, const char *path,
                   struct error *err)
{
    struct file_out file;
    struct buf lines = {0};
    struct buf prompt = {0};
    if (!file_out_begin(&file, path, err))
        return error_context(err, "saving the workload");
    for (size_t i = 0; i < w->count; i++) {
        const struct request *r = &w->requests[i];
        write_request(w, r, due_ns != NULL ? due_ns[i] : r->due_offset_ns, &prompt, &lines);
        if (lines.len < WRITE_STEP && i + 1 < w->count)
            continue;
        file_out_add(&file, buf_sv(&lines));
        buf_reset(&lines);
    }
    buf_done(&lines);
    buf_done(&prompt);
    return file_out_end(&file, err) || error_context(err, "saving the workload");
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

struct line {
    struct sv prompt;
    struct sv messages;
    struct sv prompt_len;
    struct sv output_len;
    struct sv due_ns;
    struct sv sequences;
    struct sv media;
    struct sv extra;
    struct sv file;
};

static const struct {
    const char *key;
    size_t offset;
    enum js_type type;
} keys[] = {
    {"prompt", offsetof(struct line, prompt), JS_BAD}, /* any */
    {"messages", offsetof(struct line, messages), JS_ARRAY},
    {"prompt_len", offsetof(struct line, prompt_len), JS_NUMBER},
    {"output_len", offsetof(struct line, output_len), JS_NUMBER},
    {"due_ns", offsetof(struct line, due_ns), JS_NUMBER},
    {"sequences", offsetof(struct line, sequences), JS_NUMBER},
    {"media", offsetof(struct line, media), JS_ARRAY},
    {"extra", offsetof(struct line, extra), JS_OBJECT},
    {"file", offsetof(struct line, file), JS_OBJECT},
};

static bool scan_line(const struct jsonl *j, struct line *line, struct error *err)
{
    struct js_scan s;
    struct sv key;
    struct sv raw;
    bool first = true;
    *line = (struct line){0};
    js_scan_init(&s, j->line);
    enum js_type type = js_scan_peek(&s);
    if (type != JS_OBJECT && type != JS_BAD)
        return jsonl_error(j, err, "holds no object");
    js_scan_object(&s);
    while (js_scan_member(&s, &first, &key)) {
        type = js_scan_peek(&s);
        if (!js_scan_skip(&s, &raw))
            break;
        for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
            if (!js_key_is(key, sv_from(keys[k].key)))
                continue;
            if (keys[k].type != JS_BAD && keys[k].type != type)
                return jsonl_error(j, err, "'%s' is of the wrong type", keys[k].key);
            memcpy((char *)line + keys[k].offset, &raw, sizeof(raw));
        }
    }
    if (!js_scan_end(&s))
        return jsonl_malformed(j, js_scan_offset(&s), err);
    if (line->prompt.ptr == NULL && line->messages.ptr == NULL)
        return jsonl_error(j, err, "has neither 'prompt' nor 'messages'");
    if (line->prompt.ptr != NULL && strchr("\"[{", line->prompt.ptr[0]) == NULL)
        return jsonl_error(j, err, "'prompt' is of the wrong type");
    /* A file of prompts for --dataset-name custom has neither; it would ask for no tokens at all. */
    if (line->prompt_len.ptr == NULL || line->output_len.ptr == NULL)
        return jsonl_error(j, err, "has no '%s'; every line that --save-workload writes has one",
                           line->prompt_len.ptr == NULL ? "prompt_len" : "output_len");
    return true;
}

static bool read_u64(const struct jsonl *j, const char *key, struct sv raw, uint64_t absent,
                     uint64_t *value, struct error *err)
{
    *value = absent;
    return raw.ptr == NULL || num_parse_u64(raw, value) ||
           jsonl_error(j, err, "'%s' is " SV_FMT ", not a whole number from 0 on", key,
                       SV_ARG(raw));
}

static bool read_u32(const struct jsonl *j, const char *key, struct sv raw, uint32_t *value,
                     struct error *err)
{
    uint64_t wide;
    if (!read_u64(j, key, raw, 0, &wide, err))
        return false;
    *value = (uint32_t)wide;
    return wide <= UINT32_MAX || jsonl_error(j, err, "'%s' is too large", key);
}

static bool read_file(struct workload *w, const struct jsonl *j, struct sv raw, struct request *r,
                      struct error *err)
{
    struct error why = {0};
    struct arena tmp = {0};
    struct sv name = {0};
    struct sv data = {0};
    struct buf bytes = {0};
    struct request_file *file = arena_array(&w->arena, 1, sizeof(*file));
    const struct js_value *tree = js_parse(&tmp, raw, "'file'", &why);
    bool ok = tree != NULL && js_as_sv(js_get(tree, "name"), &name) &&
              js_as_double(js_get(tree, "length_s"), &file->length_s) &&
              js_as_sv(js_get(tree, "data"), &data) && base64_read(&bytes, data);
    file->name = arena_copy(&w->arena, name);
    file->bytes = arena_copy(&w->arena, buf_sv(&bytes));
    r->file = file;
    buf_done(&bytes);
    arena_done(&tmp);
    return ok || jsonl_error(j, err, "'file' needs 'name', 'length_s' and 'data' in base64");
}

/* Without the brackets or braces. */
static struct sv inside(struct workload *w, struct sv raw)
{
    return raw.ptr == NULL ? raw
                           : arena_copy(&w->arena, sv_trim(sv_make(raw.ptr + 1, raw.len - 2)));
}

/* Of a list of strings the length of the first literal. */
static uint32_t first_bytes(struct sv prompt)
{
    struct js_scan s;
    struct sv raw;
    bool first = true;
    js_scan_init(&s, prompt);
    if (js_scan_peek(&s) != JS_ARRAY)
        return 0;
    js_scan_array(&s);
    if (!js_scan_element(&s, &first) || js_scan_peek(&s) != JS_STRING || !js_scan_skip(&s, &raw))
        return 0;
    return (uint32_t)raw.len;
}

static bool read_request(struct workload *w, const struct jsonl *j, struct request *r,
                         struct error *err)
{
    struct line line;
    *r = (struct request){0};
    if (!scan_line(j, &line, err) ||
        !read_u32(j, "prompt_len", line.prompt_len, &r->prompt_len, err) ||
        !read_u32(j, "output_len", line.output_len, &r->output_len, err) ||
        !read_u32(j, "sequences", line.sequences, &r->sequences, err) ||
        !read_u64(j, "due_ns", line.due_ns, UINT64_MAX, &r->due_offset_ns, err))
        return false;
    bool messages = line.messages.ptr != NULL;
    r->prompt = dataset_json_prompt(w, messages ? line.messages : line.prompt);
    if (messages)
        r->prompt.kind = PROMPT_MESSAGES;
    else
        r->prompt.first_bytes = first_bytes(line.prompt);
    r->media = inside(w, line.media);
    r->extra = inside(w, line.extra);
    return line.file.ptr == NULL || read_file(w, j, line.file, r, err);
}

static bool read_requests(const struct dataset_context *context, struct sv text, struct workload *w,
                          struct error *err)
{
    const char *name = context->config->dataset_path;
    struct request *requests = NULL;
    size_t count = 0;
    size_t cap = 0;
    struct jsonl j;
    enum jsonl_result result = JSONL_END;
    bool ok = jsonl_init(&j, name, text, err);
    while (ok && (result = jsonl_next(&j, err)) == JSONL_LINE) {
        MEM_GROW(requests, count, cap);
        ok = read_request(w, &j, &requests[count], err);
        count++;
    }
    ok = ok && result != JSONL_FAILED;
    if (ok && count == 0)
        ok = error_set(err, E_PARSE, "'%s' has no requests", name);
    if (ok) {
        dataset_requests_new(w, count);
        memcpy(w->requests, requests, count * sizeof(*requests));
    }
    free(requests);
    return ok;
}

bool replay_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    struct file_map map = {0};
    const char *path = context->config->dataset_path;
    bool ok = path != NULL || error_set(err, E_CONFIG, "--dataset-path is needed");
    ok = ok && file_map_open(path, &map, err) && read_requests(context, map.view, workload, err);
    file_map_close(&map);
    return ok || error_context(err, "data set 'workload'");
}
