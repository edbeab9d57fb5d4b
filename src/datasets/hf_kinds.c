/* The data sets of the hub that Python's tool knows by name, and how their rows become prompts (DATASETS 13.2).
 * Prompts are the same text as Python's, fixed sentences included, so that token counts agree. */
#include "datasets/hf_priv.h"

#include "datasets/media.h"

enum { MEDIA_OUTPUT = 128, TEXT_OUTPUT = 256 };

/* ---- columns ------------------------------------------------------------------------------------------------------ */

static bool no_column(const struct js_value *row, const char *column, const char *what,
                      struct error *err)
{
    struct buf list = {0};
    size_t shown = 0;
    for (const struct js_value *v = row->first; v != NULL && shown < 24; v = v->next, shown++)
        buf_add_fmt(&list, "%s" SV_FMT, shown > 0 ? ", " : "", SV_ARG(v->key));
    error_set(err, E_PARSE, "%s in column '%s'; the row has %s", what, column,
              list.len > 0 ? buf_cstr(&list) : "no columns");
    buf_done(&list);
    return false;
}

bool hf_need(const struct js_value *row, const char *column, enum js_type type,
             const struct js_value **value, struct error *err)
{
    *value = js_get(row, column);
    if (*value != NULL && (*value)->type == type)
        return true;
    return no_column(row, column,
                     type == JS_STRING   ? "no text"
                     : type == JS_ARRAY  ? "no list"
                     : type == JS_NUMBER ? "no number"
                                         : "no object",
                     err);
}

bool hf_need_text(const struct js_value *row, const char *column, struct sv *text,
                  struct error *err)
{
    const struct js_value *value;
    return hf_need(row, column, JS_STRING, &value, err) && js_as_sv(value, text);
}

static void add_value(const struct js_value *value, struct buf *out)
{
    if (value->type == JS_NULL)
        buf_add_str(out, "None");
    else if (value->type == JS_BOOL)
        buf_add_str(out, value->boolean ? "True" : "False");
    else
        buf_add(out, value->text);
}

bool hf_add_str(const struct js_value *row, const char *column, struct buf *out, struct error *err)
{
    const struct js_value *value = js_get(row, column);
    if (value == NULL || value->type == JS_ARRAY || value->type == JS_OBJECT)
        return no_column(row, column, "no text", err);
    add_value(value, out);
    return true;
}

static bool take_text(const struct js_value *row, const char *column, struct hf_item *item,
                      struct error *err)
{
    struct sv text;
    if (!hf_need_text(row, column, &text, err))
        return false;
    buf_add(&item->text, text);
    return true;
}

