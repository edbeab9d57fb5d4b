/* Requests from the rows of a hub data set: rows are taken in order, made into texts and counted on all cores, and
 * accepted in order. */
#include "base/alloc.h"
#include "datasets/chat_requests.h"
#include "datasets/hf_priv.h"
#include "datasets/media.h"
#include "datasets/parallel.h"
#include "json/writer.h"

#include <stdlib.h>

enum { BATCH = 64, MIN_TOKENS = 4, NO_ANSWER_OUTPUT = 128 };

struct pipeline {
    struct hf_build *b;
    struct hf_rows *rows;
    struct hf_item *items;
    size_t in_batch;
    struct buf tmp;
    bool ended;
};

static bool count_text(const struct hf_build *b, struct hf_item *item, struct sv text, bool special,
                       uint32_t *count)
{
    item->ids.count = 0;
    if (!tokenizer_encode(b->context->tokenizer, text, special, &item->ids, &item->err))
        return false;
    *count = (uint32_t)item->ids.count;
    return true;
}

static bool render(const struct hf_build *b, struct hf_item *item, struct sv *text)
{
    bool pair = (b->kind->traits & HF_MESSAGES) != 0;
    struct chat_message messages[2] = {{SV_LIT("system"), buf_sv(&item->system)},
                                       {SV_LIT("user"), *text}};
    if (b->template == NULL)
        return true;
    if (!chat_template_render_all(b->template, messages + !pair, pair ? 2 : 1, true,
                                  &item->rendered, &item->err))
        return error_context(&item->err, "chat template");
    *text = buf_sv(&item->rendered);
    return true;
}

static void reset_item(struct hf_item *item)
{
    item->skip = item->has_answer = false;
    item->file_s = -1.0;
    item->prompt_len = item->answer_len = 0;
    buf_reset(&item->system);
    buf_reset(&item->text);
    buf_reset(&item->answer);
    buf_reset(&item->media);
    buf_reset(&item->file);
    buf_reset(&item->file_name);
    buf_reset(&item->rendered);
}

/* Texts and lengths of one row, on any thread. */
static void make_item(void *user, size_t index)
{
    struct pipeline *p = user;
    const struct hf_build *b = p->b;
    struct hf_item *item = &p->items[index];
    reset_item(item);
    item->ok = b->kind->extract(b, item->row.value, item, &item->err);
    if (item->ok && !item->skip) {
        struct sv text = buf_sv(&item->text);
        bool special = (b->kind->traits & HF_PLAIN_ANSWER) == 0;
        item->ok = render(b, item, &text) && count_text(b, item, text, true, &item->prompt_len) &&
                   (!item->has_answer || b->output_len >= 0 ||
                    count_text(b, item, buf_sv(&item->answer), special, &item->answer_len));
    }
    if (!item->ok)
        error_context(&item->err, "'" SV_FMT "': row %zu", SV_ARG(item->row.file),
                      item->row.number);
}

/* DATASETS 0.7; Python's rule about answers holds only where the length is the answer's. */
static bool passes_filter(const struct hf_build *b, const struct hf_item *item, uint32_t output)
{
    bool dynamic = b->output_len < 0;
    if ((b->kind->traits & HF_FILTER) == 0 ||
        (!dynamic && (b->kind->traits & HF_FILTER_ALWAYS) == 0))
        return true;
    return item->prompt_len >= MIN_TOKENS && output >= MIN_TOKENS &&
           item->prompt_len <= b->kind->max_prompt &&
           (uint64_t)item->prompt_len + output <= b->kind->max_total;
}

static bool is_generic(const struct hf_build *b)
{
    return b->kind == &hf_generic;
}

/* Is the row wanted, and with which output length? */
static bool choose(struct hf_build *b, const struct hf_item *item, uint32_t *output)
{
    if (item->skip) {
        b->skipped++;
        return false;
    }
    if (is_generic(b) && item->prompt_len < MIN_TOKENS) {
        b->tiny++;
        return false;
    }
    *output = b->output_len >= 0 ? (uint32_t)b->output_len
              : item->has_answer ? item->answer_len
                                 : NO_ANSWER_OUTPUT;
    if (is_generic(b) && b->output_len < 0 && !item->has_answer)
        b->no_answer++;
    if (is_generic(b) && *output == 0)
        *output = 1;
    bool passes = passes_filter(b, item, *output);
    b->by_length += !passes;
    return passes;
}

static void add_file(struct hf_build *b, const struct hf_item *item, struct request *r)
{
    struct request_file *file = arena_array(&b->workload->arena, 1, sizeof(*file));
    file->bytes = arena_copy(&b->workload->arena, buf_sv(&item->file));
    if (item->file_name.len > 0)
        file->name = arena_copy(&b->workload->arena, buf_sv(&item->file_name));
    file->length_s = item->file_s;
    r->file = file;
}

