/* /v1/embeddings, /pooling and /v1/rerank: the inputs are counted, the vectors are the same for all. */
#include "mock/ask_priv.h"
#include "mock/server_priv.h"

#include <stdio.h>

/* ---- the request ----------------------------------------------------------------------------------------------- */

struct pool_counts {
    uint64_t query; /* tokens */
    uint64_t documents;
    uint64_t document_tokens;
};

/* A text; a list of texts, of token ids, or of lists of token ids. */
static bool read_input(struct mock_ask *ask, struct js_scan *s, int depth)
{
    if (js_scan_peek(s) == JS_STRING) {
        ask->inputs++;
        return mock_ask_text(ask, s, NULL);
    }
    if (js_scan_peek(s) != JS_ARRAY || depth > 1)
        return mock_ask_refuse(ask, "input", "input should be texts or lists of token ids");
    bool first = true, ids = false;
    js_scan_array(s);
    while (js_scan_element(s, &first)) {
        if (js_scan_peek(s) == JS_NUMBER) {
            ids = true;
            ask->prompt_tokens++;
            if (!js_scan_skip(s, NULL))
                return false;
        } else if (!read_input(ask, s, depth + 1)) {
            return false;
        }
    }
    ask->inputs += ids;
    return !s->bad;
}

static bool read_encoding(struct mock_ask *ask, struct js_scan *s)
{
    static const char *const names[] = {
        [MOCK_ENCODING_FLOAT] = "float",
        [MOCK_ENCODING_BASE64] = "base64",
        [MOCK_ENCODING_BYTES] = "bytes",
        [MOCK_ENCODING_BYTES_ONLY] = "bytes_only",
    };
    struct sv text = {0};
    bool escaped = false;
    if (js_scan_peek(s) != JS_STRING || !js_scan_string(s, &text, &escaped))
        return mock_ask_refuse(ask, "encoding_format", "Input should be a valid string");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (sv_eq(text, sv_from(names[i]))) {
            ask->encoding = (enum mock_encoding)i;
            return true;
        }
    }
    return mock_ask_refuse(ask, "encoding_format",
                           "Input should be 'float', 'base64', 'bytes' or 'bytes_only'");
}

/* A text, or an object with one. */
static bool read_document(struct mock_ask *ask, struct js_scan *s)
{
    bool first = true;
    struct sv key;
    if (js_scan_peek(s) == JS_STRING)
        return mock_ask_text(ask, s, NULL);
    if (js_scan_peek(s) != JS_OBJECT)
        return mock_ask_refuse(ask, "documents", "documents should be strings or objects");
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        bool text = js_key_is(key, SV_LIT("text")) && js_scan_peek(s) == JS_STRING;
        if (text ? !mock_ask_text(ask, s, NULL) : !js_scan_skip(s, NULL))
            return false;
    }
    return !s->bad;
}

static bool read_documents(struct mock_ask *ask, struct js_scan *s, struct pool_counts *counts)
{
    bool first = true;
    if (js_scan_peek(s) != JS_ARRAY)
        return mock_ask_refuse(ask, "documents", "Input should be a valid list");
    js_scan_array(s);
    ask->prompt_tokens = 0;
    counts->documents = 0;
    while (js_scan_element(s, &first)) {
        if (!read_document(ask, s))
            return false;
        counts->documents++;
    }
    counts->document_tokens = ask->prompt_tokens;
    return !s->bad;
}

static bool read_rerank(struct mock_ask *ask, struct js_scan *s, struct sv key, void *context)
{
    struct pool_counts *counts = context;
    if (js_key_is(key, SV_LIT("model")))
        return mock_ask_model(ask, s);
    if (js_key_is(key, SV_LIT("documents")))
        return read_documents(ask, s, counts);
    if (!js_key_is(key, SV_LIT("query")))
        return js_scan_skip(s, NULL);
    if (js_scan_peek(s) != JS_STRING)
        return mock_ask_refuse(ask, "query", "Input should be a valid string");
    ask->has_prompt = true;
    ask->prompt_tokens = 0;
    if (!mock_ask_text(ask, s, NULL))
        return false;
    counts->query = ask->prompt_tokens;
    return true;
}

static bool read_embedding(struct mock_ask *ask, struct js_scan *s, struct sv key, void *unused)
{
    (void)unused;
    if (js_key_is(key, SV_LIT("model")))
        return mock_ask_model(ask, s);
    if (js_key_is(key, SV_LIT("encoding_format")))
        return read_encoding(ask, s);
    bool messages = js_key_is(key, SV_LIT("messages"));
    if (!messages && !js_key_is(key, SV_LIT("input")))
        return js_scan_skip(s, NULL);
    ask->has_prompt = true;
    ask->prompt_tokens = 0;
    ask->inputs = messages;
    return messages ? mock_ask_messages(ask, s, NULL) : read_input(ask, s, 0);
}

