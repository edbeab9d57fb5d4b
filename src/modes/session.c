/* Settling the server, the model and the tokenizer, in this order: each may have to ask the one before. */
#include "modes/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "config/secrets.h"
#include "datasets/dataset.h"
#include "mock/mock.h"
#include "modes/hub_tokenizer.h"
#include "net/proxy.h"
#include "net/tls.h"
#include "output/notes.h"

/* Questions to the server's tokenizer at a time.  A server tokenizes in a few threads; more only wait there. */
enum { TOKENIZER_CONNECTIONS = 8 };

enum { HUB_RETRIES = 3 };

const char *session_redacted(struct session *s, const char *text)
{
    struct buf out = {0};
    config_redact(s->config, sv_from(text), &out);
    struct sv kept = arena_copy(&s->arena, buf_sv(&out));
    buf_done(&out);
    return kept.ptr;
}

static bool start_mock(struct session *s, struct error *err)
{
    struct config *config = s->config;
    if (!config->mock)
        return true;
    struct mock_options options;
    mock_options_init(&options);
    uint16_t port;
    if (!mock_spawn(&options, &s->mock_pid, &port, err))
        return error_context(err, "--mock");
    config->base_url = NULL;
    config->host = "127.0.0.1";
    config->port = port;
    note(stderr, "Embedded mock server: http://127.0.0.1:%u", port);
    return true;
}

static bool set_backend(struct session *s, struct error *err)
{
    s->backend = backend_find(s->config->backend);
    if (s->backend == NULL) {
        error_set(err, E_USAGE, "--backend: '%s' is not a backend of this version",
                  s->config->backend);
        return false;
    }
    return true;
}

/* TLS, proxy, unix-domain socket: how the target is reached. */
static bool set_way(struct session *s, struct error *err)
{
    const struct config *config = s->config;
    if (config->unix_socket != NULL && !target_set_unix(&s->target, config->unix_socket, err))
        return false;
    if (!config->no_proxy) {
        struct proxy_settings settings = proxy_from_env();
        if (!proxy_apply(&settings, &s->target, err))
            return false;
    }
    if (s->target.proxied)
        note(stderr, "Proxy of the environment: %s:%u (--no-proxy connects directly)",
             s->target.dial_host, s->target.dial_port);
    if (!s->target.tls)
        return true;
    struct tls_options options = {config->insecure, config->ca_file, config->cert_file,
                                  config->key_file};
    s->tls = tls_context_new(&options, err);
    s->target.tls_context = s->tls;
    return s->tls != NULL;
}

static bool set_target(struct session *s, struct error *err)
{
    const struct config *config = s->config;
    bool ok = config->base_url != NULL
                  ? target_parse(&s->target, sv_from(config->base_url), err) ||
                        error_context(err, "--base-url")
                  : target_from_host(&s->target, config->host, config->port, err);
    if (!ok)
        return false;
    if (!set_way(s, err))
        return false;
    fetch_pool_init(&s->pool, &s->target);
    s->server = (struct server){config, &s->target, &s->pool};
    struct sv endpoint =
        sv_from(config->endpoint != NULL ? config->endpoint : s->backend->endpoint);
    const char *suffix2 = s->backend->endpoint_suffix2;
    if (!sv_ends(endpoint, sv_from(s->backend->endpoint_suffix)) &&
        (suffix2 == NULL || !sv_ends(endpoint, sv_from(suffix2))))
        note(stderr, "warning: --endpoint '" SV_FMT "' does not end in '%s', as %s requests expect",
             SV_ARG(endpoint), s->backend->endpoint_suffix, s->backend->name);
    if (sv_ends(sv_from(s->target.prefix), SV_LIT("/v1")) && sv_starts(endpoint, SV_LIT("/v1/")))
        note(stderr,
             "warning: --base-url ends in /v1 and the endpoint '" SV_FMT "' begins with it; "
             "requests go to %s" SV_FMT,
             SV_ARG(endpoint), s->target.prefix, SV_ARG(endpoint));
    target_request_base(&s->target, &s->path);
    if (!sv_starts(endpoint, SV_LIT("/")))
        buf_add_char(&s->path, '/');
    buf_add(&s->path, endpoint);
    return true;
}

bool session_resolve(struct session *s, struct error *err)
{
    if (s->target.address_len > 0)
        return true;
    if (!target_resolve(&s->target, err))
        return false;
    if (s->target.proxied)
        return true; /* what answers is the proxy, named already */
    if (!s->target.answered)
        note(stderr, "warning: no address of host '%s' accepts connections; using %s",
             s->target.host, s->target.address_text);
    else if (strstr(s->target.address_text, s->target.host) == NULL)
        note(stderr, "Host '%s' answers at %s", s->target.host, s->target.address_text);
    return true;
}

/* Asks the server until it can be reached, as long as the ready check would wait: a server that is still starting is no
 * reason to give up (ORCHESTRATION 2). */
