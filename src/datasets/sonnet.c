/* Data set "sonnet": lines of Shakespeare's sonnets, the first of them common to all prompts (DATASETS 4).
 * The text is built in (data/sonnets.txt) unless --dataset-path names another.  Lines are drawn by Python's stream, with
 * replacement; a prompt that comes out too long is drawn again. */
#include "base/alloc.h"
#include "base/file.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/position.h"
#include "datasets/sonnet_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define BASE_TEXT "Pick as many lines as you can from these poem lines:\n"

struct sonnet {
    const struct dataset_context *context;
    struct workload *workload;
    struct sv *lines; /* with their newline */
    size_t count;
    size_t cap;
    size_t prefix_lines;
    size_t input_lines;
    struct token_ids ids;
    struct buf text;
    struct buf json;
};

static void split_lines(struct sonnet *s, struct sv text)
{
    while (text.len > 0) {
        size_t n = sv_find(text, '\n');
        size_t len = n < text.len ? n + 1 : n;
        MEM_GROW(s->lines, s->count, s->cap);
        s->lines[s->count++] = sv_make(text.ptr, len);
        text = sv_skip(text, len);
    }
}

static bool count_tokens(struct sonnet *s, struct sv text, size_t *count, struct error *err)
{
    s->ids.count = 0;
    if (!tokenizer_encode(s->context->tokenizer, text, false, &s->ids, err))
        return false;
    *count = s->ids.count;
    return true;
}

/* How many lines go into a prompt, from the mean length of a line. */
static bool plan_lines(struct sonnet *s, struct error *err)
{
    const struct config *config = s->context->config;
    size_t total = 0;
    size_t base = 0;
    for (size_t i = 0; i < s->count; i++) {
        size_t count;
        if (!count_tokens(s, s->lines[i], &count, err))
            return false;
        total += count;
    }
    if (!count_tokens(s, SV_LIT(BASE_TEXT), &base, err))
        return false;
    if (total == 0)
        return error_set(err, E_PARSE, "the text has no tokens");
    if (config->sonnet_input_len <= base)
        return error_set(err, E_CONFIG,
                         "--sonnet-input-len %" PRIu64 " is too small: the instruction alone is "
                         "%zu tokens",
                         config->sonnet_input_len, base);
    double mean = (double)total / (double)s->count;
    double input = rint(((double)config->sonnet_input_len - (double)base) / mean);
    double prefix = rint(((double)config->sonnet_prefix_len - (double)base) / mean);
    prefix = prefix < 0.0 ? 0.0 : prefix;
    s->prefix_lines = prefix < (double)s->count ? (size_t)prefix : s->count;
    s->input_lines = (size_t)input;
    if (s->input_lines < s->prefix_lines)
        s->input_lines = s->prefix_lines;
    return true;
}

static void make_text(struct sonnet *s)
{
    buf_reset(&s->text);
    buf_add_str(&s->text, BASE_TEXT);
    for (size_t i = 0; i < s->prefix_lines; i++)
        buf_add(&s->text, s->lines[i]);
    for (size_t i = s->prefix_lines; i < s->input_lines; i++)
        buf_add(&s->text, s->lines[py_choices1(s->context->py, s->count)]);
}

static bool make_requests(struct sonnet *s, struct error *err)
{
    const struct config *config = s->context->config;
    size_t wanted = config->num_prompts;
    size_t attempts = wanted > 50 ? 20 * wanted : 1000;
    size_t made = 0;
    dataset_requests_new(s->workload, wanted);
    for (size_t tried = 0; made < wanted && tried < attempts; tried++) {
        size_t count;
        make_text(s);
        if (!count_tokens(s, buf_sv(&s->text), &count, err))
            return false;
        if (count > config->sonnet_input_len)
            continue;
        struct request *r = &s->workload->requests[made++];
        r->prompt = dataset_json_prompt(s->workload, dataset_literal(buf_sv(&s->text), &s->json));
        r->prompt_len = (uint32_t)count;
        r->output_len = (uint32_t)config->sonnet_output_len;
    }
    if (made < wanted)
        return error_set(err, E_CONFIG,
                         "only %zu of %zu drawn prompts have at most --sonnet-input-len %" PRIu64
                         " tokens; raise it or lower --sonnet-prefix-len",
                         made, attempts, config->sonnet_input_len);
    return true;
}

bool sonnet_build(const struct dataset_context *context, struct workload *workload,
                  struct error *err)
{
    const char *path = context->config->dataset_path;
    struct file_map map = {0};
    struct sonnet s = {.context = context, .workload = workload};
    struct sv text = sonnet_text();
    bool ok = context->tokenizer != NULL ||
              error_set(err, E_CONFIG, "a tokenizer is needed; give --tokenizer");
    if (ok && path != NULL) {
        ok = file_map_open(path, &map, err);
        text = map.view;
        ok = ok && position_check_text(path, &text, err);
        if (ok && text.len == 0)
            ok = error_set(err, E_PARSE, "'%s' is empty", path);
    }
    if (ok) {
        split_lines(&s, text);
        ok = plan_lines(&s, err) && make_requests(&s, err);
    }
    free(s.lines);
    token_ids_done(&s.ids);
    buf_done(&s.text);
    buf_done(&s.json);
    file_map_close(&map);
    return ok || error_context(err, "data set 'sonnet'");
}
