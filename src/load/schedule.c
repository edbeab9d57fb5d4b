/* Arrival times.  The arithmetic is done in double seconds in Python's order of operations, so that the times are equal
 * to the last bit; they become integer nanoseconds at the very end. */
#include "load/schedule.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"

double schedule_rate(const struct config *config, size_t i, size_t count)
{
    double start = config->ramp_up_start_rps;
    double end = config->ramp_up_end_rps;
    double progress = (double)i / (double)(count > 2 ? count - 1 : 1);
    switch (config->ramp_up_strategy) {
    case RAMP_UP_LINEAR:
        return start + (end - start) * progress;
    case RAMP_UP_EXPONENTIAL:
        return start * pow(end / start, progress);
    case RAMP_UP_NONE:
        break;
    }
    return config->request_rate;
}

static double gap_s(const struct config *config, struct mt19937 *npl, double rate)
{
    if (isinf(rate))
        return 0.0;
    if (isinf(config->burstiness))
        return 1.0 / rate;
    double theta = 1.0 / (rate * config->burstiness);
    return npl_gamma(npl, config->burstiness, theta);
}

/* A century stands for what is later, for infinity and for what overflow made of it. */
static uint64_t to_ns(double seconds)
{
    const double century = 100.0 * 365 * 24 * 3600 * (double)NS_PER_S;
    double ns = seconds * (double)NS_PER_S + 0.5;
    return ns < century ? (uint64_t)ns : (uint64_t)century;
}

size_t schedule_count(const struct config *config, uint64_t duration_ns)
{
    static const double most = 1e9;
    double seconds = (double)duration_ns / (double)NS_PER_S;
    double start = config->ramp_up_start_rps;
    double end = config->ramp_up_end_rps;
    double count = seconds * config->request_rate;
    if (config->ramp_up_strategy != RAMP_UP_NONE && !(end > start))
        count = seconds * start;
    else if (config->ramp_up_strategy == RAMP_UP_LINEAR)
        count = seconds * (end - start) / log(end / start);
    else if (config->ramp_up_strategy == RAMP_UP_EXPONENTIAL)
        count = seconds * log(end / start) / (1.0 / start - 1.0 / end);
    return count >= most ? (size_t)most : count >= 1.0 ? (size_t)(count + 1e-9) : 1;
}

void schedule_fill(const struct config *config, struct mt19937 *npl, uint64_t *due_ns, size_t count)
{
    if (count == 0)
        return;
    double *due_s = mem_array(count, sizeof(*due_s));
    for (size_t i = 0; i < count; i++)
        due_s[i] = gap_s(config, npl, schedule_rate(config, i, count));
    for (size_t i = 1; i < count; i++)
        due_s[i] += due_s[i - 1];
    double last = due_s[count - 1];
    if (config->ramp_up_strategy == RAMP_UP_NONE && last != 0) {
        double target = (double)count / config->request_rate;
        double factor = target / last;
        for (size_t i = 0; i < count; i++)
            due_s[i] *= factor;
    }
    for (size_t i = 0; i < count; i++)
        due_ns[i] = to_ns(due_s[i]);
    free(due_s);
}

bool schedule_from_workload(const struct workload *w, uint64_t *due_ns)
{
    uint64_t last = 0;
    bool any = false;
    for (size_t i = 0; i < w->count; i++) {
        uint64_t due = w->requests[i].due_offset_ns;
        any = any || due != UINT64_MAX;
        last = due != UINT64_MAX && due > last ? due : last;
        due_ns[i] = last;
    }
    return any;
}
