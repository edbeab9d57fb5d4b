/* Blocking HTTP requests for what is not measured. */
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
    const char *method;
    struct sv path;
    int fd;
    uint64_t deadline_ns;
    struct error *err;
};

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
    return error_context(x->err, "%s http://%s%s" SV_FMT, x->method, x->target->authority,
                         x->target->prefix, SV_ARG(x->path));
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
            if (n > 0)
                http1_feed(parser, sv_make(block, (size_t)n));
            break;
        }
        }
    }
}

bool fetch(const struct net_target *target, const char *method, struct sv path, struct sv headers,
           struct sv body, uint64_t timeout_ns, struct fetch_reply *reply, struct error *err)
{
    struct exchange x = {target, method, path, -1, clock_mono_ns() + timeout_ns, err};
    *reply = (struct fetch_reply){0};
    if (target->tls)
        return fail(&x, "https is not supported by this version of vllm-bench", 0);
    struct buf head = {0};
    buf_add_fmt(&head, "%s %s" SV_FMT " HTTP/1.1\r\nHost: %s\r\nAccept: */*\r\nConnection: close\r\n",
                method, target->prefix, SV_ARG(path), target->authority);
    if (body.len > 0)
        buf_add_str(&head, "Content-Type: application/json\r\n");
    if (body.len > 0 || strcmp(method, "POST") == 0)
        buf_add_fmt(&head, "Content-Length: %zu\r\n", body.len);
    buf_add(&head, headers);
    buf_add_str(&head, "\r\n");
    struct http1 parser;
    http1_init(&parser);
    bool ok = connect_to(&x) && send_all(&x, buf_sv(&head), body) && read_reply(&x, &parser, reply);
    http1_done(&parser);
    buf_done(&head);
    if (x.fd >= 0)
        close(x.fd);
    if (!ok)
        fetch_reply_done(reply);
    return ok;
}
