/* The table of data sets, and what holds for all of them: names, oversampling, the --max-model-len filter. */
#include "datasets/dataset.h"

#include "base/alloc.h"
#include "datasets/dataset_priv.h"
#include "datasets/random_source.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static bool custom_needs_tokenizer(const struct config *config)
{
    return !config->skip_tokenizer_init;
}

static bool never_needs_tokenizer(const struct config *config)
{
    (void)config;
    return false;
}

static const struct dataset_type types[] = {
    {.name = "random", .build = random_build},
    {.name = "random-mm", .build = random_mm_build},
    {.name = "random-rerank", .build = random_rerank_build},
    {.name = "prefix_repetition",
     .aliases = {"prefix-repetition"},
     .build = prefix_repetition_build},
    {.name = "sonnet", .takes_path = true, .build = sonnet_build},
    {.name = "sharegpt", .takes_path = true, .oversamples = true, .build = sharegpt_build},
    {.name = "burstgpt", .takes_path = true, .build = burstgpt_build},
    {.name = "custom",
     .takes_path = true,
     .oversamples = true,
     .build = custom_build,
     .needs_tokenizer = custom_needs_tokenizer},
    {.name = "custom_image",
     .aliases = {"custom_mm"},
     .takes_path = true,
     .oversamples = true,
     .build = custom_image_build,
     .needs_tokenizer = custom_needs_tokenizer},
    {.name = "custom_audio",
     .takes_path = true,
     .oversamples = true,
     .build = custom_audio_build,
     .needs_tokenizer = custom_needs_tokenizer},
    {.name = "spec_bench", .takes_path = true, .oversamples = true, .build = spec_bench_build},
    {.name = "speed-bench",
     .aliases = {"speed_bench"},
     .takes_path = true,
     .oversamples = true,
     .build = speed_bench_build},
    {.name = "hf", .takes_path = true, .oversamples = true, .build = hf_build},
    {.name = "timed_trace", .takes_path = true, .build = timed_trace_build},
    {.name = "workload",
     .takes_path = true,
     .build = replay_build,
     .needs_tokenizer = never_needs_tokenizer},
};

enum { TYPE_COUNT = sizeof(types) / sizeof(types[0]) };

static bool is_named(const struct dataset_type *type, const char *name)
{
    if (strcmp(type->name, name) == 0)
        return true;
    for (size_t i = 0; i < 3 && type->aliases[i] != NULL; i++)
        if (strcmp(type->aliases[i], name) == 0)
            return true;
    return false;
}

static const struct dataset_type *type_find(const char *name)
{
    for (size_t i = 0; i < TYPE_COUNT; i++)
        if (is_named(&types[i], name))
            return &types[i];
    return NULL;
}

const char *dataset_canonical_name(const char *name)
{
    const struct dataset_type *type = type_find(name);
    return type != NULL ? type->name : NULL;
}

bool dataset_needs_tokenizer(const struct config *config)
{
    const struct dataset_type *type = type_find(config->dataset_name);
    return type == NULL || type->needs_tokenizer == NULL || type->needs_tokenizer(config);
}

void dataset_notice(const struct dataset_context *context, const char *format, ...)
{
    char sentence[1024];
    va_list args;
    if (context->notice == NULL)
        return;
    va_start(args, format);
    int wanted = vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    if (wanted >= 0) /* a longer sentence is cut */
        context->notice(context->user, sentence);
}

struct sv dataset_literal(struct sv text, struct buf *tmp)
{
    struct js_writer w;
    buf_reset(tmp);
    js_writer_init(&w, tmp);
    js_string(&w, text);
    return buf_sv(tmp);
}

struct prompt dataset_json_prompt(struct workload *workload, struct sv json)
{
    return (struct prompt){.kind = PROMPT_JSON,
                           .json = arena_copy(&workload->arena, json),
                           .json_bytes = (uint32_t)json.len};
}

void dataset_list_request(struct workload *workload, struct request *request,
                          const struct request *texts, size_t count, struct buf *tmp)
{
    buf_reset(tmp);
    for (size_t i = 0; i < count; i++) {
        buf_add_char(tmp, i == 0 ? '[' : ',');
        buf_add(tmp, texts[i].prompt.json);
    }
    buf_add_char(tmp, ']');
    request->prompt = dataset_json_prompt(workload, buf_sv(tmp));
    request->prompt.first_bytes = (uint32_t)texts[0].prompt.json.len;
    request->sequences = (uint32_t)count;
}

