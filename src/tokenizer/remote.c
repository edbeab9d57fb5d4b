/* The server as tokenizer: POST /tokenize {"model","prompt"[,"add_special_tokens":false]} -> "tokens",
 * POST /detokenize {"model","tokens"} -> "prompt".  The size of the vocabulary is not told by the server; it is estimated
 * from the ids of a probe, as the native peer does.  Nothing here waits but in the caller's post function, so as many
 * threads as there are connections make as many questions at a time. */
#include "base/alloc.h"
#include "json/scan.h"
#include "json/writer.h"
#include "tokenizer/remote_cache.h"
#include "tokenizer/tokenizer_priv.h"
#include "tokenizer/utf8.h"

#include <stdlib.h>

enum {
    MIN_VOCAB = 131072,
    SHOWN_BYTES = 200, /* of an answer that makes no sense */
    CACHE_BYTES = 64 << 20,
};

struct remote {
    char *model;
    char *url;
    tokenizer_post_fn *post;
    void *user;
    unsigned connections;
    uint32_t vocab_size;
    struct remote_cache cache;
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

/* What the server said, as far as it helps: one line, printable, never half a character. */
static void add_head_of(struct buf *out, struct sv reply)
{
    size_t len = reply.len < SHOWN_BYTES ? reply.len : SHOWN_BYTES;
    while (len > 0 && len < reply.len && ((unsigned char)reply.ptr[len] & 0xC0) == 0x80)
        len--;
    size_t start = out->len;
    utf8_add_lossy(out, sv_make(reply.ptr, len));
    for (size_t i = start; i < out->len; i++)
        if ((unsigned char)out->ptr[i] < 0x20 || out->ptr[i] == 0x7F)
            out->ptr[i] = ' ';
    if (len < reply.len)
        buf_add_str(out, "...");
}

static bool bad_reply(const struct remote *r, const char *path, const char *missing,
                      struct sv reply, struct error *err)
{
    struct buf head = {0};
    add_head_of(&head, reply);
    error_set(err, E_SERVER, "POST %s%s: HTTP 200, but the answer has no usable '%s': '%s'", r->url,
              path, missing, buf_cstr(&head));
    buf_done(&head);
    return false;
}

/* The question as the cache knows it: what is asked, and about what. */
static struct sv question(struct buf *out, char operation, struct sv about)
{
    buf_add_char(out, operation);
    buf_add(out, about);
    return buf_sv(out);
}

static void add_ids(struct token_ids *ids, struct sv bytes)
{
    for (size_t at = 0; at + sizeof(uint32_t) <= bytes.len; at += sizeof(uint32_t)) {
        uint32_t id;
        memcpy(&id, bytes.ptr + at, sizeof(id));
        token_ids_add(ids, id);
    }
}

static struct sv bytes_of(const uint32_t *ids, size_t from, size_t to)
{
    return to > from ? sv_make((const char *)(ids + from), (to - from) * sizeof(*ids)) : SV_LIT("");
}

static bool ask_ids(struct remote *r, struct sv text, bool add_special, struct token_ids *ids,
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
        ok = bad_reply(r, "/tokenize", "tokens", buf_sv(&reply), err);
    }
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

bool remote_encode(struct remote *r, struct sv text, bool add_special, struct token_ids *ids,
                   struct error *err)
{
    struct buf asked = {0};
    struct buf known = {0};
    struct sv key = question(&asked, add_special ? 'S' : 'P', text);
    size_t before = ids->count;
    bool ok = true;
    if (remote_cache_get(&r->cache, key, &known)) {
        add_ids(ids, buf_sv(&known));
    } else {
        ok = ask_ids(r, text, add_special, ids, err);
        if (ok)
            remote_cache_put(&r->cache, key, bytes_of(ids->items, before, ids->count));
    }
    buf_done(&asked);
    buf_done(&known);
    return ok;
}

static bool ask_text(struct remote *r, const uint32_t *ids, size_t count, struct buf *out,
                     struct error *err)
{
    struct buf body = {0};
    struct buf reply = {0};
    struct js_writer w;
    size_t before = out->len;
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
            !js_unescape(raw, out)) {
            out->len = before;
            ok = bad_reply(r, "/detokenize", "prompt", buf_sv(&reply), err);
        }
    }
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

bool remote_decode(struct remote *r, const uint32_t *ids, size_t count, struct buf *out,
                   struct error *err)
{
    struct buf asked = {0};
    struct sv key = question(&asked, 'D', bytes_of(ids, 0, count));
    size_t before = out->len;
    bool ok = true;
    if (!remote_cache_get(&r->cache, key, out)) {
        ok = ask_text(r, ids, count, out, err);
        if (ok)
            remote_cache_put(&r->cache, key, sv_skip(buf_sv(out), before));
    }
    buf_done(&asked);
    return ok;
}

unsigned tokenizer_connections(const struct tokenizer *t)
{
    return t->remote != NULL ? t->remote->connections : 0;
}

uint32_t remote_vocab_size(const struct remote *r)
{
    return r->vocab_size;
}

void remote_free(struct remote *r)
{
    if (r == NULL)
        return;
    remote_cache_done(&r->cache);
    free(r->model);
    free(r->url);
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

struct tokenizer *tokenizer_new_remote(const char *model, const struct tokenizer_server *server,
                                       struct error *err)
{
    struct tokenizer *t = mem_new(struct tokenizer);
    vocab_init(&t->vocab);
    t->remote = mem_new(struct remote);
    *t->remote = (struct remote){.model = mem_strdup(model),
                                 .url = mem_strdup(server->url),
                                 .post = server->post,
                                 .user = server->user,
                                 .connections = server->connections > 0 ? server->connections : 1};
    remote_cache_init(&t->remote->cache, CACHE_BYTES);
    if (!probe(t->remote, err)) {
        tokenizer_free(t);
        error_context(err, "tokenizing on the server");
        return NULL;
    }
    t->description = arena_fmt(&t->arena,
                               "the server's own (POST %s/tokenize) for model '%s', vocabulary "
                               "estimated at %u ids, up to %u connections",
                               server->url, model, t->remote->vocab_size, t->remote->connections);
    return t;
}
