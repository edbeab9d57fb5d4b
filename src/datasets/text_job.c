/* See text_job.h.  With windows of W items, step s draws for window s-1, begins window s and finishes window s-2, so
 * three windows are in memory. */
#include "datasets/text_job.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "datasets/dataset_priv.h"
#include "datasets/parallel.h"
#include "json/writer.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    WINDOW_TOKENS = 1 << 19, /* of all items of a window together */
    WINDOW_MIN = 8,          /* or the number of threads */
    TOKEN_BYTES = 16,        /* of memory, about */
    WINDOW_MAX = 1024,
    SMALL_JOB_TOKENS = 1 << 15, /* less is not worth a thread or a walk over the vocabulary */
    LARGE_JOB_VOCABULARIES =
        4,            /* tokens, in sizes of the vocabulary: more are worth preparing for */
    VERIFY_ALL = 32,  /* texts whose anchors are checked one by one, */
    VERIFY_EACH = 16, /* then one of so many */
};

struct window {
    size_t first;
    size_t count;
    struct text_item *items;
};

struct run {
    struct text_job *job;
    struct length_target lt;
    unsigned threads;
    bool prepared;
    size_t window_size;
    struct window windows[3];
    struct window *draws; /* of the current step; NULL: none */
    struct window *begins;
    struct window *ends;
    void *stream; /* copy from before the draws */
    uint64_t start_ns;
    uint64_t told_ns;
};

static void item_begin(struct run *run, size_t index, struct text_item *item)
{
    struct text_job *job = run->job;
    item->failed = false;
    item->moved = false;
    buf_reset(&item->out);
    buf_reset(&item->data);
    length_fit_reset(&item->fit, job->target(job->user, index));
    bool done = false;
    if (run->prepared && run->lt.anchor != ANCHOR_NONE)
        item->failed = !job->start(job->user, index, &item->fit, &done, &item->err);
    if (item->failed)
        return;
    if (done) {
        item->failed = !length_fit_resume(&run->lt, &item->fit, &item->err);
        return;
    }
    job->begin(job->user, index, &item->fit.ids);
    item->failed = !length_fit_start(&run->lt, &item->fit, &item->err);
}

static void draw_window(struct run *run, struct window *w)
{
    struct text_job *job = run->job;
    for (size_t i = 0; i < w->count; i++) {
        struct text_item *item = &w->items[i];
        if (job->draws_ids)
            item_begin(run, w->first + i, item);
        item->failed = item->failed || !length_fit_go_on(&run->lt, &item->fit, &item->err);
        if (!item->failed && job->drawn != NULL)
            job->drawn(job->user, w->first + i, item);
    }
}

static void item_finish(struct run *run, size_t index, struct text_item *item)
{
    struct text_job *job = run->job;
    bool same = true;
    if (item->failed)
        return;
    if (index < VERIFY_ALL || index % VERIFY_EACH == 0)
        item->failed = !length_fit_verify(&run->lt, &item->fit, &same, &item->err);
    item->moved = !same;
    if (item->failed || item->moved)
        return;
    if (job->finish != NULL) {
        item->failed = !job->finish(job->user, index, item, &item->err);
        return;
    }
    struct js_writer w;
    js_writer_init(&w, &item->out);
    js_string(&w, buf_sv(&item->fit.text));
}

static void piece(void *user, size_t index)
{
    struct run *run = user;
    if (run->draws != NULL && index-- == 0) {
        draw_window(run, run->draws);
        return;
    }
    if (run->ends != NULL) {
        if (index < run->ends->count) {
            item_finish(run, run->ends->first + index, &run->ends->items[index]);
            return;
        }
        index -= run->ends->count;
    }
    item_begin(run, run->begins->first + index, &run->begins->items[index]);
}

static void count_missed(struct text_job *job, const struct text_item *item)
{
    size_t have = item->fit.ids.count;
    size_t want = item->fit.target;
    if (have > want)
        job->surplus += (int64_t)(have - want);
    else
        job->deficit += (int64_t)(want - have);
    job->missed += have != want;
}

/* Takes the outputs; *again says that an anchor did not hold. */
static bool keep_window(struct run *run, struct window *w, bool *again, struct error *err)
{
    struct text_job *job = run->job;
    *again = false;
    for (size_t i = 0; i < w->count && !*again; i++) {
        if (w->items[i].failed) {
            *err = w->items[i].err;
            return false;
        }
        *again = w->items[i].moved;
    }
    for (size_t i = 0; i < w->count && !*again; i++) {
        count_missed(job, &w->items[i]);
        job->keep(job->user, w->first + i, &w->items[i]);
    }
    return true;
}

