/* One streaming request as `serve` would send it, read by hand: which chunks come in which order, whether they come one
 * by one or all at once, and what the server says of its tokens. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "json/writer.h"
#include "modes/doctor_priv.h"
#include "net/http1.h"
#include "sse/sse.h"

enum { OUTPUT_TOKENS = 16, BLOCK = 64 * 1024, WAIT_S = 60, SHAPES_MAX = 24, TEXT_MAX = 500 };

enum shape { SHAPE_EMPTY, SHAPE_TOKEN, SHAPE_REASONING, SHAPE_USAGE, SHAPE_END };

static const char *const shape_names[] = {"no token", "token", "reasoning", "usage", "end"};

struct seen {
    struct {
        enum shape shape;
        unsigned count;
    } shapes[SHAPES_MAX];
    size_t shape_count;
    unsigned tokens;      /* events that carried some */
    unsigned token_reads; /* reads that carried such events */
    unsigned reads, stamped;
    int64_t prompt_tokens, completion_tokens;
    uint64_t begin_ns, first_ns, last_ns;
    int status;
    bool event_stream, done;
    bool token_in_read;   /* the read under way carried one */
    char fault[TEXT_MAX]; /* of the stream; empty: none */
    struct buf plain;     /* a body that is no stream */
};

static void add_shape(struct seen *seen, enum shape shape)
{
    size_t n = seen->shape_count;
    if (n > 0 && seen->shapes[n - 1].shape == shape) {
        seen->shapes[n - 1].count++;
    } else if (n < SHAPES_MAX) {
        seen->shapes[n].shape = shape;
        seen->shapes[n].count = 1;
        seen->shape_count++;
    }
}

static void set_fault(struct seen *seen, const char *what, struct sv text)
{
    size_t len = text.len < TEXT_MAX - 100 ? text.len : TEXT_MAX - 100;
    if (seen->fault[0] == '\0')
        snprintf(seen->fault, sizeof(seen->fault), "%s%.*s", what, (int)len, text.ptr);
}

static void take_event(const struct backend *backend, const struct sse_event *event,
                       struct seen *seen)
{
    struct reply_event said;
    enum scan_result result = backend->scan(event->name, event->data, &said);
    if (result == SCAN_BAD) {
        set_fault(seen, "a chunk is no JSON: ", event->data);
        return;
    }
    if (result == SCAN_ERROR) {
        set_fault(seen, "the server reports: ", said.error);
        return;
    }
    seen->prompt_tokens = said.prompt_tokens >= 0 ? said.prompt_tokens : seen->prompt_tokens;
    seen->completion_tokens =
        said.completion_tokens >= 0 ? said.completion_tokens : seen->completion_tokens;
    if (result == SCAN_TOKEN) {
        uint64_t now = clock_mono_ns();
        seen->first_ns = seen->first_ns != 0 ? seen->first_ns : now;
        seen->last_ns = now;
        seen->tokens++;
        seen->token_in_read = true;
    }
    seen->done = seen->done || said.done;
    add_shape(seen, result == SCAN_TOKEN          ? said.reasoning ? SHAPE_REASONING : SHAPE_TOKEN
                    : said.done                   ? SHAPE_END
                    : said.completion_tokens >= 0 ? SHAPE_USAGE
                                                  : SHAPE_EMPTY);
}

static void take_events(const struct backend *backend, struct sse *sse, struct seen *seen)
{
    struct sse_event event;
    while (sse_next(sse, &event) == SSE_EVENT)
        take_event(backend, &event, seen);
}

/* What has come of the response.  False when it has ended. */
static bool take_block(const struct backend *backend, struct http1 *http, struct sse *sse,
                       struct seen *seen)
{
    struct sv body;
    struct sv type;
    for (;;) {
        switch (http1_next(http, &body)) {
        case HTTP1_HEAD:
            seen->status = http->head.status;
            seen->event_stream = http1_header(&http->head, SV_LIT("content-type"), &type) &&
                                 sv_starts(type, SV_LIT("text/event-stream"));
            break;
        case HTTP1_BODY:
            if (seen->event_stream && seen->status == 200) {
                sse_feed(sse, body);
                take_events(backend, sse, seen);
            } else {
                buf_add(&seen->plain, body);
            }
            break;
        case HTTP1_DONE:
            sse_end(sse);
            take_events(backend, sse, seen);
            return false;
        case HTTP1_NEED_MORE:
            return true;
        case HTTP1_BAD:
            set_fault(seen, http->problem, SV_LIT(""));
            return false;
        }
    }
}

static bool wait_for(const struct net_stream *s, short events, uint64_t deadline_ns)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        struct pollfd p = {.fd = s->fd, .events = events};
        if (now >= deadline_ns)
            return false;
        int n = poll(&p, 1, (int)((deadline_ns - now) / NS_PER_MS) + 1);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return false;
    }
}

