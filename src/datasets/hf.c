/* Data set "hf": data sets of the Hugging Face hub, or of a local folder or file (DATASETS 13).
 * Those that Python's tool knows by name become the requests that it makes of them; of all others the columns are found
 * by their names. */
#include "datasets/hf.h"

#include "base/alloc.h"
#include "datasets/chat_requests.h"
#include "datasets/hf_priv.h"
#include "json/writer.h"

/* The name decides; a path that is a name does without --hf-name. */
static const struct hf_kind *find_kind(const struct config *config, const char **id)
{
    const struct hf_kind *kind = hf_kind_find(config->hf_name);
    *id = config->hf_name != NULL ? config->hf_name : config->dataset_path;
    if (kind != NULL)
        return kind;
    kind = hf_kind_find(config->dataset_path);
    if (kind != NULL)
        *id = config->dataset_path;
    return kind != NULL ? kind : &hf_generic;
}

static bool check_backend(const struct hf_kind *kind, const char *id, const char *backend,
                          struct error *err)
{
    bool audio = strcmp(backend, "openai-audio") == 0;
    bool chat = strcmp(backend, "openai-chat") == 0;
    if ((kind->traits & HF_SPEECH) != 0 && !audio)
        return error_set(err, E_CONFIG,
                         "'%s' holds recordings: --backend '%s' does not go with it; use "
                         "openai-audio",
                         id, backend);
    if ((kind->traits & HF_SPEECH) == 0 && audio)
        return error_set(err, E_CONFIG,
                         "'%s' is not known to hold recordings: --backend openai-audio does not go "
                         "with it",
                         id);
    if ((kind->traits & HF_TOOLS) != 0 && !chat)
        return error_set(err, E_CONFIG,
                         "'%s' sends tools with each request: --backend '%s' does not go with it; "
                         "use openai-chat",
                         id, backend);
    if ((kind->traits & HF_PICTURES) != 0 && !chat && strstr(backend, "embeddings-") == NULL)
        return error_set(err, E_CONFIG,
                         "'%s' holds pictures or videos: --backend '%s' does not go with it; use "
                         "openai-chat",
                         id, backend);
    return true;
}

static bool check(const struct hf_build *b, struct error *err)
{
    const struct config *config = b->context->config;
    if (config->dataset_path == NULL)
        return error_set(err, E_CONFIG, "--dataset-path is needed");
    if (b->context->tokenizer == NULL)
        return error_set(err, E_CONFIG, "a tokenizer is needed; give --tokenizer");
    if (config->num_prompts == 0)
        return error_set(err, E_CONFIG, "--num-prompts must be at least 1");
    if (config->blazedit_min_distance > config->blazedit_max_distance)
        return error_set(err, E_CONFIG,
                         "--blazedit-min-distance must not be above --blazedit-max-distance");
    if (config->asr_min_audio_len_s > config->asr_max_audio_len_s)
        return error_set(err, E_CONFIG,
                         "--asr-min-audio-len-sec must not be above --asr-max-audio-len-sec");
    return check_backend(b->kind, b->id, config->backend, err);
}

static void notice_idle_flags(const struct hf_build *b)
{
    const struct config *config = b->context->config;
    unsigned traits = b->kind->traits;
    bool generic = b->kind == &hf_generic;
    if (config->hf_text_column != NULL && !generic)
        dataset_notice(b->context, "--hf-text-column has no effect: '%s' is known by name", b->id);
    if (config->hf_subset != NULL && (traits & HF_NO_SUBSET) != 0)
        dataset_notice(b->context, "--hf-subset has no effect with '%s'", b->id);
    if (config->hf_output_len >= 0 && (traits & HF_OWN_LENGTH) != 0)
        dataset_notice(b->context, "--hf-output-len has no effect with '%s'", b->id);
    if (config->bfcl_categories != NULL && (traits & HF_TOOLS) == 0)
        dataset_notice(b->context, "--bfcl-categories has no effect with '%s'", b->id);
    if (config->hf_name != NULL && generic)
        dataset_notice(b->context,
                       "--hf-name '%s' is not known by name: columns are found by their names",
                       config->hf_name);
}

