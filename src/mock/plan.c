/* Faults are decided in a fixed order, each with a draw of its own; times come from a second stream, so that turning a
 * fault on leaves the other requests' times alone. */
#include "mock/plan.h"

#include <math.h>

#include "base/clock.h"

enum { LONGEST_S = 24 * 3600 };

bool mock_dist_parse(const char *name, enum mock_dist *out)
{
    static const char *const names[MOCK_DIST_COUNT] = {"constant", "exponential", "normal",
                                                       "lognormal"};
    for (unsigned i = 0; i < MOCK_DIST_COUNT; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = (enum mock_dist)i;
            return true;
        }
    }
    return false;
}

void mock_model_init(struct mock_model *m, const struct mock_options *o)
{
    *m = (struct mock_model){.options = o};
    mock_dist_parse(o->ttft_dist, &m->ttft_dist);
    mock_dist_parse(o->itl_dist, &m->itl_dist);
}

/* splitmix64's finisher: neighbouring indices give unrelated seeds. */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static bool has_faults(const struct mock_options *o)
{
    return o->error_rate > 0 || o->drop_after >= 0 || o->garbage_rate > 0 ||
           o->error_event_after >= 0 || o->stall_after >= 0;
}

static void draw_fault(struct mock_plan *p, const struct mock_options *o, uint64_t events)
{
    const struct {
        enum mock_fault fault;
        bool on;
        double rate;
        int64_t after;
    } rows[] = {
        {MOCK_FAULT_STATUS, true, o->error_rate, 0},
        {MOCK_FAULT_DROP, o->drop_after >= 0, o->drop_rate, o->drop_after},
        {MOCK_FAULT_GARBAGE, true, o->garbage_rate, (int64_t)(events / 2)},
        {MOCK_FAULT_ERROR_EVENT, o->error_event_after >= 0, o->error_event_rate,
         o->error_event_after},
        {MOCK_FAULT_STALL, o->stall_after >= 0, o->stall_rate, o->stall_after},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bool hit = pcg64_double(&p->rng) < rows[i].rate;
        if (hit && rows[i].on && p->fault == MOCK_FAULT_NONE) {
            p->fault = rows[i].fault;
            p->after = (uint64_t)rows[i].after;
        }
    }
}

uint64_t mock_plan_tokens(const struct mock_model *m, uint64_t index, uint64_t least, uint64_t most)
{
    const struct mock_options *o = m->options;
    if (o->eos_rate <= 0)
        return most;
    struct pcg64 rng;
    pcg64_seed(&rng, mix(o->seed ^ mix(3 * index + UINT64_C(0x100000000))));
    /* Geometric: the first success of independent trials, one a token. */
    double first = 1;
    if (o->eos_rate < 1)
        first = 1 + floor(log1p(-pcg64_double(&rng)) / log1p(-o->eos_rate));
    uint64_t tokens = first < (double)most ? (uint64_t)first : most;
    return tokens < least ? least : tokens;
}

void mock_plan_init(struct mock_plan *p, const struct mock_model *m, uint64_t index,
                    uint64_t events)
{
    const struct mock_options *o = m->options;
    *p = (struct mock_plan){.fault = MOCK_FAULT_NONE};
    if (has_faults(o)) {
        pcg64_seed(&p->rng, mix(o->seed ^ mix(2 * index)));
        draw_fault(p, o, events);
    }
    if (m->ttft_dist != MOCK_DIST_CONSTANT || m->itl_dist != MOCK_DIST_CONSTANT)
        pcg64_seed(&p->rng, mix(o->seed ^ mix(2 * index + 1)));
}

/* A duration with the given mean; never negative. */
static double draw(struct mock_plan *p, enum mock_dist dist, double mean, double sigma)
{
    switch (dist) {
    case MOCK_DIST_EXPONENTIAL:
        return -mean * log1p(-pcg64_double(&p->rng));
    case MOCK_DIST_NORMAL:
        return fmax(0, mean + mean * sigma * pcg64_standard_normal(&p->rng));
    case MOCK_DIST_LOGNORMAL: /* exp(N(mu, sigma)) has the mean exp(mu + sigma^2/2) */
        return mean * exp(sigma * pcg64_standard_normal(&p->rng) - sigma * sigma / 2);
    case MOCK_DIST_CONSTANT:
    case MOCK_DIST_COUNT:
        break;
    }
    return mean;
}

static uint64_t whole_ns(double ns)
{
    double longest = (double)LONGEST_S * (double)NS_PER_S;
    return (uint64_t)(ns < longest ? ns + 0.5 : longest);
}

static uint64_t draw_ns(struct mock_plan *p, enum mock_dist dist, uint64_t mean_ns, double sigma)
{
    if (dist == MOCK_DIST_CONSTANT)
        return mean_ns;
    return whole_ns(draw(p, dist, (double)mean_ns, sigma));
}

uint64_t mock_plan_ttft_ns(struct mock_plan *p, const struct mock_model *m, uint64_t prompt_tokens)
{
    const struct mock_options *o = m->options;
    return draw_ns(p, m->ttft_dist, o->ttft_ns, o->ttft_sigma) +
           whole_ns(o->prefill_us_per_token * 1e3 * (double)prompt_tokens);
}

uint64_t mock_plan_gap_ns(struct mock_plan *p, const struct mock_model *m, uint64_t running)
{
    const struct mock_options *o = m->options;
    return draw_ns(p, m->itl_dist, o->itl_ns, o->itl_sigma) +
           whole_ns(o->itl_per_stream_us * 1e3 * (double)running);
}
