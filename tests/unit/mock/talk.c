/* The test client of talk.h: blocking, with poll before every read so that no test can hang. */
#include "talk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void open_at(struct talk *t, const struct sockaddr *address, socklen_t len)
{
    *t = (struct talk){.fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(t->fd >= 0);
    assert_int_equal(connect(t->fd, address, len), 0);
    http1_init(&t->http);
}

void talk_open(struct talk *t, uint16_t port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    open_at(t, (const struct sockaddr *)&a, sizeof(a));
}

void talk_open_v6(struct talk *t, uint16_t port)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    a.sin6_addr = in6addr_loopback;
    open_at(t, (const struct sockaddr *)&a, sizeof(a));
}

void talk_send(struct talk *t, const char *text)
{
    size_t left = strlen(text);
    while (left > 0) {
        ssize_t n = send(t->fd, text, left, MSG_NOSIGNAL);
        assert_true(n > 0);
        text += n;
        left -= (size_t)n;
    }
}

void talk_post(struct talk *t, const char *path, const char *json)
{
    struct buf text = {0};
    buf_add_fmt(&text,
                "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                "Content-Length: %zu\r\n\r\n%s",
                path, strlen(json), json);
    talk_send(t, buf_cstr(&text));
    buf_done(&text);
}

void talk_get(struct talk *t, const char *path)
{
    char text[300];
    snprintf(text, sizeof(text), "GET %s HTTP/1.1\r\nHost: x\r\n\r\n", path);
    talk_send(t, text);
}

static bool take(struct talk *t, bool *bad)
{
    for (;;) {
        struct sv body = {0};
        switch (http1_next(&t->http, &body)) {
        case HTTP1_HEAD:
            t->status = t->http.head.status;
            t->keep_alive = t->http.head.keep_alive;
            buf_reset(&t->head);
            buf_add(&t->head, t->http.head.fields);
            break;
        case HTTP1_BODY:
            buf_add(&t->body, body);
            break;
        case HTTP1_DONE:
            return true;
        case HTTP1_NEED_MORE:
            return false;
        case HTTP1_BAD:
            *bad = true;
            return false;
        }
    }
}

enum talk_end talk_read_for(struct talk *t, int patience_ms)
{
    char block[4096];
    bool bad = false;
    buf_reset(&t->body);
    t->status = 0;
    struct buf kept = {0};
    buf_add(&kept, http1_rest(&t->http));
    http1_reset(&t->http);
    http1_feed(&t->http, buf_sv(&kept));
    bool done = take(t, &bad);
    struct buf rest = {0};
    if (done)
        buf_add(&rest, http1_rest(&t->http));
    assert_true(rest.len == 0); /* these tests never read two answers at once */
    buf_done(&rest);
    buf_done(&kept);
    while (!done && !bad) {
        struct pollfd p = {.fd = t->fd, .events = POLLIN};
        if (poll(&p, 1, patience_ms) == 0)
            return TALK_SILENT;
        ssize_t n = recv(t->fd, block, sizeof(block), 0);
        if (n < 0)
            return errno == ECONNRESET ? TALK_RESET : TALK_EOF;
        if (n == 0)
            return http1_end(&t->http) == HTTP1_DONE ? TALK_DONE : TALK_EOF;
        t->bytes += (uint64_t)n;
        t->reads++;
        http1_feed(&t->http, sv_make(block, (size_t)n));
        done = take(t, &bad);
    }
    assert_false(bad);
    return TALK_DONE;
}

enum talk_end talk_read(struct talk *t)
{
    enum talk_end end = talk_read_for(t, TALK_WAIT_MS);
    assert_int_not_equal(end, TALK_SILENT);
    return end;
}

void talk_close(struct talk *t)
{
    close(t->fd);
    http1_done(&t->http);
    buf_done(&t->head);
    buf_done(&t->body);
}

enum talk_end talk_once(struct talk *t, uint16_t port, const char *path, const char *json)
{
    talk_open(t, port);
    if (json != NULL)
        talk_post(t, path, json);
    else
        talk_get(t, path);
    return talk_read(t);
}

unsigned talk_count(const struct talk *t, const char *what)
{
    unsigned count = 0;
    size_t len = strlen(what);
    for (size_t i = 0; len > 0 && i + len <= t->body.len; i++)
        count += memcmp(t->body.ptr + i, what, len) == 0;
    return count;
}

bool talk_has(const struct talk *t, const char *what)
{
    return talk_count(t, what) > 0;
}
