/* The way to the server, layer by layer, so that the first that fails is named: address, proxy, name look-up, each
 * address of the host, TLS. */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "modes/doctor_priv.h"
#include "net/proxy.h"
#include "net/sock.h"
#include "net/tls.h"

enum { CONNECT_MS = 3000, ADDRESSES_MAX = 16 };

static double ms_since(uint64_t begin_ns)
{
    return (double)(clock_mono_ns() - begin_ns) / 1e6;
}

/* Waits for a connection under way; 0 or errno. */
static int finish_connect(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n;
    do {
        n = poll(&p, 1, CONNECT_MS);
    } while (n < 0 && errno == EINTR);
    return n == 0 ? ETIMEDOUT : n < 0 ? errno : sock_connect_result(fd);
}

static int try_address(const struct addrinfo *info, double *took_ms)
{
    struct sockaddr_storage address = {0};
    int sys = 0;
    memcpy(&address, info->ai_addr, info->ai_addrlen);
    uint64_t begin = clock_mono_ns();
    int fd = sock_connect(&address, info->ai_addrlen, &sys);
    if (fd < 0)
        return sys;
    sys = finish_connect(fd);
    *took_ms = ms_since(begin);
    close(fd);
    return sys;
}

static const char *mend_connect(int sys, bool others)
{
    if (others && (sys == ENETUNREACH || sys == EADDRNOTAVAIL || sys == EHOSTUNREACH))
        return "this machine has no way there by that family; the other address is used";
    if (others)
        return "name the address that answers (--host), or let the server listen on both families";
    if (sys == ECONNREFUSED)
        return "nothing listens there: is the server up, on this port (vLLM: 8000), and on an "
               "address "
               "that can be reached from here (--host 0.0.0.0)?";
    if (sys == ETIMEDOUT)
        return "no answer at all: a firewall, a wrong address, or a machine that is down";
    return "see whether the machine can be reached at all: ping, traceroute";
}

static void add_address(char *text, size_t cap, const struct addrinfo *info)
{
    struct sockaddr_storage address = {0};
    memcpy(&address, info->ai_addr, info->ai_addrlen);
    sock_address_text(&address, text, cap);
}

/* Slower than this a first token's latency is the network's as much as the server's. */
static const double FAR_MS = 20;

static bool connect_all(struct doctor *d, const struct addrinfo *list)
{
    struct {
        char text[128];
        int sys;
        double ms;
    } tried[ADDRESSES_MAX];
    size_t count = 0;
    size_t open = 0;
    for (const struct addrinfo *i = list; i != NULL && count < ADDRESSES_MAX; i = i->ai_next) {
        add_address(tried[count].text, sizeof(tried[count].text), i);
        tried[count].sys = try_address(i, &tried[count].ms);
        open += tried[count++].sys == 0;
    }
    for (size_t i = 0; i < count; i++) {
        if (tried[i].sys != 0 && open > 0)
            doctor_warn(d, "connect", mend_connect(tried[i].sys, true), "%s: %s", tried[i].text,
                        strerror(tried[i].sys));
        else if (tried[i].sys != 0)
            doctor_fail(d, "connect", mend_connect(tried[i].sys, false), "%s: %s", tried[i].text,
                        strerror(tried[i].sys));
        else if (tried[i].ms > FAR_MS)
            doctor_warn(d, "connect",
                        "measure from nearer by: every first token's latency contains "
                        "this way",
                        "%s is %.1f ms away", tried[i].text, tried[i].ms);
        else
            doctor_ok(d, "connect", "%s in %.2f ms", tried[i].text, tried[i].ms);
    }
    return open > 0;
}

static void say_families(struct doctor *d, const char *host, const struct addrinfo *list, double ms)
{
    unsigned v4 = 0;
    unsigned v6 = 0;
    for (const struct addrinfo *i = list; i != NULL; i = i->ai_next) {
        v4 += i->ai_family == AF_INET;
        v6 += i->ai_family == AF_INET6;
    }
    if (ms > 500)
        doctor_warn(d, "dns", "give the address itself, or see to the resolver of this machine",
                    "looking '%s' up took %.0f ms", host, ms);
    else
        doctor_ok(d, "dns", "'%s': %u IPv4, %u IPv6 in %.1f ms", host, v4, v6, ms);
}

