/* Data set "random-rerank": one random query for the whole run and groups of random documents (DATASETS 2).
 * A reranker puts a separator between query and document, so each document of a group counts the query once more; for
 * other pooling models (--no-reranker) the query is one more input. */
#include "base/alloc.h"
#include "datasets/dataset_priv.h"
#include "datasets/random_source.h"
#include "datasets/text_job.h"

#include <stdlib.h>

struct rerank_build {
    const struct dataset_context *context;
    struct workload *workload;
    struct random_source source;
    struct random_params query;
    struct random_params docs;
    struct request *texts; /* the query, then the documents */
};

static const struct random_params *params_of(const struct rerank_build *b, size_t index,
                                             size_t *within)
{
    *within = index == 0 ? 0 : index - 1;
    return index == 0 ? &b->query : &b->docs;
}

static size_t text_target(void *user, size_t index)
{
    size_t i;
    const struct random_params *params = params_of(user, index, &i);
    return (size_t)params->in_lens[i];
}

static void text_begin(void *user, size_t index, struct token_ids *ids)
{
    struct rerank_build *b = user;
    size_t i;
    const struct random_params *params = params_of(b, index, &i);
    random_run(&b->source, random_start(&b->source, params, i, index), (size_t)params->in_lens[i],
               ids);
}

static uint32_t text_pad(void *user)
{
    struct rerank_build *b = user;
    return random_pad(&b->source);
}

static void text_keep(void *user, size_t index, struct text_item *item)
{
    struct rerank_build *b = user;
    b->texts[index].prompt = dataset_json_prompt(b->workload, buf_sv(&item->out));
    b->texts[index].prompt_len = (uint32_t)item->fit.ids.count;
}

static bool draw_params(struct rerank_build *b, struct error *err)
{
    const struct config *config = b->context->config;
    bool reranker = !config->no_reranker;
    double ratio = config->random_range_ratio_input;
    int64_t input = (int64_t)config->random_input_len;
    int64_t query = reranker ? input / 2 - 1 : input;
    struct random_bounds none = {1, 1};
    uint64_t real = random_real_len(&b->source, query > 0 ? (uint64_t)query : 0);
    struct random_bounds bounds = random_bounds_around(real, ratio, 0);
    if (bounds.low < 1)
        return error_set(err, E_CONFIG,
                         "--random-input-len %llu is too small for a query and a document",
                         (unsigned long long)config->random_input_len);
    random_params_draw(&b->source, 1, bounds, none, &b->query);
    int64_t doc = reranker ? input - b->query.in_lens[0] - 1 : input;
    real = random_real_len(&b->source, doc > 0 ? (uint64_t)doc : 0);
    bounds = random_bounds_around(real, ratio, 0);
    if (bounds.low < 1)
        return error_set(err, E_CONFIG,
                         "--random-input-len %llu leaves no token for the documents beside a query "
                         "of %lld",
                         (unsigned long long)config->random_input_len,
                         (long long)b->query.in_lens[0]);
    random_params_draw(&b->source, config->num_prompts - (reranker ? 0 : 1), bounds, none,
                       &b->docs);
    return true;
}

static void group(struct rerank_build *b, size_t batch)
{
    struct workload *w = b->workload;
    bool reranker = !b->context->config->no_reranker;
    size_t docs = b->docs.count;
    struct request *list = mem_array(batch + 1, sizeof(*list));
    struct buf tmp = {0};
    dataset_requests_new(w, (docs + batch - 1) / batch);
    for (size_t i = 0; i < w->count; i++) {
        struct request *r = &w->requests[i];
        const struct request *first = &b->texts[1 + i * batch];
        size_t n = docs - i * batch < batch ? docs - i * batch : batch;
        list[0] = b->texts[0];
        memcpy(list + 1, first, n * sizeof(*list));
        dataset_list_request(w, r, list, n + 1, &tmp);
        uint32_t query = b->texts[0].prompt_len;
        r->prompt_len = reranker ? (query + 1) * (uint32_t)n : query;
        for (size_t k = 0; k < n; k++)
            r->prompt_len += first[k].prompt_len;
    }
    free(list);
    buf_done(&tmp);
}

static bool build(struct rerank_build *b, struct error *err)
{
    const struct config *config = b->context->config;
    if (config->num_prompts == 0 || config->random_input_len > INT32_MAX / 4)
        return error_set(err, E_CONFIG, "--num-prompts or --random-input-len is out of range");
    if (config->no_reranker && (config->num_prompts < 2 || config->random_batch_size < 2))
        return error_set(err, E_CONFIG,
                         "--no-reranker needs --num-prompts and --random-batch-size of at least 2");
    if (!random_source_init(&b->source, b->context, "random-rerank", BAR_NAMED, &b->workload->arena,
                            err) ||
        !draw_params(b, err))
        return false;
    b->texts = mem_array(b->docs.count + 1, sizeof(*b->texts));
    struct text_job job = {
        .context = b->context,
        .count = b->docs.count + 1,
        .target = text_target,
        .begin = text_begin,
        .pad = text_pad,
        .keep = text_keep,
        .user = b,
        .stream = &b->source.g,
        .stream_size = sizeof(b->source.g),
    };
    if (!text_job_run(&job, err))
        return false;
    text_job_report(&job, "texts");
    group(b, config->random_batch_size - (config->no_reranker ? 1 : 0));
    return true;
}

bool random_rerank_build(const struct dataset_context *context, struct workload *workload,
                         struct error *err)
{
    struct rerank_build b = {.context = context, .workload = workload};
    bool ok = build(&b, err);
    random_params_done(&b.query);
    random_params_done(&b.docs);
    free(b.texts);
    return ok || error_context(err, "data set 'random-rerank'");
}
