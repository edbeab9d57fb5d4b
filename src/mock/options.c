/* Defaults of the mock server and the rules across its options. */
#include "mock/mock.h"

#include <string.h>

#include "base/clock.h"
#include "mock/plan.h"

void mock_options_init(struct mock_options *o)
{
    *o = (struct mock_options){
        .host = "127.0.0.1",
        .port = 0,
        .seed = 0,
        .model = "mock-model",
        .max_model_len = 131072,
        .ttft_ns = 50 * NS_PER_MS,
        .itl_ns = 10 * NS_PER_MS,
        .ttft_dist = "constant",
        .itl_dist = "constant",
        .ttft_sigma = 0.25,
        .itl_sigma = 0.25,
        .default_tokens = 16,
        .tokens_per_event = 1,
        .reasoning_key = "reasoning",
        .role_chunk = "first",
        .usage = "final",
        .done = true,
        .chunked = true,
        .coalesce = 1,
        .error_status = 500,
        .drop_after = -1,
        .drop_rate = 1,
        .error_event_after = -1,
        .error_event_rate = 1,
        .stall_after = -1,
        .stall_rate = 1,
    };
}

void mock_options_done(struct mock_options *o)
{
    arena_done(&o->arena);
}

static bool is_one_of(const char *word, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (word != NULL && strcmp(word, *names) == 0)
            return true;
    }
    return false;
}

static bool check_names(const struct mock_options *o, struct error *err)
{
    static const char *const roles[] = {"early", "first", "merged", "none", NULL};
    static const char *const usages[] = {"final", "each", "inline", "never", NULL};
    enum mock_dist dist;
    if (!is_one_of(o->role_chunk, roles))
        return error_set(err, E_USAGE, "--role-chunk must be early, first, merged or none");
    if (!is_one_of(o->usage, usages))
        return error_set(err, E_USAGE, "--usage must be final, each, inline or never");
    if (!mock_dist_parse(o->ttft_dist, &dist) || !mock_dist_parse(o->itl_dist, &dist))
        return error_set(err, E_USAGE,
                         "a distribution must be constant, exponential, normal or lognormal");
    return true;
}

static bool is_share(double x)
{
    return x >= 0 && x <= 1;
}

static bool check_rates(const struct mock_options *o, struct error *err)
{
    if (!is_share(o->error_rate) || !is_share(o->drop_rate) || !is_share(o->garbage_rate) ||
        !is_share(o->error_event_rate) || !is_share(o->stall_rate) || !is_share(o->eos_rate))
        return error_set(err, E_USAGE, "a rate must be between 0 and 1");
    if (o->error_status < 400 || o->error_status > 599)
        return error_set(err, E_USAGE, "--error-status must be between 400 and 599");
    if (!(o->ttft_sigma >= 0) || !(o->itl_sigma >= 0) || !(o->prefill_us_per_token >= 0) ||
        !(o->itl_per_stream_us >= 0) || !(o->split_gap_us >= 0))
        return error_set(err, E_USAGE, "a duration or spread must not be negative");
    return true;
}

bool mock_options_check(const struct mock_options *o, struct error *err)
{
    if (o->host == NULL || o->model == NULL || o->reasoning_key == NULL)
        return error_set(err, E_USAGE, "host, model and reasoning key must be given");
    if (o->port < 0 || o->port > 65535)
        return error_set(err, E_USAGE, "--port must be between 0 and 65535");
    if (o->tokens_per_event == 0 || o->coalesce == 0 || o->default_tokens == 0)
        return error_set(err, E_USAGE,
                         "--tokens-per-event, --coalesce and --default-tokens must be at least 1");
    if (o->crlf && o->cr)
        return error_set(err, E_USAGE, "--crlf and --cr exclude each other");
    if (o->split > 0 && o->coalesce > 1)
        return error_set(err, E_USAGE, "--split and --coalesce exclude each other");
    return check_names(o, err) && check_rates(o, err);
}
