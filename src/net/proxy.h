/* proxy.h - the proxies of the environment, as Python's client honours them.
 * Use: proxy_from_env; proxy_apply on a parsed target, before target_resolve.
 * Variables: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY, lower case first (as curl and Python look).  NO_PROXY is a
 * list of hosts separated by commas; a name also stands for everything below it, a leading '.' is ignored, ":port"
 * limits an entry to a port, '*' is everything.  Loopback hosts and unix-domain sockets never use a proxy.
 * Threads: pure functions but for getenv.  Errors: struct error, code E_USAGE, that names the variable but never the
 * password in it. */
#ifndef VB_NET_PROXY_H
#define VB_NET_PROXY_H

#include "net/target.h"

struct proxy_settings {
    const char *http; /* URLs; NULL: none */
    const char *https;
    const char *all;
    const char *none_for; /* NO_PROXY */
};

struct proxy_settings proxy_from_env(void);

/* Turns the target to the proxy that its scheme asks for, if any: target->proxied says. */
bool proxy_apply(const struct proxy_settings *settings, struct net_target *target,
                 struct error *err);

#endif
