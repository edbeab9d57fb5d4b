/* The text of answers: SSE events in the form of vLLM's, framed as the options ask, and whole JSON answers.  What stays
 * the same in every event of an answer is put together once (gen->head); words need no JSON escaping. */
#include "mock/server_priv.h"

#include <stdio.h>

#include "base/num.h"
#include "json/writer.h"

static const struct mock_options *options_of(const struct mock_conn *c)
{
    return c->thread->server->options;
}

static void add_u64(struct buf *out, uint64_t value)
{
    char text[NUM_TEXT_MAX];
    buf_add(out, sv_make(text, num_format_u64(text, value)));
}

/* Some of several bytes; among them a line separator that only careless readers take for a line end. */
static struct sv unicode_word(uint64_t n)
{
    static const char *const words[] = {
        " größe", " 日本", " naïve", " 🚀", " мир", " ñandú", "\u2028", " €", " नमस्ते", " ok",
    };
    return sv_from(words[n % (sizeof(words) / sizeof(words[0]))]);
}

/* Text of token number `n` of an answer. */
static void add_token(struct mock_conn *c, uint64_t n, struct buf *out)
{
    const struct mock_options *o = options_of(c);
    uint64_t word = c->gen.index * 7 + n;
    if (o->unicode) {
        buf_add(out, unicode_word(word));
    } else if (o->text_bytes == 0) {
        buf_add(out, mock_tokens_word((size_t)word));
    } else {
        for (uint64_t i = 0; i < o->text_bytes; i++)
            buf_add_char(out, i == 0 && o->text_bytes > 1 ? ' ' : (char)('a' + (word + i) % 26));
    }
}

static bool is_reasoning(const struct mock_conn *c, uint64_t n)
{
    return c->gen.chat && n < options_of(c)->reasoning;
}

/* Nothing in the events of --empty-first. */
void mock_stream_tokens(struct mock_conn *c, uint64_t from, uint64_t to, struct buf *out)
{
    if (c->gen.events_done < options_of(c)->empty_first)
        return;
    for (uint64_t i = from; i < to; i++)
        add_token(c, i, out);
}

