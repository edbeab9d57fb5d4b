/* Data set "random": every prompt is a run through the vocabulary from a drawn start, as Python's tool makes it.
 * Draws come from numpy's default generator seeded with --seed, in Python's order: all input lengths, all output
 * lengths, all offsets, the shared prefix, then the padding of each request (DATASETS 1).
 * Example with 24 input tokens and offset 6565: request 0 is ids 6565..6588, decoded, encoded again and brought back to
 * 24 tokens.  With --prompt-token-ids the run itself is sent and only its start is kept. */
#include "base/alloc.h"
#include "datasets/dataset_priv.h"
#include "datasets/random_source.h"

#include <math.h>
#include <stdlib.h>

struct random_build {
    struct random_plan plan; /* first: the user of random_plan_job */
    const struct dataset_context *context;
    struct workload *workload;
};

static bool cache_mode(const struct config *config)
{
    return config->random_cache_hit_fraction > 0.0 && config->random_cache_ratio > 0.0;
}

static bool check(const struct config *config, struct error *err)
{
    if (config->random_batch_size > 1 && config->prompt_token_ids)
        return error_set(err, E_CONFIG, "--random-batch-size does not go with --prompt-token-ids");
    if (!cache_mode(config))
        return true;
    if (!config->prompt_token_ids)
        return error_set(err, E_CONFIG,
                         "--random-cache-hit-fraction and --random-cache-ratio need "
                         "--prompt-token-ids");
    if (config->random_cache_hit_fraction > 1.0 || config->random_cache_ratio > 1.0)
        return error_set(err, E_CONFIG,
                         "--random-cache-hit-fraction and --random-cache-ratio must "
                         "be in [0, 1]");
    return true;
}

/* ---- token ids ---------------------------------------------------------------------------------------------------- */

static void keep_prefix(struct workload *w, const struct token_ids *ids)
{
    uint32_t *copy = arena_array(&w->arena, ids->count, sizeof(*copy));
    if (ids->count > 0)
        memcpy(copy, ids->items, ids->count * sizeof(*copy));
    w->prefix_ids = copy;
    w->prefix_count = ids->count;
}

/* How many ids of request `index` come from the shared start. */
static size_t shared_ids(struct random_build *b, size_t index)
{
    const struct config *config = b->context->config;
    struct random_plan *plan = &b->plan;
    if (!cache_mode(config))
        return plan->prefix_len;
    if (pcg64_double(&plan->source.g) >= config->random_cache_hit_fraction)
        return 0;
    size_t length = (size_t)plan->params.in_lens[index];
    size_t cached = (size_t)round((double)length * config->random_cache_ratio);
    cached = cached < b->workload->prefix_count ? cached : b->workload->prefix_count;
    return cached < length ? cached : length;
}

/* before[k]: bytes of the first k allowed ids in decimal, a comma behind each; free(). */
static uint64_t *byte_sums(const struct random_source *source)
{
    uint64_t *before = mem_array(source->allowed_count + 1, sizeof(*before));
    for (size_t k = 0; k < source->allowed_count; k++) {
        uint32_t id = source->allowed != NULL ? source->allowed[k] : (uint32_t)k;
        unsigned bytes = 2;
        for (; id >= 10; id /= 10)
            bytes++;
        before[k + 1] = before[k] + bytes;
    }
    return before;
}

/* Bytes of a run on the wire, with a comma behind each id. */
static uint64_t run_bytes(const uint64_t *before, size_t allowed, uint64_t start, uint64_t len)
{
    uint64_t bytes = len / allowed * before[allowed];
    uint64_t end = start + len % allowed;
    if (end <= allowed)
        return bytes + before[end] - before[start];
    return bytes + before[allowed] - before[start] + before[end - allowed];
}

