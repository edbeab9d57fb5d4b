/* One request's body as a list of views, without copying: this runs for every request that is sent. */
#include "backends/backend.h"

#include "json/scan.h"

#include <assert.h>

/* Instructions of the VLM2Vec models (vllm bench serve 0.33.0). */
#define REPRESENT        "Represent the given image."
#define REPRESENT_ASKING "Represent the given image with the following question: "

struct views {
    struct sv *at;
    size_t count;
};

static void add(struct views *v, struct sv text)
{
    if (text.len == 0)
        return;
    assert(v->count < BODY_MAX_VIEWS);
    v->at[v->count++] = text;
}

static bool is_string(struct sv json)
{
    return json.len >= 2 && json.ptr[0] == '"';
}

static bool is_empty_string(struct sv json)
{
    return json.len == 2 && json.ptr[0] == '"';
}

static bool has_media(const struct body_values *values)
{
    return values->media.len > 0 && !values->is_messages;
}

/* Python gives every second request the bare instruction, by the digit that its id ends in. */
static void add_vlm2vec(struct views *v, const struct body_values *values)
{
    if (!has_media(values) || !is_string(values->prompt)) {
        add(v, values->prompt);
    } else if (!values->has_index || values->index % 2 == 0) {
        add(v, SV_LIT("\"" REPRESENT "\""));
    } else {
        add(v, SV_LIT("\"" REPRESENT_ASKING));
        add(v, sv_skip(values->prompt, 1));
    }
}

/* The list `["query","a","b"]`: its first literal. */
static struct sv query_of(const struct body_values *values)
{
    return values->first_len > 0 ? sv_make(values->prompt.ptr + 1, values->first_len)
                                 : values->prompt;
}

/* Of the same list, `"a","b"]`. */
static void add_documents(struct views *v, const struct body_values *values)
{
    if (values->first_len == 0)
        return;
    struct sv rest = sv_skip(values->prompt, 1 + (size_t)values->first_len);
    add(v, SV_LIT(",\"documents\":["));
    add(v, sv_starts(rest, SV_LIT(",")) ? sv_skip(rest, 1) : rest);
}

/* A content part {"type":"image_url","image_url":{"url":"..."}}: its type and URL, both raw string contents. */
struct media_item {
    struct sv type;
    struct sv url;
};

static void read_url(struct js_scan *s, struct sv *url)
{
    bool first = true, escaped;
    struct sv key;
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        if (!js_key_is(key, SV_LIT("url")) || js_scan_peek(s) != JS_STRING)
            js_scan_skip(s, NULL);
        else
            js_scan_string(s, url, &escaped);
    }
}

static struct media_item first_item(struct sv media)
{
    struct media_item item = {0};
    struct js_scan s;
    bool first = true, escaped;
    struct sv key;
    js_scan_init(&s, media);
    if (media.len == 0 || !js_scan_object(&s))
        return item;
    while (js_scan_member(&s, &first, &key)) {
        enum js_type type = js_scan_peek(&s);
        if (type == JS_STRING && js_key_is(key, SV_LIT("type")))
            js_scan_string(&s, &item.type, &escaped);
        else if (type == JS_OBJECT)
            read_url(&s, &item.url);
        else
            js_scan_skip(&s, NULL);
    }
    return item;
}

static void add_prompt_or_url(struct views *v, const struct body_values *values, bool media)
{
    struct media_item item = {0};
    if (media)
        item = first_item(values->media);
    if (item.url.ptr == NULL) {
        add(v, values->prompt);
        return;
    }
    add(v, SV_LIT("\""));
    add(v, item.url);
    add(v, SV_LIT("\""));
}

/* "image" of "image_url". */
static void add_modality_of(struct views *v, const struct body_values *values, bool media)
{
    struct sv type = sv_make(NULL, 0);
    if (media)
        type = first_item(values->media).type;
    if (type.len == 0)
        return;
    type.len = sv_find(type, '_');
    add(v, SV_LIT(",\"modality\":\""));
    add(v, type);
    add(v, SV_LIT("\""));
}

/* ---- one function for each kind of slot ------------------------------------------------------------------------ */

static void add_model(struct views *v, const struct body_values *values)
{
    add(v, values->model);
}

static void add_prompt(struct views *v, const struct body_values *values)
{
    add(v, values->prompt);
}

static void add_output_len(struct views *v, const struct body_values *values)
{
    add(v, values->output_len);
}

