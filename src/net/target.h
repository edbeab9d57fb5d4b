/* target.h - where the server is: a parsed base URL and the address that answered.
 * Use: target_parse; target_resolve (DNS and happy eyeballs) before anything is sent; read-only afterwards.
 * Threads: read-only after target_resolve.  Errors: struct error (E_USAGE for a bad URL, E_NETWORK for DNS). */
#ifndef VB_NET_TARGET_H
#define VB_NET_TARGET_H

#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>
#include <sys/socket.h>

struct net_target {
    bool tls;
    char host[256]; /* without brackets */
    uint16_t port;
    char authority
        [300]; /* for the Host header: brackets for IPv6, the port unless it is the scheme's own */
    char prefix[1024];               /* path of the base URL without trailing '/', may be empty */
    struct sockaddr_storage address; /* chosen by target_resolve */
    socklen_t address_len;
    char address_text[80]; /* "127.0.0.1:8000", "[::1]:8000" */
    uint64_t dns_ns;       /* what the name look-up took */
    bool answered; /* false only when several addresses were tried and none accepted a connection */
};

/* "http://host:port/prefix"; host may be a bracketed IPv6 literal. */
bool target_parse(struct net_target *target, struct sv url, struct error *err);
/* Fills host and port from --host / --port; the host may be an IPv6 literal with or without brackets. */
bool target_from_host(struct net_target *target, const char *host, int port, struct error *err);

/* Looks the name up and connects once to find the address that answers: all addresses are tried, alternating
 * families, 250 ms apart (RFC 8305).  A host with one address is taken without trying.  No answer is no error: the
 * first address is kept and `answered` is false; requests will then fail with the reason. */
bool target_resolve(struct net_target *target, struct error *err);

#endif
