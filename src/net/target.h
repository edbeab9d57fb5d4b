/* target.h - where the server is: a parsed base URL and the address that answered.
 * Use: target_parse; target_resolve (DNS and happy eyeballs) before anything is sent; read-only afterwards.
 * Threads: read-only after target_resolve.  Errors: struct error (E_USAGE for a bad URL, E_NETWORK for DNS). */
#ifndef VB_NET_TARGET_H
#define VB_NET_TARGET_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>
#include <sys/socket.h>

struct tls_context;

struct net_target {
    bool tls;
    char host[256]; /* without brackets */
    uint16_t port;
    char authority
        [300]; /* for the Host header: brackets for IPv6, the port unless it is the scheme's own */
    char prefix[1024]; /* path of the base URL without trailing '/', may be empty */

    /* How to get there.  target_parse and target_from_host fill it for the direct way. */
    char dial_host[256]; /* the host itself, or the proxy */
    uint16_t dial_port;
    const char *unix_path; /* NULL: TCP; borrowed, lives as long as the target */
    bool proxied; /* through an HTTP proxy (proxy.h): a tunnel with TLS, absolute URLs without */
    char proxy_authorization[512];   /* value of Proxy-Authorization, "" for none; never shown */
    struct tls_context *tls_context; /* with tls: set by the caller, borrowed */

    struct sockaddr_storage address; /* chosen by target_resolve */
    socklen_t address_len;
    char address_text[128]; /* "127.0.0.1:8000", "[::1]:8000", "unix:/path" */
    uint64_t dns_ns;        /* what the name look-up took */
    bool answered; /* false only when several addresses were tried and none accepted a connection */
};

/* "http://host:port/prefix"; host may be a bracketed IPv6 literal. */
bool target_parse(struct net_target *target, struct sv url, struct error *err);
/* Fills host and port from --host / --port; the host may be an IPv6 literal with or without brackets. */
bool target_from_host(struct net_target *target, const char *host, int port, struct error *err);

/* Connect to this unix-domain socket; host and port stay what requests name. */
bool target_set_unix(struct net_target *target, const char *path, struct error *err);

/* "localhost" or a name below it (RFC 6761 6.3). */
bool target_is_localhost(const char *host);

/* Appends what stands before the path in a request line: the prefix, after "http://authority" for a proxy that forwards
 * plain requests. */
void target_request_base(const struct net_target *target, struct buf *out);

/* Looks the name up and connects once to find the address that answers: all addresses are tried, alternating
 * families, 250 ms apart (RFC 8305).  A host with one address is taken without trying.  No answer is no error: the
 * first address is kept and `answered` is false; requests will then fail with the reason. */
bool target_resolve(struct net_target *target, struct error *err);

#endif
