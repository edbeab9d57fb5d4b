/* fixture.h - a run report put together by hand: the figures of a run that Python's tool printed, and three requests.
 * Threads: tests only.  Errors: none. */
#ifndef VB_TESTS_FIXTURE_H
#define VB_TESTS_FIXTURE_H

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "output/run_report.h"

enum { FIXTURE_START_S = 1000 };

struct fixture {
    struct config config;
    struct summary summary;
    struct client_stats client;
    struct record records[3];
    struct record_slab slab;
    struct run_report report;
    double percentiles[SERIES_COUNT][4];
    double steady_percentiles[4];
};

static inline uint64_t fixture_at(double seconds)
{
    return FIXTURE_START_S * NS_PER_S + (uint64_t)llround(seconds * 1e9);
}

static inline void fixture_series(struct fixture *f, enum series_id id, double mean, double median,
                                  double p99)
{
    f->percentiles[id][0] = p99;
    f->summary.series[id] = (struct series_stats){.count = 20,
                                                  .mean_ms = mean,
                                                  .median_ms = median,
                                                  .std_ms = 0.5,
                                                  .percentiles_ms = f->percentiles[id]};
}

/* Requests: 0 is fine (tokens at 0.25, 0.5, 1.0 s), 1 got HTTP 400, 2 broke off after one token. */
static inline void fixture_records(struct fixture *f)
{
    for (size_t i = 0; i < 3; i++) {
        struct record *r = &f->records[i];
        record_init(r);
        r->due_ns = fixture_at(0.0);
        r->start_ns = fixture_at(0.125 * (double)i);
        r->prompt_len = 30;
        r->sent = true;
        r->done = true;
    }
    struct record *good = &f->records[0];
    record_event(good, &f->slab, fixture_at(0.25));
    record_event(good, &f->slab, fixture_at(0.5));
    record_event(good, &f->slab, fixture_at(1.0));
    good->end_ns = fixture_at(1.0);
    good->usage_prompt_tokens = 27;
    good->usage_completion_tokens = 6;
    good->text = SV_LIT(" caf\xc3\xa9 \"x\"");
    struct record *refused = &f->records[1];
    refused->end_ns = fixture_at(0.25);
    refused->failure = FAILURE_HTTP_STATUS;
    refused->http_status = 400;
    refused->error = SV_LIT("HTTP 400 Bad Request: bad key sk-secret");
    struct record *broken = &f->records[2];
    record_event(broken, &f->slab, fixture_at(0.75));
    broken->end_ns = fixture_at(0.8);
    broken->failure = FAILURE_CLOSED_EARLY;
}

/* The recorded case `backend_vllm`: four requests of six tokens. */
static inline void fixture_summary(struct fixture *f)
{
    f->summary = (struct summary){
        .duration_s = 0.03673176200027228,
        .requested = 4,
        .sent = 4,
        .completed = 4,
        .total_input_tokens = 112,
        .total_output_tokens = 24,
        .output_from_usage = 4,
        .request_throughput = 108.89758024595578,
        .input_throughput = 3049.132246886762,
        .output_throughput = 653.3854814757347,
        .total_token_throughput = 3702.517728362496,
        .max_output_tokens_per_s = 24.0,
        .max_concurrent_requests = 4,
        .exact_max_concurrent_requests = 3,
        .exact_max_output_tokens_per_s = 24.0,
    };
    fixture_series(f, SERIES_TTFT, 23.54342474995974, 23.365027999943777, 25.275874919834678);
    fixture_series(f, SERIES_TPOT, 2.030059200001233, 2.2132400999907986, 2.3846815460101425);
    fixture_series(f, SERIES_ITL, 2.030059200001233, 1.7650804998083913, 4.275447100249039);
    fixture_series(f, SERIES_E2EL, 33.5, 33.25, 35.75);
    fixture_series(f, SERIES_CLIENT_QUEUE_TIME, 14.359, 12.319, 32.131);
    fixture_series(f, SERIES_E2EL_INCLUDING_CLIENT_QUEUE, 34.095, 31.712, 53.482);
}

static inline void fixture_begin(struct fixture *f)
{
    setenv("TZ", "UTC", 1);
    *f = (struct fixture){0};
    config_init(&f->config);
    f->config.backend = "vllm";
    f->config.num_prompts = 4;
    f->config.metric_selected[METRIC_E2EL] = false; /* Python's default */
    fixture_summary(f);
    fixture_records(f);
    f->client.threads = 2;
    f->client.reads = f->client.kernel_stamps = 30;
    f->client.event_reads = 24;
    f->client.token_events = 24;
    f->client.connections = 4;
    f->client.wall_ns = 1000;
    f->client.address = "127.0.0.1:8000";
    f->report = (struct run_report){
        .config = &f->config,
        .model_id = "org/mock-model",
        .tokenizer_id = "tok-mini",
        .has_tokenizer = true,
        .date = 1796025342, /* 2026-11-30 07:55:42 UTC */
        .records = f->records,
        .count = 3,
        .start_ns = FIXTURE_START_S * NS_PER_S,
        .summary = &f->summary,
        .client = &f->client,
    };
}

static inline void fixture_end(struct fixture *f)
{
    record_slab_done(&f->slab);
    config_done(&f->config);
}

/* A window as the Rust tool printed it (recorded case `steady_opts`). */
static inline void fixture_steady(struct fixture *f)
{
    f->steady_percentiles[0] = 9.770941800000001;
    f->summary.steady = (struct steady_state){
        .found = true,
        .start_s = 0.000164934,
        .end_s = 0.172391605,
        .duration_s = 0.172226671,
        .target_concurrency = 4,
        .threshold = 0.5,
        .threshold_abs = 2,
        .observed_peak = 4,
        .requests_started = 11,
        .requests_completed = 10,
        .requests_total = 12,
        .request_throughput = 58.06301626767204,
        .input_throughput = 1619.95815386805,
        .output_throughput = 406.4411138737043,
        .total_token_throughput = 2026.3992677417543,
        .mean_ttft_ms = 7.218267363636364,
        .median_ttft_ms = 6.690382,
        .percentiles_ttft_ms = f->steady_percentiles,
        .mean_tpot_ms = 9.969250436363637,
        .median_tpot_ms = 9.987157,
        .p90_tpot_ms = 10.0400534,
        .p99_tpot_ms = 10.105989740000002,
        .ttft_count = 11,
    };
}

#endif
