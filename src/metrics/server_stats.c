/* Differences of the server's counters (METRICS 6 and 7).
 *
 * Example: 100 drafts of 3 tokens, 240 of the 300 accepted: 80 %, and a draft yields 1 + 2.4 = 3.4 tokens. */
#include "metrics/server_stats.h"

#include <math.h>

/* A counter that went back belongs to a server that was started anew. */
static uint64_t grown(int64_t before, int64_t after)
{
    return after > before ? (uint64_t)after - (uint64_t)before : 0;
}

static const struct server_position *find(const struct server_counters *c, int64_t position)
{
    for (size_t i = 0; i < c->position_count; i++)
        if (c->positions[i].position == position)
            return &c->positions[i];
    return NULL;
}

/* One position into its place in the ascending list, once. */
static void add_position(const struct server_counters *before, const struct server_counters *after,
                         int64_t position, struct server_stats *s)
{
    size_t at = 0;
    while (at < s->position_count && s->positions[at] < position)
        at++;
    if (at < s->position_count && s->positions[at] == position)
        return;
    for (size_t i = s->position_count++; i > at; i--) {
        s->positions[i] = s->positions[i - 1];
        s->position_rates[i] = s->position_rates[i - 1];
    }
    const struct server_position *was = find(before, position);
    const struct server_position *is = find(after, position);
    uint64_t accepted = is != NULL ? grown(was != NULL ? was->accepted : 0, is->accepted) : 0;
    s->positions[at] = position;
    s->position_rates[at] = (double)accepted / (double)s->drafts;
}

static void speculation(const struct server_counters *before, const struct server_counters *after,
                        struct server_stats *s)
{
    s->draft_tokens = grown(before->draft_tokens, after->draft_tokens);
    if (s->draft_tokens == 0)
        return;
    s->has_speculation = true;
    s->drafts = grown(before->drafts, after->drafts);
    s->accepted_tokens = grown(before->accepted_tokens, after->accepted_tokens);
    s->acceptance_rate = (double)s->accepted_tokens / (double)s->draft_tokens * 100.0;
    if (s->drafts == 0)
        return;
    s->acceptance_length = 1.0 + (double)s->accepted_tokens / (double)s->drafts;
    for (size_t i = 0; i < before->position_count; i++)
        add_position(before, after, before->positions[i].position, s);
    for (size_t i = 0; i < after->position_count; i++)
        add_position(before, after, after->positions[i].position, s);
}

static void diffusion(const struct server_counters *before, const struct server_counters *after,
                      double duration_s, struct server_stats *s)
{
    double steps = (double)grown(before->denoising_steps, after->denoising_steps);
    double positions = (double)grown(before->canvas_positions, after->canvas_positions);
    double tokens = (double)grown(before->committed_tokens, after->committed_tokens);
    if (steps <= 0.0 || tokens <= 0.0 || positions <= 0.0)
        return;
    double block = positions / steps; /* positions of one canvas */
    double canvases = tokens / block;
    double denoising = steps - canvases > 0.0 ? steps - canvases : 0.0;
    s->has_diffusion = true;
    s->committed_throughput = tokens / (duration_s > 1e-9 ? duration_s : 1e-9);
    s->steps_per_canvas = denoising / canvases;
    s->committed_per_step = denoising > 0.0 ? tokens / denoising : 0.0;
    s->committed_tokens = (uint64_t)tokens;
    s->denoising_steps = (uint64_t)llround(denoising);
    s->canvas_positions = (uint64_t)positions;
}

void server_stats_make(const struct server_counters *before, const struct server_counters *after,
                       double duration_s, struct server_stats *stats)
{
    *stats = (struct server_stats){0};
    if (before->has_speculation && after->has_speculation)
        speculation(before, after, stats);
    if (before->has_diffusion && after->has_diffusion)
        diffusion(before, after, duration_s, stats);
}
