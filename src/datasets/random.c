/* Data set "random": every prompt is a run through the vocabulary from a drawn start, as Python's tool makes it.
 * Draws come from numpy's default generator seeded with --seed, in Python's order: all input lengths, all output
 * lengths, all offsets, the shared prefix, then the padding of each request (DATASETS 1).
 * Example with 24 input tokens and offset 6565: request 0 is ids 6565..6588, decoded, encoded again and brought back to
 * 24 tokens.  With --prompt-token-ids the run itself is sent and only its start is kept. */
#include "base/alloc.h"
#include "datasets/dataset_priv.h"
#include "datasets/length_target.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

struct bounds {
    int64_t low; /* inclusive */
    int64_t high;
};

struct random_run {
    const struct dataset_context *context;
    struct workload *workload;
    const struct tokenizer *tokenizer;
    struct pcg64 g;
    uint32_t vocab_size;
    size_t count;
    size_t prefix_len;
    struct bounds in;
    struct bounds out;
    int64_t *in_lens;
    int64_t *out_lens;
    int64_t *offsets;
};

static uint32_t allowed_at(const struct workload *w, uint64_t index)
{
    return w->allowed != NULL ? w->allowed[index] : (uint32_t)index;
}

/* Ids that prompts may hold: the model's own entries without the special ones. */
static bool find_allowed(struct random_run *run, struct error *err)
{
    const struct tokenizer *t = run->tokenizer;
    struct workload *w = run->workload;
    size_t special = 0;
    for (uint32_t id = 0; id < run->vocab_size; id++)
        special += tokenizer_is_special(t, id);
    w->allowed_count = run->vocab_size - special;
    if (w->allowed_count == 0)
        return error_set(err, E_CONFIG, "the tokenizer has no token that a prompt may hold");
    if (special == 0)
        return true;
    uint32_t *allowed = arena_array(&w->arena, w->allowed_count, sizeof(*allowed));
    size_t n = 0;
    for (uint32_t id = 0; id < run->vocab_size; id++)
        if (!tokenizer_is_special(t, id))
            allowed[n++] = id;
    w->allowed = allowed;
    return true;
}

static struct bounds bounds_around(uint64_t len, double ratio, int64_t least)
{
    struct bounds b = {(int64_t)floor((double)len * (1.0 - ratio)),
                       (int64_t)ceil((double)len * (1.0 + ratio))};
    b.low = b.low < least ? least : b.low;
    b.high = b.high < least ? least : b.high;
    return b;
}

static bool cache_mode(const struct config *config)
{
    return config->random_cache_hit_fraction > 0.0 && config->random_cache_ratio > 0.0;
}

