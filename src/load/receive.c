/* Takes a response apart: one read, its kernel stamp, then HTTP framing, event stream and the backend's scanner, all on
 * views of the read buffer.  Nothing here allocates per token event. */
#include "load/conn_priv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"

/* One read: its time on the monotonic clock and the token events found in it. */
struct reading {
    uint64_t time_ns;
    uint64_t previous_ns; /* the socket's read before it */
    unsigned tokens;
    struct backend_memo memo; /* of an event in this read */
};

/* ---- stamps ---------------------------------------------------------------------------------------------------- */

static bool plausible(uint64_t t, uint64_t floor_ns, uint64_t now_ns)
{
    return t >= floor_ns && t <= now_ns;
}

/* Kernel stamps count on the wall clock.  One that maps outside [the socket's previous read, now] was made before the
 * wall clock was stepped, or is off by the jitter of the two clocks: then the nearest possible instant is taken. */
static uint64_t map_stamp(struct worker *w, const struct conn *c, uint64_t real_ns, uint64_t now_ns)
{
    uint64_t t = real_ns - (uint64_t)w->real_offset_ns;
    if (plausible(t, c->last_read_ns, now_ns))
        return t;
    uint64_t old = real_ns - (uint64_t)w->previous_offset_ns;
    if (plausible(old, c->last_read_ns, now_ns))
        return old;
    return t > now_ns ? now_ns : c->last_read_ns;
}

static void take_stamp(struct worker *w, struct conn *c, uint64_t real_ns, struct reading *reading)
{
    uint64_t now = clock_mono_ns();
    reading->previous_ns = c->last_read_ns;
    w->stats.reads++;
    if (real_ns == 0) {
        reading->time_ns = now > c->last_read_ns ? now : c->last_read_ns;
    } else {
        reading->time_ns = map_stamp(w, c, real_ns, now);
        w->stats.kernel_stamps++;
        hist_add(&w->stats.receive_lag, now > reading->time_ns ? now - reading->time_ns : 0);
    }
    c->last_read_ns = reading->time_ns;
}

/* ---- events ---------------------------------------------------------------------------------------------------- */

static void take_token(struct worker *w, struct conn *c, const struct reply_event *event,
                       struct reading *reading)
{
    struct record *r = c->record;
    if (event->completion_tokens >= 0)
        record_event_counted(r, &w->slab, reading->time_ns, event->completion_tokens);
    else
        record_event(r, &w->slab, reading->time_ns);
    if (event->reasoning)
        r->reasoning_events++;
    else if (r->answer_first_ns == 0)
        r->answer_first_ns = reading->time_ns;
    r->answer_text = r->answer_text || event->text.len > 0;
    if (reading->tokens++ > 0) {
        uint64_t bound = reading->time_ns - reading->previous_ns;
        r->merged_events++;
        if (bound > r->merged_bound_ns)
            r->merged_bound_ns = bound;
    }
    if (w->plan->text != LOAD_TEXT_NONE)
        buf_add(&c->body, event->text);
}

static void take_counts(struct record *r, const struct reply_event *event)
{
    if (event->prompt_tokens >= 0)
        r->usage_prompt_tokens = event->prompt_tokens;
    if (event->completion_tokens >= 0)
        r->usage_completion_tokens = event->completion_tokens;
    if (event->cached_tokens >= 0)
        r->usage_cached_tokens = event->cached_tokens;
    if (event->reasoning_tokens >= 0)
        r->usage_reasoning_tokens = event->reasoning_tokens;
    if (!isnan(event->server_queue_ms))
        r->server_queue_s = event->server_queue_ms / 1000.0;
    if (!isnan(event->server_ttft_ms))
        r->server_ttft_s = event->server_ttft_ms / 1000.0;
}

static void take_error(struct worker *w, struct conn *c, const struct reply_event *event)
{
    if (c->has_error_event)
        return;
    struct sv error = event->error;
    if (error.len > ERROR_TEXT_MAX)
        error.len = ERROR_TEXT_MAX;
    buf_reset(&w->scratch);
    if (event->error_is_raw_string)
        js_unescape(error, &w->scratch);
    else
        buf_add(&w->scratch, error);
    c->has_error_event = true;
    c->error_event = record_slab_copy(&w->slab, buf_sv(&w->scratch));
}

