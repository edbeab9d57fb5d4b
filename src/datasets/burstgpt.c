/* Data set "burstgpt": lengths from the BurstGPT trace, GPT-4 rows that got an answer (DATASETS 6).
 * Rows are drawn as pandas draws them, from a legacy generator of its own seeded with --seed: a permutation's first n,
 * or with replacement when there are fewer.  Prompt i is the text of the ids i, i+1, ... through the vocabulary. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/csv.h"
#include "datasets/parallel.h"
#include "json/writer.h"

#include <math.h>
#include <stdlib.h>

enum { BATCH = 64, LENGTH_MAX = 10 * 1000 * 1000 };

struct burst_row {
    uint32_t input;
    uint32_t output;
};

struct burst_work {
    struct token_ids ids;
    struct buf text;
    struct buf json;
    bool ok;
    struct error err;
};

struct burst {
    const struct dataset_context *context;
    struct workload *workload;
    struct burst_row *rows;
    size_t count;
    size_t cap;
    size_t other_model;
    size_t no_answer;
    size_t first;
    struct burst_work *work;
};

static bool bad_row(const struct csv *c, struct error *err, const char *column, struct sv value)
{
    return error_set(err, E_PARSE, "'%s': line %zu: '%s' is '" SV_FMT "', not a whole number",
                     c->name, c->line, column, SV_ARG(value));
}

static bool read_number(const struct csv *c, size_t index, const char *column, double *number,
                        struct error *err)
{
    struct sv field = index < c->count ? sv_trim(c->fields[index]) : SV_LIT("");
    if (!num_parse_double(field, number) || floor(*number) != *number || *number > LENGTH_MAX)
        return bad_row(c, err, column, field);
    return true;
}

static bool add_row(struct burst *b, const struct csv *c, const size_t column[3], struct error *err)
{
    double input = 0.0;
    double output = 0.0;
    if (column[0] >= c->count || !sv_eq(c->fields[column[0]], SV_LIT("GPT-4"))) {
        b->other_model++;
        return true;
    }
    if (!read_number(c, column[1], "Request tokens", &input, err) ||
        !read_number(c, column[2], "Response tokens", &output, err))
        return false;
    if (output <= 0.0) {
        b->no_answer++;
        return true;
    }
    MEM_GROW(b->rows, b->count, b->cap);
    b->rows[b->count++] = (struct burst_row){input > 0.0 ? (uint32_t)input : 0, (uint32_t)output};
    return true;
}

static bool read_rows(struct burst *b, struct csv *c, struct error *err)
{
    size_t column[3] = {1, 2, 3};
    static const char *const names[3] = {"Model", "Request tokens", "Response tokens"};
    enum csv_result result = csv_next(c, err);
    if (result != CSV_RECORD)
        return result == CSV_END ? error_set(err, E_PARSE, "'%s' is empty", c->name) : false;
    for (size_t i = 0; i < 3; i++)
        if (!csv_find(c, names[i], &column[i]))
            return error_set(err, E_PARSE,
                             "'%s': line %zu: no column '%s'; the header must name Model, Request "
                             "tokens and Response tokens",
                             c->name, c->line, names[i]);
    while ((result = csv_next(c, err)) == CSV_RECORD)
        if (!add_row(b, c, column, err))
            return false;
    if (result == CSV_FAILED)
        return false;
    if (b->count == 0)
        return error_set(err, E_PARSE,
                         "'%s' has no usable row: %zu are not of model GPT-4, %zu got no answer",
                         c->name, b->other_model, b->no_answer);
    return true;
}

static void sample(struct burst *b, size_t *picked, size_t wanted)
{
    struct mt19937 *g = mem_new(struct mt19937);
    npl_seed(g, (uint32_t)b->context->config->seed);
    if (wanted <= b->count) {
        size_t *order = mem_array(b->count, sizeof(*order));
        npl_permutation(g, order, b->count);
        memcpy(picked, order, wanted * sizeof(*picked));
        free(order);
    } else {
        for (size_t i = 0; i < wanted; i++)
            picked[i] = (size_t)npl_randint(g, 0, (int64_t)b->count);
    }
    free(g);
}

static void make_text(void *user, size_t index)
{
    struct burst *b = user;
    struct burst_work *work = &b->work[index];
    const struct tokenizer *t = b->context->tokenizer;
    uint32_t size = tokenizer_vocab_size(t);
    size_t count = b->workload->requests[b->first + index].prompt_len;
    work->ids.count = 0;
    for (size_t j = 0; j < count; j++) {
        MEM_GROW(work->ids.items, work->ids.count, work->ids.cap);
        work->ids.items[work->ids.count++] = (uint32_t)((b->first + index + j) % size);
    }
    buf_reset(&work->text);
    buf_reset(&work->json);
    work->ok = tokenizer_decode(t, work->ids.items, count, false, &work->text, &work->err);
    struct js_writer w;
    js_writer_init(&w, &work->json);
    js_string(&w, buf_sv(&work->text));
}

static bool make_texts(struct burst *b, struct error *err)
{
    struct workload *workload = b->workload;
    for (b->first = 0; b->first < workload->count; b->first += BATCH) {
        size_t n = workload->count - b->first < BATCH ? workload->count - b->first : BATCH;
        parallel_for(n, parallel_tokenizing(b->context->tokenizer, n), make_text, b);
        for (size_t i = 0; i < n; i++) {
            if (!b->work[i].ok) {
                *err = b->work[i].err;
                return false;
            }
            workload->requests[b->first + i].prompt =
                dataset_json_prompt(workload, buf_sv(&b->work[i].json));
        }
    }
    return true;
}

static bool make_requests(struct burst *b, struct error *err)
{
    size_t wanted = b->context->config->num_prompts;
    size_t *picked = mem_array(wanted, sizeof(*picked));
    sample(b, picked, wanted);
    dataset_requests_new(b->workload, wanted);
    for (size_t i = 0; i < wanted; i++) {
        b->workload->requests[i].prompt_len = b->rows[picked[i]].input;
        b->workload->requests[i].output_len = b->rows[picked[i]].output;
    }
    free(picked);
    b->work = mem_array(BATCH, sizeof(*b->work));
    bool ok = make_texts(b, err);
    for (size_t i = 0; i < BATCH; i++) {
        token_ids_done(&b->work[i].ids);
        buf_done(&b->work[i].text);
        buf_done(&b->work[i].json);
    }
    free(b->work);
    return ok;
}

bool burstgpt_build(const struct dataset_context *context, struct workload *workload,
                    struct error *err)
{
    const char *path = context->config->dataset_path;
    struct file_map map = {0};
    struct csv *csv = mem_new(struct csv);
    struct burst b = {.context = context, .workload = workload};
    bool ok = path != NULL && context->tokenizer != NULL;
    if (!ok)
        error_set(err, E_CONFIG, "it needs %s",
                  path == NULL ? "--dataset-path, a CSV file" : "a tokenizer; give --tokenizer");
    ok = ok && file_map_open(path, &map, err) && csv_init(csv, path, map.view, err) &&
         read_rows(&b, csv, err) && make_requests(&b, err);
    csv_done(csv);
    free(csv);
    free(b.rows);
    file_map_close(&map);
    return ok || error_context(err, "data set 'burstgpt'");
}
