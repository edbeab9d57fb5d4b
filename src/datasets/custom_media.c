/* Data sets "custom_image" and "custom_audio": prompts with pictures or a recording from a JSON-lines file (DATASETS 9).
 * A line of custom_image has "prompt" and "image_files", or "content": parts of the user's message, of the types text,
 * image and image_url.  A line of custom_audio has "audio", a path, and perhaps "prompt" and "output_tokens". */
#include "base/alloc.h"
#include "base/base64.h"
#include "base/file.h"
#include "datasets/audio.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/jsonl.h"
#include "datasets/media.h"
#include "json/tree.h"
#include "json/writer.h"
#include "tokenizer/chat_template.h"

#include <stdlib.h>

struct media_build {
    const struct dataset_context *context;
    struct workload *workload;
    struct sv *lines;
    size_t *numbers; /* of the lines, for messages */
    size_t count;
    size_t cap;
    size_t number_cap;
    struct jsonl now; /* the line that is being made a request */
    struct arena tree;
    struct buf text;
    struct buf media;
    struct buf tmp;
    struct token_ids ids;
    struct chat_template *template; /* NULL: none */
};

static bool check(const struct config *config, bool per_line, struct error *err)
{
    const char *path = config->dataset_path;
    if (path == NULL)
        return error_set(err, E_CONFIG, "--dataset-path is needed");
    if (!sv_ends(sv_from(path), SV_LIT(".jsonl")))
        return error_set(err, E_CONFIG, "only .jsonl files are read, not '%s'", path);
    if (config->custom_output_len == 0 || config->custom_output_len < (per_line ? -1 : 1) ||
        config->custom_output_len > INT32_MAX)
        return error_set(err, E_CONFIG, "--custom-output-len must be at least 1%s",
                         per_line ? ", or -1 for the 'output_tokens' of each line" : "");
    return true;
}

/* Every line must be an object, also those that are not used. */
static bool read_lines(struct media_build *b, struct sv text, struct error *err)
{
    enum jsonl_result result;
    if (!jsonl_init(&b->now, b->context->config->dataset_path, text, err))
        return false;
    while ((result = jsonl_next(&b->now, err)) == JSONL_LINE) {
        struct js_scan s;
        js_scan_init(&s, b->now.line);
        enum js_type type = js_scan_peek(&s);
        if (type != JS_OBJECT && type != JS_BAD)
            return jsonl_error(&b->now, err, "holds no object");
        if (!js_scan_skip(&s, NULL) || !js_scan_end(&s))
            return jsonl_malformed(&b->now, js_scan_offset(&s), err);
        MEM_GROW(b->lines, b->count, b->cap);
        if (b->number_cap < b->cap)
            b->numbers = mem_resize(b->numbers, b->number_cap = b->cap, sizeof(*b->numbers));
        b->numbers[b->count] = b->now.number;
        b->lines[b->count++] = b->now.line;
    }
    if (result == JSONL_FAILED)
        return false;
    return b->count > 0 || error_set(err, E_PARSE, "'%s' has no rows", b->now.name);
}

static bool count_tokens(struct media_build *b, uint32_t *count, struct error *err)
{
    *count = 1;
    if (b->context->tokenizer == NULL)
        return true;
    b->ids.count = 0;
    if (!tokenizer_encode(b->context->tokenizer, buf_sv(&b->text), true, &b->ids, err))
        return false;
    *count = (uint32_t)b->ids.count;
    return true;
}

static bool add_image(struct media_build *b, struct sv source, struct error *err)
{
    bool embed = b->context->config->custom_client_side_data;
    return media_add_part(MEDIA_IMAGE, source, embed, &b->media, err) ||
           error_context(err, "'%s': line %zu", b->now.name, b->now.number);
}

/* ---- custom_image ------------------------------------------------------------------------------------------------- */

/* image_url is a string, or an object whose further keys are kept. */
static bool add_image_url(struct media_build *b, const struct js_value *value, struct error *err)
{
    struct sv url;
    if (js_as_sv(value, &url) ||
        (value != NULL && value->count == 1 && js_as_sv(js_get(value, "url"), &url)))
        return add_image(b, url, err);
    if (!js_as_sv(js_get(value, "url"), &url))
        return jsonl_error(&b->now, err, "'image_url' has no 'url'");
    if (b->media.len > 0)
        buf_add_char(&b->media, ',');
    struct js_writer w;
    js_writer_init(&w, &b->media);
    js_begin_object(&w);
    js_key(&w, "type");
    js_cstring(&w, "image_url");
    js_key(&w, "image_url");
    js_write_value(&w, value);
    js_end_object(&w);
    return true;
}

