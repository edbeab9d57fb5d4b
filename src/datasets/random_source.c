/* See random_source.h. */
#include "datasets/random_source.h"

#include "base/alloc.h"
#include "datasets/run_cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Special tokens are those that decoding can leave out. */
static bool is_flagged(const struct tokenizer *t, uint32_t id, struct buf *tmp)
{
    struct error err;
    buf_reset(tmp);
    if (!tokenizer_decode(t, &id, 1, true, tmp, &err) || tmp->len > 0)
        return false;
    return tokenizer_decode(t, &id, 1, false, tmp, &err) && tmp->len > 0;
}

static bool find_allowed(struct random_source *source, enum random_barred barred,
                         struct arena *arena, struct error *err)
{
    const struct tokenizer *t = source->tokenizer;
    bool flagged = barred == BAR_FLAGGED && !tokenizer_is_remote(t);
    struct buf tmp = {0};
    uint32_t *allowed = mem_array(source->vocab_size, sizeof(*allowed));
    size_t n = 0;
    for (uint32_t id = 0; id < source->vocab_size; id++)
        if (!tokenizer_is_special(t, id) && !(flagged && is_flagged(t, id, &tmp)))
            allowed[n++] = id;
    source->allowed_count = n;
    if (n > 0 && n < source->vocab_size) {
        uint32_t *copy = arena_array(arena, n, sizeof(*copy));
        memcpy(copy, allowed, n * sizeof(*copy));
        source->allowed = copy;
    }
    free(allowed);
    buf_done(&tmp);
    return n > 0 || error_set(err, E_CONFIG, "the tokenizer has no token that a prompt may hold");
}

bool random_source_init(struct random_source *source, const struct dataset_context *context,
                        const char *name, enum random_barred barred, struct arena *arena,
                        struct error *err)
{
    *source = (struct random_source){.tokenizer = context->tokenizer};
    if (context->tokenizer == NULL)
        return error_set(err, E_CONFIG,
                         "data set '%s' needs a tokenizer; give --tokenizer (a folder with "
                         "tokenizer.json) or a server that answers /tokenize",
                         name);
    source->vocab_size = tokenizer_vocab_size(context->tokenizer);
    pcg64_seed(&source->g, context->config->seed);
    return find_allowed(source, barred, arena, err);
}

uint64_t random_real_len(const struct random_source *source, uint64_t len)
{
    uint64_t special = tokenizer_special_count(source->tokenizer);
    return len > special ? len - special : 0;
}

struct random_bounds random_bounds_around(uint64_t len, double ratio, int64_t least)
{
    struct random_bounds b = {(int64_t)floor((double)len * (1.0 - ratio)),
                              (int64_t)ceil((double)len * (1.0 + ratio))};
    b.low = b.low < least ? least : b.low;
    b.high = b.high < least ? least : b.high;
    return b;
}

static int64_t *draw_array(struct random_source *source, size_t count, int64_t low, int64_t end)
{
    int64_t *array = mem_array(count, sizeof(*array));
    for (size_t i = 0; i < count; i++)
        array[i] = pcg64_integers(&source->g, low, end);
    return array;
}

void random_params_draw(struct random_source *source, size_t count, struct random_bounds in,
                        struct random_bounds out, struct random_params *params)
{
    params->count = count;
    params->in_lens = draw_array(source, count, in.low, in.high + 1);
    params->out_lens = draw_array(source, count, out.low, out.high + 1);
    params->offsets = draw_array(source, count, 0, source->vocab_size);
}

void random_params_done(struct random_params *params)
{
    free(params->in_lens);
    free(params->out_lens);
    free(params->offsets);
    *params = (struct random_params){0};
}

static void add_id(struct token_ids *ids, uint32_t id)
{
    MEM_GROW(ids->items, ids->count, ids->cap);
    ids->items[ids->count++] = id;
}

void random_ids_draw(struct random_source *source, size_t count, struct token_ids *ids)
{
    int64_t end = (int64_t)source->allowed_count;
    for (size_t i = 0; i < count; i++) {
        size_t k = (size_t)pcg64_integers(&source->g, 0, end);
        add_id(ids, source->allowed != NULL ? source->allowed[k] : (uint32_t)k);
    }
}

uint64_t random_start(const struct random_source *source, const struct random_params *params,
                      size_t index, size_t number)
{
    return ((uint64_t)params->offsets[index] + number) % source->allowed_count;
}

void random_run(const struct random_source *source, uint64_t start, size_t count,
                struct token_ids *ids)
{
    size_t k = (size_t)start;
    for (size_t j = 0; j < count; j++) {
        add_id(ids, source->allowed != NULL ? source->allowed[k] : (uint32_t)k);
        if (++k == source->allowed_count)
            k = 0;
    }
}

