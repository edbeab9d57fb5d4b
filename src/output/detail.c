/* Arrays of a result, one value a request.  Requests that failed keep what they got (first token, gaps) but count no
 * latency, text or output tokens, as in Python's results; requests that were never sent have zeros. */
#include "output/detail.h"

#include <math.h>

#include "output/report_priv.h"

static double since_start_s(const struct run_report *report, uint64_t time_ns)
{
    return time_ns > report->start_ns ? (double)(time_ns - report->start_ns) / 1e9 : 0.0;
}

static void write_itl(struct js_writer *w, const struct record *r)
{
    struct record_cursor cursor;
    uint64_t gap_ns = 0;
    js_begin_array(w);
    record_gaps_begin(r, &cursor);
    while (record_gaps_next(&cursor, &gap_ns))
        js_double(w, (double)gap_ns / 1e9);
    js_end_array(w);
}

static void write_error(struct js_writer *w, const struct run_report *report,
                        const struct record *r)
{
    struct buf text = {0};
    report_redact(report, report_error_text(r), &text);
    js_string(w, buf_sv(&text));
    buf_done(&text);
}

enum column {
    INPUT_LENS,
    OUTPUT_LENS,
    TTFTS,
    ITLS,
    LATENCIES,
    START_TIMES,
    QUEUE_TIMES,
    GENERATED_TEXTS,
    ERRORS,
    COLUMN_COUNT,
};

static void write_column(struct js_writer *w, const struct run_report *report, enum column column,
                         const struct record *r)
{
    switch (column) {
    case INPUT_LENS:
        js_uint(w, record_input_tokens(r));
        break;
    case OUTPUT_LENS:
        js_uint(w, record_output_tokens(r, report->has_tokenizer));
        break;
    case TTFTS:
        js_double(w, record_ttft_s(r));
        break;
    case ITLS:
        write_itl(w, r);
        break;
    case LATENCIES:
        js_double(w, record_latency_s(r));
        break;
    case START_TIMES:
        js_double(w, since_start_s(report, r->start_ns));
        break;
    case QUEUE_TIMES:
        js_double(w, record_queue_s(r));
        break;
    case GENERATED_TEXTS:
        js_string(w, record_ok(r) ? r->text : SV_LIT(""));
        break;
    case ERRORS:
        write_error(w, report, r);
        break;
    case COLUMN_COUNT:
        break;
    }
}

/* Python writes four of them for pooling, the Rust tool one more. */
static const enum column POOLING_COLUMNS[] = {INPUT_LENS, LATENCIES, QUEUE_TIMES, ERRORS,
                                              START_TIMES};
enum { POOLING_COLUMN_COUNT = sizeof(POOLING_COLUMNS) / sizeof(POOLING_COLUMNS[0]) };

void detail_requests(struct fields *f, const struct run_report *report)
{
    static const char *const NAMES[COLUMN_COUNT] = {
        [INPUT_LENS] = "input_lens",
        [OUTPUT_LENS] = "output_lens",
        [TTFTS] = "ttfts",
        [ITLS] = "itls",
        [LATENCIES] = "latencies",
        [START_TIMES] = "start_times",
        [QUEUE_TIMES] = "queue_times",
        [GENERATED_TEXTS] = "generated_texts",
        [ERRORS] = "errors",
    };
    size_t columns = report->pooling ? (size_t)POOLING_COLUMN_COUNT : (size_t)COLUMN_COUNT;
    for (size_t at = 0; at < columns; at++) {
        enum column column = report->pooling ? POOLING_COLUMNS[at] : (enum column)at;
        if (!fields_key(f, NAMES[column]))
            continue;
        js_begin_array(&f->w);
        for (size_t i = 0; i < report->count; i++)
            write_column(&f->w, report, column, &report->records[i]);
        js_end_array(&f->w);
    }
}

static double server_queue(const struct record *r)
{
    return r->server_queue_s;
}

static double server_ttft(const struct record *r)
{
    return r->server_ttft_s;
}

static void server_array(struct fields *f, const struct run_report *report, const char *name,
                         double get(const struct record *))
{
    bool any = false;
    for (size_t i = 0; i < report->count && !any; i++)
        any = !isnan(get(&report->records[i]));
    if (!any || !fields_key(f, name))
        return;
    js_begin_array(&f->w);
    for (size_t i = 0; i < report->count; i++)
        js_double(&f->w, get(&report->records[i])); /* NaN is written as null */
    js_end_array(&f->w);
}

void detail_server_times(struct fields *f, const struct run_report *report)
{
    server_array(f, report, "server_queue_times", server_queue);
    server_array(f, report, "server_ttfts", server_ttft);
}

