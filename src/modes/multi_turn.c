/* The same run as any other (run.h), but for where its requests come from and what is said in the end. */
#include "modes/multi_turn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "datasets/multi_turn.h"
#include "json/tree.h"
#include "load/lora.h"
#include "load/multi_turn.h"
#include "modes/interrupt.h"
#include "modes/run.h"
#include "modes/sweep.h"
#include "output/multi_turn.h"
#include "output/notes.h"
#include "output/table.h"
#include "report/timeline.h"

struct talk {
    struct run run;
    struct multi_turn_data data;
    struct driver driver;
};

static void notice(void *user, const char *sentence)
{
    (void)user;
    note(stderr, "%s", sentence);
}

static bool build(struct talk *t, struct error *err)
{
    struct run *r = &t->run;
    py_seed(&r->py, r->config->seed);
    npl_seed(&r->npl, (uint32_t)r->config->seed);
    struct dataset_context context = {
        .config = r->config,
        .tokenizer = r->session->tokenizer,
        .py = &r->py,
        .npl = &r->npl,
        .hub = &r->session->watch.hub,
        .notice = notice,
    };
    return multi_turn_build(&context, &t->data, err);
}

static void print_dry(const struct talk *t)
{
    uint64_t turns = 0;
    uint64_t tokens = 0;
    for (size_t i = 0; i < t->data.count; i++) {
        const struct conversation *c = &t->data.conversations[i];
        turns += c->count;
        for (size_t k = 0; k < c->count; k++)
            tokens += t->data.turns[c->first + k].user_len;
    }
    note(stdout, "Dry run stats:");
    note(stdout, "  Total conversations: %zu", t->data.count);
    note(stdout, "  Total turns: %llu", (unsigned long long)turns);
    note(stdout, "  Total user message tokens: %llu", (unsigned long long)tokens);
}

/* ignore_eos and the user's own min_tokens make ours superfluous. */
static bool wants_min_tokens(const struct config *config)
{
    struct arena arena = {0};
    struct error err;
    const struct js_value *extra =
        config->extra_body != NULL
            ? js_parse(&arena, sv_from(config->extra_body), "--extra-body", &err)
            : NULL;
    bool given = js_get(extra, "min_tokens") != NULL || js_get(extra, "ignore_eos") != NULL;
    arena_done(&arena);
    return !given && !config->ignore_eos && !config->plain_openai;
}

/* One adapter for all turns of a conversation. */
static void assign_adapters(struct talk *t)
{
    struct run *r = &t->run;
    if (r->config->lora_modules.count == 0)
        return;
    uint32_t *of = lora_assign(r->config, &r->py, t->data.count);
    r->lora_of = mem_array(r->workload.count, sizeof(*r->lora_of));
    for (size_t i = 0; i < r->workload.count; i++)
        r->lora_of[i] = of[t->driver.owner[i]];
    free(of);
}

static void connect_driver(struct talk *t)
{
    struct run *r = &t->run;
    const struct config *config = r->config;
    driver_init(&t->driver, &t->data, &r->workload, config->request_id_prefix,
                config->multi_turn.delay_ms * UINT64_C(1000000), wants_min_tokens(config));
    r->due_ns = t->driver.due_ns;
    r->due_count = r->workload.count;
    r->feed = &t->driver.feed;
    assign_adapters(t);
}

/* ---- figures ------------------------------------------------------------------------------------------------------ */

/* The k-th turn of every conversation that got so far. */
static void summarize_turn(const struct talk *t, size_t turn, struct summary *summary)
{
    const struct run *r = &t->run;
    struct record *records = mem_array(t->data.count + 1, sizeof(*records));
    size_t n = 0;
    for (size_t i = 0; i < t->data.count; i++) {
        const struct conversation *c = &t->data.conversations[i];
        if (turn < c->count)
            records[n++] = r->load.records[t->driver.first_item[i] + turn];
    }
    run_summarize(r, records, n, summary);
    free(records);
}