/* As workload_prompt_measure, which walks over every id. */
static uint32_t measure(const struct workload *w, const struct prompt *p, const uint64_t *before)
{
    struct prompt head = {.kind = PROMPT_IDS, .ids = w->prefix_ids, .id_count = p->prefix_len};
    uint64_t bytes = 1; /* the brackets, less the comma that is not there */
    if (p->prefix_len > 0)
        bytes += workload_prompt_measure(w, &head) - 1;
    bytes += run_bytes(before, w->allowed_count, p->run_start, p->run_len);
    return p->prefix_len + p->run_len == 0 ? 2 : (uint32_t)bytes;
}

/* --prompt-token-ids: no text is made, the ids are a rule. */
static void build_ids(struct random_build *b)
{
    const struct config *config = b->context->config;
    struct random_plan *plan = &b->plan;
    struct token_ids prefix = {0};
    size_t shared = plan->prefix_len;
    if (cache_mode(config))
        shared = (size_t)ceil((double)plan->in.high * config->random_cache_ratio);
    random_ids_draw(&plan->source, shared, &prefix);
    keep_prefix(b->workload, &prefix);
    token_ids_done(&prefix);
    b->workload->allowed = plan->source.allowed;
    b->workload->allowed_count = plan->source.allowed_count;
    uint64_t *before = byte_sums(&plan->source);
    for (size_t i = 0; i < b->workload->count; i++) {
        struct request *r = &b->workload->requests[i];
        size_t length = (size_t)plan->params.in_lens[i];
        size_t first = shared_ids(b, i);
        r->prompt =
            (struct prompt){.kind = PROMPT_ID_RUN,
                            .run_start = random_start(&plan->source, &plan->params, i, i),
                            .run_len = (uint32_t)(length - (cache_mode(config) ? first : 0)),
                            .prefix_len = (uint32_t)first};
        r->prompt.json_bytes = measure(b->workload, &r->prompt, before);
        r->prompt_len = r->prompt.prefix_len + r->prompt.run_len;
        r->output_len = (uint32_t)plan->params.out_lens[i];
    }
    free(before);
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

static void text_keep(void *user, size_t index, struct text_item *item)
{
    struct random_build *b = user;
    struct request *r = &b->workload->requests[index];
    r->prompt = dataset_json_prompt(b->workload, buf_sv(&item->out));
    r->prompt_len = (uint32_t)item->fit.ids.count;
    r->output_len = (uint32_t)b->plan.params.out_lens[index];
}

static bool build_texts(struct random_build *b, struct error *err)
{
    struct text_job job = random_plan_job(&b->plan, b->context);
    job.keep = text_keep;
    if (!random_plan_fit_prefix(&b->plan, err) || !text_job_run(&job, err))
        return false;
    text_job_report(&job, "prompts");
    return true;
}

/* Several texts become one request with a list; the last may be shorter (DATASETS 1, step 5). */
static void group(struct workload *w, size_t batch)
{
    struct request *single = w->requests;
    size_t count = w->count;
    struct buf tmp = {0};
    dataset_requests_new(w, (count + batch - 1) / batch);
    for (size_t i = 0; i < w->count; i++) {
        size_t n = count - i * batch < batch ? count - i * batch : batch;
        dataset_list_request(w, &w->requests[i], &single[i * batch], n, &tmp);
        for (size_t k = 0; k < n; k++)
            w->requests[i].prompt_len += single[i * batch + k].prompt_len;
    }
    buf_done(&tmp);
}

bool random_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    const struct config *config = context->config;
    struct random_build b = {.context = context, .workload = workload};
    bool ok =
        check(config, err) &&
        random_plan_init(&b.plan, context, "random", BAR_NAMED,
                         cache_mode(config) ? 0 : config->random_prefix_len, &workload->arena, err);
    if (ok) {
        dataset_requests_new(workload, b.plan.params.count);
        if (config->prompt_token_ids)
            build_ids(&b);
        else
            ok = build_texts(&b, err);
    }
    if (ok && config->random_batch_size > 1)
        group(workload, config->random_batch_size);
    random_plan_done(&b.plan);
    return ok || error_context(err, "data set 'random'");
}
