/* Blocking HTTP requests for what is not measured, over a few kept connections. */
#include "net/fetch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/http1.h"
#include "net/sock.h"

struct exchange {
    const struct net_target *target;
    const struct fetch_call *call;
    struct net_stream stream;
    bool answered; /* a byte of the answer has come */
    bool keep;     /* the connection may be used again */
    uint64_t deadline_ns;
    uint64_t tell_ns; /* when to tell of a slow call; UINT64_MAX: never, or told */
    struct error *err;
};

/* ---- pool ------------------------------------------------------------------------------------------------------ */

void fetch_pool_init(struct fetch_pool *pool, const struct net_target *target)
{
    *pool = (struct fetch_pool){.target = target};
    pthread_mutex_init(&pool->lock, NULL);
}

bool fetch_pool_take(struct fetch_pool *pool, struct net_stream *stream)
{
    pthread_mutex_lock(&pool->lock);
    bool found = pool->count > 0;
    if (found)
        *stream = pool->idle[--pool->count];
    pthread_mutex_unlock(&pool->lock);
    return found;
}

static void pool_give(struct fetch_pool *pool, struct net_stream *stream)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->count < FETCH_POOL_MAX;
    if (room)
        pool->idle[pool->count++] = *stream;
    pthread_mutex_unlock(&pool->lock);
    if (!room)
        stream_close(stream);
}

void fetch_pool_done(struct fetch_pool *pool)
{
    if (pool->target == NULL)
        return;
    for (size_t i = 0; i < pool->count; i++)
        stream_close(&pool->idle[i]);
    pthread_mutex_destroy(&pool->lock);
    *pool = (struct fetch_pool){0};
}

/* ---- one exchange ---------------------------------------------------------------------------------------------- */

void fetch_reply_done(struct fetch_reply *reply)
{
    buf_done(&reply->body);
    *reply = (struct fetch_reply){0};
}

static bool fail(struct exchange *x, const char *what, int sys)
{
    if (sys != 0)
        error_sys(x->err, E_NETWORK, sys, "%s", what);
    else
        error_set(x->err, E_NETWORK, "%s", what);
    return error_context(x->err, "%s %s://%s%s" SV_FMT, x->call->method,
                         x->target->tls ? "https" : "http", x->target->authority, x->target->prefix,
                         SV_ARG(x->call->path));
}

static bool wait_for(struct exchange *x, short events)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        if (now >= x->deadline_ns)
            return fail(x, "no answer in time", 0);
        if (now >= x->tell_ns) {
            x->tell_ns = UINT64_MAX;
            x->call->patience->tell(x->call->patience->user);
        }
        uint64_t until = x->tell_ns < x->deadline_ns ? x->tell_ns : x->deadline_ns;
        uint64_t left_ms = (until - now) / NS_PER_MS + 1;
        struct pollfd p = {.fd = x->stream.fd, .events = events};
        int n = poll(&p, 1, left_ms > 1000000 ? 1000000 : (int)left_ms);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return fail(x, "cannot wait", errno);
    }
}

static bool connect_to(struct exchange *x)
{
    enum stream_step step = stream_open(&x->stream, x->target) ? STREAM_WAIT : STREAM_FAILED;
    while (step == STREAM_WAIT) {
        short events = stream_wants_write(&x->stream) ? POLLOUT : POLLIN;
        if (!wait_for(x, events))
            return false;
        step = stream_advance(&x->stream);
    }
    return step == STREAM_READY || fail(x, stream_problem(&x->stream), 0);
}

static bool send_all(struct exchange *x, struct sv head, struct sv body)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)head.ptr, head.len},
                             {(void *)(uintptr_t)body.ptr, body.len}};
    if (!stream_write(&x->stream, parts, 2))
        return fail(x, "cannot send", errno);
    while (stream_wants_write(&x->stream)) {
        if (!wait_for(x, POLLOUT))
            return false;
        if (!stream_flush(&x->stream))
            return fail(x, "cannot send", errno);
    }
    return true;
}

