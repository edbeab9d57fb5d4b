/* Calls that are not measured.  Authorization and --header items go with every one of them (BACKENDS 1). */
#include "load/server.h"

#include <stdlib.h>

#include "backends/backend.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "json/tree.h"

static const uint64_t CALL_TIMEOUT_NS = 30 * NS_PER_S;

static void set_header(struct config_pairs *list, struct sv name, struct sv value)
{
    for (size_t i = 0; i < list->count; i++) {
        if (sv_eq_nocase(list->items[i].key, name)) {
            list->items[i] = (struct config_pair){name, value};
            return;
        }
    }
    MEM_GROW(list->items, list->count, list->cap);
    list->items[list->count++] = (struct config_pair){name, value};
}

static void write_headers(const struct config_pairs *list, struct buf *out)
{
    for (size_t i = 0; i < list->count; i++)
        buf_add_fmt(out, SV_FMT ": " SV_FMT "\r\n", SV_ARG(list->items[i].key),
                    SV_ARG(list->items[i].value));
}

/* The engine writes these itself: what the user gives for them would break the framing or the ids. */
static bool reserved(struct sv name)
{
    return sv_eq_nocase(name, SV_LIT("content-length")) ||
           sv_eq_nocase(name, SV_LIT("transfer-encoding")) ||
           sv_eq_nocase(name, SV_LIT("x-request-id")) || sv_eq_nocase(name, SV_LIT("connection"));
}

/* The key's header, then --header items.  `bearer` holds the value and must live as long as the list. */
static void add_user_headers(const struct config *config, struct buf *bearer,
                             struct config_pairs *list)
{
    if (config->api_key != NULL) {
        buf_add_fmt(bearer, "Bearer %s", config->api_key);
        set_header(list, SV_LIT("Authorization"), buf_sv(bearer));
    }
    for (size_t i = 0; i < config->headers.count; i++) {
        const struct config_pair *pair = &config->headers.items[i];
        if (!reserved(pair->key))
            set_header(list, pair->key, pair->value);
    }
}

void server_headers(const struct server *s, const char *content_type, struct buf *out)
{
    struct config_pairs list = {0};
    struct buf bearer = {0};
    set_header(&list, SV_LIT("Host"), sv_from(s->target->authority));
    if (s->target->proxied && !s->target->tls && s->target->proxy_authorization[0] != '\0')
        set_header(&list, SV_LIT("Proxy-Authorization"), sv_from(s->target->proxy_authorization));
    set_header(&list, SV_LIT("Content-Type"), SV_LIT("application/json"));
    set_header(&list, SV_LIT("Accept"), SV_LIT("*/*"));
    set_header(&list, SV_LIT("User-Agent"), SV_LIT("vllm-bench/" VB_VERSION));
    add_user_headers(s->config, &bearer, &list);
    if (content_type != NULL)
        set_header(&list, SV_LIT("Content-Type"), sv_from(content_type));
    write_headers(&list, out);
    free(list.items);
    buf_done(&bearer);
}

/* For fetch, which writes Host, Accept and Content-Type itself. */
static void call_headers(const struct config *config, struct buf *out)
{
    struct config_pairs all = {0}, kept = {0};
    struct buf bearer = {0};
    add_user_headers(config, &bearer, &all);
    for (size_t i = 0; i < all.count; i++) {
        struct sv name = all.items[i].key;
        if (!sv_eq_nocase(name, SV_LIT("host")) && !sv_eq_nocase(name, SV_LIT("accept")) &&
            !sv_eq_nocase(name, SV_LIT("content-type")))
            set_header(&kept, name, all.items[i].value);
    }
    write_headers(&kept, out);
    free(all.items);
    free(kept.items);
    buf_done(&bearer);
}

/* One call; a status outside 2xx is an error with the server's message. */
static bool call_within(const struct server *s, struct fetch_call request, uint64_t timeout_ns,
                        struct fetch_reply *reply, struct error *err)
{
    struct buf headers = {0};
    call_headers(s->config, &headers);
    request.headers = buf_sv(&headers);
    bool ok = fetch(s->pool, &request, timeout_ns, reply, err);
    buf_done(&headers);
    if (!ok)
        return false;
    if (reply->status >= 200 && reply->status < 300)
        return true;
    struct buf message = {0};
    backend_error_text(buf_sv(&reply->body), &message);
    error_set(err, E_SERVER, "%s %s://%s%s" SV_FMT ": HTTP %d%s" SV_FMT, request.method,
              s->target->tls ? "https" : "http", s->target->authority, s->target->prefix,
              SV_ARG(request.path), reply->status, message.len > 0 ? ": " : "",
              SV_ARG(buf_sv(&message)));
    buf_done(&message);
    fetch_reply_done(reply);
    return false;
}

static bool call(const struct server *s, const char *method, const char *path, struct sv body,
                 struct fetch_reply *reply, struct error *err)
{
    struct fetch_call request = {.method = method, .path = sv_from(path), .body = body};
    return call_within(s, request, CALL_TIMEOUT_NS, reply, err);
}

static bool read_model(struct arena *arena, struct sv body, struct server_model *model,
                       struct error *err)
{
    const struct js_value *reply = js_parse(arena, body, "the reply of /v1/models", err);
    if (reply == NULL)
        return false;
    const struct js_value *first = js_at(js_get(reply, "data"), 0);
    if (!js_as_sv(js_get(first, "id"), &model->id))
        return error_set(err, E_SERVER,
                         "the server lists no model at /v1/models; name one with --model");
    if (!js_as_sv(js_get(first, "root"), &model->root) || model->root.len == 0)
        model->root = model->id;
    return true;
}

bool server_discover(const struct server *s, struct arena *arena, struct server_model *model,
                     struct error *err)
{
    struct fetch_reply reply;
    if (!call(s, "GET", "/v1/models", sv_make(NULL, 0), &reply, err))
        return error_context(err, "cannot ask the server for its model (no --model given)");
    bool ok = read_model(arena, buf_sv(&reply.body), model, err);
    fetch_reply_done(&reply);
    return ok;
}

bool server_get(const struct server *s, const char *path, uint64_t timeout_ns, struct buf *out,
                struct error *err)
{
    return server_get_patiently(s, path, timeout_ns, NULL, out, err);
}

bool server_get_patiently(const struct server *s, const char *path, uint64_t timeout_ns,
                          const struct fetch_patience *patience, struct buf *out, struct error *err)
{
    struct fetch_reply reply;
    struct fetch_call request = {.method = "GET", .path = sv_from(path), .patience = patience};
    if (!call_within(s, request, timeout_ns, &reply, err))
        return false;
    buf_add(out, buf_sv(&reply.body));
    fetch_reply_done(&reply);
    return true;
}

bool server_command(const struct server *s, const char *path, struct error *err)
{
    struct fetch_reply reply;
    if (!call(s, "POST", path, sv_make(NULL, 0), &reply, err))
        return false;
    fetch_reply_done(&reply);
    return true;
}

bool server_post(void *server, const char *path, struct sv body, struct buf *out, struct error *err)
{
    struct fetch_reply reply;
    if (!call(server, "POST", path, body, &reply, err))
        return false;
    buf_add(out, buf_sv(&reply.body));
    fetch_reply_done(&reply);
    return true;
}
