/* What console and result file must agree on: which metrics a run shows, how a failure is worded, and that no secret
 * of the command line comes back in a server's words. */
#include "output/report_priv.h"

#include <math.h>
#include <stdio.h>

#include "config/secrets.h"

bool report_has_tokens(const struct run_report *report)
{
    const struct summary *s = report->summary;
    return report->has_tokenizer ||
           (report->pooling ? s->input_from_usage : s->output_from_usage) > 0;
}

bool report_has_probes(const struct run_report *report)
{
    return report->probe != NULL && report->probe->completed > 0;
}

enum verdict report_verdict(const struct run_report *report, char *rule, size_t rule_cap)
{
    if (report->summary->sent == 0 && report->client->reads == 0) {
        snprintf(rule, rule_cap, "no data: nothing was sent");
        return VERDICT_NONE;
    }
    /* What a pooling request waits for is its whole reply. */
    const struct series_stats *series = report->summary->series;
    struct client_latencies means = {
        .ttft_ms = series[report->pooling ? SERIES_E2EL : SERIES_TTFT].mean_ms,
        .itl_ms = series[SERIES_ITL].mean_ms,
        .e2el_ms = series[SERIES_E2EL].mean_ms,
    };
    return client_verdict(report->client, &means, rule, rule_cap);
}

bool report_shows_metric(const struct run_report *report, enum metric_id metric)
{
    const struct config *config = report->config;
    if (!config->metric_selected[metric])
        return false;
    switch (metric) {
    case METRIC_TTFT:
    case METRIC_TPOT:
    case METRIC_ITL:
        return !report->pooling && report_has_tokens(report);
    case METRIC_CLIENT_QUEUE_TIME:
        return config->max_concurrency > 0;
    case METRIC_E2EL_INCLUDING_CLIENT_QUEUE:
        return config->max_concurrency > 0 && isfinite(config->request_rate);
    case METRIC_E2EL:
    case METRIC_COUNT:
        break;
    }
    return true;
}

const struct series_stats *report_series(const struct run_report *report, enum metric_id metric)
{
    static const enum series_id SERIES_OF[METRIC_COUNT] = {
        [METRIC_TTFT] = SERIES_TTFT,
        [METRIC_TPOT] = SERIES_TPOT,
        [METRIC_ITL] = SERIES_ITL,
        [METRIC_E2EL] = SERIES_E2EL,
        [METRIC_CLIENT_QUEUE_TIME] = SERIES_CLIENT_QUEUE_TIME,
        [METRIC_E2EL_INCLUDING_CLIENT_QUEUE] = SERIES_E2EL_INCLUDING_CLIENT_QUEUE,
    };
    return &report->summary->series[SERIES_OF[metric]];
}

struct sv report_error_text(const struct record *r)
{
    if (record_ok(r))
        return SV_LIT("");
    if (r->error.len > 0)
        return r->error;
    if (!r->sent && !r->done)
        return SV_LIT("not sent");
    return sv_from(failure_name(r->done ? r->failure : FAILURE_INTERRUPTED));
}

void report_redact(const struct run_report *report, struct sv text, struct buf *out)
{
    config_redact(report->config, text, out);
}

void report_date(time_t when, char out[16])
{
    struct tm local = {0};
    localtime_r(&when, &local);
    if (strftime(out, 16, "%Y%m%d-%H%M%S", &local) == 0)
        out[0] = '\0';
}
