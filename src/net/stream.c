/* Setting a connection up is a walk through phases: TCP connect, the proxy's CONNECT, the TLS handshake.  Reading keeps
 * the kernel's receive stamp through TLS, because the socket is read here and OpenSSL sees only memory. */
#include "net/stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/http1.h"
#include "net/sock.h"
#include "net/tls.h"

enum { SETUP_BLOCK = 4096, PROXY_REPLY_MAX = 16 * 1024 };

static enum stream_step failed(struct net_stream *s, const char *what, const char *why)
{
    struct buf text = {0};
    buf_add_str(&text, what);
    buf_add_str(&text, why);
    free(s->problem);
    s->problem = buf_take(&text);
    return STREAM_FAILED;
}

static enum stream_step failed_connect(struct net_stream *s, int sys)
{
    char text[320];
    sock_connect_error_text(sys, s->target->address_text, text, sizeof(text));
    return failed(s, text, "");
}

bool stream_open(struct net_stream *s, const struct net_target *target)
{
    int sys;
    s->target = target;
    s->begun_ns = clock_mono_ns();
    s->tls_begun_ns = 0;
    s->fd = sock_connect(&target->address, target->address_len, &sys);
    if (s->fd < 0) {
        failed_connect(s, sys);
        return false;
    }
    s->phase = STREAM_CONNECT;
    return true;
}

void stream_close(struct net_stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    s->phase = STREAM_CLOSED;
    tls_session_free(TAKE(s->tls));
    buf_done(&s->out);
    buf_done(&s->in);
    s->out_sent = 0;
    free(TAKE(s->problem));
}

const char *stream_problem(const struct net_stream *s)
{
    return s->problem != NULL ? s->problem : "connection failed";
}

/* ---- sending --------------------------------------------------------------------------------------------------- */

/* True unless the connection is broken; what the kernel does not take stays. */
static bool flush_buffer(struct net_stream *s)
{
    while (s->out_sent < s->out.len) {
        struct iovec rest = {s->out.ptr + s->out_sent, s->out.len - s->out_sent};
        ssize_t n = sock_write(s->fd, &rest, 1);
        if (n < 0)
            return errno == EAGAIN;
        s->out_sent += (size_t)n;
    }
    buf_done(&s->out);
    s->out_sent = 0;
    return true;
}

static bool flush_tls(struct net_stream *s)
{
    for (;;) {
        struct sv cipher = tls_output(s->tls);
        if (cipher.len == 0)
            return true;
        struct iovec part = {(void *)(uintptr_t)cipher.ptr, cipher.len};
        ssize_t n = sock_write(s->fd, &part, 1);
        if (n < 0)
            return errno == EAGAIN;
        tls_output_sent(s->tls, (size_t)n);
    }
}

bool stream_flush(struct net_stream *s)
{
    return flush_buffer(s) && (s->tls == NULL || flush_tls(s));
}

bool stream_wants_write(const struct net_stream *s)
{
    if (s->phase == STREAM_CONNECT || s->out.len > 0)
        return true;
    return s->tls != NULL && tls_output(s->tls).len > 0;
}

static void keep_rest(struct net_stream *s, const struct iovec *parts, int count, size_t sent)
{
    for (int i = 0; i < count; i++) {
        struct sv part = sv_make(parts[i].iov_base, parts[i].iov_len);
        size_t skip = sent < part.len ? sent : part.len;
        sent -= skip;
        buf_add(&s->out, sv_skip(part, skip));
    }
}

static bool write_tls(struct net_stream *s, const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++) {
        if (tls_encrypt(s->tls, sv_make(parts[i].iov_base, parts[i].iov_len)) != TLS_OK) {
            failed(s, tls_problem(s->tls), "");
            errno = EPROTO;
            return false;
        }
    }
    return flush_tls(s);
}

bool stream_write(struct net_stream *s, const struct iovec *parts, int count)
{
    if (s->tls != NULL)
        return write_tls(s, parts, count);
    size_t sent = 0, total = 0;
    for (int i = 0; i < count; i++)
        total += parts[i].iov_len;
    if (s->out.len == 0) {
        ssize_t n = sock_write(s->fd, parts, count);
        if (n < 0 && errno != EAGAIN)
            return false;
        sent = n > 0 ? (size_t)n : 0;
    }
    if (sent < total)
        keep_rest(s, parts, count, sent);
    return true;
}

/* ---- setting up ------------------------------------------------------------------------------------------------ */

static enum stream_step begin_tls(struct net_stream *s);

static enum stream_step open_now(struct net_stream *s)
{
    s->phase = STREAM_OPEN;
    return STREAM_READY;
}

static enum stream_step begin_tunnel(struct net_stream *s)
{
    const struct net_target *t = s->target;
    const char *open = strchr(t->host, ':') != NULL ? "[" : "";
    const char *close = *open != '\0' ? "]" : "";
    s->phase = STREAM_TUNNEL;
    buf_add_fmt(&s->out, "CONNECT %s%s%s:%u HTTP/1.1\r\nHost: %s%s%s:%u\r\n", open, t->host, close,
                t->port, open, t->host, close, t->port);
    if (t->proxy_authorization[0] != '\0')
        buf_add_fmt(&s->out, "Proxy-Authorization: %s\r\n", t->proxy_authorization);
    buf_add_str(&s->out, "\r\n");
    return flush_buffer(s) ? STREAM_WAIT : failed(s, "the proxy closed the connection", "");
}