static void tell_progress(struct run *run, size_t done)
{
    uint64_t now = clock_mono_ns();
    if (now - run->told_ns < 5 * NS_PER_S || done == 0)
        return;
    run->told_ns = now;
    double spent_s = (double)(now - run->start_ns) / (double)NS_PER_S;
    dataset_notice(run->job->context, "%zu of %zu prompts are made; about %.0f s are left", done,
                   run->job->count, spent_s / (double)done * (double)(run->job->count - done));
}

static struct window *window_at(struct run *run, size_t number)
{
    struct window *w = &run->windows[number % 3];
    w->first = number * run->window_size;
    w->count = run->job->count - w->first < run->window_size ? run->job->count - w->first
                                                             : run->window_size;
    return w;
}

/* One step; *again: an anchor did not hold. */
static bool run_step(struct run *run, struct error *err, bool *again)
{
    bool early = run->begins != NULL && !run->job->draws_ids;
    size_t pieces = (run->draws != NULL) + (run->ends != NULL ? run->ends->count : 0) +
                    (early ? run->begins->count : 0);
    parallel_for(pieces, run->threads, piece, run);
    *again = false;
    if (run->ends == NULL)
        return true;
    if (!keep_window(run, run->ends, again, err))
        return false;
    if (!*again)
        tell_progress(run, run->ends->first + run->ends->count);
    return true;
}

static bool run_windows(struct run *run, struct error *err)
{
    size_t windows = (run->job->count + run->window_size - 1) / run->window_size;
    for (size_t step = 0; step < windows + 2; step++) {
        bool again = false;
        run->begins = step < windows ? window_at(run, step) : NULL;
        run->draws = step >= 1 && step <= windows ? window_at(run, step - 1) : NULL;
        run->ends = step >= 2 ? window_at(run, step - 2) : NULL;
        if (!run_step(run, err, &again))
            return false;
        if (again)
            break;
        if (step == windows + 1)
            return true;
    }
    /* All anew; what was kept is overwritten. */
    run->lt.anchor = ANCHOR_NONE;
    memcpy(run->job->stream, run->stream, run->job->stream_size);
    run->job->surplus = 0;
    run->job->deficit = 0;
    run->job->missed = 0;
    return run_windows(run, err);
}

/* Threads and the size of windows from the work that there is; returns the number of tokens. */
static size_t plan_windows(struct run *run)
{
    struct text_job *job = run->job;
    size_t tokens = 0;
    for (size_t i = 0; i < job->count; i++)
        tokens += job->target(job->user, i) + job->extra_bytes / TOKEN_BYTES;
    bool large = tokens > SMALL_JOB_TOKENS;
    if (large || tokenizer_is_remote(job->context->tokenizer))
        run->threads = parallel_tokenizing(job->context->tokenizer, job->count + WINDOW_MIN);
    size_t size = WINDOW_TOKENS / (tokens / job->count + 1);
    size = size < run->threads ? run->threads : size;
    size = size < WINDOW_MIN ? WINDOW_MIN : size > WINDOW_MAX ? WINDOW_MAX : size;
    run->window_size = size < job->count ? size : job->count;
    return tokens;
}

bool text_job_run(struct text_job *job, struct error *err)
{
    struct run run = {.job = job, .threads = 1, .start_ns = clock_mono_ns()};
    const struct tokenizer *tokenizer = job->context->tokenizer;
    if (job->count == 0)
        return true;
    size_t tokens = plan_windows(&run);
    run.told_ns = run.start_ns;
    length_target_init(&run.lt, tokenizer, tokens > SMALL_JOB_TOKENS);
    run.lt.pad = job->pad;
    run.lt.user = job->user;
    if (job->prepare != NULL && run.lt.anchor != ANCHOR_NONE &&
        tokens / LARGE_JOB_VOCABULARIES > tokenizer_full_size(tokenizer)) {
        if (!job->prepare(job->user, &run.lt, err)) {
            length_target_done(&run.lt);
            return false;
        }
        run.prepared = true;
    }
    for (size_t k = 0; k < 3; k++)
        run.windows[k].items = mem_array(run.window_size, sizeof(struct text_item));
    run.stream = mem_array(1, job->stream_size);
    memcpy(run.stream, job->stream, job->stream_size);
    bool ok = run_windows(&run, err);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < run.window_size; i++) {
            struct text_item *item = &run.windows[k].items[i];
            length_fit_done(&item->fit);
            buf_done(&item->out);
            buf_done(&item->tmp);
            buf_done(&item->data);
        }
        free(run.windows[k].items);
    }
    free(run.stream);
    length_target_done(&run.lt);
    return ok;
}

void text_job_report(const struct text_job *job, const char *what)
{
    if (job->missed == 0)
        return;
    dataset_notice(job->context,
                   "%zu of %zu %s miss their length, %" PRId64 " tokens too many and %" PRId64
                   " too few in all: some token texts do not survive decoding and encoding",
                   job->missed, job->count, what, job->surplus, job->deficit);
}
