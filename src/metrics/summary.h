/* summary.h - records to figures: METRICS of the specification (Python's definitions, RULINGS deciding).
 * Use: metrics_summarize(records, count, &options, &summary); read; summary_done.
 * Threads: pure functions.  Errors: none; a run without success gives zeros. */
#ifndef VB_METRICS_SUMMARY_H
#define VB_METRICS_SUMMARY_H

#include "metrics/record.h"

/* One series with its statistics; ms. */
struct series_stats {
    size_t count;
    double mean_ms;
    double median_ms;
    double std_ms;
    double *percentiles_ms; /* in the order of summary_options.percentiles */
};

enum series_id {
    SERIES_TTFT,
    SERIES_TPOT,
    SERIES_ITL,
    SERIES_E2EL,
    SERIES_CLIENT_QUEUE_TIME,
    SERIES_E2EL_INCLUDING_CLIENT_QUEUE,
    SERIES_COUNT,
};

struct summary_options {
    uint64_t start_ns;    /* benchmark start: before the first dispatch */
    uint64_t duration_ns; /* until the last result */
    const double *percentiles;
    size_t percentile_count;
    bool goodput_given;
    double goodput_ttft_ms; /* HUGE_VAL when not given */
    double goodput_tpot_ms;
    double goodput_e2el_ms;
    bool has_tokenizer;
    bool
        pooling; /* embeddings, scores: no output tokens, so neither their figures nor goodput (METRICS 3) */
    /* steady state (METRICS 4; PEER_FAULTS 5, 6, 7 put right) */
    bool steady_state; /* wanted and applicable */
    uint64_t max_concurrency;
    double steady_threshold;
    double steady_min_window_s; /* negative: max(10, 0.1 * duration) */
};

struct steady_state {
    bool found;
    double start_s, end_s, duration_s;
    uint64_t target_concurrency;
    double threshold;
    uint64_t threshold_abs;
    uint64_t observed_peak;
    uint64_t requests_started, requests_completed, requests_total;
    bool has_warning;
    char warning[256];
    uint64_t gaps; /* stretches below the threshold between plateaus, turn-overs not counted */
    double gap_s;  /* their length in all */
    double request_throughput, input_throughput, output_throughput, total_token_throughput;
    double mean_ttft_ms, median_ttft_ms;
    double *percentiles_ttft_ms;
    double mean_tpot_ms, median_tpot_ms, p90_tpot_ms, p99_tpot_ms;
    size_t ttft_count;
};

/* Where the number of tokens that an event brought was taken from. */
enum token_source {
    TOKENS_RUNNING, /* the server's running count in every token event */
    TOKENS_SPREAD,  /* the request's output tokens, spread evenly over its events */
    TOKENS_UNKNOWN, /* nobody counted: one an event */
    TOKEN_SOURCE_COUNT,
};

/* Inter-token latency by tokens: a gap counts once for every token that it brought, with that share of its length.  An
 * event of no token hands its gap on to the next one. */
struct per_token {
    uint64_t requests[TOKEN_SOURCE_COUNT]; /* successes with a token event */
    double mean_tokens_per_event;
    uint64_t max_tokens_per_event;
    struct series_stats itl;
};

/* Requests whose answer began with reasoning, seen in the stream or reported by the server. */
struct reasoning {
    uint64_t requests;       /* successes with any reasoning; all else here is 0 without them */
    uint64_t without_answer; /* of them, those that ended before the visible answer began */
    uint64_t events;         /* token events of reasoning */
    double event_share;      /* of all token events of all successes, 0 to 1 */
    bool has_tokens;         /* the server reports reasoning tokens */
    uint64_t tokens;
    double token_share; /* of the output tokens of the requests that reported them, 0 to 1 */
    struct series_stats
        ttfa; /* start to the first token of the visible answer, of all successes that have one */
};

struct summary {
    double duration_s;
    uint64_t requested; /* records given */
    uint64_t sent;
    uint64_t completed;
    uint64_t failed;
    uint64_t unfinished; /* cut off at the end of a run that time bounds; not among the failed */
    uint64_t failures[FAILURE_COUNT]; /* per kind */
    uint64_t total_input_tokens;  /* server's count where given, else client's; successes only */
    uint64_t total_output_tokens; /* usage, else tokenised text, else 1 (METRICS 2) */
    uint64_t output_from_usage; /* successes whose output count came from usage / text / fallback */
    uint64_t output_from_text;
    uint64_t output_from_fallback;
    uint64_t total_cached_tokens; /* sum of prompt_tokens_details.cached_tokens */
    bool has_cached_tokens;
    double cached_token_share; /* of the input tokens of the requests that reported it, 0 to 1 */
    uint64_t input_from_usage; /* successes whose input the server counted */
    uint64_t total_input_sequences; /* pooling: inputs of the successes */
    double input_sequence_throughput;
    double rtfx; /* seconds of sound sent per second of the run */
    double request_throughput;
    double request_goodput; /* 0 unless goodput_given */
    double input_throughput;
    double output_throughput;
    double total_token_throughput;
    double max_output_tokens_per_s;       /* peers' definition: chunks per whole-second bucket */
    uint64_t max_concurrent_requests;     /* peers' definition */
    double exact_max_output_tokens_per_s; /* each chunk weighs out_len / events */
    uint64_t exact_max_concurrent_requests;
    struct series_stats series[SERIES_COUNT];
    double mean_queue_ms, p99_queue_ms; /* wait for the concurrency gate */
    struct per_token per_token;
    struct reasoning reasoning;
    struct steady_state steady;
};

void metrics_summarize(const struct record *records, size_t count,
                       const struct summary_options *options, struct summary *summary);
void summary_done(struct summary *summary);

/* Output tokens of one record as counted in the totals (0 for failures). */
uint64_t record_output_tokens(const struct record *r, bool has_tokenizer);
/* The server's count of prompt tokens where it gave one, else the client's. */
uint64_t record_input_tokens(const struct record *r);
/* Tokens that one token event of a success stands for: output tokens / events; 1 when nobody counted the tokens. */
double record_event_weight(const struct record *r, bool has_tokenizer);
/* Where the tokens of this record's events come from.  Running counts are only believed where every event had one and
 * the last one agrees with the final count: some servers send a constant. */
enum token_source record_token_source(const struct record *r, bool has_tokenizer);
/* Start to the first token of the visible answer, s; negative when there was none. */
double record_ttfa_s(const struct record *r);
/* Seconds, as in detailed results; 0 when the event never came.  The latency ends with the last token event, without any
 * (pooling) with the response.  That of a failure is 0 as in Python's results, its first token and gaps stay. */
double record_ttft_s(const struct record *r);
double record_latency_s(const struct record *r);
/* From due to start: the wait for the concurrency gate and the client's own send lag. */
double record_queue_s(const struct record *r);

#endif
