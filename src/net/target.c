/* Base URLs and the choice of the server's address.  The address is settled once, before the clock starts, so that name
 * look-ups and dead address families never show up in a latency. */
#include "net/target.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "net/sock.h"

enum { MAX_ADDRESSES = 16, ATTEMPT_DELAY_MS = 250, RESOLVE_TIMEOUT_MS = 5000 };

static uint16_t default_port(bool tls)
{
    return tls ? 443 : 80;
}

static void set_authority(struct net_target *t)
{
    const char *open = strchr(t->host, ':') != NULL ? "[" : "";
    const char *close = *open != '\0' ? "]" : "";
    if (t->port == default_port(t->tls))
        snprintf(t->authority, sizeof(t->authority), "%s%s%s", open, t->host, close);
    else
        snprintf(t->authority, sizeof(t->authority), "%s%s%s:%u", open, t->host, close, t->port);
    memcpy(t->dial_host, t->host, sizeof(t->dial_host));
    t->dial_port = t->port;
}

static bool set_host(struct net_target *t, struct sv host, struct sv url, struct error *err)
{
    if (host.len == 0)
        return error_set(err, E_USAGE, "'" SV_FMT "' names no host", SV_ARG(url));
    if (host.len >= sizeof(t->host))
        return error_set(err, E_USAGE, "the host in '" SV_FMT "' is longer than %zu bytes",
                         SV_ARG(url), sizeof(t->host) - 1);
    for (size_t i = 0; i < host.len; i++) {
        unsigned char c = (unsigned char)host.ptr[i];
        if (c <= ' ' || c == 127 || strchr("\"<>\\^`{|}@", c) != NULL)
            return error_set(err, E_USAGE,
                             "the host '" SV_FMT "' holds a character that no host has",
                             SV_ARG(host));
    }
    memcpy(t->host, host.ptr, host.len);
    t->host[host.len] = '\0';
    return true;
}

/* Takes "host", "host:port", "[v6]" or "[v6]:port" apart. */
static bool split_authority(struct sv authority, struct sv *host, struct sv *port)
{
    *port = sv_make(NULL, 0);
    if (authority.len > 0 && authority.ptr[0] == '[') {
        size_t close = sv_find(authority, ']');
        if (close == authority.len)
            return false;
        *host = sv_make(authority.ptr + 1, close - 1);
        struct sv rest = sv_skip(authority, close + 1);
        if (rest.len == 0)
            return true;
        if (rest.ptr[0] != ':')
            return false;
        *port = sv_skip(rest, 1);
        return true;
    }
    size_t colon = sv_find(authority, ':');
    *host = sv_make(authority.ptr, colon);
    if (colon < authority.len)
        *port = sv_skip(authority, colon + 1);
    return true;
}

/* The URL is not named: it may hold a password. */
static bool refuse_user(struct error *err)
{
    return error_set(err, E_USAGE,
                     "the URL holds a user name; leave it out and send it as "
                     "--header 'Authorization=Basic ...'");
}

/* The part of a URL that a message may hold: no query, which may carry a key, and with a user name only the scheme. */
static struct sv shown_part(struct sv url)
{
    struct sv shown = sv_make(url.ptr, 0);
    if (sv_find(url, '@') < url.len) {
        size_t colon = sv_find(url, ':');
        bool scheme = sv_starts(sv_skip(url, colon), SV_LIT("://"));
        shown.len = scheme ? colon + 3 : 0;
        return shown;
    }
    while (shown.len < url.len && url.ptr[shown.len] != '?' && url.ptr[shown.len] != '#')
        shown.len++;
    return shown;
}

