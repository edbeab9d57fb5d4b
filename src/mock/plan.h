/* plan.h - what the mock server decides about one generation request: its faults, and how long its tokens take.
 * Everything is drawn from the seed and the request's index, so a run with the same arrivals decides the same; draws of
 * one kind never move another kind.
 * Use: mock_model_init once (from checked options); mock_plan_init per request; mock_plan_ttft_ns once;
 * mock_plan_gap_ns before every further event.
 * Threads: the model is read-only, a plan has one owner.  Errors: none. */
#ifndef VB_MOCK_PLAN_H
#define VB_MOCK_PLAN_H

#include "base/rng.h"
#include "mock/mock.h"

enum mock_dist {
    MOCK_DIST_CONSTANT,
    MOCK_DIST_EXPONENTIAL,
    MOCK_DIST_NORMAL,
    MOCK_DIST_LOGNORMAL,
    MOCK_DIST_COUNT
};

struct mock_model {
    const struct mock_options *options;
    enum mock_dist ttft_dist, itl_dist;
};

enum mock_fault {
    MOCK_FAULT_NONE,
    MOCK_FAULT_STATUS,      /* an error status instead of an answer */
    MOCK_FAULT_DROP,        /* the connection breaks */
    MOCK_FAULT_GARBAGE,     /* one event is no JSON */
    MOCK_FAULT_ERROR_EVENT, /* an error object inside the stream */
    MOCK_FAULT_STALL,       /* silence, the connection stays open */
    MOCK_FAULT_COUNT
};

struct mock_plan {
    enum mock_fault fault;
    uint64_t after; /* token events before the fault */
    struct pcg64 rng;
};

/* False when the name is no distribution. */
bool mock_dist_parse(const char *name, enum mock_dist *out);
void mock_model_init(struct mock_model *m, const struct mock_options *o);

/* Tokens of the answer: `most`, or fewer when the end of text comes earlier, but at least `least`. */
uint64_t mock_plan_tokens(const struct mock_model *m, uint64_t index, uint64_t least,
                          uint64_t most);
/* `events`: how many token events the answer would have. */
void mock_plan_init(struct mock_plan *p, const struct mock_model *m, uint64_t index,
                    uint64_t events);
uint64_t mock_plan_ttft_ns(struct mock_plan *p, const struct mock_model *m, uint64_t prompt_tokens);
uint64_t mock_plan_gap_ns(struct mock_plan *p, const struct mock_model *m, uint64_t running);

#endif