static void write_failure(struct js_writer *w, const struct run_report *report, size_t index)
{
    const struct record *r = &report->records[index];
    js_begin_object(w);
    js_key(w, "index");
    js_uint(w, index);
    js_key(w, "error");
    write_error(w, report, r);
    js_key(w, "prompt_len");
    js_uint(w, record_input_tokens(r));
    js_key(w, "start_time");
    js_double(w, since_start_s(report, r->start_ns));
    js_key(w, "latency");
    js_double(w, record_latency_s(r));
    js_key(w, "ttft");
    js_double(w, record_ttft_s(r));
    js_key(w, "output_tokens");
    js_uint(w, record_output_tokens(r, report->has_tokenizer));
    js_key(w, "itl");
    write_itl(w, r);
    js_key(w, "category");
    js_cstring(w, failure_name(r->done ? r->failure : FAILURE_INTERRUPTED));
    js_end_object(w);
}

void detail_failures(struct fields *f, const struct run_report *report)
{
    if (report->summary->failed == 0 || !fields_key(f, "failed_requests"))
        return;
    js_begin_array(&f->w);
    for (size_t i = 0; i < report->count; i++) {
        const struct record *r = &report->records[i];
        if (!record_ok(r) && !record_unfinished(r) && (r->sent || r->done))
            write_failure(&f->w, report, i);
    }
    js_end_array(&f->w);
}

enum client_column {
    CONNECT_TIMES,
    SEND_LAGS,
    DUE_TIMES,
    END_TIMES,
    ANSWER_TTFTS,
    CLIENT_INPUT_LENS,
    CACHED_TOKENS,
    EVENTS,
    MERGED_EVENTS,
    MERGED_BOUNDS,
    REASONING_EVENTS,
    TLS_TIMES,
    CLIENT_COLUMN_COUNT,
};

static void write_client_column(struct js_writer *w, const struct run_report *report,
                                enum client_column column, const struct record *r)
{
    switch (column) {
    case CONNECT_TIMES:
        js_double(w, (double)r->connect_ns / 1e9);
        break;
    case SEND_LAGS:
        js_double(w, (double)r->send_lag_ns / 1e9);
        break;
    case DUE_TIMES:
        js_double(w, since_start_s(report, r->due_ns));
        break;
    case END_TIMES:
        js_double(w, since_start_s(report, r->end_ns));
        break;
    case ANSWER_TTFTS:
        js_double(w, record_ttfa_s(r) > 0.0 ? record_ttfa_s(r) : 0.0);
        break;
    case REASONING_EVENTS:
        js_uint(w, r->reasoning_events);
        break;
    case TLS_TIMES:
        js_double(w, (double)r->tls_ns / 1e9);
        break;
    case CLIENT_INPUT_LENS:
        js_uint(w, r->prompt_len);
        break;
    case CACHED_TOKENS:
        if (r->usage_cached_tokens >= 0)
            js_int(w, r->usage_cached_tokens);
        else
            js_null(w);
        break;
    case EVENTS:
        js_uint(w, r->events);
        break;
    case MERGED_EVENTS:
        js_uint(w, r->merged_events);
        break;
    case MERGED_BOUNDS:
        js_double(w, (double)r->merged_bound_ns / 1e9);
        break;
    case CLIENT_COLUMN_COUNT:
        break;
    }
}

void detail_client(struct js_writer *w, const struct run_report *report)
{
    static const char *const NAMES[CLIENT_COLUMN_COUNT] = {
        [CONNECT_TIMES] = "connect_times",
        [SEND_LAGS] = "send_lags",
        [DUE_TIMES] = "due_times",
        [END_TIMES] = "end_times",
        [ANSWER_TTFTS] = "answer_ttfts",
        [CLIENT_INPUT_LENS] = "client_input_lens",
        [CACHED_TOKENS] = "cached_tokens",
        [EVENTS] = "token_events",
        [MERGED_EVENTS] = "merged_events",
        [MERGED_BOUNDS] = "merged_bounds",
        [REASONING_EVENTS] = "reasoning_events",
        [TLS_TIMES] = "tls_times",
    };
    for (enum client_column column = 0; column < CLIENT_COLUMN_COUNT; column++) {
        bool idle = (column == TLS_TIMES && report->client->tls_handshakes == 0) ||
                    (column == REASONING_EVENTS && report->summary->reasoning.requests == 0);
        if (idle)
            continue;
        js_key(w, NAMES[column]);
        js_begin_array(w);
        for (size_t i = 0; i < report->count; i++)
            write_client_column(w, report, column, &report->records[i]);
        js_end_array(w);
    }
}
