/* text_job.h - makes many prompts of wished lengths on all cores, with the draws in Python's order.
 * The texts go through in windows.  While one thread draws for one window (length_fit_go_on and `drawn`, item after item
 * in order), the others do what needs no draws: the first rounds of the window after it (`begin`, length_fit_start), and
 * the output of the window before it (`finish`).  `keep` then takes the outputs in order.
 * Should an anchor (length_target.h) not have held, which is looked at by samples, everything is done again without
 * anchors, with the stream put back: `stream` must hold all that the draws change.
 * Use: fill in a text_job; text_job_run.
 * Threads: begin and finish run on any thread, several at once; pad, drawn and keep never run twice at once, but beside
 * them.  Errors: struct error of the first item that failed. */
#ifndef VB_DATASETS_TEXT_JOB_H
#define VB_DATASETS_TEXT_JOB_H

#include "datasets/dataset.h"
#include "datasets/length_target.h"

struct text_item {
    struct length_fit fit;
    struct buf out;  /* what finish makes: taken by keep */
    struct buf tmp;  /* scratch of finish */
    struct buf data; /* from drawn to finish */
    struct error err;
    bool failed;
    bool moved; /* an anchor did not hold */
};

struct text_job {
    const struct dataset_context *context;
    size_t count;
    size_t (*target)(void *user, size_t index);
    /* Appends the ids to begin with.  With `draws_ids` it draws, so it runs where drawn does. */
    void (*begin)(void *user, size_t index, struct token_ids *ids);
    bool draws_ids;
    /* Makes the first round of many texts cheaper: prepare is called once, when there are many tokens to make; start
     * then does the first round, or says with *done that begin must be called.  NULL: none. */
    bool (*prepare)(void *user, const struct length_target *lt, struct error *err);
    bool (*start)(void *user, size_t index, struct length_fit *fit, bool *done, struct error *err);
    length_pad_fn *pad;
    void (*drawn)(void *user, size_t index, struct text_item *item); /* further draws; NULL: none */
    /* fit.text and fit.ids become `out`; NULL: the JSON string of the text. */
    bool (*finish)(void *user, size_t index, struct text_item *item, struct error *err);
    void (*keep)(void *user, size_t index, struct text_item *item);
    size_t extra_bytes; /* that `drawn` adds to an item, about */
    void *user;
    void *stream;
    size_t stream_size;

    /* results: texts that missed their length */
    int64_t surplus;
    int64_t deficit;
    size_t missed;
};

bool text_job_run(struct text_job *job, struct error *err);
/* One sentence about texts that missed their length; `what` is "prompts" or the like. */
void text_job_report(const struct text_job *job, const char *what);

#endif