static bool add_part(struct media_build *b, const struct js_value *part, struct error *err)
{
    struct sv type;
    struct sv text;
    if (!js_as_sv(js_get(part, "type"), &type))
        return jsonl_error(&b->now, err, "a part of 'content' has no 'type'");
    if (sv_eq(type, SV_LIT("text"))) {
        if (!js_as_sv(js_get(part, "text"), &text))
            return jsonl_error(&b->now, err, "a part of type 'text' has no 'text'");
        buf_add(&b->text, text);
        buf_add_str(&b->media, b->media.len > 0 ? ",{\"type\":\"text\",\"text\":"
                                                : "{\"type\":\"text\",\"text\":");
        buf_add(&b->media, dataset_literal(text, &b->tmp));
        buf_add_char(&b->media, '}');
        return true;
    }
    if (sv_eq(type, SV_LIT("image_url")))
        return add_image_url(b, js_get(part, "image_url"), err);
    if (sv_eq(type, SV_LIT("image")) && js_as_sv(js_get(part, "image"), &text))
        return add_image(b, text, err);
    return jsonl_error(&b->now, err,
                       "a part of type '" SV_FMT "' is not understood; there are text, image and "
                       "image_url",
                       SV_ARG(type));
}

static bool from_content(struct media_build *b, const struct js_value *content, struct request *r,
                         struct error *err)
{
    if (content->type != JS_ARRAY || content->count == 0)
        return jsonl_error(&b->now, err, "'content' must be a list of parts");
    for (const struct js_value *part = content->first; part != NULL; part = part->next)
        if (!add_part(b, part, err))
            return false;
    buf_reset(&b->tmp);
    buf_add_str(&b->tmp, "[{\"role\":\"user\",\"content\":[");
    buf_add(&b->tmp, buf_sv(&b->media));
    buf_add_str(&b->tmp, "]}]");
    r->prompt = dataset_json_prompt(b->workload, buf_sv(&b->tmp));
    r->prompt.kind = PROMPT_MESSAGES;
    return true;
}

static bool from_files(struct media_build *b, const struct js_value *line, struct request *r,
                       struct error *err)
{
    struct sv text;
    const struct js_value *files = js_get(line, "image_files");
    if (!js_as_sv(js_get(line, "prompt"), &text))
        return jsonl_error(&b->now, err, "has neither a string 'prompt' nor 'content'");
    if (files == NULL || files->type != JS_ARRAY || files->count == 0)
        return jsonl_error(&b->now, err, "'image_files' must be a list of one file or more");
    buf_add(&b->text, text);
    for (const struct js_value *file = files->first; file != NULL; file = file->next) {
        if (!js_as_sv(file, &text))
            return jsonl_error(&b->now, err, "'image_files' must hold strings");
        if (!add_image(b, text, err))
            return false;
    }
    media_set_prompt(b->context->config, b->workload, r, buf_sv(&b->text), buf_sv(&b->media),
                     &b->tmp);
    return true;
}

static bool image_request(struct media_build *b, const struct js_value *line, struct request *r,
                          struct error *err)
{
    const struct js_value *content = js_get(line, "content");
    r->output_len = (uint32_t)b->context->config->custom_output_len;
    return content != NULL ? from_content(b, content, r, err) : from_files(b, line, r, err);
}

/* ---- custom_audio ------------------------------------------------------------------------------------------------- */

static bool read_audio(struct media_build *b, struct sv path, struct request_file *file,
                       struct error *err)
{
    struct buf name = {0};
    struct buf bytes = {0};
    struct buf wav = {0};
    buf_add(&name, path);
    bool ok = file_read(buf_cstr(&name), &bytes, err) &&
              (audio_to_wav(buf_sv(&bytes), false, &wav, &file->length_s, err) ||
               error_context(err, "'%s'", name.ptr));
    if (ok)
        file->bytes = arena_copy(&b->workload->arena, buf_sv(&wav));
    buf_done(&name);
    buf_done(&bytes);
    buf_done(&wav);
    return ok || error_context(err, "'%s': line %zu", b->now.name, b->now.number);
}

/* Written into the file's arena; a list of numbers becomes a WAV file. */
static bool make_audio(struct media_build *b, const struct js_value *audio,
                       struct request_file *file, struct error *err)
{
    struct sv path;
    int64_t rate;
    const struct js_value *samples = js_get(audio, "array");
    if (js_as_sv(audio, &path))
        return read_audio(b, path, file, err);
    if (samples == NULL || samples->type != JS_ARRAY ||
        !js_as_i64(js_get(audio, "sampling_rate"), &rate) || rate < 1 || rate > 10000000)
        return jsonl_error(&b->now, err,
                           "'audio' must be a path or {\"array\": [...], \"sampling_rate\": N}");
    struct buf wav = {0};
    if (!audio_from_samples(samples, (uint32_t)rate, &wav)) {
        buf_done(&wav);
        return jsonl_error(&b->now, err, "'array' must hold numbers");
    }
    file->bytes = arena_copy(&b->workload->arena, buf_sv(&wav));
    file->length_s = (double)samples->count / (double)rate;
    buf_done(&wav);
    return true;
}