bool target_parse(struct net_target *t, struct sv url, struct error *err)
{
    *t = (struct net_target){0};
    struct sv rest = url;
    struct sv shown = shown_part(url);
    if (rest.len >= 8 && sv_eq_nocase(sv_make(rest.ptr, 8), SV_LIT("https://"))) {
        t->tls = true;
        rest = sv_skip(rest, 8);
    } else if (rest.len >= 7 && sv_eq_nocase(sv_make(rest.ptr, 7), SV_LIT("http://"))) {
        rest = sv_skip(rest, 7);
    } else {
        return error_set(err, E_USAGE,
                         "'" SV_FMT
                         "' is not an http:// or https:// URL; e.g. http://127.0.0.1:8000",
                         SV_ARG(shown));
    }
    size_t slash = sv_find(rest, '/');
    if (sv_find(sv_make(rest.ptr, slash), '@') < slash)
        return refuse_user(err);
    if (sv_find(rest, '?') < rest.len || sv_find(rest, '#') < rest.len)
        return error_set(err, E_USAGE, "'" SV_FMT "' is a base URL and cannot hold a query",
                         SV_ARG(shown));
    struct sv host, port;
    if (!split_authority(sv_make(rest.ptr, slash), &host, &port))
        return error_set(err, E_USAGE, "'" SV_FMT "' has a malformed host; IPv6 is written [::1]",
                         SV_ARG(shown));
    if (!set_host(t, host, shown, err))
        return false;
    uint64_t number = default_port(t->tls);
    if (port.ptr != NULL && (!num_parse_u64(port, &number) || number > 65535 || number == 0))
        return sv_find(rest, '@') < rest.len /* a password with a slash in it */
                   ? refuse_user(err)
                   : error_set(err, E_USAGE,
                               "'" SV_FMT "' has port '" SV_FMT "'; 1 to 65535 is right",
                               SV_ARG(shown), SV_ARG(port));
    t->port = (uint16_t)number;
    struct sv path = sv_skip(rest, slash);
    while (path.len > 0 && path.ptr[path.len - 1] == '/')
        path.len--;
    if (path.len >= sizeof(t->prefix))
        return error_set(err, E_USAGE, "the path in '" SV_FMT "' is too long", SV_ARG(shown));
    if (path.len > 0)
        memcpy(t->prefix, path.ptr, path.len);
    set_authority(t);
    return true;
}

bool target_from_host(struct net_target *t, const char *host, int port, struct error *err)
{
    *t = (struct net_target){0};
    struct sv name = sv_from(host);
    if (name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']')
        name = sv_make(name.ptr + 1, name.len - 2);
    if (!set_host(t, name, name, err))
        return error_context(err, "--host");
    if (port < 1 || port > 65535)
        return error_set(err, E_USAGE, "--port: %d is not a port; 1 to 65535 is right", port);
    t->port = (uint16_t)port;
    set_authority(t);
    return true;
}

bool target_set_unix(struct net_target *t, const char *path, struct error *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    if (len == 0 || len >= sizeof(address.sun_path))
        return error_set(err, E_USAGE, "--unix-socket: '%s' is %s; a path has 1 to %zu bytes", path,
                         len == 0 ? "empty" : "too long", sizeof(address.sun_path) - 1);
    memcpy(address.sun_path, path, len + 1);
    memcpy(&t->address, &address, sizeof(address));
    t->address_len = sizeof(address);
    t->unix_path = path;
    t->answered = true;
    snprintf(t->address_text, sizeof(t->address_text), "unix:%s", path);
    return true;
}

void target_request_base(const struct net_target *t, struct buf *out)
{
    if (t->proxied && !t->tls)
        buf_add_fmt(out, "http://%s", t->authority);
    buf_add_str(out, t->prefix);
}

/* ---- resolution ------------------------------------------------------------------------------------------------ */

struct candidates {
    struct sockaddr_storage address[MAX_ADDRESSES];
    socklen_t len[MAX_ADDRESSES];
    size_t count;
};

static void take_family(struct candidates *c, const struct addrinfo *list, int family, size_t at,
                        size_t step)
{
    for (const struct addrinfo *a = list; a != NULL; a = a->ai_next) {
        if (a->ai_family != family || at >= MAX_ADDRESSES)
            continue;
        memcpy(&c->address[at], a->ai_addr, a->ai_addrlen);
        c->len[at] = a->ai_addrlen;
        at += step;
    }
}

/* Alternates the families, the resolver's first one first (RFC 8305 section 4). */
static void interleave(struct candidates *c, const struct addrinfo *list)
{
    int first = list->ai_family;
    int second = first == AF_INET ? AF_INET6 : AF_INET;
    take_family(c, list, first, 0, 2);
    take_family(c, list, second, 1, 2);
    size_t kept = 0;
    for (size_t i = 0; i < MAX_ADDRESSES; i++) {
        if (c->len[i] == 0)
            continue;
        c->address[kept] = c->address[i];
        c->len[kept++] = c->len[i];
    }
    c->count = kept;
}