static enum stream_step read_tunnel(struct net_stream *s)
{
    char block[SETUP_BLOCK];
    uint64_t stamp;
    ssize_t n = sock_read(s->fd, block, sizeof(block), &stamp);
    if (n < 0 && errno == EAGAIN)
        return flush_buffer(s) ? STREAM_WAIT : failed(s, "the proxy closed the connection", "");
    if (n <= 0 || s->in.len > PROXY_REPLY_MAX)
        return failed(s, "the proxy closed the connection before the tunnel was open", "");
    buf_add(&s->in, sv_make(block, (size_t)n));
    struct http1 parser;
    struct sv body;
    http1_init(&parser);
    http1_expect_no_body(&parser);
    http1_feed(&parser, buf_sv(&s->in));
    enum http1_result result = http1_next(&parser, &body);
    int status = parser.head.status;
    char text[64];
    snprintf(text, sizeof(text), "HTTP %d", status);
    http1_done(&parser);
    if (result == HTTP1_NEED_MORE)
        return STREAM_WAIT;
    if (result != HTTP1_HEAD)
        return failed(s, "the proxy's answer is not HTTP", "");
    if (status / 100 != 2)
        return failed(s, "the proxy refused the tunnel: ", text);
    buf_done(&s->in);
    return begin_tls(s);
}

static enum stream_step go_on_with_tls(struct net_stream *s)
{
    switch (tls_handshake(s->tls)) {
    case TLS_OK:
        return flush_tls(s) ? open_now(s) : failed(s, "connection closed in the TLS handshake", "");
    case TLS_AGAIN:
        return flush_tls(s) ? STREAM_WAIT : failed(s, "connection closed in the TLS handshake", "");
    case TLS_CLOSED:
        return failed(s, "the server ended the TLS handshake", "");
    case TLS_FAILED:
        break;
    }
    flush_tls(s); /* the alert tells the server why */
    return failed(s, tls_problem(s->tls), "");
}

static enum stream_step begin_tls(struct net_stream *s)
{
    s->phase = STREAM_HANDSHAKE;
    s->tls_begun_ns = clock_mono_ns();
    s->tls = tls_session_new(s->target->tls_context, s->target->host);
    return go_on_with_tls(s);
}

static enum stream_step read_tls_handshake(struct net_stream *s)
{
    char block[SETUP_BLOCK];
    uint64_t stamp;
    ssize_t n = sock_read(s->fd, block, sizeof(block), &stamp);
    if (n < 0 && errno == EAGAIN)
        return flush_tls(s) ? STREAM_WAIT : failed(s, "connection closed in the TLS handshake", "");
    if (n <= 0)
        return failed(
            s, "connection closed by the server in the TLS handshake; does it speak https?", "");
    tls_input(s->tls, sv_make(block, (size_t)n));
    return go_on_with_tls(s);
}

static enum stream_step connected(struct net_stream *s)
{
    int sys = sock_connect_result(s->fd);
    if (sys != 0)
        return failed_connect(s, sys);
    if (s->target->tls && s->target->proxied)
        return begin_tunnel(s);
    return s->target->tls ? begin_tls(s) : open_now(s);
}

enum stream_step stream_advance(struct net_stream *s)
{
    switch (s->phase) {
    case STREAM_CONNECT:
        return connected(s);
    case STREAM_TUNNEL:
        return read_tunnel(s);
    case STREAM_HANDSHAKE:
        return read_tls_handshake(s);
    case STREAM_OPEN:
        return STREAM_READY;
    case STREAM_CLOSED:
        break;
    }
    return STREAM_FAILED;
}

/* ---- reading --------------------------------------------------------------------------------------------------- */

static ssize_t read_tls(struct net_stream *s, char *into, size_t cap, uint64_t *stamp_real_ns)
{
    /* The cipher text lands in `into` first and is decrypted over itself: OpenSSL copies its input. */
    ssize_t n = sock_read(s->fd, into, cap, stamp_real_ns);
    if (n > 0)
        tls_input(s->tls, sv_make(into, (size_t)n));
    else if (n < 0 && errno != EAGAIN)
        return n;
    size_t len;
    enum tls_result result = tls_decrypt(s->tls, into, cap, &len);
    if (result == TLS_OK)
        return (ssize_t)len;
    if (result == TLS_CLOSED || (n == 0 && result == TLS_AGAIN))
        return 0;
    if (result == TLS_FAILED)
        failed(s, tls_problem(s->tls), "");
    errno = result == TLS_AGAIN ? EAGAIN : EPROTO;
    return -1;
}

ssize_t stream_read(struct net_stream *s, char *into, size_t cap, uint64_t *stamp_real_ns)
{
    if (s->tls == NULL)
        return sock_read(s->fd, into, cap, stamp_real_ns);
    return read_tls(s, into, cap, stamp_real_ns);
}