static bool take_answer(const struct js_value *row, const char *column, struct hf_item *item,
                        struct error *err)
{
    struct sv text;
    if (!hf_need_text(row, column, &text, err))
        return false;
    item->has_answer = true;
    buf_add(&item->answer, text);
    return true;
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static bool instruct_coder(const struct hf_build *b, const struct js_value *row,
                           struct hf_item *item, struct error *err)
{
    (void)b;
    if (!hf_add_str(row, "input", &item->text, err))
        return false;
    buf_add_str(&item->text, "\n\n");
    if (!hf_add_str(row, "instruction", &item->text, err))
        return false;
    buf_add_str(&item->text, " Just output the code, do not include any explanation.");
    return true;
}

static bool mt_bench(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                     struct error *err)
{
    const struct js_value *turns;
    struct sv text;
    (void)b;
    if (!hf_need(row, "turns", JS_ARRAY, &turns, err))
        return false;
    if (!js_as_sv(turns->first, &text))
        return error_set(err, E_PARSE, "'turns' does not begin with a text");
    buf_add(&item->text, text);
    return true;
}

static bool human_eval(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                       struct error *err)
{
    (void)b;
    return take_text(row, "prompt", item, err);
}

static bool gsm8k(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                  struct error *err)
{
    (void)b;
    return take_text(row, "question", item, err);
}

static bool aimo(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                 struct error *err)
{
    (void)b;
    return take_text(row, "problem", item, err) && take_answer(row, "solution", item, err);
}

static bool edit(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                 struct error *err)
{
    const struct config *config = b->context->config;
    const struct js_value *number;
    double distance;
    if (!hf_need(row, "norm_distance", JS_NUMBER, &number, err) || !js_as_double(number, &distance))
        return false;
    item->skip =
        distance < config->blazedit_min_distance || distance > config->blazedit_max_distance;
    if (item->skip)
        return true;
    buf_add_str(&item->text, "Given a code file, please apply the change requests and generate the "
                             "new file.\n\nOriginal file:\n```python\n");
    if (!hf_add_str(row, "code", &item->text, err))
        return false;
    buf_add_str(&item->text, "\n```\n\nChange request:\n");
    if (!hf_add_str(row, "change_request", &item->text, err))
        return false;
    buf_add_str(&item->text,
                "\n\nPlease generate the new code file in the \"New file\" section below.");
    return true;
}

/* Python takes only the last character of an answer without the marker; here such an answer counts whole. */
static bool zeta(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                 struct error *err)
{
    static const char marker[] = "<|editable_region_start|>";
    struct sv output;
    (void)b;
    buf_add_str(&item->text,
                "### Instruction:\nYou are a code completion assistant and your task is to analyze "
                "user edits and then rewrite an excerpt that the user provides, suggesting the "
                "appropriate edits within the excerpt, taking into account the cursor location."
                "\n\n### User Edits:\n\n");
    if (!hf_add_str(row, "events", &item->text, err))
        return false;
    buf_add_str(&item->text, "\n\n### User Excerpt:\n\n");
    if (!hf_add_str(row, "input", &item->text, err) || !hf_need_text(row, "output", &output, err))
        return false;
    buf_add_str(&item->text, "\n\n### Response:\n\n");
    const char *at = memmem(output.ptr, output.len, marker, sizeof(marker) - 1);
    item->has_answer = true;
    buf_add(&item->answer, at != NULL ? sv_skip(output, (size_t)(at - output.ptr)) : output);
    return true;
}

static bool mlperf(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                   struct error *err)
{
    struct sv system;
    (void)b;
    if (!hf_need_text(row, "system_prompt", &system, err) ||
        !take_text(row, "question", item, err) || !take_answer(row, "output", item, err))
        return false;
    buf_add(&item->system, system);
    return true;
}

/* ---- conversations, pictures, videos ------------------------------------------------------------------------------ */

static bool conversation(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                         struct error *err)
{
    const struct js_value *list;
    const struct js_value *image = js_get(row, "image");
    struct sv answer;
    (void)b;
    if (!hf_need(row, "conversations", JS_ARRAY, &list, err))
        return false;
    item->skip = list->count < 2;
    if (item->skip)
        return true;
    struct sv text;
    if (!js_as_sv(js_get(js_at(list, 0), "value"), &text) ||
        !js_as_sv(js_get(js_at(list, 1), "value"), &answer))
        return error_set(err, E_PARSE, "'conversations' begins with items without a text 'value'");
    buf_add(&item->text, text);
    item->has_answer = true;
    buf_add(&item->answer, answer);
    return image == NULL || image->type == JS_NULL || hf_add_image(image, item, err);
}

/* The first message of a list of turns, each a list of messages; and the first picture. */
static bool arena_row(const struct js_value *row, const char *column, struct hf_item *item,
                      struct error *err)
{
    const struct js_value *turns;
    const struct js_value *images;
    struct sv text;
    if (!hf_need(row, column, JS_ARRAY, &turns, err) ||
        !hf_need(row, "images", JS_ARRAY, &images, err))
        return false;
    if (!js_as_sv(js_get(js_at(turns->first, 0), "content"), &text))
        return error_set(err, E_PARSE, "'%s' does not begin with a message that has a 'content'",
                         column);
    buf_add(&item->text, text);
    return hf_add_image(images->first, item, err);
}

static bool arena_chat(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                       struct error *err)
{
    (void)b;
    return arena_row(row, "conversation", item, err);
}

static bool arena_bench(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                        struct error *err)
{
    (void)b;
    return arena_row(row, "turns", item, err);
}

static bool mmvu(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                 struct error *err)
{
    const struct js_value *choices;
    struct sv video;
    (void)b;
    if (!take_text(row, "question", item, err) ||
        !hf_need(row, "choices", JS_OBJECT, &choices, err) ||
        !hf_need_text(row, "video", &video, err))
        return false;
    buf_add_char(&item->text, ' ');
    for (const struct js_value *v = choices->first; v != NULL; v = v->next) {
        buf_add_fmt(&item->text, SV_FMT ".", SV_ARG(v->key));
        add_value(v, &item->text);
        if (v->next != NULL)
            buf_add_char(&item->text, ' ');
    }
    return media_add_part(MEDIA_VIDEO, item->local.len > 0 ? buf_sv(&item->local) : video, false,
                          &item->media, err);
}

/* Bytes of the white space at the start of the text, as Python's str.strip sees it. */
static size_t space_at(struct sv text)
{
    static const char *const wide[] = {
        "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
        "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
        "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
        "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};
    unsigned char c = text.len > 0 ? (unsigned char)text.ptr[0] : 'x';
    if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31))
        return 1;
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (sv_starts(text, sv_from(wide[i])))
            return strlen(wide[i]);
    return 0;
}

