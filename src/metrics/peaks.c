/* Peaks of a run (METRICS 2.2).  The peers count in whole seconds since the first start: a request counts in every
 * second it touches and a chunk counts as one token, whatever it carries.  Those two figures are kept as they are; two
 * exact ones stand beside them: the true number of requests in flight, and tokens instead of chunks. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "metrics/summary_priv.h"

struct seconds {
    uint64_t first_ns; /* where second 0 begins */
    size_t count;
    double *events;    /* token events in each second */
    double *tokens;    /* the same, each event weighing its tokens */
    int64_t *requests; /* change of the number of requests at the begin of each second */
};

/* To 12 significant digits: sums of weights like 10/3 are off in the last ones. */
static double without_noise(double tokens)
{
    if (tokens <= 0.0 || tokens >= 1e11)
        return tokens;
    double scale = pow(10.0, 11.0 - floor(log10(tokens)));
    return round(tokens * scale) / scale;
}

static size_t second_of(const struct seconds *s, uint64_t time_ns)
{
    uint64_t at = time_ns > s->first_ns ? (time_ns - s->first_ns) / NS_PER_S : 0;
    return at < s->count ? (size_t)at : s->count - 1;
}

static void add_request(struct seconds *s, const struct record *r, bool has_tokenizer)
{
    s->requests[second_of(s, r->start_ns)]++;
    s->requests[second_of(s, metrics_answered_ns(r)) + 1]--;

    struct metrics_tokens t;
    for (metrics_tokens_begin(&t, r, has_tokenizer); t.more; metrics_tokens_next(&t)) {
        size_t at = second_of(s, t.time_ns);
        s->events[at] += 1.0;
        s->tokens[at] += t.weight;
    }
}

/* Most requests in flight at any instant; one that ends when another starts makes room for it. */
static uint64_t exact_concurrency(const struct metrics_edges *edges)
{
    uint64_t peak = 0;
    uint64_t now = 0;
    size_t e = 0;
    for (size_t s = 0; s < edges->count; s++) {
        while (e < edges->count && edges->ends[e] <= edges->starts[s] && now > 0) {
            e++;
            now--;
        }
        now++;
        peak = now > peak ? now : peak;
    }
    return peak;
}

void metrics_peaks(const struct record *records, size_t count,
                   const struct summary_options *options, const struct metrics_edges *edges,
                   struct summary *summary)
{
    summary->exact_max_concurrent_requests = exact_concurrency(edges);
    uint64_t first_ns = UINT64_MAX;
    uint64_t last_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (!record_ok(&records[i]))
            continue;
        first_ns = records[i].start_ns < first_ns ? records[i].start_ns : first_ns;
        uint64_t end_ns = metrics_answered_ns(&records[i]);
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    if (first_ns == UINT64_MAX)
        return;

    struct seconds s = {.first_ns = first_ns};
    uint64_t span_ns = last_ns > first_ns ? last_ns - first_ns : 0;
    s.count = (size_t)((span_ns + NS_PER_S - 1) / NS_PER_S) + 1;
    s.events = mem_array(s.count, sizeof(double));
    s.tokens = mem_array(s.count, sizeof(double));
    s.requests = mem_array(s.count + 1, sizeof(int64_t));
    for (size_t i = 0; i < count; i++)
        if (record_ok(&records[i]))
            add_request(&s, &records[i], options->has_tokenizer);

    int64_t now = 0;
    for (size_t i = 0; i < s.count; i++) {
        now += s.requests[i];
        if ((uint64_t)now > summary->max_concurrent_requests)
            summary->max_concurrent_requests = (uint64_t)now;
        if (options->pooling)
            continue;
        if (s.events[i] > summary->max_output_tokens_per_s)
            summary->max_output_tokens_per_s = s.events[i];
        if (s.tokens[i] > summary->exact_max_output_tokens_per_s)
            summary->exact_max_output_tokens_per_s = s.tokens[i];
    }
    summary->exact_max_output_tokens_per_s = without_noise(summary->exact_max_output_tokens_per_s);
    free(s.events);
    free(s.tokens);
    free(s.requests);
}
