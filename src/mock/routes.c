/* Which path does what.  One table; an unknown path is 404 and a wrong method 405, both as a FastAPI server says it. */
#include "mock/server_priv.h"

#include "base/clock.h"
#include "json/writer.h"

static void reply_writer(struct mock_conn *c, struct buf *body)
{
    mock_reply_json(c, 200, buf_sv(body));
    buf_done(body);
}

static void models(struct mock_conn *c)
{
    const struct mock_server *server = c->thread->server;
    struct buf body = {0};
    struct js_writer w;
    js_writer_init(&w, &body);
    js_begin_object(&w);
    js_key(&w, "object");
    js_cstring(&w, "list");
    js_key(&w, "data");
    js_begin_array(&w);
    js_begin_object(&w);
    js_key(&w, "id");
    js_cstring(&w, server->options->model);
    js_key(&w, "object");
    js_cstring(&w, "model");
    js_key(&w, "created");
    js_int(&w, (int64_t)server->started_s);
    js_key(&w, "owned_by");
    js_cstring(&w, "vllm-bench");
    js_key(&w, "root");
    js_cstring(&w, server->options->model);
    js_key(&w, "parent");
    js_null(&w);
    js_key(&w, "max_model_len");
    js_uint(&w, server->options->max_model_len);
    js_key(&w, "permission");
    js_begin_array(&w);
    js_end_array(&w);
    js_end_object(&w);
    js_end_array(&w);
    js_end_object(&w);
    reply_writer(c, &body);
}

static void nothing(struct mock_conn *c)
{
    mock_reply_text(c, 200, "text/plain; charset=utf-8", (struct sv){0});
}

static void success(struct mock_conn *c)
{
    mock_reply_json(c, 200, SV_LIT("{\"success\":true}"));
}

static void version(struct mock_conn *c)
{
    mock_reply_json(c, 200, SV_LIT("{\"version\":\"" VB_VERSION "-mock\"}"));
}

static void metrics(struct mock_conn *c)
{
    struct buf body = {0};
    mock_metrics_page(c->thread->server, &body);
    mock_reply_text(c, 200, "text/plain; version=1.0.0; charset=utf-8", buf_sv(&body));
    buf_done(&body);
}

static void refuse_ask(struct mock_conn *c, const struct mock_ask *ask)
{
    mock_reply_error(c, ask->status, ask->param, ask->message);
}

/* --tokenize-delay: the answer that is put together next waits in the buffer. */
static void hold_tokens(struct mock_conn *c)
{
    uint64_t delay_ns = c->thread->server->options->tokenize_ns;
    if (delay_ns == 0)
        return;
    c->hold_at = c->out.len;
    c->hold_until_ns = clock_mono_ns() + delay_ns;
}

static void tokenize(struct mock_conn *c)
{
    struct mock_ask ask;
    struct mock_tokens tokens = {0};
    hold_tokens(c);
    if (mock_ask_tokenize(&ask, mock_request_body(&c->request), &tokens)) {
        struct buf body = {0};
        struct js_writer w;
        js_writer_init(&w, &body);
        js_begin_object(&w);
        js_key(&w, "count");
        js_uint(&w, tokens.count);
        js_key(&w, "max_model_len");
        js_uint(&w, c->thread->server->options->max_model_len);
        js_key(&w, "tokens");
        js_begin_array(&w);
        for (size_t i = 0; i < tokens.count; i++)
            js_uint(&w, tokens.ids[i]);
        js_end_array(&w);
        js_key(&w, "token_strs");
        js_null(&w);
        js_end_object(&w);
        reply_writer(c, &body);
    } else {
        refuse_ask(c, &ask);
    }
    mock_tokens_done(&tokens);
}

static void detokenize(struct mock_conn *c)
{
    struct mock_ask ask;
    struct buf text = {0};
    hold_tokens(c);
    if (mock_ask_detokenize(&ask, mock_request_body(&c->request), &text)) {
        struct buf body = {0};
        struct js_writer w;
        js_writer_init(&w, &body);
        js_begin_object(&w);
        js_key(&w, "prompt");
        js_string(&w, buf_sv(&text));
        js_end_object(&w);
        reply_writer(c, &body);
    } else {
        refuse_ask(c, &ask);
    }
    buf_done(&text);
}

