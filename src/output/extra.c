/* Keys of a result that depend on what the server is and tells: names and order are Python's as far as it has them. */
#include "output/extra.h"

#include <stdio.h>

#include "base/num.h"
#include "output/report_priv.h"

void extra_probe(struct fields *f, const struct run_report *report)
{
    const struct probe_stats *p = report->probe;
    if (!report_has_probes(report))
        return;
    fields_uint(f, "probe_completed", p->completed);
    fields_uint(f, "probe_failed", p->failed);
    fields_double(f, "probe_median_e2el_ms", p->median_ms);
    fields_double(f, "probe_p99_e2el_ms", p->p99_ms);
    fields_double(f, "probe_max_e2el_ms", p->max_ms);
}

static void speculation(struct fields *f, const struct server_stats *s)
{
    fields_double(f, "spec_decode_acceptance_rate", s->acceptance_rate);
    fields_double(f, "spec_decode_acceptance_length", s->acceptance_length);
    fields_uint(f, "spec_decode_num_drafts", s->drafts);
    fields_uint(f, "spec_decode_draft_tokens", s->draft_tokens);
    fields_uint(f, "spec_decode_accepted_tokens", s->accepted_tokens);
    if (!fields_key(f, "spec_decode_per_position_acceptance_rates"))
        return;
    js_begin_array(&f->w);
    for (size_t i = 0; i < s->position_count; i++)
        js_double(&f->w, s->position_rates[i]);
    js_end_array(&f->w);
}

static void diffusion(struct fields *f, const struct server_stats *s)
{
    fields_double(f, "diffusion_committed_throughput", s->committed_throughput);
    fields_double(f, "diffusion_steps_per_canvas", s->steps_per_canvas);
    fields_double(f, "diffusion_committed_per_step", s->committed_per_step);
    fields_uint(f, "diffusion_committed_tokens", s->committed_tokens);
    fields_uint(f, "diffusion_denoising_steps", s->denoising_steps);
    fields_uint(f, "diffusion_canvas_positions", s->canvas_positions);
}

void extra_server(struct fields *f, const struct run_report *report)
{
    if (report->server == NULL)
        return;
    if (report->server->has_speculation)
        speculation(f, report->server);
    if (report->server->has_diffusion)
        diffusion(f, report->server);
}

static void member_double(struct js_writer *w, const char *name, double value)
{
    js_key(w, name);
    js_double(w, value);
}

static void member_uint(struct js_writer *w, const char *name, uint64_t value)
{
    js_key(w, name);
    js_uint(w, value);
}

/* mean_X_ms, median_X_ms, std_X_ms and the percentiles, as members of an object. */
static void member_series(struct js_writer *w, const struct run_report *report, const char *name,
                          const struct series_stats *series)
{
    char key[128];
    snprintf(key, sizeof(key), "mean_%s_ms", name);
    member_double(w, key, series->mean_ms);
    snprintf(key, sizeof(key), "median_%s_ms", name);
    member_double(w, key, series->median_ms);
    snprintf(key, sizeof(key), "std_%s_ms", name);
    member_double(w, key, series->std_ms);
    for (size_t i = 0; i < report->config->percentile_count; i++) {
        char p[NUM_TEXT_MAX];
        num_format_short(p, report->config->percentiles[i]);
        snprintf(key, sizeof(key), "p%s_%s_ms", p, name);
        member_double(w, key, series->percentiles_ms[i]);
    }
}

static void per_token(struct fields *f, const struct run_report *report)
{
    static const char *const SOURCES[TOKEN_SOURCE_COUNT] = {
        [TOKENS_RUNNING] = "running_usage", [TOKENS_SPREAD] = "spread", [TOKENS_UNKNOWN] = "none"};
    const struct per_token *p = &report->summary->per_token;
    struct js_writer *w = &f->w;
    if (p->itl.percentiles_ms == NULL || !fields_key(f, "per_token"))
        return;
    js_begin_object(w);
    member_series(w, report, "itl", &p->itl);
    member_double(w, "mean_tokens_per_event", p->mean_tokens_per_event);
    member_uint(w, "max_tokens_per_event", p->max_tokens_per_event);
    js_key(w, "counted_by");
    js_begin_object(w);
    for (enum token_source source = 0; source < TOKEN_SOURCE_COUNT; source++)
        member_uint(w, SOURCES[source], p->requests[source]);
    js_end_object(w);
    js_end_object(w);
}

static void reasoning(struct fields *f, const struct run_report *report)
{
    const struct reasoning *r = &report->summary->reasoning;
    struct js_writer *w = &f->w;
    if (r->requests == 0 || !fields_key(f, "reasoning"))
        return;
    js_begin_object(w);
    member_uint(w, "requests", r->requests);
    member_uint(w, "requests_without_answer", r->without_answer);
    member_uint(w, "events", r->events);
    member_double(w, "event_share", r->event_share);
    if (r->has_tokens) {
        member_uint(w, "tokens", r->tokens);
        member_double(w, "token_share", r->token_share);
    }
    member_series(w, report, "ttfa", &r->ttfa);
    js_end_object(w);
}

void extra_tokens(struct fields *f, const struct run_report *report)
{
    const struct summary *s = report->summary;
    if (s->has_cached_tokens) {
        fields_uint(f, "total_cached_tokens", s->total_cached_tokens);
        fields_double(f, "cached_token_share", s->cached_token_share);
    }
    if (report->pooling || !report_has_tokens(report))
        return;
    per_token(f, report);
    reasoning(f, report);
}