static void read_all(const struct backend *backend, struct net_stream *s, struct seen *seen)
{
    CLEANUP(mem_free_ptr) char *block = mem_alloc(BLOCK);
    struct http1 http;
    struct sse sse;
    uint64_t deadline = clock_mono_ns() + WAIT_S * NS_PER_S;
    http1_init(&http);
    sse_init(&sse);
    for (bool more = true; more;) {
        uint64_t stamp = 0;
        if (!wait_for(s, POLLIN, deadline)) {
            set_fault(seen, "no end of the answer within 60 s", SV_LIT(""));
            break;
        }
        ssize_t n = stream_read(s, block, BLOCK, &stamp);
        if (n > 0) {
            seen->reads++;
            seen->stamped += stamp != 0;
            http1_feed(&http, sv_make(block, (size_t)n));
            seen->token_in_read = false;
            more = take_block(backend, &http, &sse, seen);
            seen->token_reads += seen->token_in_read;
        } else if (n == 0) {
            if (http1_end(&http) != HTTP1_DONE)
                set_fault(seen, "the connection closed before the answer's end", SV_LIT(""));
            sse_end(&sse);
            take_events(backend, &sse, seen);
            more = false;
        } else if (errno != EAGAIN) {
            set_fault(seen, strerror(errno), SV_LIT(""));
            more = false;
        }
    }
    sse_done(&sse);
    http1_done(&http);
}

static bool connect_to(struct net_stream *s, const struct net_target *target)
{
    uint64_t deadline = clock_mono_ns() + 10 * NS_PER_S;
    enum stream_step step = stream_open(s, target) ? STREAM_WAIT : STREAM_FAILED;
    while (step == STREAM_WAIT && wait_for(s, stream_wants_write(s) ? POLLOUT : POLLIN, deadline))
        step = stream_advance(s);
    return step == STREAM_READY;
}

static bool make_body(struct doctor *d, struct buf *out, struct error *err)
{
    const struct backend *backend = d->session.backend;
    struct body_template *t = mem_new(struct body_template);
    struct buf model = {0};
    struct buf prompt = {0};
    struct sv views[BODY_MAX_VIEWS];
    struct js_writer w;
    bool ok = backend->body_parts(d->config, t, err);
    if (ok) {
        body_model_text(t, d->session.wire_model, &model);
        js_writer_init(&w, &prompt);
        js_cstring(&w, doctor_sample);
        struct body_values values = {
            .model = buf_sv(&model), .prompt = buf_sv(&prompt), .output_len = SV_LIT("16")};
        size_t n = body_expand(t, &values, views);
        for (size_t i = 0; i < n; i++)
            buf_add(out, views[i]);
        body_template_done(t);
    }
    buf_done(&model);
    buf_done(&prompt);
    mem_free_ptr(&t);
    return ok;
}

static void make_head(struct doctor *d, size_t body_len, struct buf *out)
{
    buf_add_fmt(out, "POST " SV_FMT " HTTP/1.1\r\n", SV_ARG(buf_sv(&d->session.path)));
    server_headers(&d->session.server, d->session.backend->content_type, out);
    buf_add_fmt(out, "Content-Length: %zu\r\n\r\n", body_len);
}

static bool ask(struct doctor *d, struct seen *seen, struct error *err)
{
    struct net_stream s = {.fd = -1};
    struct buf body = {0};
    struct buf head = {0};
    bool ok = make_body(d, &body, err);
    if (ok) {
        make_head(d, body.len, &head);
        ok = connect_to(&s, &d->session.target) ||
             error_set(err, E_NETWORK, "cannot connect: %s", stream_problem(&s));
    }
    if (ok) {
        struct iovec parts[2] = {{head.ptr, head.len}, {body.ptr, body.len}};
        seen->begin_ns = clock_mono_ns();
        ok = stream_write(&s, parts, 2) || error_sys(err, E_NETWORK, errno, "cannot send");
        while (ok && stream_wants_write(&s))
            ok = wait_for(&s, POLLOUT, seen->begin_ns + 10 * NS_PER_S) && stream_flush(&s);
    }
    if (ok)
        read_all(d->session.backend, &s, seen);
    stream_close(&s);
    buf_done(&body);
    buf_done(&head);
    return ok;
}

/* ---- verdicts --------------------------------------------------------------------------------------------------- */

static const char *mend_status(int status)
{
    switch (status) {
    case 401:
    case 403:
        return "set OPENAI_API_KEY, or give --header Authorization='Bearer KEY'";
    case 404:
        return "wrong --endpoint or --backend for this server, or it does not know --model";
    case 400:
    case 422:
        return "the server refuses a key of the request; --plain-openai sends only OpenAI's own";
    case 429:
        return "a limit of requests is in force: take it off, or a run measures the limit";
    default:
        return "see the server's log";
    }
}