static bool audio_output(const struct media_build *b, const struct js_value *line,
                         struct request *r, struct error *err)
{
    int64_t fixed = b->context->config->custom_output_len;
    int64_t own = 0;
    if (fixed != -1) {
        r->output_len = (uint32_t)fixed;
        return true;
    }
    if (!js_as_i64(js_get(line, "output_tokens"), &own) || own < 1 || own > INT32_MAX)
        return jsonl_error(
            &b->now, err,
            "needs 'output_tokens', a whole number from 1 on; --custom-output-len -1 "
            "asks for it");
    r->output_len = (uint32_t)own;
    return true;
}

/* Python counts an upload's prompt, which is not sent, with the chat template around it, whatever the flags say. */
static void render_for_count(struct media_build *b)
{
    if (b->template == NULL)
        return;
    buf_reset(&b->tmp);
    chat_template_render(b->template, SV_LIT("user"), buf_sv(&b->text), true, &b->tmp);
    buf_reset(&b->text);
    buf_add(&b->text, buf_sv(&b->tmp));
}

static bool audio_request(struct media_build *b, const struct js_value *line, struct request *r,
                          struct error *err)
{
    struct sv text = {"", 0};
    const struct js_value *prompt = js_get(line, "prompt");
    struct request_file *file = arena_array(&b->workload->arena, 1, sizeof(*file));
    if (prompt != NULL && prompt->type != JS_NULL && !js_as_sv(prompt, &text))
        return jsonl_error(&b->now, err, "'prompt' must be a string");
    if (!make_audio(b, js_get(line, "audio"), file, err) || !audio_output(b, line, r, err))
        return false;
    buf_add(&b->text, text);
    if (b->context->config->multimodal_chat) {
        buf_add_str(&b->media, "{\"type\":\"input_audio\",\"input_audio\":{\"data\":\"");
        base64_add(&b->media, file->bytes);
        buf_add_str(&b->media, "\",\"format\":\"wav\"}}");
    } else {
        render_for_count(b);
        r->file = file;
    }
    /* Python lays a recording's message out when it sends it, as it does without --enable-multimodal-chat. */
    r->prompt = dataset_json_prompt(b->workload, dataset_literal(text, &b->tmp));
    if (b->media.len > 0)
        r->media = arena_copy(&b->workload->arena, buf_sv(&b->media));
    return true;
}

/* ---- both --------------------------------------------------------------------------------------------------------- */

typedef bool line_request_fn(struct media_build *b, const struct js_value *line, struct request *r,
                             struct error *err);

static bool make_requests(struct media_build *b, line_request_fn *make, struct error *err)
{
    const struct config *config = b->context->config;
    size_t *order = dataset_order(b->context, b->count);
    bool all = config->num_prompts == 0 || config->num_prompts > b->count;
    bool ok = true;
    dataset_requests_new(b->workload, all ? b->count : (size_t)config->num_prompts);
    for (size_t i = 0; ok && i < b->workload->count; i++) {
        struct request *r = &b->workload->requests[i];
        b->now.line = b->lines[order[i]];
        b->now.number = b->numbers[order[i]];
        buf_reset(&b->text);
        buf_reset(&b->media);
        const struct js_value *line = js_parse(&b->tree, b->now.line, "line", err);
        ok = line != NULL && make(b, line, r, err) && count_tokens(b, &r->prompt_len, err);
        arena_done(&b->tree);
    }
    free(order);
    return ok;
}

static bool build(const struct dataset_context *context, struct workload *workload, bool per_line,
                  line_request_fn *make, struct error *err)
{
    struct media_build b = {.context = context, .workload = workload};
    struct file_map map = {0};
    struct error ignored;
    bool present = false;
    if (context->tokenizer != NULL)
        b.template = chat_template_of(context->tokenizer, &present, &ignored);
    bool ok = check(context->config, per_line, err) &&
              file_map_open(context->config->dataset_path, &map, err) &&
              read_lines(&b, map.view, err) && make_requests(&b, make, err);
    free(b.lines);
    free(b.numbers);
    buf_done(&b.text);
    buf_done(&b.media);
    buf_done(&b.tmp);
    token_ids_done(&b.ids);
    chat_template_free(b.template);
    file_map_close(&map);
    return ok;
}

bool custom_image_build(const struct dataset_context *context, struct workload *workload,
                        struct error *err)
{
    return build(context, workload, false, image_request, err) ||
           error_context(err, "data set 'custom_image'");
}

bool custom_audio_build(const struct dataset_context *context, struct workload *workload,
                        struct error *err)
{
    return build(context, workload, true, audio_request, err) ||
           error_context(err, "data set 'custom_audio'");
}
