/* What happens to the bytes of a stream: HTTP chunks, event framing, the reply's scanner, the JSON reader under it.
 * The data are 64 events as vLLM writes them, each in a chunk of its own; the floor is memchr over the same bytes from
 * line end to line end, which any reader of lines must do. */
#include "bench/micro/micro.h"

#include "backends/backend.h"
#include "base/buf.h"
#include "json/scan.h"
#include "net/http1.h"
#include "sse/sse.h"

#include <string.h>

enum { EVENTS = 64 };

struct stream {
    const struct backend *backend;
    struct buf head;    /* of the response */
    struct buf body;    /* 64 events */
    struct buf chunked; /* the same with HTTP framing */
    struct sv event[EVENTS];
};

static uint64_t skip_lines(struct sv text)
{
    uint64_t lines = 0;
    const char *end = text.ptr + text.len;
    const char *at = text.ptr;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        at++;
        lines++;
    }
    return lines;
}

static uint64_t floor_body(void *context, size_t rounds)
{
    const struct stream *s = context;
    uint64_t sum = 0;
    while (rounds-- > 0)
        sum += skip_lines(buf_sv(&s->body));
    return sum;
}

static uint64_t floor_chunked(void *context, size_t rounds)
{
    const struct stream *s = context;
    uint64_t sum = 0;
    while (rounds-- > 0)
        sum += skip_lines(buf_sv(&s->chunked));
    return sum;
}

static uint64_t run_skip(void *context, size_t rounds)
{
    const struct stream *s = context;
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < EVENTS; i++) {
            struct js_scan scan;
            js_scan_init(&scan, s->event[i]);
            sum += js_scan_skip(&scan, NULL) && js_scan_end(&scan);
        }
    }
    return sum;
}

static uint64_t run_scan(void *context, size_t rounds)
{
    const struct stream *s = context;
    uint64_t sum = 0;
    while (rounds-- > 0) {
        for (size_t i = 0; i < EVENTS; i++) {
            struct reply_event event;
            sum += s->backend->scan(sv_make("", 0), s->event[i], &event) == SCAN_TOKEN;
        }
    }
    return sum;
}

static uint64_t take_events(const struct stream *s, struct sse *sse, bool scan,
                            struct backend_memo *memo)
{
    struct sse_event event;
    uint64_t sum = 0;
    while (sse_next(sse, &event) == SSE_EVENT) {
        if (scan)
            sum += backend_scan_next(s->backend, memo, event.name, event.data) == SCAN_TOKEN;
        else
            sum += event.data.len;
    }
    return sum;
}

static uint64_t feed_body(const struct stream *s, size_t rounds, bool scan)
{
    struct sse sse;
    uint64_t sum = 0;
    sse_init(&sse);
    while (rounds-- > 0) {
        struct backend_memo memo = {0};
        sse_feed(&sse, buf_sv(&s->body));
        sum += take_events(s, &sse, scan, &memo);
    }
    sse_done(&sse);
    return sum;
}

static uint64_t run_sse(void *context, size_t rounds)
{
    return feed_body(context, rounds, false);
}

static uint64_t run_sse_scan(void *context, size_t rounds)
{
    return feed_body(context, rounds, true);
}

static uint64_t feed_chunked(const struct stream *s, size_t rounds, bool events)
{
    struct http1 http;
    struct sse sse;
    struct sv piece;
    uint64_t sum = 0;
    http1_init(&http);
    sse_init(&sse);
    http1_feed(&http, buf_sv(&s->head));
    while (http1_next(&http, &piece) != HTTP1_NEED_MORE)
        sum++;
    while (rounds-- > 0) {
        struct backend_memo memo = {0};
        http1_feed(&http, buf_sv(&s->chunked));
        while (http1_next(&http, &piece) == HTTP1_BODY) {
            sum += piece.len;
            if (events) {
                sse_feed(&sse, piece);
                sum += take_events(s, &sse, true, &memo);
            }
        }
    }
    sse_done(&sse);
    http1_done(&http);
    return sum;
}

static uint64_t run_http1(void *context, size_t rounds)
{
    return feed_chunked(context, rounds, false);
}

static uint64_t run_all(void *context, size_t rounds)
{
    return feed_chunked(context, rounds, true);
}

static void make_stream(struct stream *s, const char *backend, const char *before,
                        const char *after)
{
    static const char *const words[] = {" a",  " about", " the",  " \\u00e9t\\u00e9", " and",
                                        " we", ",",      " \\\"", " function",        "\\n"};
    size_t start[EVENTS];
    size_t len[EVENTS];
    s->backend = backend_find(backend);
    buf_add_str(&s->head, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
                          "transfer-encoding: chunked\r\n\r\n");
    for (size_t i = 0; i < EVENTS; i++) {
        size_t begin = s->body.len;
        buf_add_str(&s->body, "data: ");
        start[i] = s->body.len;
        buf_add_fmt(&s->body, "%s%s%s", before, words[i * 7 % 10], after);
        len[i] = s->body.len - start[i];
        buf_add_str(&s->body, "\n\n");
        buf_add_fmt(&s->chunked, "%zx\r\n", s->body.len - begin);
        buf_add(&s->chunked, sv_make(s->body.ptr + begin, s->body.len - begin));
        buf_add_str(&s->chunked, "\r\n");
    }
    for (size_t i = 0; i < EVENTS; i++)
        s->event[i] = sv_make(s->body.ptr + start[i], len[i]);
}

#define CASE(what, kind, stream, run_fn, floor_fn, data)                                           \
    ((struct micro_case){what " (" kind ")", "memchr of its line ends", EVENTS, (data).len,        \
                         run_fn, floor_fn, stream})

const struct micro_case *micro_stream_cases(void)
{
    static struct stream text;
    static struct stream chat;
    static struct micro_case cases[16];
    make_stream(&text, "openai",
                "{\"id\":\"cmpl-5f0e2c9a7d9b4c0a8f6a\",\"object\":\"text_completion\","
                "\"created\":1796036128,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\","
                "\"choices\":[{\"index\":0,\"text\":\"",
                "\",\"logprobs\":null,\"finish_reason\":null,\"stop_reason\":null,"
                "\"prompt_token_ids\":null,\"token_ids\":null}]}");
    make_stream(&chat, "openai-chat",
                "{\"id\":\"chatcmpl-5f0e2c9a7d9b4c0a8f6a\",\"object\":\"chat.completion.chunk\","
                "\"created\":1796036128,\"model\":\"meta-llama/Llama-3.1-8B-Instruct\","
                "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"",
                "\"},\"logprobs\":null,\"finish_reason\":null,\"token_ids\":null}]}");
    size_t n = 0;
    cases[n++] = CASE("http1+sse+scan", "completions", &text, run_all, floor_chunked, text.chunked);
    cases[n++] = CASE("http1+sse+scan", "chat", &chat, run_all, floor_chunked, chat.chunked);
    cases[n++] = CASE("sse+scan", "completions", &text, run_sse_scan, floor_body, text.body);
    cases[n++] = CASE("sse+scan", "chat", &chat, run_sse_scan, floor_body, chat.body);
    cases[n++] = CASE("http1", "chunk an event", &text, run_http1, floor_chunked, text.chunked);
    cases[n++] = CASE("sse", "completions", &text, run_sse, floor_body, text.body);
    cases[n++] = CASE("backend scan", "completions", &text, run_scan, floor_body, text.body);
    cases[n++] = CASE("backend scan", "chat", &chat, run_scan, floor_body, chat.body);
    cases[n++] = CASE("js_scan_skip", "completions", &text, run_skip, floor_body, text.body);
    return cases;
}