static bool find_template(struct hf_build *b, struct error *err)
{
    if ((b->kind->traits & HF_TEMPLATE) != 0)
        b->template = chat_requests_template(b->context);
    if ((b->kind->traits & HF_MESSAGES) == 0)
        return true;
    bool present = false;
    struct error reason = {.message = "there is none"};
    b->template = chat_template_of(b->context->tokenizer, &present, &reason);
    return b->template != NULL || error_set(err, E_CONFIG,
                                            "'%s' is always rendered with the model's chat "
                                            "template: %s",
                                            b->id, reason.message);
}

struct fetcher {
    struct hf_source *source;
    const struct hf_files *files;
};

static bool fetch_file(void *user, size_t index, struct buf *path, struct error *err)
{
    struct fetcher *f = user;
    return hf_source_fetch(f->source, f->files->names[index], path, err);
}

/* Of a data set that is not known by name the user should see what is read. */
static void notice_choice(const struct hf_build *b, const struct hf_files *files)
{
    const struct config *config = b->context->config;
    bool chosen = (config->hf_subset != NULL || files->config.len == 0) && config->hf_split != NULL;
    if (b->kind != &hf_generic || chosen || files->split.len == 0)
        return;
    dataset_notice(b->context, "'%s': %s" SV_FMT "%ssplit '" SV_FMT "'", b->id,
                   files->config.len > 0 ? "configuration '" : "", SV_ARG(files->config),
                   files->config.len > 0 ? "', " : "", SV_ARG(files->split));
}

typedef bool hf_use_fn(struct hf_build *b, struct hf_rows *rows, void *user, struct error *err);

/* Finds the files, opens them and gives the rows to `use`. */
static bool with_rows(struct hf_build *b, hf_use_fn *use, void *user, struct error *err)
{
    const struct config *config = b->context->config;
    const struct hf_kind *kind = b->kind;
    bool subset = config->hf_subset != NULL && (kind->traits & HF_NO_SUBSET) == 0;
    struct hf_wanted wanted = {.config = subset ? config->hf_subset : kind->subset,
                               .config_given = subset,
                               .first_config = kind == &hf_generic,
                               .split = config->hf_split != NULL ? config->hf_split : kind->split,
                               .split_needed = (kind->traits & HF_SPLIT_NEEDED) != 0};
    struct hf_files files = {0};
    struct fetcher fetcher = {b->source, &files};
    if (!hf_source_find(b->source, &wanted, &files, err))
        return false;
    notice_choice(b, &files);
    bool whole = config->no_stream || (kind->traits & HF_WHOLE) != 0;
    struct hf_rows_spec spec = {.names = files.names,
                                .count = files.count,
                                .fetch = fetch_file,
                                .user = &fetcher,
                                .order = config->disable_shuffle ? HF_IN_ORDER
                                         : whole                 ? HF_SHUFFLED_WHOLE
                                                                 : HF_SHUFFLED_STREAM,
                                .seed = config->seed,
                                .has_features = b->source->has_features,
                                .columns = kind->columns,
                                .maybe = kind->maybe};
    struct hf_rows *rows = hf_rows_open(&spec, err);
    bool ok = rows != NULL && use(b, rows, user, err);
    hf_rows_close(rows);
    hf_files_done(&files);
    return ok;
}

static bool use_for_requests(struct hf_build *b, struct hf_rows *rows, void *user,
                             struct error *err)
{
    (void)user;
    return hf_requests_build(b, rows, err);
}

static bool build_from(struct hf_build *b, struct error *err)
{
    struct hf_source source;
    if (!hf_source_open(b->context, &source, err))
        return false;
    b->source = &source;
    notice_idle_flags(b);
    bool ok = find_template(b, err) &&
              ((b->kind->traits & HF_TOOLS) != 0 ? hf_bfcl_build(b, err)
                                                 : with_rows(b, use_for_requests, NULL, err));
    chat_template_free(b->template);
    hf_source_done(&source);
    return ok;
}