/* False when the request has been ended. */
static bool take_scan(struct worker *w, struct conn *c, enum scan_result scan, struct sv data,
                      const struct reply_event *event, struct reading *reading)
{
    switch (scan) {
    case SCAN_TOKEN:
        take_token(w, c, event, reading);
        break;
    case SCAN_OTHER:
        break;
    case SCAN_ERROR:
        take_error(w, c, event);
        break;
    case SCAN_BAD: {
        char text[256];
        snprintf(text, sizeof(text), "malformed stream: an event is not valid JSON: %.*s",
                 data.len < 120 ? (int)data.len : 120, data.ptr);
        conn_fail(w, c, FAILURE_MALFORMED, sv_from(text));
        return false;
    }
    }
    take_counts(c->record, event);
    c->saw_done |= event->done;
    return true;
}

/* Data elsewhere lies in the parser's buffer, which its next event overwrites. */
static bool in_block(const struct worker *w, struct sv data)
{
    return (uintptr_t)data.ptr - (uintptr_t)w->block < READ_BLOCK;
}

/* Events that lie ready in the parser; false when the request has been ended. */
static bool take_events(struct worker *w, struct conn *c, struct reading *reading)
{
    struct sse_event sse;
    for (;;) {
        switch (sse_next(&c->sse, &sse)) {
        case SSE_NEED_MORE:
            return true;
        case SSE_TOO_LONG:
            conn_fail(w, c, FAILURE_MALFORMED, SV_LIT("malformed stream: an event is too long"));
            return false;
        case SSE_EVENT: {
            struct backend_memo *memo = &reading->memo;
            enum scan_result scan = backend_scan_next(w->plan->backend, memo, sse.name, sse.data);
            if (!take_scan(w, c, scan, sse.data, &memo->event, reading))
                return false;
            if (!in_block(w, sse.data))
                memo->data = sv_make(NULL, 0);
            break;
        }
        }
    }
}

/* ---- body ------------------------------------------------------------------------------------------------------ */

static bool status_ok(const struct conn *c)
{
    return c->http.head.status >= 200 && c->http.head.status < 300;
}

/* A pooling reply in bytes is not looked at; one in JSON in its place (an error) is. */
static enum body_kind kind_of_pooled(const struct worker *w, const struct conn *c)
{
    struct sv type = {0};
    if (w->plan->body->reply == BODY_REPLY_JSON)
        return BODY_PLAIN;
    http1_header(&c->http.head, SV_LIT("content-type"), &type);
    type.len = sv_find(type, ';');
    return sv_eq_nocase(sv_trim(type), SV_LIT("application/json")) ? BODY_PLAIN : BODY_DRAIN;
}

static enum body_kind kind_of_body(const struct worker *w, const struct conn *c, struct sv body)
{
    if (!status_ok(c))
        return BODY_ERROR;
    if (w->plan->backend->pooling)
        return kind_of_pooled(w, c);
    struct sv text = sv_trim(body);
    if (text.len == 0)
        return BODY_UNKNOWN;
    return text.ptr[0] == '{' || text.ptr[0] == '[' || text.ptr[0] == '<' ? BODY_PLAIN
                                                                          : BODY_EVENTS;
}

/* False when the request has been ended. */
static bool take_body(struct worker *w, struct conn *c, struct sv body, struct reading *reading)
{
    if (c->body_kind == BODY_UNKNOWN)
        c->body_kind = kind_of_body(w, c, body);
    switch (c->body_kind) {
    case BODY_UNKNOWN:
    case BODY_DRAIN:
        return true;
    case BODY_EVENTS:
        sse_feed(&c->sse, body);
        return take_events(w, c, reading);
    case BODY_ERROR:
        if (c->body.len < ERROR_BODY_MAX)
            buf_add(&c->body,
                    sv_make(body.ptr, body.len < ERROR_BODY_MAX ? body.len : ERROR_BODY_MAX));
        return true;
    case BODY_PLAIN:
        if (body.len > PLAIN_BODY_MAX - c->body.len) {
            conn_fail(w, c, FAILURE_MALFORMED, SV_LIT("the reply is longer than 64 MiB"));
            return false;
        }
        buf_add(&c->body, body);
        return true;
    }
    return true;
}

