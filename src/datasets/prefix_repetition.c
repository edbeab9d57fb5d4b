/* Data set "prefix_repetition": groups of prompts that share their beginning (DATASETS 3).
 * Ids are drawn from numpy's legacy stream, which is the process's (RULINGS "seeds"); every block is brought to its
 * length by itself, and the prompt is the text of both blocks together. */
#include "base/alloc.h"
#include "datasets/dataset_priv.h"
#include "datasets/text_job.h"
#include "json/writer.h"

#include <stdlib.h>

struct repetition {
    const struct dataset_context *context;
    struct workload *workload;
    uint32_t vocab_size;
    size_t per_prefix;
    struct token_ids *prefixes; /* one a group */
};

/* Blocks in Python's order: a prefix, then the suffixes of its group. */
static bool is_prefix(const struct repetition *p, size_t index)
{
    return index % (p->per_prefix + 1) == 0;
}

static uint32_t draw_id(void *user)
{
    struct repetition *p = user;
    return (uint32_t)npl_randint(p->context->npl, 0, p->vocab_size);
}

static size_t block_target(void *user, size_t index)
{
    struct repetition *p = user;
    const struct config *config = p->context->config;
    return is_prefix(p, index) ? config->prefix_repetition_prefix_len
                               : config->prefix_repetition_suffix_len;
}

static void block_begin(void *user, size_t index, struct token_ids *ids)
{
    size_t count = block_target(user, index);
    for (size_t i = 0; i < count; i++) {
        MEM_GROW(ids->items, ids->count, ids->cap);
        ids->items[ids->count++] = draw_id(user);
    }
}

/* Prefix ids are kept here, for the suffixes may be finished before the prefix is given to block_keep. */
static void block_drawn(void *user, size_t index, struct text_item *item)
{
    struct repetition *p = user;
    if (!is_prefix(p, index))
        return;
    struct token_ids *prefix = &p->prefixes[index / (p->per_prefix + 1)];
    const struct token_ids *ids = &item->fit.ids;
    prefix->items = mem_resize(prefix->items, ids->count + 1, sizeof(*prefix->items));
    if (ids->count > 0)
        memcpy(prefix->items, ids->items, ids->count * sizeof(*ids->items));
    prefix->count = ids->count;
}

static bool block_finish(void *user, size_t index, struct text_item *item, struct error *err)
{
    struct repetition *p = user;
    if (is_prefix(p, index))
        return true;
    const struct token_ids *prefix = &p->prefixes[index / (p->per_prefix + 1)];
    struct token_ids *joined = &item->fit.tmp_ids;
    const struct token_ids *suffix = &item->fit.ids;
    size_t count = prefix->count + suffix->count;
    joined->items = mem_resize(joined->items, count + 1, sizeof(*joined->items));
    joined->cap = count + 1;
    if (prefix->count > 0)
        memcpy(joined->items, prefix->items, prefix->count * sizeof(*joined->items));
    if (suffix->count > 0)
        memcpy(joined->items + prefix->count, suffix->items,
               suffix->count * sizeof(*joined->items));
    buf_reset(&item->tmp);
    if (!tokenizer_decode(p->context->tokenizer, joined->items, count, false, &item->tmp, err))
        return false;
    struct js_writer w;
    js_writer_init(&w, &item->out);
    js_string(&w, buf_sv(&item->tmp));
    return true;
}

static void block_keep(void *user, size_t index, struct text_item *item)
{
    struct repetition *p = user;
    if (is_prefix(p, index))
        return;
    size_t group = index / (p->per_prefix + 1);
    struct request *r = &p->workload->requests[index - group - 1];
    r->prompt = dataset_json_prompt(p->workload, buf_sv(&item->out));
    r->prompt_len = (uint32_t)(p->prefixes[group].count + item->fit.ids.count);
    r->output_len = (uint32_t)p->context->config->prefix_repetition_output_len;
}

static void shuffle(struct repetition *p)
{
    struct workload *w = p->workload;
    struct request *old = w->requests;
    size_t *order = mem_array(w->count, sizeof(*order));
    for (size_t i = 0; i < w->count; i++)
        order[i] = i;
    py_shuffle(p->context->py, order, w->count);
    dataset_requests_new(w, w->count);
    for (size_t i = 0; i < w->count; i++)
        w->requests[i] = old[order[i]];
    free(order);
}

static bool build(struct repetition *p, struct error *err)
{
    const struct config *config = p->context->config;
    size_t groups = config->prefix_repetition_num_prefixes;
    if (p->context->tokenizer == NULL)
        return error_set(err, E_CONFIG, "a tokenizer is needed; give --tokenizer");
    if (groups == 0 || config->num_prompts / groups == 0)
        return error_set(err, E_CONFIG,
                         "%zu prefixes do not go into %llu prompts; lower "
                         "--prefix-repetition-num-prefixes or raise --num-prompts",
                         groups, (unsigned long long)config->num_prompts);
    p->vocab_size = tokenizer_vocab_size(p->context->tokenizer);
    p->per_prefix = config->num_prompts / groups;
    p->prefixes = mem_array(groups, sizeof(*p->prefixes));
    size_t total = p->per_prefix * groups;
    if (total < config->num_prompts)
        dataset_notice(p->context,
                       "%zu prompts are made: %zu for each of %zu prefixes; %llu were asked for",
                       total, p->per_prefix, groups, (unsigned long long)config->num_prompts);
    dataset_requests_new(p->workload, total);
    p->workload->without_ids = true;
    struct text_job job = {
        .context = p->context,
        .count = total + groups,
        .target = block_target,
        .begin = block_begin,
        .draws_ids = true,
        .pad = draw_id,
        .drawn = block_drawn,
        .finish = block_finish,
        .keep = block_keep,
        .user = p,
        .stream = p->context->npl,
        .stream_size = sizeof(*p->context->npl),
    };
    bool ok = text_job_run(&job, err);
    if (ok)
        text_job_report(&job, "blocks");
    for (size_t i = 0; i < groups; i++)
        token_ids_done(&p->prefixes[i]);
    free(p->prefixes);
    return ok;
}

bool prefix_repetition_build(const struct dataset_context *context, struct workload *workload,
                             struct error *err)
{
    struct repetition p = {.context = context, .workload = workload};
    if (!build(&p, err))
        return error_context(err, "data set 'prefix_repetition'");
    if (!context->config->disable_shuffle)
        shuffle(&p);
    return true;
}
