/* Which proxy, if any, stands between us and a target. */
#include "net/proxy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "base/num.h"

static const char *variable(const char *lower, const char *upper)
{
    const char *value = getenv(lower);
    if (value == NULL || *value == '\0')
        value = getenv(upper);
    return value != NULL && *value != '\0' ? value : NULL;
}

struct proxy_settings proxy_from_env(void)
{
    return (struct proxy_settings){
        .http = variable("http_proxy", "HTTP_PROXY"),
        .https = variable("https_proxy", "HTTPS_PROXY"),
        .all = variable("all_proxy", "ALL_PROXY"),
        .none_for = variable("no_proxy", "NO_PROXY"),
    };
}

static bool is_loopback(const char *host)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (target_is_localhost(host))
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

/* Does one NO_PROXY entry cover the host? */
static bool entry_covers(struct sv entry, const struct net_target *t)
{
    struct sv host = sv_from(t->host);
    if (sv_eq(entry, SV_LIT("*")))
        return true;
    size_t colon = sv_find(entry, ':');
    uint64_t port;
    if (colon < entry.len && sv_find(sv_skip(entry, colon + 1), ':') == entry.len - colon - 1 &&
        num_parse_u64(sv_skip(entry, colon + 1), &port)) {
        if (port != t->port)
            return false;
        entry.len = colon;
    }
    while (entry.len > 0 && entry.ptr[0] == '.')
        entry = sv_skip(entry, 1);
    if (entry.len == 0 || entry.len > host.len)
        return false;
    struct sv tail = sv_skip(host, host.len - entry.len);
    return sv_eq_nocase(tail, entry) &&
           (tail.len == host.len || host.ptr[host.len - tail.len - 1] == '.');
}

static bool exempt(const char *list, const struct net_target *t)
{
    struct sv rest = sv_from(list), entry;
    while (sv_split(&rest, ',', &entry)) {
        if (entry_covers(sv_trim(entry), t))
            return true;
    }
    return false;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Resolves %XX. */
static void unquote(struct sv text, struct buf *out)
{
    for (size_t i = 0; i < text.len; i++) {
        int high = -1, low = -1;
        if (text.ptr[i] == '%' && i + 2 < text.len) {
            high = hex_digit(text.ptr[i + 1]);
            low = hex_digit(text.ptr[i + 2]);
        }
        if (high >= 0 && low >= 0) {
            buf_add_char(out, (char)(high << 4 | low));
            i += 2;
        } else {
            buf_add_char(out, text.ptr[i]);
        }
    }
}

/* "user:password" of the URL becomes a Basic credential (RFC 7617). */
static bool set_credentials(struct net_target *t, struct sv userinfo)
{
    struct buf plain = {0};
    unquote(userinfo, &plain);
    bool fits = plain.len < 300;
    if (fits) {
        unsigned char code[404]; /* 4 bytes for 3 of 300, and the NUL */
        EVP_EncodeBlock(code, (const unsigned char *)plain.ptr, (int)plain.len);
        snprintf(t->proxy_authorization, sizeof(t->proxy_authorization), "Basic %s",
                 (const char *)code);
    }
    buf_done(&plain);
    return fits;
}

/* Position behind the last '@' before the path, 0 when there is none. */
static size_t after_userinfo(struct sv rest)
{
    size_t at = 0;
    for (size_t i = 0; i < rest.len && rest.ptr[i] != '/'; i++) {
        if (rest.ptr[i] == '@')
            at = i + 1;
    }
    return at;
}

static bool point_to(struct net_target *t, const char *variable_name, const char *url,
                     struct error *err)
{
    struct sv rest = sv_from(url);
    if (rest.len >= 7 && sv_eq_nocase(sv_make(rest.ptr, 7), SV_LIT("http://")))
        rest = sv_skip(rest, 7);
    else if (strstr(url, "://") != NULL)
        return error_set(err, E_USAGE,
                         "%s names a proxy that is not http://; unset it or use --no-proxy",
                         variable_name);
    size_t at = after_userinfo(rest);
    if (at > 0 && !set_credentials(t, sv_make(rest.ptr, at - 1)))
        return error_set(err, E_USAGE, "the credentials in %s are too long", variable_name);
    struct buf plain = {0};
    struct net_target proxy;
    buf_add_fmt(&plain, "http://" SV_FMT, SV_ARG(sv_skip(rest, at)));
    bool ok = target_parse(&proxy, buf_sv(&plain), err) || error_context(err, "%s", variable_name);
    buf_done(&plain);
    if (!ok)
        return false;
    memcpy(t->dial_host, proxy.host, sizeof(t->dial_host));
    t->dial_port = proxy.port;
    t->proxied = true;
    return true;
}

bool proxy_apply(const struct proxy_settings *settings, struct net_target *t, struct error *err)
{
    const char *url = t->tls ? settings->https : settings->http;
    const char *name = t->tls ? "HTTPS_PROXY" : "HTTP_PROXY";
    if (url == NULL) {
        url = settings->all;
        name = "ALL_PROXY";
    }
    if (url == NULL || t->unix_path != NULL || is_loopback(t->host))
        return true;
    if (settings->none_for != NULL && exempt(settings->none_for, t))
        return true;
    return point_to(t, name, url, err);
}