static bool judge_answer(struct doctor *d, const struct seen *seen)
{
    struct buf message = {0};
    bool ok = false;
    if (seen->status != 200 && seen->status != 0) {
        backend_error_text(buf_sv(&seen->plain), &message);
        doctor_fail(d, "stream", mend_status(seen->status), "HTTP %d: %s", seen->status,
                    buf_cstr(&message));
    } else if (seen->fault[0] != '\0') {
        doctor_fail(d, "stream", "see the server's log, and the proxy's if there is one", "%s",
                    seen->fault);
    } else if (!seen->event_stream) {
        doctor_fail(d, "stream", "is streaming turned off by --extra-body, or by a gateway?",
                    "the answer is no event stream");
    } else if (seen->tokens == 0) {
        doctor_fail(d, "stream", "does the model answer at all?  Try --temperature 0",
                    "the stream holds no token");
    } else {
        ok = true;
    }
    buf_done(&message);
    return ok;
}

static void say_shapes(struct doctor *d, const struct seen *seen)
{
    struct buf text = {0};
    for (size_t i = 0; i < seen->shape_count; i++) {
        buf_add_str(&text, i > 0 ? ", " : "");
        if (seen->shapes[i].count > 1)
            buf_add_fmt(&text, "%u x ", seen->shapes[i].count);
        buf_add_str(&text, shape_names[seen->shapes[i].shape]);
    }
    doctor_ok(d, "stream", "first token after %.1f ms; chunks: %s",
              (double)(seen->first_ns - seen->begin_ns) / 1e6, buf_cstr(&text));
    buf_done(&text);
}

/* Tokens that come together have no times of their own. */
static void judge_spread(struct doctor *d, const struct seen *seen)
{
    if (seen->tokens >= 4 && seen->token_reads == 1)
        doctor_fail(d, "spread",
                    "something between buffers the stream (nginx: proxy_buffering off); "
                    "connect to the server itself",
                    "all %u chunks arrived at once: no latency between tokens can be measured",
                    seen->tokens);
    else if (seen->token_reads * 2 < seen->tokens)
        doctor_warn(d, "spread", "a proxy that buffers, or a network that is congested",
                    "%u chunks arrived in %u reads", seen->tokens, seen->token_reads);
    else
        doctor_ok(d, "spread", "%u chunks arrived in %u reads", seen->tokens, seen->token_reads);
}

static void judge_usage(struct doctor *d, const struct seen *seen)
{
    if (seen->completion_tokens < 0)
        doctor_warn(d, "usage",
                    "the server must honour stream_options.include_usage; else give a "
                    "local --tokenizer",
                    "the server does not say how many tokens it made");
    else if (seen->completion_tokens > (int64_t)seen->tokens + 1)
        doctor_warn(
            d, "usage",
            "with speculative decoding, or a stream interval above 1, this is so; read TPOT, "
            "not ITL",
            "%lld tokens came in %u chunks: gaps are between chunks, not tokens",
            (long long)seen->completion_tokens, seen->tokens);
    else if (seen->completion_tokens < OUTPUT_TOKENS && d->config->ignore_eos)
        doctor_warn(d, "usage",
                    "the server does not obey ignore_eos: answers will be shorter than "
                    "--random-output-len",
                    "%lld of %d tokens were made", (long long)seen->completion_tokens,
                    OUTPUT_TOKENS);
    else
        doctor_ok(d, "usage", "%lld tokens of the prompt, %lld of the answer",
                  (long long)seen->prompt_tokens, (long long)seen->completion_tokens);
}

static void judge_stamps(struct doctor *d, const struct seen *seen)
{
    if (d->session.target.unix_path != NULL)
        doctor_warn(d, "stamps", "measure over TCP where microseconds count",
                    "a unix-domain socket has no receive times of the kernel");
    else if (seen->stamped == 0)
        doctor_warn(d, "stamps", "does a sandbox or another kernel run this program?",
                    "the kernel gives no receive times: the program's own clock is used");
    else
        doctor_ok(d, "stamps", "the kernel stamped %u of %u reads", seen->stamped, seen->reads);
}

void doctor_check_stream(struct doctor *d, int64_t *prompt_tokens)
{
    struct error err = {0};
    struct seen seen = {.prompt_tokens = -1, .completion_tokens = -1};
    if (!d->session.backend->streams) {
        doctor_ok(d, "stream", "%s has none to check", d->session.backend->name);
        return;
    }
    if (!ask(d, &seen, &err)) {
        doctor_fail(d, "stream", NULL, "%s", err.message);
    } else if (judge_answer(d, &seen)) {
        say_shapes(d, &seen);
        judge_spread(d, &seen);
        judge_usage(d, &seen);
        judge_stamps(d, &seen);
        *prompt_tokens = seen.prompt_tokens;
    }
    buf_done(&seen.plain);
}