static void accept(struct pipeline *p, struct hf_item *item, uint32_t output)
{
    struct hf_build *b = p->b;
    struct request *r = &b->workload->requests[b->workload->count++];
    r->prompt_len = item->prompt_len;
    r->output_len = output;
    if ((b->kind->traits & HF_CHAT_PARTS) != 0) {
        media_set_prompt(b->context->config, b->workload, r, buf_sv(&item->text),
                         buf_sv(&item->media), &p->tmp);
        return;
    }
    struct sv text = b->template != NULL ? buf_sv(&item->rendered) : buf_sv(&item->text);
    r->prompt = dataset_json_prompt(b->workload, dataset_literal(text, &p->tmp));
    if (item->file_s >= 0)
        add_file(b, item, r);
}

/* Up to `wanted` rows into the items. */
static bool read_batch(struct pipeline *p, size_t wanted, struct error *err)
{
    struct hf_build *b = p->b;
    p->in_batch = 0;
    while (!p->ended && p->in_batch < wanted) {
        struct hf_item *item = &p->items[p->in_batch];
        enum hf_rows_result result = hf_rows_next(p->rows, &item->row, err);
        if (result == HF_ROWS_FAILED)
            return false;
        p->ended = result == HF_ROWS_END;
        if (p->ended)
            break;
        p->in_batch++;
        if (b->rows == 0 && is_generic(b) && !hf_find_columns(b, item->row.value, err))
            return false;
        b->rows++;
        if (!hf_localize(b, item, err))
            return error_context(err, "'" SV_FMT "': row %zu", SV_ARG(item->row.file),
                                 item->row.number);
    }
    return true;
}

/* Where rows may be left out, some more than wanted are taken at once. */
static size_t batch_size(const struct hf_build *b, size_t wanted)
{
    bool all_pass = b->kind->reason == NULL && (b->kind->traits & HF_FILTER) == 0;
    size_t n = all_pass ? wanted : wanted + wanted / 4 + 2;
    return n < BATCH ? n : BATCH;
}

static bool take_rows(struct pipeline *p, struct error *err)
{
    struct hf_build *b = p->b;
    size_t total = (size_t)b->context->config->num_prompts;
    bool alone = tokenizer_is_remote(b->context->tokenizer);
    while (!p->ended && b->workload->count < total) {
        bool ok = read_batch(p, batch_size(b, total - b->workload->count), err);
        if (ok)
            parallel_for(p->in_batch, alone || p->in_batch < 4 ? 1 : parallel_threads(), make_item,
                         p);
        for (size_t i = 0; i < p->in_batch; i++) {
            struct hf_item *item = &p->items[i];
            uint32_t output = 0;
            if (ok && b->workload->count < total && !item->ok) {
                *err = item->err;
                ok = false;
            }
            if (ok && b->workload->count < total && choose(b, item, &output))
                accept(p, item, output);
            hf_row_done(&item->row);
        }
        if (!ok)
            return false;
    }
    return true;
}

static bool check_left(const struct hf_build *b, struct error *err)
{
    if (b->workload->count > 0)
        return true;
    return error_set(err, E_PARSE,
                     "'%s' has no usable row; of %zu, %zu %s, %zu have a prompt below %d tokens, "
                     "%zu are too short or too long",
                     b->id, b->rows, b->skipped,
                     b->kind->reason != NULL ? b->kind->reason : "have no prompt", b->tiny,
                     MIN_TOKENS, b->by_length);
}

static void report(const struct hf_build *b)
{
    if (b->skipped > 0)
        dataset_notice(b->context, "%zu of %zu rows read %s: left out", b->skipped, b->rows,
                       b->kind->reason != NULL ? b->kind->reason : "have no prompt");
    if (b->by_length > 0)
        dataset_notice(b->context, "%zu of %zu rows read are too short or too long: left out",
                       b->by_length, b->rows);
    if (b->tiny > 0)
        dataset_notice(b->context, "%zu of %zu rows read have a prompt below %d tokens: left out",
                       b->tiny, b->rows, MIN_TOKENS);
    if (b->no_answer > 0)
        dataset_notice(b->context,
                       "%zu rows have no answer to take the output length from: %d tokens; "
                       "--hf-output-len sets it",
                       b->no_answer, NO_ANSWER_OUTPUT);
}

static void item_done(struct hf_item *item)
{
    struct buf *bufs[] = {&item->system,   &item->text, &item->answer,
                          &item->media,    &item->file, &item->file_name,
                          &item->rendered, &item->tmp,  &item->local};
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_done(bufs[i]);
    token_ids_done(&item->ids);
    hf_row_done(&item->row);
}

bool hf_requests_build(struct hf_build *b, struct hf_rows *rows, struct error *err)
{
    struct pipeline p = {.b = b, .rows = rows, .items = mem_array(BATCH, sizeof(*p.items))};
    dataset_requests_new(b->workload, (size_t)b->context->config->num_prompts);
    b->workload->count = 0;
    bool ok = take_rows(&p, err) && check_left(b, err);
    for (size_t i = 0; i < BATCH; i++)
        item_done(&p.items[i]);
    free(p.items);
    buf_done(&p.tmp);
    if (ok)
        report(b);
    return ok;
}