/* "localhost" and names below it are the loopback addresses of both families whatever the hosts file says
 * (RFC 6761 6.3): servers listen on either. */
bool target_is_localhost(const char *host)
{
    struct sv name = sv_from(host);
    struct sv last = SV_LIT("localhost");
    if (name.len < last.len || !sv_eq_nocase(sv_skip(name, name.len - last.len), last))
        return false;
    return name.len == last.len || name.ptr[name.len - last.len - 1] == '.';
}

static void add_loopbacks(const struct net_target *t, struct candidates *c)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET,
                             .sin_port = htons(t->dial_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
                              .sin6_port = htons(t->dial_port),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    memcpy(&c->address[0], &v4, sizeof(v4));
    memcpy(&c->address[1], &v6, sizeof(v6));
    c->len[0] = sizeof(v4);
    c->len[1] = sizeof(v6);
    c->count = 2;
}

static bool look_up(struct net_target *t, struct candidates *c, struct error *err)
{
    if (target_is_localhost(t->dial_host)) {
        add_loopbacks(t, c);
        return true;
    }
    char port[8];
    snprintf(port, sizeof(port), "%u", t->dial_port);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    uint64_t begin = clock_mono_ns();
    int code = getaddrinfo(t->dial_host, port, &hints, &list);
    t->dns_ns = clock_mono_ns() - begin;
    if (code != 0)
        return error_set(err, E_NETWORK, "cannot resolve host '%s': %s; check --host or --base-url",
                         t->host, code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
    interleave(c, list);
    freeaddrinfo(list);
    if (c->count == 0)
        return error_set(err, E_NETWORK, "host '%s' has no IPv4 or IPv6 address", t->host);
    return true;
}

static void choose(struct net_target *t, const struct candidates *c, size_t i)
{
    t->address = c->address[i];
    t->address_len = c->len[i];
    sock_address_text(&t->address, t->address_text, sizeof(t->address_text));
}

/* Index of an attempt that has connected, or -1; failed ones get fd -1. */
static int first_connected(struct pollfd *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i].fd < 0 || fds[i].revents == 0)
            continue;
        if (sock_connect_result(fds[i].fd) == 0)
            return (int)i;
        close(fds[i].fd);
        fds[i].fd = -1;
    }
    return -1;
}

static bool any_open(const struct pollfd *fds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (fds[i].fd >= 0)
            return true;
    }
    return false;
}

/* Starts attempts 250 ms apart (at once when the earlier ones have failed) until one answers. */
static int race(const struct candidates *c)
{
    struct pollfd fds[MAX_ADDRESSES];
    size_t started = 0;
    int winner = -1;
    uint64_t end_ns = clock_mono_ns() + RESOLVE_TIMEOUT_MS * NS_PER_MS;
    while (winner < 0 && clock_mono_ns() < end_ns) {
        if (started < c->count) {
            int sys;
            fds[started].fd = sock_connect(&c->address[started], c->len[started], &sys);
            fds[started].events = POLLOUT;
            fds[started].revents = 0;
            started++;
        }
        if (!any_open(fds, started)) {
            if (started == c->count)
                break;
            continue;
        }
        int wait_ms = started < c->count ? ATTEMPT_DELAY_MS : RESOLVE_TIMEOUT_MS;
        if (poll(fds, started, wait_ms) > 0)
            winner = first_connected(fds, started);
    }
    for (size_t i = 0; i < started; i++) {
        if (fds[i].fd >= 0)
            close(fds[i].fd);
    }
    return winner;
}

bool target_resolve(struct net_target *t, struct error *err)
{
    if (t->unix_path != NULL)
        return true; /* its address is known */
    struct candidates c = {0};
    if (!look_up(t, &c, err))
        return false;
    /* A single address needs no race, and no connection that the server would count for nothing. */
    int winner = c.count == 1 ? 0 : race(&c);
    t->answered = winner >= 0;
    choose(t, &c, winner >= 0 ? (size_t)winner : 0);
    return true;
}