static void generate(struct mock_conn *c, bool chat)
{
    struct mock_ask ask;
    if (mock_ask_parse(&ask, chat, mock_request_body(&c->request)))
        mock_gen_start(c, &ask);
    else
        refuse_ask(c, &ask);
}

static void completions(struct mock_conn *c)
{
    generate(c, false);
}

static void chat(struct mock_conn *c)
{
    generate(c, true);
}

static void responses(struct mock_conn *c)
{
    struct mock_ask ask;
    if (mock_ask_responses(&ask, mock_request_body(&c->request)))
        mock_gen_start(c, &ask);
    else
        refuse_ask(c, &ask);
}

static void audio(struct mock_conn *c)
{
    struct mock_ask ask;
    if (mock_ask_audio(&ask, c->request.fields, mock_request_body(&c->request)))
        mock_gen_start(c, &ask);
    else
        refuse_ask(c, &ask);
}

static void pool(struct mock_conn *c, enum mock_api api)
{
    struct mock_ask ask;
    if (mock_ask_pool(&ask, api, mock_request_body(&c->request)))
        mock_gen_start(c, &ask);
    else
        refuse_ask(c, &ask);
}

static void embeddings(struct mock_conn *c)
{
    pool(c, MOCK_API_EMBEDDINGS);
}

static void pooling(struct mock_conn *c)
{
    pool(c, MOCK_API_POOLING);
}

static void rerank(struct mock_conn *c)
{
    pool(c, MOCK_API_RERANK);
}

static void truth(struct mock_conn *c)
{
    struct mock_server *server = c->thread->server;
    struct buf body = {0};
    if (!server->truth) {
        mock_reply_error(c, 404, NULL, "the server was started without --truth");
        return;
    }
    for (unsigned i = 0; i < server->thread_count; i++) {
        if (sv_eq(c->request.method, SV_LIT("DELETE")))
            mock_truth_clear(&server->threads[i].truth);
        else
            mock_truth_write(&server->threads[i].truth, &body);
    }
    mock_reply_text(c, 200, "application/jsonl", buf_sv(&body));
    buf_done(&body);
}

typedef void route_fn(struct mock_conn *c);

struct route {
    const char *method;
    const char *path;
    route_fn *run;
};

static const struct route routes[] = {
    {"POST", "/v1/completions", completions},
    {"POST", "/v1/chat/completions", chat},
    {"POST", "/v1/responses", responses},
    {"POST", "/v1/audio/transcriptions", audio},
    {"POST", "/v1/audio/translations", audio},
    {"POST", "/v1/embeddings", embeddings},
    {"POST", "/embeddings", embeddings},
    {"POST", "/pooling", pooling},
    {"POST", "/v1/rerank", rerank},
    {"POST", "/rerank", rerank},
    {"GET", "/v1/models", models},
    {"GET", "/health", nothing},
    {"GET", "/ping", nothing},
    {"GET", "/version", version},
    {"GET", "/metrics", metrics},
    {"POST", "/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
    {"POST", "/start_profile", nothing},
    {"POST", "/stop_profile", nothing},
    {"POST", "/reset_prefix_cache", success},
    {"GET", "/truth", truth},
    {"DELETE", "/truth", truth},
};

static bool method_fits(struct sv method, const char *allowed)
{
    struct sv name = sv_from(allowed);
    return sv_eq(method, name) || (sv_eq(method, SV_LIT("HEAD")) && sv_eq(name, SV_LIT("GET")));
}

void mock_route(struct mock_conn *c)
{
    const struct mock_request *r = &c->request;
    bool known = false;
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++) {
        if (!sv_eq(r->path, sv_from(routes[i].path)))
            continue;
        known = true;
        if (method_fits(r->method, routes[i].method)) {
            routes[i].run(c);
            return;
        }
    }
    if (known)
        mock_reply_json(c, 405, SV_LIT("{\"detail\":\"Method Not Allowed\"}"));
    else
        mock_reply_json(c, 404, SV_LIT("{\"detail\":\"Not Found\"}"));
}
