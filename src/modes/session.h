/* session.h - what one invocation needs before any run: the server's address, the model, the tokenizer.
 * Use: session_open; any number of runs (run.h); session_close.
 * Threads: main thread only.  Errors: struct error; session_close is needed after a failure too. */
#ifndef VB_MODES_SESSION_H
#define VB_MODES_SESSION_H

#include "backends/backend.h"
#include "config/config.h"
#include "load/server.h"
#include "modes/hub_watch.h"
#include "tokenizer/tokenizer.h"

#include <sys/types.h>

struct tls_context;

struct session {
    struct config *config; /* the caller's; the model that the server names is filled in */
    const struct backend *backend;
    struct net_target target;
    struct server server;
    struct tls_context *tls; /* NULL: plain */
    struct fetch_pool pool;  /* connections that are open before the load */
    struct arena arena;
    pid_t mock_pid;         /* 0: none */
    const char *wire_model; /* the name in request bodies */
    const char *tokenizer_id;
    struct tokenizer *tokenizer; /* NULL: none */
    struct hub_watch watch;      /* for tokenizers, then for data sets */
    struct buf path;             /* request target: prefix and endpoint */
};

bool session_open(struct session *s, struct config *config, struct error *err);
void session_close(struct session *s);

/* Looks the server's name up, once. */
bool session_resolve(struct session *s, struct error *err);

/* A text in which a server may have repeated a key, fit to be shown; it lives as long as the session. */
const char *session_redacted(struct session *s, const char *text);

#endif