size_t *dataset_order(const struct dataset_context *context, size_t count)
{
    size_t *order = mem_array(count, sizeof(*order));
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    if (!context->config->disable_shuffle)
        py_shuffle(context->py, order, count);
    return order;
}

bool dataset_allowed_ids(const struct dataset_context *context, struct workload *workload,
                         struct error *err)
{
    struct random_source source;
    const char *name = context->config->dataset_name;
    if (!random_source_init(&source, context, name, BAR_NAMED, &workload->arena, err))
        return false;
    workload->allowed = source.allowed;
    workload->allowed_count = source.allowed_count;
    return true;
}

void dataset_requests_new(struct workload *workload, size_t count)
{
    workload->requests = arena_array(&workload->arena, count, sizeof(*workload->requests));
    workload->count = count;
    for (size_t i = 0; i < count; i++)
        workload->requests[i].due_offset_ns = UINT64_MAX;
}

/* Python: random.seed(seed) anew, then random.choice among the requests that there are. */
static void oversample(const struct dataset_context *context, struct workload *workload)
{
    size_t have = workload->count;
    size_t wanted = context->config->num_prompts;
    if (have >= wanted)
        return;
    if (context->config->no_oversample) {
        dataset_notice(context,
                       "the data set has %zu prompts of the %zu asked for; "
                       "--no-oversample: only these are sent",
                       have, wanted);
        return;
    }
    struct request *old = workload->requests;
    dataset_requests_new(workload, wanted);
    memcpy(workload->requests, old, have * sizeof(*old));
    py_seed(context->py, context->config->seed);
    for (size_t i = have; i < wanted; i++)
        workload->requests[i] = old[py_choice(context->py, have)];
    dataset_notice(context,
                   "the data set has %zu prompts of the %zu asked for; %zu are repeated "
                   "at random (--no-oversample switches this off)",
                   have, wanted, wanted - have);
}

/* Drops what is longer than the model takes; the order stays. */
static bool filter_by_length(const struct dataset_context *context, struct workload *workload,
                             struct error *err)
{
    uint64_t limit = context->config->max_model_len;
    if (limit == 0)
        return true;
    size_t kept = 0;
    for (size_t i = 0; i < workload->count; i++) {
        const struct request *r = &workload->requests[i];
        if ((uint64_t)r->prompt_len + r->output_len <= limit)
            workload->requests[kept++] = *r;
    }
    if (kept == 0)
        return error_set(err, E_CONFIG,
                         "--max-model-len %" PRIu64 " leaves none of the %zu "
                         "prompts; raise it or ask for shorter prompts",
                         limit, workload->count);
    if (kept < workload->count)
        dataset_notice(context,
                       "--max-model-len %" PRIu64 ": %zu of %zu prompts are too long and "
                       "are left out",
                       limit, workload->count - kept, workload->count);
    workload->count = kept;
    return true;
}

static bool build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    const struct config *config = context->config;
    const struct dataset_type *type = type_find(config->dataset_name);
    if (type == NULL)
        return error_set(err, E_CONFIG, "data set '%s' is unknown", config->dataset_name);
    if (config->dataset_path != NULL && !type->takes_path)
        return error_set(err, E_CONFIG,
                         "data set '%s' takes no --dataset-path; name the data set "
                         "that reads the file with --dataset-name",
                         type->name);
    if (config->prompt_token_ids && type->build != random_build)
        return error_set(err, E_CONFIG,
                         "--prompt-token-ids is for the data set 'random' only, "
                         "not '%s'",
                         type->name);
    if (!type->build(context, workload, err))
        return false;
    if (type->oversamples)
        oversample(context, workload);
    return filter_by_length(context, workload, err);
}

bool dataset_build(const struct dataset_context *context, struct workload *workload,
                   struct error *err)
{
    struct workload made = {0};
    if (!build(context, &made, err)) {
        workload_done(&made);
        return false;
    }
    *workload = made;
    return true;
}