/* The body's coding; false when the request has been ended. */
static bool take_head(struct worker *w, struct conn *c)
{
    struct sv coding;
    c->record->http_status = c->http.head.status;
    if (!http1_header(&c->http.head, SV_LIT("content-encoding"), &coding) || coding.len == 0 ||
        sv_eq_nocase(coding, SV_LIT("identity")))
        return true;
    c->inflater = inflater_new(coding);
    if (c->inflater != NULL)
        return true;
    char text[160];
    snprintf(text, sizeof(text),
             "malformed response: Content-Encoding '%.*s' is none of gzip, deflate and identity",
             coding.len < 40 ? (int)coding.len : 40, coding.ptr);
    conn_fail(w, c, FAILURE_MALFORMED, sv_from(text));
    return false;
}

/* False when the request has been ended. */
static bool take_encoded(struct worker *w, struct conn *c, struct sv body, struct reading *reading)
{
    if (c->inflater == NULL)
        return take_body(w, c, body, reading);
    inflater_feed(c->inflater, body);
    for (;;) {
        struct sv plain;
        switch (inflater_next(c->inflater, &plain)) {
        case INFLATE_NEED_MORE:
            return true;
        case INFLATE_DATA:
            if (!take_body(w, c, plain, reading))
                return false;
            break;
        case INFLATE_BAD:
            conn_fail(w, c, FAILURE_MALFORMED,
                      SV_LIT("malformed response: the compressed body is damaged"));
            return false;
        }
    }
}

/* ---- the end of a response ------------------------------------------------------------------------------------- */

static void set_failure(struct worker *w, struct conn *c, enum failure_kind kind, struct sv text)
{
    c->record->failure = kind;
    c->record->error = record_slab_copy(&w->slab, text);
}

static void judge_status(struct worker *w, struct conn *c)
{
    const struct http1_head *head = &c->http.head;
    struct sv reason = head->reason.len > 200 ? sv_make(head->reason.ptr, 200) : head->reason;
    buf_reset(&w->scratch);
    buf_add_fmt(&w->scratch, "HTTP %d", head->status);
    if (reason.len > 0)
        buf_add_fmt(&w->scratch, " " SV_FMT, SV_ARG(reason));
    if (c->body.len > 0) {
        buf_add_str(&w->scratch, ": ");
        backend_error_text(buf_sv(&c->body), &w->scratch);
    }
    struct sv location;
    if (head->status / 100 == 3 && http1_header(head, SV_LIT("location"), &location))
        buf_add_fmt(&w->scratch, "; the server redirects to '%.*s': use that address in --base-url",
                    location.len < 300 ? (int)location.len : 300, location.ptr);
    set_failure(w, c, FAILURE_HTTP_STATUS, buf_sv(&w->scratch));
}

/* The counts of a reply in bytes come in a header, when they come. */
static void take_metadata(struct worker *w, struct conn *c)
{
    struct sv text;
    struct reply_event event;
    if (w->plan->body->reply == BODY_REPLY_BYTES &&
        http1_header(&c->http.head, SV_LIT("metadata"), &text) &&
        w->plan->backend->scan(sv_make("", 0), text, &event) == SCAN_OTHER)
        take_counts(c->record, &event);
}

/* The whole reply is one event: its time is the latency.  False when the request has been ended. */
static bool judge_pooled(struct worker *w, struct conn *c, const struct reading *reading)
{
    struct sv body = buf_sv(&c->body);
    struct reply_event event;
    char text[256];
    if (c->body_kind == BODY_DRAIN) {
        take_metadata(w, c);
        record_event(c->record, &w->slab, reading->time_ns);
        return true;
    }
    switch (w->plan->backend->scan(sv_make("", 0), body, &event)) {
    case SCAN_TOKEN:
    case SCAN_OTHER:
        record_event(c->record, &w->slab, reading->time_ns);
        take_counts(c->record, &event);
        break;
    case SCAN_ERROR:
        take_error(w, c, &event);
        set_failure(w, c, FAILURE_ERROR_EVENT, c->error_event);
        break;
    case SCAN_BAD:
        snprintf(text, sizeof(text), "malformed reply: the body is %s%.*s",
                 body.len > 0 ? "not valid JSON: " : "empty", body.len < 120 ? (int)body.len : 120,
                 body.ptr != NULL ? body.ptr : "");
        conn_fail(w, c, FAILURE_MALFORMED, sv_from(text));
        return false;
    }
    if (c->body.cap > PLAIN_BODY_KEPT)
        buf_done(&c->body);
    return true;
}

