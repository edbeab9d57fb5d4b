/* Lines beside the result, worded as the Python tool words them so that people find what they know. */
#include "output/notes.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/num.h"

void note(FILE *file, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fputc('\n', file);
    fflush(file);
}

static const char *burst_kind(double burstiness)
{
    return burstiness == 1.0 ? "Poisson process" : "Gamma distribution";
}

void note_traffic(FILE *file, const struct config *config)
{
    char a[NUM_TEXT_MAX];
    char b[NUM_TEXT_MAX];
    if (config->ramp_up_strategy != RAMP_UP_NONE) {
        note(file, "Traffic ramp-up strategy: %s.",
             config->ramp_up_strategy == RAMP_UP_LINEAR ? "linear" : "exponential");
        num_format_short(a, config->ramp_up_start_rps);
        num_format_short(b, config->ramp_up_end_rps);
        note(file, "Will increase RPS from %s to %s RPS over the duration of the benchmark.", a, b);
    } else {
        num_format_double(a, config->request_rate);
        note(file, "Traffic request rate: %s", a);
    }
    num_format_double(a, config->burstiness);
    note(file, "Burstiness factor: %s (%s)", a, burst_kind(config->burstiness));
    num_format_u64(a, config->max_concurrency);
    note(file, "Maximum request concurrency: %s", config->max_concurrency > 0 ? a : "None");
}

void note_warm_cache(FILE *file, const struct config *config, const struct summary *summary)
{
    static const double LIMIT = 0.01;
    /* Prompts that share a part on purpose are meant to meet the cache. */
    bool meant = config->random_prefix_len > 0 || config->random_cache_ratio > 0.0 ||
                 config->random_cache_hit_fraction > 0.0;
    if (strcmp(config->dataset_name, "random") != 0 || meant ||
        !(summary->cached_token_share > LIMIT))
        return;
    note(file,
         "warning: the server took %.1f %% of the input tokens from its prefix cache although the "
         "prompts are random: a warm prefix cache inflates results; use another --seed or reset "
         "the cache",
         100.0 * summary->cached_token_share);
}

void note_dry_run(FILE *file, const struct dry_run_stats *stats)
{
    double prompts = stats->prompts > 0 ? (double)stats->prompts : 1.0;
    note(file, "Dry run stats:");
    note(file, "  Total prompts: %llu", (unsigned long long)stats->prompts);
    note(file, "  Total input tokens: %llu", (unsigned long long)stats->input_tokens);
    note(file, "  Total expected output tokens: %llu", (unsigned long long)stats->output_tokens);
    note(file, "  Avg input tokens: %.1f", (double)stats->input_tokens / prompts);
    note(file, "  Avg output tokens: %.1f", (double)stats->output_tokens / prompts);
}