static void add_media(struct views *v, const struct body_values *values)
{
    if (!has_media(values))
        return;
    add(v, SV_LIT(","));
    add(v, values->media);
}

static void add_media_first(struct views *v, const struct body_values *values)
{
    if (!has_media(values))
        return;
    add(v, values->media);
    add(v, SV_LIT(","));
}

static void add_clip(struct views *v, const struct body_values *values)
{
    bool empty = has_media(values) && is_string(values->prompt);
    add(v, empty ? SV_LIT("\"\"") : values->prompt);
}

static void add_query(struct views *v, const struct body_values *values)
{
    add(v, query_of(values));
}

static void add_input(struct views *v, const struct body_values *values)
{
    add_prompt_or_url(v, values, has_media(values) && is_empty_string(values->prompt));
}

static void add_input_clip(struct views *v, const struct body_values *values)
{
    add_prompt_or_url(v, values, has_media(values));
}

static void add_modality(struct views *v, const struct body_values *values)
{
    add_modality_of(v, values, has_media(values) && is_empty_string(values->prompt));
}

static void add_modality_clip(struct views *v, const struct body_values *values)
{
    add_modality_of(v, values, has_media(values));
}

static void add_extra(struct views *v, const struct body_values *values)
{
    if (values->extra.len == 0)
        return;
    add(v, SV_LIT(","));
    add(v, values->extra);
}

/* It stands between quotes in a header line. */
static bool is_plain_name(struct sv name)
{
    for (size_t i = 0; i < name.len; i++) {
        unsigned char c = (unsigned char)name.ptr[i];
        if (c < ' ' || c == '"' || c == '\\' || c == 0x7f)
            return false;
    }
    return name.len > 0;
}

/* What Python's mimetypes make of the endings that recordings have; a recording without a name is audio.wav, whose type
 * Python's tool gives itself. */
static void add_file_type(struct views *v, const struct body_values *values)
{
    static const char *const types[][2] = {
        {".wav", "audio/x-wav"}, {".mp3", "audio/mpeg"}, {".flac", "audio/flac"},
        {".ogg", "audio/ogg"},   {".m4a", "audio/mp4"},  {".opus", "audio/ogg"},
    };
    struct sv name = values->file_name;
    struct sv type = SV_LIT("application/octet-stream");
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct sv end = sv_from(types[i][0]);
        if (name.len > end.len && sv_eq_nocase(sv_skip(name, name.len - end.len), end))
            type = sv_from(types[i][1]);
    }
    add(v, is_plain_name(name) ? type : SV_LIT("audio/wav"));
}

static void add_file_name(struct views *v, const struct body_values *values)
{
    add(v, is_plain_name(values->file_name) ? values->file_name : SV_LIT("audio.wav"));
}

static void add_file(struct views *v, const struct body_values *values)
{
    add(v, values->file);
}

typedef void add_fn(struct views *v, const struct body_values *values);

static add_fn *const slots[] = {
    [PART_MODEL] = add_model,
    [PART_PROMPT] = add_prompt,
    [PART_OUTPUT_LEN] = add_output_len,
    [PART_MEDIA] = add_media,
    [PART_MEDIA_FIRST] = add_media_first,
    [PART_PROMPT_CLIP] = add_clip,
    [PART_PROMPT_VLM2VEC] = add_vlm2vec,
    [PART_QUERY] = add_query,
    [PART_DOCUMENTS] = add_documents,
    [PART_INPUT] = add_input,
    [PART_MODALITY] = add_modality,
    [PART_INPUT_CLIP] = add_input_clip,
    [PART_MODALITY_CLIP] = add_modality_clip,
    [PART_EXTRA] = add_extra,
    [PART_FILE_TYPE] = add_file_type,
    [PART_FILE_NAME] = add_file_name,
    [PART_FILE] = add_file,
};

size_t body_expand(const struct body_template *t, const struct body_values *values,
                   struct sv views[BODY_MAX_VIEWS])
{
    struct views v = {.at = views};
    for (size_t i = 0; i < t->count; i++) {
        const struct body_part *part = &t->parts[i];
        if (part->kind == PART_TEXT || (part->kind == PART_WRAPPER && !values->is_messages))
            add(&v, part->text);
        else if (part->kind != PART_WRAPPER)
            slots[part->kind](&v, values);
    }
    return v.count;
}
