/* Answers with a known length, the head of a stream, and error bodies of the form that vLLM sends. */
#include "mock/server_priv.h"

#include <stdio.h>

#include "base/clock.h"
#include "json/writer.h"

struct reason {
    int status;
    const char *text;
    const char *type; /* of the error object */
};

static const struct reason reasons[] = {
    {200, "OK", NULL},
    {400, "Bad Request", "BadRequestError"},
    {401, "Unauthorized", "AuthenticationError"},
    {403, "Forbidden", "PermissionDeniedError"},
    {404, "Not Found", "NotFoundError"},
    {405, "Method Not Allowed", "MethodNotAllowed"},
    {408, "Request Timeout", "RequestTimeout"},
    {413, "Content Too Large", "RequestEntityTooLarge"},
    {422, "Unprocessable Content", "UnprocessableEntityError"},
    {429, "Too Many Requests", "RateLimitError"},
    {431, "Request Header Fields Too Large", "BadRequestError"},
    {500, "Internal Server Error", "InternalServerError"},
    {501, "Not Implemented", "NotImplementedError"},
    {502, "Bad Gateway", "BadGateway"},
    {503, "Service Unavailable", "ServiceUnavailableError"},
    {504, "Gateway Timeout", "GatewayTimeout"},
    {505, "HTTP Version Not Supported", "BadRequestError"},
};

static const struct reason *find_reason(int status)
{
    static const struct reason unknown = {0, "Unknown", "Error"};
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        if (reasons[i].status == status)
            return &reasons[i];
    }
    return &unknown;
}

/* RFC 9110 5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT". */
static const char *date_text(struct mock_thread *t)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = (time_t)((t->now_ns + (uint64_t)t->real_minus_mono_ns) / NS_PER_S);
    struct tm tm;
    if (now != t->date_s && gmtime_r(&now, &tm) != NULL) {
        char text[96];
        snprintf(text, sizeof(text), "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT",
                 days + 3 * tm.tm_wday, tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900,
                 tm.tm_hour, tm.tm_min, tm.tm_sec);
        memcpy(t->date, text, sizeof(t->date) - 1);
        t->date_s = now;
    }
    return t->date;
}

/* Only what may stand in a header line is sent back. */
static bool is_safe_id(struct sv id)
{
    for (size_t i = 0; i < id.len; i++) {
        unsigned char c = (unsigned char)id.ptr[i];
        if (c < 0x20 || c > 0x7e)
            return false;
    }
    return id.len > 0 && id.len <= MOCK_ID_MAX;
}

static void add_head(struct mock_conn *c, int status, const char *type)
{
    const struct mock_request *r = &c->request;
    struct buf *out = &c->out;
    buf_add_fmt(out, "HTTP/1.1 %d %s\r\n", status, find_reason(status)->text);
    buf_add_fmt(out, "date: %s\r\nserver: vllm-bench-mock\r\ncontent-type: %s\r\n",
                date_text(c->thread), type);
    if (is_safe_id(r->request_id))
        buf_add_fmt(out, "x-request-id: " SV_FMT "\r\n", SV_ARG(r->request_id));
    if (c->closing)
        buf_add_str(out, "connection: close\r\n");
    else if (r->http10)
        buf_add_str(out, "connection: keep-alive\r\n");
}

static void decide_closing(struct mock_conn *c)
{
    if (!c->request.keep_alive || c->thread->server->options->close_each)
        c->closing = true;
}

void mock_reply_text(struct mock_conn *c, int status, const char *type, struct sv body)
{
    decide_closing(c);
    add_head(c, status, type);
    buf_add_fmt(&c->out, "content-length: %zu\r\n\r\n", body.len);
    if (!sv_eq(c->request.method, SV_LIT("HEAD")))
        buf_add(&c->out, body);
}

void mock_reply_bytes(struct mock_conn *c, const char *lines, struct sv body)
{
    decide_closing(c);
    add_head(c, 200, "application/octet-stream");
    buf_add_fmt(&c->out, "%scontent-length: %zu\r\n\r\n", lines, body.len);
    buf_add(&c->out, body);
}

void mock_reply_json(struct mock_conn *c, int status, struct sv body)
{
    mock_reply_text(c, status, "application/json", body);
}

void mock_reply_error_object(struct buf *out, int status, const char *param, const char *message)
{
    struct js_writer w;
    js_writer_init(&w, out);
    js_begin_object(&w);
    js_key(&w, "error");
    js_begin_object(&w);
    js_key(&w, "message");
    js_cstring(&w, message);
    js_key(&w, "type");
    js_cstring(&w, find_reason(status)->type);
    js_key(&w, "param");
    js_cstring(&w, param);
    js_key(&w, "code");
    js_int(&w, status);
    js_end_object(&w);
    js_end_object(&w);
}

void mock_reply_error(struct mock_conn *c, int status, const char *param, const char *message)
{
    struct buf body = {0};
    mock_reply_error_object(&body, status, param, message);
    mock_reply_json(c, status, buf_sv(&body));
    buf_done(&body);
}

void mock_reply_stream_head(struct mock_conn *c)
{
    bool chunked = c->thread->server->options->chunked && !c->request.http10;
    decide_closing(c);
    if (!chunked)
        c->closing = true;
    add_head(c, 200, "text/event-stream; charset=utf-8");
    buf_add_str(&c->out, chunked ? "transfer-encoding: chunked\r\n\r\n" : "\r\n");
}