static bool ask_patiently(struct session *s, bool (*ask)(struct session *s, struct error *err),
                          struct error *err)
{
    uint64_t deadline = clock_mono_ns() + s->config->ready_check_timeout_s * NS_PER_S;
    for (;;) {
        if (ask(s, err))
            return true;
        uint64_t now = clock_mono_ns();
        if (err->code != E_NETWORK || strstr(err->message, TLS_NOT_SPOKEN) != NULL ||
            now >= deadline)
            return false;
        note(stderr, "Not ready (%s); %llu s left", session_redacted(s, err->message),
             (unsigned long long)((deadline - now + NS_PER_S - 1) / NS_PER_S));
        uint64_t next = now + 5 * NS_PER_S;
        clock_sleep_until_ns(next < deadline ? next : deadline);
    }
}

static bool ask_model(struct session *s, struct error *err)
{
    struct server_model model;
    if (!server_discover(&s->server, &s->arena, &model, err))
        return false;
    s->wire_model = mem_strndup(model.id.ptr, model.id.len);
    s->config->model = arena_strdup(&s->config->arena, arena_copy(&s->arena, model.root).ptr);
    return true;
}

static bool set_model(struct session *s, struct error *err)
{
    struct config *config = s->config;
    if (config->model == NULL) {
        if (!session_resolve(s, err) || !ask_patiently(s, ask_model, err))
            return false;
        note(stderr, "Model of the server: %s (root %s)", s->wire_model, config->model);
    } else {
        s->wire_model = mem_strdup(config->served_model_name != NULL ? config->served_model_name
                                                                     : config->model);
    }
    s->tokenizer_id = config->tokenizer != NULL ? config->tokenizer : config->model;
    return true;
}

static bool ask_tokenizer(struct session *s, struct error *err)
{
    struct buf url = {0};
    buf_add_fmt(&url, "%s://%s%s", s->target.tls ? "https" : "http", s->target.authority,
                s->target.prefix);
    struct tokenizer_server server = {.post = server_post,
                                      .user = &s->server,
                                      .url = buf_cstr(&url),
                                      .connections = TOKENIZER_CONNECTIONS};
    s->tokenizer = tokenizer_new_remote(s->wire_model, &server, err);
    buf_done(&url);
    return s->tokenizer != NULL;
}

/* A tokenizer that was named and is not there is worth a warning, a model's that is not there is usual. */
static void say_without(const struct session *s, const struct error *local, const char *instead)
{
    bool named = s->config->tokenizer != NULL;
    note(stderr, "%s%s; %s", named ? "warning: --tokenizer: " : "", local->message, instead);
}

/* `local` says why there is no other tokenizer. */
static bool use_servers_tokenizer(struct session *s, const struct error *local, struct error *err)
{
    say_without(s, local, "the server is asked for its own");
    if (!session_resolve(s, err))
        return false;
    if (ask_patiently(s, ask_tokenizer, err))
        return true;
    struct error server = *err;
    return error_set(err, server.code,
                     "there is no tokenizer for '%s' (name a folder, a file or a built-in encoding "
                     "with --tokenizer): %s; %s",
                     s->tokenizer_id, local->message, server.message);
}

/* Built-in names, local files and the hub first, then the server's own /tokenize (HUB_AND_TOKENIZERS 1). */
static bool set_tokenizer(struct session *s, struct error *err)
{
    const struct config *config = s->config;
    struct hub_tokenizer_request request = {s->tokenizer_id, TOKENIZER_SERVE,
                                            config->tokenizer != NULL};
    struct error local;
    bool missing;
    if (config->skip_tokenizer_init)
        return true;
    s->tokenizer = hub_tokenizer_find(&s->watch.hub, &request, &missing, &local);
    if (s->tokenizer == NULL && local.code == E_INTERRUPTED) {
        *err = local;
        return false;
    }
    if (s->tokenizer == NULL && dataset_needs_tokenizer(config)) {
        if (!use_servers_tokenizer(s, &local, err))
            return false;
    } else if (s->tokenizer == NULL &&
               (!missing || config->tokenizer != NULL || local.code != E_IO)) {
        say_without(s, &local, "this run goes on without one");
    }
    if (s->tokenizer != NULL)
        note(stderr, "Tokenizer: %s", tokenizer_describe(s->tokenizer));
    return true;
}

bool session_open(struct session *s, struct config *config, struct error *err)
{
    *s = (struct session){.config = config};
    hub_watch_init(&s->watch, config);
    bool ok = set_backend(s, err) && start_mock(s, err) && set_target(s, err) &&
              set_model(s, err) && set_tokenizer(s, err);
    /* A tokenizer has another source, a data set has not: there it is worth waiting for the hub. */
    s->watch.hub.retries = HUB_RETRIES;
    return ok;
}

void session_close(struct session *s)
{
    buf_done(&s->path);
    tokenizer_free(s->tokenizer);
    free((void *)(uintptr_t)s->wire_model);
    fetch_pool_done(&s->pool);
    tls_context_free(s->tls);
    hub_watch_done(&s->watch);
    arena_done(&s->arena);
    if (s->mock_pid > 0)
        mock_reap(s->mock_pid);
}