static struct sv strip(struct sv text)
{
    size_t n;
    while ((n = space_at(text)) > 0)
        text = sv_skip(text, n);
    for (bool cut = true; cut && text.len > 0;) {
        cut = false;
        for (n = 1; !cut && n <= 3 && n <= text.len; n++)
            cut = space_at(sv_skip(text, text.len - n)) == n;
        text.len -= cut ? n - 1 : 0;
    }
    return text;
}

static bool mmstar(const struct hf_build *b, const struct js_value *row, struct hf_item *item,
                   struct error *err)
{
    struct sv question;
    (void)b;
    if (!hf_need_text(row, "question", &question, err))
        return false;
    const char *options = memmem(question.ptr, question.len, "Options:", 8);
    if (options != NULL)
        question.len = (size_t)(options - question.ptr);
    buf_add(&item->text, strip(question));
    return hf_add_image(js_get(row, "image"), item, err);
}

/* ---- the table ---------------------------------------------------------------------------------------------------- */

static const char *const no_more[] = {NULL};
static const char *const image_column[] = {"image", NULL};
static const char *const speech_columns[] = {"audio", NULL};

#define COLUMNS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const struct hf_kind kinds[] = {
    {.ids = {"lmarena-ai/VisionArena-Chat"},
     .split = "train",
     .traits = HF_PICTURES | HF_CHAT_PARTS | HF_NO_SUBSET,
     .output_len = MEDIA_OUTPUT,
     .columns = COLUMNS("conversation", "images"),
     .extract = arena_chat},
    {.ids = {"lmarena-ai/vision-arena-bench-v0.1"},
     .split = "train",
     .traits = HF_PICTURES | HF_CHAT_PARTS | HF_NO_SUBSET,
     .output_len = MEDIA_OUTPUT,
     .columns = COLUMNS("turns", "images"),
     .extract = arena_bench},
    {.ids = {"yale-nlp/MMVU"},
     .split = "validation",
     .traits = HF_PICTURES | HF_CHAT_PARTS | HF_NO_SUBSET,
     .output_len = MEDIA_OUTPUT,
     .columns = COLUMNS("question", "choices", "video"),
     .extract = mmvu},
    {.ids = {"likaixin/InstructCoder"},
     .split = "train",
     .traits = HF_TEMPLATE,
     .output_len = 200,
     .columns = COLUMNS("input", "instruction"),
     .extract = instruct_coder},
    {.ids = {"philschmid/mt-bench"},
     .split = "train",
     .traits = HF_TEMPLATE,
     .output_len = TEXT_OUTPUT,
     .columns = COLUMNS("turns"),
     .extract = mt_bench},
    {.ids = {"openai/openai_humaneval"},
     .split = "test",
     .traits = HF_TEMPLATE,
     .output_len = TEXT_OUTPUT,
     .columns = COLUMNS("prompt"),
     .extract = human_eval},
    {.ids = {"openai/gsm8k"},
     .split = "test",
     .subset = "main",
     .traits = HF_TEMPLATE,
     .output_len = TEXT_OUTPUT,
     .columns = COLUMNS("question"),
     .extract = gsm8k},
    {.ids = {"lmms-lab/LLaVA-OneVision-Data"},
     .traits = HF_PICTURES | HF_CHAT_PARTS | HF_SPLIT_NEEDED | HF_FILTER,
     .max_prompt = 1024,
     .max_total = 2048,
     .columns = COLUMNS("conversations"),
     .maybe = image_column,
     .extract = conversation,
     .reason = "have fewer than two messages"},
    {.ids = {"Aeala/ShareGPT_Vicuna_unfiltered"},
     .traits = HF_CHAT_PARTS | HF_SPLIT_NEEDED | HF_FILTER,
     .max_prompt = 1024,
     .max_total = 2048,
     .columns = COLUMNS("conversations"),
     .maybe = no_more,
     .extract = conversation,
     .reason = "have fewer than two messages"},
    {.ids = {"AI-MO/aimo-validation-aime", "AI-MO/NuminaMath-1.5", "AI-MO/NuminaMath-CoT"},
     .split = "train",
     .traits = HF_FILTER,
     .max_prompt = 2048,
     .max_total = 32000,
     .columns = COLUMNS("problem", "solution"),
     .extract = aimo},
    {.ids = {"zed-industries/zeta"},
     .split = "train",
     .traits = HF_OWN_LENGTH,
     .columns = COLUMNS("events", "input", "output"),
     .extract = zeta},
    {.ids = {"openslr/librispeech_asr", "facebook/voxpopuli", "LIUM/tedlium", "edinburghcstr/ami",
             "speechcolab/gigaspeech", "kensho/spgispeech",
             "D4nt3/esb-datasets-earnings22-validation-tiny-filtered"},
     .split = "train",
     .traits = HF_SPEECH,
     .output_len = 1024,
     .columns = speech_columns,
     .extract = hf_extract_speech,
     .reason = "are shorter than --asr-min-audio-len-sec or longer than --asr-max-audio-len-sec"},
    {.ids = {"ArtificialAnalysis/Earnings22-Cleaned-AA"},
     .split = "train",
     .traits = HF_SPEECH | HF_WHOLE,
     .output_len = 1024,
     .columns = COLUMNS("url"),
     .extract = hf_extract_speech,
     .reason = "are shorter than --asr-min-audio-len-sec or longer than --asr-max-audio-len-sec"},
    {.ids = {"vdaita/edit_5k_char", "vdaita/edit_10k_char"},
     .split = "train",
     .traits = HF_TEMPLATE,
     .output_len = 4000,
     .columns = COLUMNS("code", "change_request", "norm_distance"),
     .extract = edit,
     .reason = "change less than --blazedit-min-distance or more than --blazedit-max-distance"},
    {.ids = {"mgoin/mlperf-inference-llama2-data", "mgoin/mlperf-inference-llama3.1-data"},
     .split = "train",
     .traits = HF_MESSAGES | HF_PLAIN_ANSWER | HF_FILTER | HF_FILTER_ALWAYS,
     .max_prompt = 1024,
     .max_total = 2048,
     .columns = COLUMNS("system_prompt", "question", "output"),
     .extract = mlperf},
    {.ids = {"Lin-Chen/MMStar"},
     .split = "val",
     .traits = HF_PICTURES | HF_CHAT_PARTS | HF_NO_SUBSET,
     .output_len = MEDIA_OUTPUT,
     .columns = COLUMNS("question", "image"),
     .extract = mmstar},
    {.ids = {"gorilla-llm/Berkeley-Function-Calling-Leaderboard"},
     .traits = HF_TOOLS | HF_NO_SUBSET,
     .output_len = 512},
};

size_t hf_kind_count(void)
{
    return sizeof(kinds) / sizeof(kinds[0]);
}

const struct hf_kind *hf_kind_at(size_t index)
{
    return &kinds[index];
}

const struct hf_kind *hf_kind_find(const char *id)
{
    for (size_t i = 0; id != NULL && i < hf_kind_count(); i++)
        for (size_t k = 0; kinds[i].ids[k] != NULL; k++)
            if (strcmp(kinds[i].ids[k], id) == 0)
                return &kinds[i];
    return NULL;
}