static void count_conversations(const struct talk *t, struct multi_turn_report *m)
{
    double turns = 0.0;
    double ms = 0.0;
    for (size_t i = 0; i < t->data.count; i++) {
        const struct driver_state *state = &t->driver.states[i];
        m->completed += state->finished;
        m->not_started += state->attempted == 0;
        turns += (double)state->attempted;
        if (state->end_ns > t->driver.start_ns)
            ms += (double)(state->end_ns - t->driver.start_ns) / 1e6;
    }
    m->conversations = t->data.count;
    size_t started = t->data.count - m->not_started;
    m->avg_turns = started > 0 ? turns / (double)started : 0.0;
    m->avg_duration_ms = started > 0 ? ms / (double)started : 0.0;
}

static bool show(struct points *p, struct point *point, const struct multi_turn_report *m,
                 struct error *err)
{
    struct buf json = {0};
    struct buf text = {0};
    struct error print_error;
    struct error gate;
    multi_turn_json(m, &json);
    bool saved = points_write(p, point, m->run, buf_sv(&json), err);
    multi_turn_text(m, &text);
    bool printed = table_write(stdout, buf_sv(&text), &print_error);
    if (point->path != NULL)
        note(stderr, "Result saved to %s", point->path);
    points_plot(p, point, m->run, &(struct timeline_talks){m->owner, m->first_item});
    bool met = points_keep(p, point, buf_sv(&json), &gate);
    if (saved && !printed)
        *err = print_error;
    else if (saved && !met)
        *err = gate;
    buf_done(&json);
    buf_done(&text);
    return saved && printed && met;
}

static bool finish(struct talk *t, struct points *p, struct point *point, struct error *err)
{
    struct run *r = &t->run;
    struct run_report report;
    struct summary *turns = mem_array(t->data.most_turns, sizeof(*turns));
    for (size_t k = 0; k < t->data.most_turns; k++)
        summarize_turn(t, k, &turns[k]);
    run_report(r, &report);
    if (p->date != 0)
        report.date = p->date;
    point->interrupted = report.interrupted;
    struct multi_turn_report m = {
        .run = &report,
        .turns = turns,
        .turn_count = t->data.most_turns,
        .concurrency = r->config->max_concurrency,
        .no_history = t->data.no_history,
        .owner = t->driver.owner,
        .first_item = t->driver.first_item,
    };
    count_conversations(t, &m);
    bool ok = show(p, point, &m, err) && run_judge(r, err);
    for (size_t k = 0; k < t->data.most_turns; k++)
        summary_done(&turns[k]);
    free(turns);
    return ok;
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

/* What the load engine is to see: a closed loop over so many requests in flight. */
static void set_load(struct config *config, size_t conversations)
{
    uint64_t limit = config->multi_turn.concurrency > 0 ? config->multi_turn.concurrency
                     : config->max_concurrency > 0      ? config->max_concurrency
                                                        : conversations;
    config->max_concurrency = limit;
    config->request_rate = HUGE_VAL;
    config->ramp_up_strategy = RAMP_UP_NONE;
    config->no_steady_state = true;
}

static bool measure_talk(struct talk *t, struct points *p, struct point *point, struct error *err)
{
    struct config config = point->config;
    run_init(&t->run, p->session, &config);
    if (!build(t, err))
        return false;
    if (config.dry_run) {
        print_dry(t);
        return true;
    }
    if (interrupt_seen())
        return error_set(err, E_INTERRUPTED, "interrupted before the benchmark began");
    set_load(&config, t->data.count);
    connect_driver(t);
    return run_measure(&t->run, err) && finish(t, p, point, err);
}

static bool measure(struct points *p, struct point *point, struct error *err)
{
    struct talk *t = mem_new(struct talk);
    bool ok = measure_talk(t, p, point, err);
    run_done(&t->run);
    driver_done(&t->driver);
    multi_turn_done(&t->data);
    free(t);
    return ok;
}

bool multi_turn_run(struct session *session, struct error *err)
{
    if (session->config->sweep_max_concurrency.count > 0)
        return sweep_run(session, SWEEP_MULTI_TURN, measure, err);
    struct points p;
    points_init(&p, session, measure);
    points_add(&p);
    points_run(&p);
    return points_finish(&p, err);
}