bool mock_ask_pool(struct mock_ask *ask, enum mock_api api, struct sv body)
{
    *ask = (struct mock_ask){.api = api, .has_max_tokens = true};
    struct pool_counts counts = {0};
    bool ranks = api == MOCK_API_RERANK;
    if (!mock_ask_body(ask, body, ranks ? read_rerank : read_embedding, &counts))
        return false;
    if (!ask->has_prompt)
        return mock_ask_refuse(ask, ranks ? "query" : "input", "Field required");
    if (ranks) {
        ask->inputs = counts.documents;
        ask->prompt_tokens = counts.query * counts.documents + counts.document_tokens;
    }
    return true;
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

enum { VECTOR_BYTES = 32 }; /* eight singles */

/* 0, 1/8, ... 7/8 as text, as base64 of little-endian singles, and as these. */
#define VECTOR_TEXT   "[0.0,0.125,0.25,0.375,0.5,0.625,0.75,0.875]"
#define VECTOR_BASE64 "\"AAAAAAAAAD4AAIA+AADAPgAAAD8AACA/AABAPwAAYD8=\""

static const uint8_t vector_bytes[VECTOR_BYTES] = {
    0, 0, 0, 0,    0, 0, 0,    0x3e, 0, 0, 0x80, 0x3e, 0, 0, 0xc0, 0x3e,
    0, 0, 0, 0x3f, 0, 0, 0x20, 0x3f, 0, 0, 0x40, 0x3f, 0, 0, 0x60, 0x3f,
};

static void add_item(const struct mock_conn *c, struct buf *out, uint64_t i)
{
    const char *vector = c->gen.encoding == MOCK_ENCODING_BASE64 ? VECTOR_BASE64 : VECTOR_TEXT;
    unsigned long long index = i;
    if (i > 0)
        buf_add_char(out, ',');
    if (c->gen.api == MOCK_API_RERANK)
        buf_add_fmt(out, "{\"index\":%llu,\"document\":{\"text\":\"\"},\"relevance_score\":0.5}",
                    index);
    else if (c->gen.api == MOCK_API_POOLING)
        buf_add_fmt(out, "{\"index\":%llu,\"object\":\"pooling\",\"data\":%s}", index, vector);
    else
        buf_add_fmt(out, "{\"index\":%llu,\"object\":\"embedding\",\"embedding\":%s}", index,
                    vector);
}

static void add_usage(const struct mock_conn *c, struct buf *out)
{
    unsigned long long tokens = c->gen.prompt_tokens;
    buf_add_fmt(out,
                "\"usage\":{\"prompt_tokens\":%llu,\"total_tokens\":%llu,\"completion_tokens\":0,"
                "\"prompt_tokens_details\":null}",
                tokens, tokens);
}

static void reply_json(struct mock_conn *c, bool damaged)
{
    struct buf body = {0};
    buf_add(&body, buf_sv(&c->gen.head));
    for (uint64_t i = 0; i < c->gen.inputs; i++)
        add_item(c, &body, i);
    buf_add_char(&body, ']');
    if (strcmp(c->thread->server->options->usage, "never") != 0) {
        buf_add_char(&body, ',');
        add_usage(c, &body);
    }
    buf_add_char(&body, '}');
    body.len -= damaged ? body.len / 4 : 0;
    mock_reply_json(c, 200, buf_sv(&body));
    buf_done(&body);
}

static void reply_bytes(struct mock_conn *c)
{
    struct buf body = {0}, lines = {0};
    for (uint64_t i = 0; i < c->gen.inputs; i++)
        buf_add(&body, sv_make((const char *)vector_bytes, sizeof(vector_bytes)));
    if (c->gen.encoding == MOCK_ENCODING_BYTES) {
        buf_add_str(&lines, "metadata: {");
        add_usage(c, &lines);
        buf_add_str(&lines, "}\r\n");
    }
    mock_reply_bytes(c, buf_cstr(&lines), buf_sv(&body));
    buf_done(&body);
    buf_done(&lines);
}

void mock_pool_reply(struct mock_conn *c, bool damaged)
{
    bool bytes =
        c->gen.encoding == MOCK_ENCODING_BYTES || c->gen.encoding == MOCK_ENCODING_BYTES_ONLY;
    if (bytes && !damaged)
        reply_bytes(c);
    else
        reply_json(c, damaged);
}