static bool check(const struct config *config, const struct tokenizer *tokenizer, struct error *err)
{
    if (tokenizer == NULL && config->prompt_token_ids)
        return error_set(err, E_CONFIG,
                         "--prompt-token-ids must know the vocabulary; give "
                         "--tokenizer (a folder with tokenizer.json) or a server "
                         "that answers /tokenize");
    if (tokenizer == NULL)
        return error_set(err, E_CONFIG,
                         "data set 'random' needs a tokenizer; give --tokenizer (a "
                         "folder with tokenizer.json) or a server that answers "
                         "/tokenize");
    if (config->num_prompts == 0)
        return error_set(err, E_CONFIG, "--num-prompts must be at least 1");
    if (config->random_input_len > INT32_MAX || config->random_output_len > INT32_MAX ||
        config->random_prefix_len > INT32_MAX)
        return error_set(err, E_CONFIG, "a random length is above %d", INT32_MAX);
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

static bool find_lengths(struct random_run *run, const struct config *config, struct error *err)
{
    uint64_t special = tokenizer_special_count(run->tokenizer);
    uint64_t real_in = config->random_input_len > special ? config->random_input_len - special : 0;
    run->count = config->num_prompts;
    run->prefix_len = cache_mode(config) ? 0 : config->random_prefix_len;
    run->in = bounds_around(real_in, config->random_range_ratio_input, 0);
    run->out = bounds_around(config->random_output_len, config->random_range_ratio_output, 1);
    if ((int64_t)run->prefix_len + run->in.low < 1)
        return error_set(err, E_CONFIG,
                         "--random-input-len %" PRIu64 " is too small: with %" PRIu64
                         " special tokens and this range ratio a prompt could be empty; raise it "
                         "or --random-prefix-len",
                         config->random_input_len, special);
    return true;
}

static void draw_array(struct random_run *run, int64_t *into, int64_t low, int64_t end)
{
    for (size_t i = 0; i < run->count; i++)
        into[i] = pcg64_integers(&run->g, low, end);
}

static void draw_arrays(struct random_run *run)
{
    run->in_lens = mem_array(run->count, sizeof(int64_t));
    run->out_lens = mem_array(run->count, sizeof(int64_t));
    run->offsets = mem_array(run->count, sizeof(int64_t));
    draw_array(run, run->in_lens, run->in.low, run->in.high + 1);
    draw_array(run, run->out_lens, run->out.low, run->out.high + 1);
    draw_array(run, run->offsets, 0, run->vocab_size);
}

static void add_drawn_allowed(struct random_run *run, size_t count, struct token_ids *ids)
{
    int64_t end = (int64_t)run->workload->allowed_count;
    for (size_t i = 0; i < count; i++) {
        MEM_GROW(ids->items, ids->count, ids->cap);
        ids->items[ids->count++] =
            allowed_at(run->workload, (uint64_t)pcg64_integers(&run->g, 0, end));
    }
}

static void keep_prefix(struct workload *w, const struct token_ids *ids)
{
    uint32_t *copy = arena_array(&w->arena, ids->count, sizeof(*copy));
    if (ids->count > 0)
        memcpy(copy, ids->items, ids->count * sizeof(*copy));
    w->prefix_ids = copy;
    w->prefix_count = ids->count;
}

static uint64_t run_start(const struct random_run *run, size_t index)
{
    return ((uint64_t)run->offsets[index] + index) % run->workload->allowed_count;
}

/* How many ids of request `index` come from the shared start. */
static size_t shared_ids(struct random_run *run, const struct config *config, size_t index)
{
    if (!cache_mode(config))
        return run->prefix_len;
    if (pcg64_double(&run->g) >= config->random_cache_hit_fraction)
        return 0;
    size_t length = (size_t)run->in_lens[index];
    size_t cached = (size_t)round((double)length * config->random_cache_ratio);
    cached = cached < run->workload->prefix_count ? cached : run->workload->prefix_count;
    return cached < length ? cached : length;
}

/* --prompt-token-ids: no text is made, the ids are a rule. */
static void build_ids(struct random_run *run)
{
    const struct config *config = run->context->config;
    struct token_ids prefix = {0};
    size_t shared = run->prefix_len;
    if (cache_mode(config))
        shared = (size_t)ceil((double)run->in.high * config->random_cache_ratio);
    add_drawn_allowed(run, shared, &prefix);
    keep_prefix(run->workload, &prefix);
    token_ids_done(&prefix);
    for (size_t i = 0; i < run->count; i++) {
        struct request *r = &run->workload->requests[i];
        size_t length = (size_t)run->in_lens[i];
        size_t first = shared_ids(run, config, i);
        r->prompt =
            (struct prompt){.kind = PROMPT_ID_RUN,
                            .run_start = run_start(run, i),
                            .run_len = (uint32_t)(length - (cache_mode(config) ? first : 0)),
                            .prefix_len = (uint32_t)first};
        r->prompt.json_bytes = workload_prompt_measure(run->workload, &r->prompt);
        r->prompt_len = r->prompt.prefix_len + r->prompt.run_len;
        r->output_len = (uint32_t)run->out_lens[i];
    }
}

static uint32_t draw_pad(void *user)
{
    struct random_run *run = user;
    return (uint32_t)pcg64_integers(&run->g, 0, run->vocab_size);
}

static void report_missed(const struct random_run *run, const struct length_target *lt)
{
    if (lt->missed == 0)
        return;
    dataset_notice(run->context,
                   "%zu of %zu prompts miss their length, %" PRId64 " tokens too many and %" PRId64
                   " too few in all: some token texts do not survive decoding and encoding",
                   lt->missed, run->count, lt->surplus, lt->deficit);
}

static bool build_texts(struct random_run *run, struct error *err)
{
    struct workload *w = run->workload;
    struct length_target lt = {.tokenizer = run->tokenizer, .pad = draw_pad, .user = run};
    struct token_ids prefix = {0};
    struct token_ids ids = {0};
    struct buf text = {0};
    struct buf json = {0};
    bool ok = true;
    if (run->prefix_len > 0) {
        struct length_target once = lt; /* a prefix that misses shows in every prompt anyway */
        add_drawn_allowed(run, run->prefix_len, &prefix);
        ok = length_target_fit(&once, &prefix, run->prefix_len, &text, err);
    }
    for (size_t i = 0; ok && i < run->count; i++) {
        struct request *r = &w->requests[i];
        size_t length = (size_t)run->in_lens[i];
        uint64_t start = run_start(run, i);
        ids.count = 0;
        for (size_t j = 0; j < prefix.count + length; j++) {
            MEM_GROW(ids.items, ids.count, ids.cap);
            ids.items[ids.count++] =
                j < prefix.count ? prefix.items[j]
                                 : allowed_at(w, (start + j - prefix.count) % w->allowed_count);
        }
        ok = length_target_fit(&lt, &ids, run->prefix_len + length, &text, err);
        r->prompt = dataset_text_prompt(w, buf_sv(&text), &json);
        r->prompt_len = (uint32_t)ids.count;
        r->output_len = (uint32_t)run->out_lens[i];
    }
    if (ok)
        report_missed(run, &lt);
    token_ids_done(&prefix);
    token_ids_done(&ids);
    buf_done(&text);
    buf_done(&json);
    return ok;
}

bool random_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    const struct config *config = context->config;
    struct random_run run = {
        .context = context, .workload = workload, .tokenizer = context->tokenizer};
    if (!check(config, context->tokenizer, err) || !find_lengths(&run, config, err))
        return false;
    run.vocab_size = tokenizer_vocab_size(run.tokenizer);
    if (!find_allowed(&run, err))
        return false;
    pcg64_seed(&run.g, config->seed);
    draw_arrays(&run);
    dataset_requests_new(workload, run.count);
    bool ok = true;
    if (config->prompt_token_ids)
        build_ids(&run);
    else
        ok = build_texts(&run, err);
    free(run.in_lens);
    free(run.out_lens);
    free(run.offsets);
    return ok || error_context(err, "data set 'random'");
}