static void add_hex(struct buf *out, size_t value)
{
    char text[2 * sizeof(value)];
    size_t at = sizeof(text);
    do {
        text[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value > 0);
    buf_add(out, sv_make(text + at, sizeof(text) - at));
}

static bool is_chunked(const struct mock_conn *c)
{
    return options_of(c)->chunked && !c->request.http10;
}

/* One piece of the body: a chunk of its own, or plain bytes in a body that ends with the connection. */
static void add_chunk(struct mock_conn *c, struct sv a, struct sv b, struct sv end)
{
    struct buf *out = mock_gen_out(c);
    bool chunked = is_chunked(c);
    if (chunked) {
        add_hex(out, a.len + b.len + end.len);
        buf_add(out, SV_LIT("\r\n"));
    }
    buf_add(out, a);
    buf_add(out, b);
    buf_add(out, end);
    if (chunked)
        buf_add(out, SV_LIT("\r\n"));
}

/* The end of an event's line and the empty line behind it. */
static struct sv event_end(const struct mock_conn *c)
{
    const struct mock_options *o = options_of(c);
    if (o->crlf)
        return SV_LIT("\r\n\r\n");
    return o->cr ? SV_LIT("\r\r") : SV_LIT("\n\n");
}

/* "event: NAME", the end of that line, "data: ". */
static struct sv named_start(const struct mock_conn *c, const char *name, char *text, size_t cap)
{
    const struct mock_options *o = options_of(c);
    int n = snprintf(text, cap, "event: %s%sdata: ", name, o->crlf ? "\r\n" : o->cr ? "\r" : "\n");
    return sv_make(text, (size_t)n < cap ? (size_t)n : cap - 1);
}

void mock_stream_send(struct mock_conn *c, const char *name, struct sv json)
{
    char text[80];
    if (options_of(c)->comments)
        add_chunk(c, SV_LIT(": keep-alive"), (struct sv){0}, event_end(c));
    add_chunk(c, name != NULL ? named_start(c, name, text, sizeof(text)) : SV_LIT("data: "), json,
              event_end(c));
}

static void add_event(struct mock_conn *c, struct sv json)
{
    mock_stream_send(c, NULL, json);
}

struct buf *mock_stream_scratch(struct mock_conn *c)
{
    buf_reset(&c->thread->scratch);
    return &c->thread->scratch;
}

static void add_usage(const struct mock_conn *c, struct buf *out, uint64_t tokens)
{
    buf_add_str(out, "\"usage\":{\"prompt_tokens\":");
    add_u64(out, c->gen.prompt_tokens);
    buf_add_str(out, ",\"total_tokens\":");
    add_u64(out, c->gen.prompt_tokens + tokens);
    buf_add_str(out, ",\"completion_tokens\":");
    add_u64(out, tokens);
    buf_add_char(out, '}');
}

struct api {
    const char *path;
    const char *id;     /* begins the ids of answers */
    const char *stream; /* "object" of an event */
    const char *whole;  /* and of a whole answer */
    const char *list;   /* behind the members that all have */
};

static const struct api apis[] = {
    [MOCK_API_COMPLETIONS] = {"/v1/completions", "cmpl-", "text_completion", "text_completion",
                              ",\"choices\":["},
    [MOCK_API_CHAT] = {"/v1/chat/completions", "chatcmpl-", "chat.completion.chunk",
                       "chat.completion", ",\"choices\":["},
    [MOCK_API_RESPONSES] = {"/v1/responses", "resp_", "response", "response", ""},
    [MOCK_API_AUDIO] = {"/v1/audio/transcriptions", "trsc-", "transcription.chunk", "transcription",
                        ",\"choices\":["},
    [MOCK_API_EMBEDDINGS] = {"/v1/embeddings", "embd-", "list", "list", ",\"data\":["},
    [MOCK_API_POOLING] = {"/pooling", "pool-", "list", "list", ",\"data\":["},
    [MOCK_API_RERANK] = {"/v1/rerank", "rerank-", "list", "list", ",\"results\":["},
};

const char *mock_api_path(enum mock_api api)
{
    return apis[api].path;
}

void mock_stream_begin(struct mock_conn *c, struct sv model, struct sv request_id)
{
    struct mock_gen *gen = &c->gen;
    const struct api *api = &apis[gen->api];
    buf_reset(&gen->id);
    buf_reset(&gen->head);
    buf_add_str(&gen->id, api->id);
    if (request_id.len > 0 && request_id.len <= MOCK_ID_MAX)
        buf_add(&gen->id, request_id);
    else
        buf_add_fmt(&gen->id, "mock-%llu", (unsigned long long)gen->index);
    buf_add_str(&gen->head, "{\"id\":\"");
    js_escape(&gen->head, buf_sv(&gen->id));
    buf_add_fmt(&gen->head, "\",\"object\":\"%s\",\"created%s\":%lld,\"model\":\"",
                gen->stream ? api->stream : api->whole, gen->api == MOCK_API_RESPONSES ? "_at" : "",
                (long long)time(NULL));
    if (gen->api == MOCK_API_AUDIO)
        js_escape(&gen->head, model);
    else
        buf_add(&gen->head, model); /* as it stood between the quotes of the request */
    buf_add_char(&gen->head, '"');
    buf_add_str(&gen->head, api->list);
}

void mock_stream_role(struct mock_conn *c)
{
    struct buf *json = mock_stream_scratch(c);
    buf_add(json, buf_sv(&c->gen.head));
    buf_add_str(json, "{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
                      "\"logprobs\":null,\"finish_reason\":null}]");
    if (c->gen.usage_each) {
        buf_add_char(json, ',');
        add_usage(c, json, 0);
    }
    buf_add_str(json, ",\"prompt_token_ids\":null}");
    add_event(c, buf_sv(json));
}

/* {"token":" x","logprob":-1.5,...} of chat; arrays side by side in completions. */
static void add_chat_logprobs(struct mock_conn *c, struct buf *out, uint64_t from, uint64_t to)
{
    buf_add_str(out, "{\"content\":[");
    for (uint64_t i = from; i < to; i++) {
        buf_add_str(out, i > from ? ",{\"token\":\"" : "{\"token\":\"");
        add_token(c, i, out);
        buf_add_str(out, "\",\"logprob\":-1.5,\"bytes\":null,\"top_logprobs\":[]}");
    }
    buf_add_str(out, "]}");
}

static void add_logprobs(struct mock_conn *c, struct buf *out, uint64_t from, uint64_t to)
{
    if (!c->gen.logprobs) {
        buf_add_str(out, "null");
        return;
    }
    if (c->gen.chat) {
        add_chat_logprobs(c, out, from, to);
        return;
    }
    buf_add_str(out, "{\"text_offset\":[");
    for (uint64_t i = from; i < to; i++) {
        size_t before = out->len;
        buf_add_str(out, i > from ? "," : "");
        before = out->len;
        add_token(c, i, out);
        uint64_t len = out->len - before;
        out->len = before;
        add_u64(out, c->gen.text_offset);
        c->gen.text_offset += len;
    }
    buf_add_str(out, "],\"token_logprobs\":[");
    for (uint64_t i = from; i < to; i++)
        buf_add_str(out, i > from ? ",-1.5" : "-1.5");
    buf_add_str(out, "],\"tokens\":[");
    for (uint64_t i = from; i < to; i++) {
        buf_add_str(out, i > from ? ",\"" : "\"");
        add_token(c, i, out);
        buf_add_char(out, '"');
    }
    buf_add_str(out, "],\"top_logprobs\":null}");
}

static void add_finish(struct buf *out, bool chat, const char *reason)
{
    buf_add_str(out, ",\"finish_reason\":");
    if (reason == NULL) {
        buf_add_str(out, chat ? "null" : "null,\"stop_reason\":null");
        return;
    }
    buf_add_char(out, '"');
    buf_add_str(out, reason);
    buf_add_str(out, "\",\"stop_reason\":null");
}

/* {"role":"assistant","reasoning":"...","content":"..."}: what there is of it. */
static void add_delta(struct mock_conn *c, struct buf *out, uint64_t from, uint64_t to)
{
    const struct mock_options *o = options_of(c);
    uint64_t turn = from;
    while (turn < to && is_reasoning(c, turn))
        turn++;
    buf_add_str(out, "\"delta\":{");
    if (from == 0 && strcmp(o->role_chunk, "merged") == 0)
        buf_add_str(out, "\"role\":\"assistant\",");
    if (turn > from) {
        buf_add_char(out, '"');
        js_escape(out, sv_from(o->reasoning_key));
        buf_add_str(out, "\":\"");
        mock_stream_tokens(c, from, turn, out);
        buf_add_str(out, turn < to ? "\"," : "\"");
    }
    if (turn < to) {
        buf_add_str(out, "\"content\":\"");
        mock_stream_tokens(c, turn, to, out);
        buf_add_char(out, '"');
    }
    buf_add_char(out, '}');
}

static void add_choice(struct mock_conn *c, struct buf *json, uint64_t from, uint64_t to,
                       const char *reason)
{
    buf_add(json, buf_sv(&c->gen.head));
    buf_add_str(json, "{\"index\":0,");
    if (c->gen.chat) {
        if (from == to)
            buf_add_str(json, "\"delta\":{}");
        else
            add_delta(c, json, from, to);
    } else {
        buf_add_str(json, "\"text\":\"");
        mock_stream_tokens(c, from, to, json);
        buf_add_char(json, '"');
    }
    buf_add_str(json, ",\"logprobs\":");
    add_logprobs(c, json, from, to);
    add_finish(json, c->gen.chat, reason);
    buf_add_str(json, c->gen.chat ? ",\"token_ids\":null}]"
                                  : ",\"prompt_token_ids\":null,\"token_ids\":null}]");
}

void mock_stream_event(struct mock_conn *c, uint64_t tokens, bool last)
{
    const struct mock_options *o = options_of(c);
    struct mock_gen *gen = &c->gen;
    uint64_t from = gen->tokens_done, to = from + tokens;
    if (gen->api == MOCK_API_RESPONSES) {
        mock_responses_event(c, from, to);
        return;
    }
    if (gen->chat && from == 0 && strcmp(o->role_chunk, "first") == 0)
        mock_stream_role(c);
    struct buf *json = mock_stream_scratch(c);
    add_choice(c, json, from, to, last && !o->final_empty ? gen->finish_reason : NULL);
    if (gen->usage_each || (last && gen->usage_inline)) {
        buf_add_char(json, ',');
        add_usage(c, json, to);
    }
    buf_add_char(json, '}');
    add_event(c, buf_sv(json));
    if (last && o->final_empty) {
        json = mock_stream_scratch(c);
        add_choice(c, json, to, to, gen->finish_reason);
        buf_add_char(json, '}');
        add_event(c, buf_sv(json));
    }
}

void mock_stream_garbage(struct mock_conn *c)
{
    struct buf *json = mock_stream_scratch(c);
    buf_add(json, buf_sv(&c->gen.head));
    buf_add_str(json, "{\"index\":0,\"text\":");
    add_event(c, buf_sv(json));
}

void mock_stream_finish(struct mock_conn *c, bool done)
{
    if (done && options_of(c)->done)
        add_chunk(c, SV_LIT("data: "), SV_LIT("[DONE]"), event_end(c));
    if (is_chunked(c))
        buf_add_str(mock_gen_out(c), "0\r\n\r\n");
}

void mock_stream_error(struct mock_conn *c)
{
    if (c->gen.api == MOCK_API_RESPONSES) {
        mock_responses_error(c);
        return;
    }
    struct buf *json = mock_stream_scratch(c);
    mock_reply_error_object(json, 500, NULL, "error injected by the mock server");
    add_event(c, buf_sv(json));
    mock_stream_finish(c, true);
}

void mock_stream_end(struct mock_conn *c, bool usage)
{
    if (c->gen.api == MOCK_API_RESPONSES) {
        mock_responses_end(c);
        return;
    }
    if (usage) {
        struct buf *json = mock_stream_scratch(c);
        buf_add(json, buf_sv(&c->gen.head));
        buf_add_str(json, "],");
        add_usage(c, json, c->gen.tokens_done);
        buf_add_str(json, ",\"system_fingerprint\":\"vllm-bench-mock\"}");
        add_event(c, buf_sv(json));
    }
    mock_stream_finish(c, true);
}

void mock_stream_collect(struct mock_conn *c, uint64_t tokens)
{
    struct mock_gen *gen = &c->gen;
    for (uint64_t i = gen->tokens_done; i < gen->tokens_done + tokens; i++)
        add_token(c, i, is_reasoning(c, i) ? &gen->reasoning : &gen->text);
}

/* {"text":"..."}: a transcription has nothing else. */
static void whole_transcription(const struct mock_conn *c, struct buf *out)
{
    buf_add_str(out, "{\"text\":\"");
    buf_add(out, buf_sv(&c->gen.text));
    buf_add_str(out, "\",");
    add_usage(c, out, c->gen.tokens_done);
    buf_add_char(out, '}');
}

void mock_stream_whole(struct mock_conn *c, struct buf *out)
{
    struct mock_gen *gen = &c->gen;
    if (gen->api == MOCK_API_RESPONSES) {
        mock_responses_whole(c, out);
        return;
    }
    if (gen->api == MOCK_API_AUDIO) {
        whole_transcription(c, out);
        return;
    }
    buf_add(out, buf_sv(&gen->head));
    buf_add_str(out, "{\"index\":0,");
    if (gen->chat) {
        buf_add_str(out, "\"message\":{\"role\":\"assistant\",\"content\":\"");
        buf_add(out, buf_sv(&gen->text));
        buf_add_str(out, "\",\"");
        js_escape(out, sv_from(options_of(c)->reasoning_key));
        buf_add_str(out, gen->reasoning.len > 0 ? "\":\"" : "\":null");
        buf_add(out, buf_sv(&gen->reasoning));
        buf_add_str(out, gen->reasoning.len > 0 ? "\",\"tool_calls\":[]}" : ",\"tool_calls\":[]}");
    } else {
        buf_add_str(out, "\"text\":\"");
        buf_add(out, buf_sv(&gen->text));
        buf_add_char(out, '"');
    }
    buf_add_str(out, ",\"logprobs\":");
    add_logprobs(c, out, 0, gen->tokens_done);
    add_finish(out, gen->chat, gen->finish_reason);
    buf_add_str(out, ",\"token_ids\":null}],\"service_tier\":null,"
                     "\"system_fingerprint\":\"vllm-bench-mock\"");
    if (strcmp(options_of(c)->usage, "never") != 0) {
        buf_add_char(out, ',');
        add_usage(c, out, gen->tokens_done);
    }
    buf_add_char(out, '}');
}
