/* The server as tokenizer: POST /tokenize {"model","prompt"[,"add_special_tokens":false]} -> "tokens",
 * POST /detokenize {"model","tokens"} -> "prompt".  The size of the vocabulary is not told by the server; it is estimated
 * from the ids of a probe, as the native peer does. */
#include "base/alloc.h"
#include "json/scan.h"
#include "json/writer.h"
#include "tokenizer/tokenizer_priv.h"

#include <stdlib.h>

enum { MIN_VOCAB = 131072 };

struct remote {
    char *model;
    tokenizer_post_fn *post;
    void *user;
    uint32_t vocab_size;
};

static void begin_body(const struct remote *r, struct js_writer *w, struct buf *body)
{
    js_writer_init(w, body);
    js_begin_object(w);
    js_key(w, "model");
    js_cstring(w, r->model);
}

/* Moves the scanner to the value of a member of the outermost object. */
static bool find_member(struct js_scan *s, struct sv name)
{
    struct sv key;
    bool first = true;
    if (js_scan_peek(s) != JS_OBJECT || !js_scan_object(s))
        return false;
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, name))
            return true;
        js_scan_skip(s, NULL);
    }
    return false;
}

static bool read_tokens(struct sv reply, struct token_ids *ids)
{
    struct js_scan s;
    bool first = true;
    js_scan_init(&s, reply);
    if (!find_member(&s, SV_LIT("tokens")) || !js_scan_array(&s))
        return false;
    while (js_scan_element(&s, &first)) {
        uint64_t id;
        if (!js_scan_u64(&s, &id) || id > VOCAB_MAX_ID)
            return false;
        token_ids_add(ids, (uint32_t)id);
    }
    return !s.bad;
}

bool remote_encode(const struct remote *r, struct sv text, bool add_special, struct token_ids *ids,
                   struct error *err)
{
    struct buf body = {0};
    struct buf reply = {0};
    struct js_writer w;
    size_t before = ids->count;
    begin_body(r, &w, &body);
    js_key(&w, "prompt");
    js_string(&w, text);
    if (!add_special) { /* otherwise the server's own default holds */
        js_key(&w, "add_special_tokens");
        js_bool(&w, false);
    }
    js_end_object(&w);
    bool ok = r->post(r->user, "/tokenize", buf_sv(&body), &reply, err);
    if (ok && !read_tokens(buf_sv(&reply), ids)) {
        ids->count = before;
        ok = error_set(err, E_SERVER, "the server's answer to /tokenize has no usable 'tokens'");
    }
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

bool remote_decode(const struct remote *r, const uint32_t *ids, size_t count, struct buf *out,
                   struct error *err)
{
    struct buf body = {0};
    struct buf reply = {0};
    struct js_writer w;
    begin_body(r, &w, &body);
    js_key(&w, "tokens");
    js_begin_array(&w);
    for (size_t i = 0; i < count; i++)
        js_uint(&w, ids[i]);
    js_end_array(&w);
    js_end_object(&w);
    bool ok = r->post(r->user, "/detokenize", buf_sv(&body), &reply, err);
    if (ok) {
        struct js_scan s;
        struct sv raw;
        bool escaped;
        js_scan_init(&s, buf_sv(&reply));
        if (!find_member(&s, SV_LIT("prompt")) || !js_scan_string(&s, &raw, &escaped) ||
            !js_unescape(raw, out))
            ok = error_set(err, E_SERVER,
                           "the server's answer to /detokenize has no usable 'prompt'");
    }
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

uint32_t remote_vocab_size(const struct remote *r)
{
    return r->vocab_size;
}

void remote_free(struct remote *r)
{
    if (r == NULL)
        return;
    free(r->model);
    free(r);
}

static bool probe(struct remote *r, struct error *err)
{
    struct token_ids ids = {0};
    uint32_t highest = 0;
    bool ok = remote_encode(r, SV_LIT("test"), true, &ids, err);
    for (size_t i = 0; i < ids.count; i++)
        highest = ids.items[i] > highest ? ids.items[i] : highest;
    r->vocab_size = highest * 2 > MIN_VOCAB ? highest * 2 : MIN_VOCAB;
    token_ids_done(&ids);
    return ok;
}

struct tokenizer *tokenizer_new_remote(const char *model, tokenizer_post_fn *post, void *user,
                                       struct error *err)
{
    struct tokenizer *t = mem_new(struct tokenizer);
    vocab_init(&t->vocab);
    t->remote = mem_new(struct remote);
    *t->remote = (struct remote){.model = mem_strdup(model), .post = post, .user = user};
    if (!probe(t->remote, err)) {
        tokenizer_free(t);
        error_context(err, "tokenizing on the server");
        return NULL;
    }
    t->description = arena_fmt(&t->arena,
                               "tokenizer of the server (/tokenize) for model '%s', vocabulary "
                               "estimated at %u",
                               model, t->remote->vocab_size);
    return t;
}