uint32_t random_pad(struct random_source *source)
{
    return (uint32_t)pcg64_integers(&source->g, 0, source->vocab_size);
}

static bool check_lengths(const struct config *config, struct error *err)
{
    if (config->num_prompts == 0)
        return error_set(err, E_CONFIG, "--num-prompts must be at least 1");
    if (config->random_input_len > INT32_MAX / 4 || config->random_output_len > INT32_MAX / 4 ||
        config->random_prefix_len > INT32_MAX / 4)
        return error_set(err, E_CONFIG, "a random length is above %d", INT32_MAX / 4);
    return true;
}

bool random_plan_init(struct random_plan *plan, const struct dataset_context *context,
                      const char *name, enum random_barred barred, uint64_t prefix_len,
                      struct arena *arena, struct error *err)
{
    const struct config *config = context->config;
    *plan = (struct random_plan){.prefix_len = prefix_len};
    if (!random_source_init(&plan->source, context, name, barred, arena, err) ||
        !check_lengths(config, err))
        return false;
    uint64_t real_in = random_real_len(&plan->source, config->random_input_len);
    plan->in = random_bounds_around(real_in, config->random_range_ratio_input, 0);
    plan->out =
        random_bounds_around(config->random_output_len, config->random_range_ratio_output, 1);
    if ((int64_t)plan->prefix_len + plan->in.low < 1)
        return error_set(err, E_CONFIG,
                         "--random-input-len %" PRIu64 " is too small: with %" PRIu32
                         " special tokens and this range ratio a prompt could be empty; raise it "
                         "or --random-prefix-len",
                         config->random_input_len, tokenizer_special_count(plan->source.tokenizer));
    random_params_draw(&plan->source, config->num_prompts, plan->in, plan->out, &plan->params);
    return true;
}

static uint32_t pad_prefix(void *user)
{
    return random_pad(user);
}

bool random_plan_fit_prefix(struct random_plan *plan, struct error *err)
{
    struct length_target lt;
    struct length_fit fit = {0};
    if (plan->prefix_len == 0)
        return true;
    length_target_init(&lt, plan->source.tokenizer, false);
    lt.pad = pad_prefix;
    lt.user = &plan->source;
    length_fit_reset(&fit, plan->prefix_len);
    random_ids_draw(&plan->source, plan->prefix_len, &fit.ids);
    bool ok = length_fit_start(&lt, &fit, err) && length_fit_go_on(&lt, &fit, err);
    if (ok) {
        plan->prefix = fit.ids; /* a prefix that misses its length shows in every prompt */
        fit.ids = (struct token_ids){0};
    }
    length_fit_done(&fit);
    length_target_done(&lt);
    return ok;
}

/* ---- what a text_job asks of the plan ------------------------------------------------------------------------------ */

static size_t plan_target(void *user, size_t index)
{
    const struct random_plan *plan = user;
    return plan->prefix_len + (size_t)plan->params.in_lens[index];
}

static void plan_begin(void *user, size_t index, struct token_ids *ids)
{
    const struct random_plan *plan = user;
    for (size_t i = 0; i < plan->prefix.count; i++)
        add_id(ids, plan->prefix.items[i]);
    random_run(&plan->source, random_start(&plan->source, &plan->params, index, index),
               (size_t)plan->params.in_lens[index], ids);
}

static bool plan_prepare(void *user, const struct length_target *lt, struct error *err)
{
    struct random_plan *plan = user;
    plan->cache = run_cache_new(lt, &plan->source, (size_t)plan->in.high);
    return plan->cache == NULL || run_cache_set_prefix(plan->cache, &plan->prefix, err);
}

static bool plan_start(void *user, size_t index, struct length_fit *fit, bool *done,
                       struct error *err)
{
    const struct random_plan *plan = user;
    *done = false;
    return plan->cache == NULL ||
           run_cache_start(plan->cache, random_start(&plan->source, &plan->params, index, index),
                           (size_t)plan->params.in_lens[index], fit, done, err);
}

static uint32_t plan_pad(void *user)
{
    struct random_plan *plan = user;
    return random_pad(&plan->source);
}

struct text_job random_plan_job(struct random_plan *plan, const struct dataset_context *context)
{
    return (struct text_job){
        .context = context,
        .count = plan->params.count,
        .target = plan_target,
        .begin = plan_begin,
        .prepare = plan_prepare,
        .start = plan_start,
        .pad = plan_pad,
        .user = plan,
        .stream = &plan->source.g,
        .stream_size = sizeof(plan->source.g),
    };
}

void random_plan_done(struct random_plan *plan)
{
    run_cache_free(plan->cache);
    random_params_done(&plan->params);
    token_ids_done(&plan->prefix);
    *plan = (struct random_plan){0};
}