static bool check_network(struct doctor *d)
{
    const struct net_target *t = &d->session.target;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_family = AF_UNSPEC};
    struct addrinfo *list = NULL;
    char port[8];
    snprintf(port, sizeof(port), "%u", t->dial_port);
    uint64_t begin = clock_mono_ns();
    int code = getaddrinfo(t->dial_host, port, &hints, &list);
    if (code != 0) {
        doctor_fail(d, "dns",
                    "is the name spelt right, and known on this machine (/etc/hosts, DNS)?",
                    "'%s': %s", t->dial_host, gai_strerror(code));
        return false;
    }
    say_families(d, t->dial_host, list, ms_since(begin));
    bool ok = connect_all(d, list);
    freeaddrinfo(list);
    return ok;
}

static enum stream_step open_stream(struct net_stream *s, const struct net_target *target)
{
    enum stream_step step = stream_open(s, target) ? STREAM_WAIT : STREAM_FAILED;
    while (step == STREAM_WAIT) {
        short events = stream_wants_write(s) ? POLLOUT : POLLIN;
        struct pollfd p = {.fd = s->fd, .events = events};
        int n = poll(&p, 1, CONNECT_MS);
        if (n == 0 || (n < 0 && errno != EINTR))
            return STREAM_WAIT; /* no answer in time */
        step = n > 0 ? stream_advance(s) : step;
    }
    return step;
}

static bool check_tls(struct doctor *d)
{
    struct net_stream stream = {.fd = -1};
    const struct net_target *t = &d->session.target;
    enum stream_step step = open_stream(&stream, t);
    if (step == STREAM_READY && t->tls)
        doctor_ok(d, "tls", "handshake in %.1f ms%s", ms_since(stream.tls_begun_ns),
                  d->config->insecure ? "; the certificate was not checked (--insecure)" : "");
    else if (step == STREAM_WAIT)
        doctor_fail(d, t->tls ? "tls" : "connect", "does the server speak TLS there?  Try http://",
                    "no answer within %d s", CONNECT_MS / 1000);
    else if (step == STREAM_FAILED)
        doctor_fail(d, t->tls ? "tls" : "connect",
                    t->tls
                        ? "give the certificate of its authority (--cacert FILE), or --insecure; "
                          "http:// where it speaks no TLS"
                        : NULL,
                    "%s", stream_problem(&stream));
    stream_close(&stream);
    return step == STREAM_READY;
}

static bool set_address(struct doctor *d, struct error *err)
{
    const struct config *config = d->config;
    struct net_target *t = &d->session.target;
    if (config->base_url != NULL && !target_parse(t, sv_from(config->base_url), err))
        return error_context(err, "--base-url");
    if (config->base_url == NULL && !target_from_host(t, config->host, config->port, err))
        return false;
    if (config->unix_socket != NULL && !target_set_unix(t, config->unix_socket, err))
        return false;
    struct proxy_settings settings = proxy_from_env();
    return config->no_proxy || proxy_apply(&settings, t, err);
}

static bool set_tls(struct doctor *d, struct error *err)
{
    const struct config *config = d->config;
    struct tls_options options = {config->insecure, config->ca_file, config->cert_file,
                                  config->key_file};
    if (!d->session.target.tls)
        return true;
    d->session.tls = tls_context_new(&options, err);
    d->session.target.tls_context = d->session.tls;
    return d->session.tls != NULL;
}

bool doctor_check_way(struct doctor *d)
{
    struct session *s = &d->session;
    struct error err = {0};
    *s = (struct session){.config = d->config};
    if (!set_address(d, &err) || !set_tls(d, &err)) {
        doctor_fail(d, "address", "e.g. --base-url http://127.0.0.1:8000", "%s", err.message);
        return false;
    }
    doctor_ok(d, "address", "%s://%s%s", s->target.tls ? "https" : "http", s->target.authority,
              s->target.prefix);
    if (s->target.proxied)
        doctor_warn(d, "proxy", "--no-proxy connects directly; figures contain the proxy",
                    "the environment names %s:%u", s->target.dial_host, s->target.dial_port);
    if (s->target.unix_path == NULL && !check_network(d))
        return false;
    if (!target_resolve(&s->target, &err)) {
        doctor_fail(d, "dns", NULL, "%s", err.message);
        return false;
    }
    if (!check_tls(d))
        return false;
    fetch_pool_init(&s->pool, &s->target);
    s->server = (struct server){d->config, &s->target, &s->pool};
    return true;
}
