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
    int fd;
    bool answered; /* a byte of the answer has come */
    bool keep;     /* the connection may be used again */
    uint64_t deadline_ns;
    struct error *err;
};

/* ---- pool ------------------------------------------------------------------------------------------------------ */

void fetch_pool_init(struct fetch_pool *pool, const struct net_target *target)
{
    *pool = (struct fetch_pool){.target = target};
    pthread_mutex_init(&pool->lock, NULL);
}

int fetch_pool_take(struct fetch_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    int fd = pool->count > 0 ? pool->idle[--pool->count] : -1;
    pthread_mutex_unlock(&pool->lock);
    return fd;
}

static void pool_give(struct fetch_pool *pool, int fd)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->count < FETCH_POOL_MAX;
    if (room)
        pool->idle[pool->count++] = fd;
    pthread_mutex_unlock(&pool->lock);
    if (!room)
        close(fd);
}

void fetch_pool_done(struct fetch_pool *pool)
{
    if (pool->target == NULL)
        return;
    for (size_t i = 0; i < pool->count; i++)
        close(pool->idle[i]);
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
    return error_context(x->err, "%s http://%s%s" SV_FMT, x->call->method, x->target->authority,
                         x->target->prefix, SV_ARG(x->call->path));
}

static bool wait_for(struct exchange *x, short events)
{
    for (;;) {
        uint64_t now = clock_mono_ns();
        if (now >= x->deadline_ns)
            return fail(x, "no answer in time", 0);
        uint64_t left_ms = (x->deadline_ns - now) / NS_PER_MS + 1;
        struct pollfd p = {.fd = x->fd, .events = events};
        int n = poll(&p, 1, left_ms > 1000000 ? 1000000 : (int)left_ms);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return fail(x, "cannot wait", errno);
    }
}

static bool connect_to(struct exchange *x)
{
    int sys;
    x->fd = sock_connect(&x->target->address, x->target->address_len, &sys);
    if (x->fd >= 0) {
        if (!wait_for(x, POLLOUT))
            return false;
        sys = sock_connect_result(x->fd);
    }
    if (sys == 0)
        return true;
    char text[256];
    sock_connect_error_text(sys, x->target->address_text, text, sizeof(text));
    return fail(x, text, 0);
}

static bool send_all(struct exchange *x, struct sv head, struct sv body)
{
    while (head.len + body.len > 0) {
        struct iovec parts[2] = {{(void *)(uintptr_t)head.ptr, head.len},
                                 {(void *)(uintptr_t)body.ptr, body.len}};
        ssize_t n = sock_write(x->fd, parts, 2);
        if (n < 0 && errno != EAGAIN)
            return fail(x, "cannot send", errno);
        if (n < 0 && !wait_for(x, POLLOUT))
            return false;
        size_t sent = n > 0 ? (size_t)n : 0;
        size_t of_head = sent < head.len ? sent : head.len;
        head = sv_skip(head, of_head);
        body = sv_skip(body, sent - of_head);
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
            ssize_t n = sock_read(x->fd, block, BLOCK, &stamp);
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
    buf_add_fmt(head, "%s %s" SV_FMT " HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\n", call->method,
                x->target->prefix, SV_ARG(call->path), x->target->authority);
    if (call->body.len > 0)
        buf_add_str(head, "Content-Type: application/json\r\n");
    else if (posts) /* as Python's client labels an empty body */
        buf_add_str(head, "Content-Type: application/octet-stream\r\n");
    if (call->body.len > 0 || posts)
        buf_add_fmt(head, "Content-Length: %zu\r\n", call->body.len);
    buf_add(head, call->headers);
    buf_add_str(head, "\r\n");
}

/* On the connection x->fd; it is closed when it cannot be used again. */
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
                         .deadline_ns = clock_mono_ns() + timeout_ns,
                         .err = err};
    *reply = (struct fetch_reply){0};
    if (x.target->tls)
        return fail(&x, "https is not supported by this version of vllm-bench", 0);
    x.fd = fetch_pool_take(pool);
    bool ok = x.fd >= 0 && exchange(&x, reply);
    /* The server may have closed the idle connection meanwhile: then a new one decides. */
    if (!ok && !x.answered) {
        if (x.fd >= 0)
            close(x.fd);
        ok = connect_to(&x) && exchange(&x, reply);
    }
    if (ok && x.keep)
        pool_give(pool, x.fd);
    else if (x.fd >= 0)
        close(x.fd);
    return ok;
}