bool hf_build(const struct dataset_context *context, struct workload *workload, struct error *err)
{
    const struct config *config = context->config;
    struct hf_build b = {.context = context, .workload = workload, .output_len = -1};
    b.kind = find_kind(config, &b.id);
    b.decoder_prefix = hf_decoder_prefix(config);
    if (config->hf_output_len >= 0 && (b.kind->traits & HF_OWN_LENGTH) == 0)
        b.output_len = config->hf_output_len;
    else if (b.kind->output_len > 0)
        b.output_len = b.kind->output_len;
    return (check(&b, err) && build_from(&b, err)) || error_context(err, "data set 'hf'");
}

/* ---- conversations for --multi-turn ------------------------------------------------------------------------------- */

struct conversations {
    size_t wanted;
    struct buf *out;
};

static const struct js_value *messages_of(const struct js_value *row)
{
    static const char *const names[] = {"conversations", "conversation", "messages"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct js_value *list = js_get(row, names[i]);
        if (list != NULL && list->type == JS_ARRAY)
            return list;
    }
    return NULL;
}

/* {"from": "human", "value": ...}, whichever way the row spells it. */
static void write_message(struct js_writer *w, const struct js_value *message)
{
    struct sv role;
    struct sv text;
    bool openai = js_as_sv(js_get(message, "role"), &role);
    if (!openai && !js_as_sv(js_get(message, "from"), &role))
        role = (struct sv){"", 0};
    if (!js_as_sv(js_get(message, openai ? "content" : "value"), &text))
        text = (struct sv){"", 0};
    js_begin_object(w);
    js_key(w, "from");
    js_string(w, sv_eq(role, SV_LIT("user")) ? SV_LIT("human") : role);
    js_key(w, "value");
    js_string(w, text);
    js_end_object(w);
}

/* At least four messages are two turns; shorter ones are left out at once. */
static bool use_for_turns(struct hf_build *b, struct hf_rows *rows, void *user, struct error *err)
{
    enum { MIN_MESSAGES = 4 };
    struct conversations *c = user;
    struct hf_row row;
    enum hf_rows_result result = HF_ROWS_END;
    struct js_writer w;
    size_t taken = 0;
    js_writer_init(&w, c->out);
    js_begin_array(&w);
    while (taken < c->wanted && (result = hf_rows_next(rows, &row, err)) == HF_ROWS_ROW) {
        const struct js_value *list = messages_of(row.value);
        b->rows++;
        if (list != NULL && list->count >= MIN_MESSAGES) {
            js_begin_object(&w);
            js_key(&w, "conversations");
            js_begin_array(&w);
            for (const struct js_value *m = list->first; m != NULL; m = m->next)
                write_message(&w, m);
            js_end_array(&w);
            js_end_object(&w);
            taken++;
        }
        hf_row_done(&row);
    }
    if (result == HF_ROWS_FAILED)
        return false;
    js_end_array(&w);
    return taken > 0 || error_set(err, E_PARSE,
                                  "'%s': none of %zu rows has a list of four messages or more in "
                                  "'conversations', 'conversation' or 'messages'",
                                  b->id, b->rows);
}

bool hf_conversations(const struct dataset_context *context, struct buf *out, struct error *err)
{
    const struct config *config = context->config;
    struct hf_source source;
    struct hf_build b = {.context = context, .kind = &hf_generic, .source = &source};
    struct conversations c = {.wanted = (size_t)config->num_prompts * 2, .out = out};
    b.id = config->hf_name != NULL ? config->hf_name : config->dataset_path;
    if (!hf_source_open(context, &source, err))
        return false;
    bool ok = with_rows(&b, use_for_turns, &c, err);
    hf_source_done(&source);
    return ok;
}