static bool read_reply(struct exchange *x, struct http1 *parser, struct fetch_reply *reply)
{
    enum { BLOCK = 64 * 1024 };
    CLEANUP(mem_free_ptr) char *block = mem_alloc(BLOCK);
    bool ended = false;
    for (;;) {
        struct sv body;
        enum http1_result r = ended ? http1_end(parser) : http1_next(parser, &body);
        switch (r) {
        case HTTP1_HEAD:
            reply->status = parser->head.status;
            break;
        case HTTP1_BODY:
            if (body.len > FETCH_MAX_BODY - reply->body.len)
                return fail(x, "the reply is longer than 256 MiB", 0);
            buf_add(&reply->body, body);
            break;
        case HTTP1_DONE:
            x->keep = !ended && parser->head.keep_alive && http1_rest(parser).len == 0;
            return true;
        case HTTP1_BAD:
            return fail(x, parser->problem, 0);
        case HTTP1_NEED_MORE: {
            uint64_t stamp;
            if (!wait_for(x, POLLIN))
                return false;
            ssize_t n = stream_read(&x->stream, block, BLOCK, &stamp);
            if (n < 0 && errno != EAGAIN)
                return fail(x, "cannot read the answer", errno);
            if (n == 0)
                ended = true;
            if (n > 0) {
                x->answered = true;
                http1_feed(parser, sv_make(block, (size_t)n));
            }
            break;
        }
        }
    }
}

static void write_head(const struct exchange *x, struct buf *head)
{
    const struct fetch_call *call = x->call;
    bool posts = strcmp(call->method, "POST") == 0;
    buf_add_fmt(head, "%s ", call->method);
    target_request_base(x->target, head);
    buf_add_fmt(head, SV_FMT " HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\n", SV_ARG(call->path),
                x->target->authority);
    if (x->target->proxied && !x->target->tls && x->target->proxy_authorization[0] != '\0')
        buf_add_fmt(head, "Proxy-Authorization: %s\r\n", x->target->proxy_authorization);
    if (call->body.len > 0)
        buf_add_str(head, "Content-Type: application/json\r\n");
    else if (posts) /* as Python's client labels an empty body */
        buf_add_str(head, "Content-Type: application/octet-stream\r\n");
    if (call->body.len > 0 || posts)
        buf_add_fmt(head, "Content-Length: %zu\r\n", call->body.len);
    buf_add(head, call->headers);
    buf_add_str(head, "\r\n");
}

/* One request and its reply on the open stream. */
static bool exchange(struct exchange *x, struct fetch_reply *reply)
{
    struct buf head = {0};
    struct http1 parser;
    write_head(x, &head);
    http1_init(&parser);
    bool ok = send_all(x, buf_sv(&head), x->call->body) && read_reply(x, &parser, reply);
    http1_done(&parser);
    buf_done(&head);
    if (!ok)
        fetch_reply_done(reply);
    return ok;
}

bool fetch(struct fetch_pool *pool, const struct fetch_call *call, uint64_t timeout_ns,
           struct fetch_reply *reply, struct error *err)
{
    struct exchange x = {.target = pool->target,
                         .call = call,
                         .stream.fd = -1,
                         .deadline_ns = clock_mono_ns() + timeout_ns,
                         .tell_ns = UINT64_MAX,
                         .err = err};
    if (call->patience != NULL)
        x.tell_ns = clock_mono_ns() + call->patience->after_ns;
    *reply = (struct fetch_reply){0};
    bool ok = fetch_pool_take(pool, &x.stream) && exchange(&x, reply);
    /* The server may have closed the idle connection meanwhile: then a new one decides. */
    if (!ok && !x.answered) {
        stream_close(&x.stream);
        ok = connect_to(&x) && exchange(&x, reply);
    }
    if (ok && x.keep)
        pool_give(pool, &x.stream);
    else
        stream_close(&x.stream);
    return ok;
}