/* A stream that has ended in order may still lack what makes it a success. */
static void judge_stream(struct worker *w, struct conn *c)
{
    const struct backend *backend = w->plan->backend;
    if (c->has_error_event)
        set_failure(w, c, FAILURE_ERROR_EVENT, c->error_event);
    else if (c->record->events == 0 && backend->needs_terminal)
        set_failure(w, c, FAILURE_NO_TOKEN,
                    SV_LIT("never received a token delta; this response is marked as failed"));
    else if (c->record->events == 0)
        set_failure(
            w, c, FAILURE_NO_TOKEN,
            SV_LIT("never received a valid chunk to calculate TTFT; this response is marked "
                   "as failed"));
    else if (backend->needs_terminal && !c->saw_done)
        set_failure(w, c, FAILURE_CLOSED_EARLY, SV_LIT("stream ended without terminal event"));
}

/* Judges a complete response; false when the request has been ended by a malformed last event. */
static bool judge(struct worker *w, struct conn *c, struct reading *reading)
{
    if (c->body_kind == BODY_EVENTS) {
        sse_end(&c->sse);
        if (!take_events(w, c, reading))
            return false;
    }
    if (!status_ok(c)) {
        judge_status(w, c);
        return true;
    }
    if (w->plan->backend->pooling)
        return judge_pooled(w, c, reading);
    if (c->body_kind == BODY_PLAIN) {
        struct reply_event event;
        enum scan_result scan = backend_scan_plain(w->plan->backend, buf_sv(&c->body), &event);
        if (!take_scan(w, c, scan, buf_sv(&c->body), &event, reading))
            return false;
    }
    judge_stream(w, c);
    return true;
}

static void response_complete(struct worker *w, struct conn *c, bool at_eof,
                              struct reading *reading)
{
    if (!judge(w, c, reading))
        return;
    bool keep = !at_eof && c->http.head.keep_alive && http1_rest(&c->http).len == 0 &&
                !stream_wants_write(&c->stream);
    conn_finish(w, c, keep, reading->time_ns);
}

static void note_reading(struct worker *w, const struct reading *reading)
{
    if (reading->tokens == 0)
        return;
    w->stats.event_reads++;
    w->stats.token_events += reading->tokens;
    counter_add(&w->counters->tokens, reading->tokens);
    if (reading->tokens > 1) {
        w->stats.merged_reads++;
        w->stats.merged_events += reading->tokens - 1;
    }
}

static void take_response(struct worker *w, struct conn *c, struct reading *reading)
{
    for (;;) {
        struct sv body;
        switch (http1_next(&c->http, &body)) {
        case HTTP1_NEED_MORE:
            return;
        case HTTP1_HEAD:
            if (!take_head(w, c))
                return;
            break;
        case HTTP1_BODY:
            if (!take_encoded(w, c, body, reading))
                return;
            break;
        case HTTP1_DONE:
            response_complete(w, c, false, reading);
            return;
        case HTTP1_BAD: {
            char text[256];
            snprintf(text, sizeof(text), "malformed response: %s", c->http.problem);
            conn_fail(w, c, FAILURE_MALFORMED, sv_from(text));
            return;
        }
        }
    }
}

static void end_of_stream(struct worker *w, struct conn *c)
{
    struct reading reading = {.time_ns = clock_mono_ns(), .previous_ns = c->last_read_ns};
    if (c->record != NULL && c->answered && http1_end(&c->http) == HTTP1_DONE) {
        reading.time_ns = c->last_read_ns;
        response_complete(w, c, true, &reading);
        note_reading(w, &reading);
        return;
    }
    conn_broken(w, c, 0);
}

void conn_receive(struct worker *w, struct conn *c)
{
    uint64_t real_ns;
    ssize_t n = stream_read(&c->stream, w->block, READ_BLOCK, &real_ns);
    if (n < 0) {
        if (errno != EAGAIN)
            conn_broken(w, c, errno);
        return;
    }
    if (n == 0) {
        end_of_stream(w, c);
        return;
    }
    if (c->record ==
        NULL) { /* a server that talks unasked (408 before closing): not for a request */
        conn_close(w, c);
        return;
    }
    struct reading reading = {0};
    take_stamp(w, c, real_ns, &reading);
    c->answered = true;
    http1_feed(&c->http, sv_make(w->block, (size_t)n));
    take_response(w, c, &reading);
    note_reading(w, &reading);
}
