/* /v1/responses: its body, and its events: created, in progress, an output item, deltas, the whole text, and how the
 * response ended. */
#include "mock/ask_priv.h"
#include "mock/server_priv.h"

#include <stdio.h>

/* ---- the request ----------------------------------------------------------------------------------------------- */

/* A text, or messages. */
static bool read_input(struct mock_ask *ask, struct js_scan *s)
{
    ask->has_prompt = true;
    ask->prompt_tokens = 0;
    if (js_scan_peek(s) == JS_STRING)
        return mock_ask_text(ask, s, NULL);
    if (js_scan_peek(s) == JS_ARRAY)
        return mock_ask_messages(ask, s, NULL);
    return mock_ask_refuse(ask, "input", "input should be a string or a list of messages");
}

static bool read_member(struct mock_ask *ask, struct js_scan *s, struct sv key, void *unused)
{
    (void)unused;
    if (js_key_is(key, SV_LIT("model")))
        return mock_ask_model(ask, s);
    if (js_key_is(key, SV_LIT("input")))
        return read_input(ask, s);
    if (js_key_is(key, SV_LIT("max_output_tokens")))
        return mock_ask_max_tokens(ask, s);
    if (js_key_is(key, SV_LIT("min_tokens")))
        return mock_ask_count(ask, s, "min_tokens", &ask->min_tokens);
    if (js_key_is(key, SV_LIT("ignore_eos")))
        return mock_ask_flag(ask, s, "ignore_eos", &ask->ignore_eos);
    if (js_key_is(key, SV_LIT("stream")))
        return mock_ask_flag(ask, s, "stream", &ask->stream);
    return js_scan_skip(s, NULL);
}

bool mock_ask_responses(struct mock_ask *ask, struct sv body)
{
    *ask = (struct mock_ask){.api = MOCK_API_RESPONSES, .chat = true, .include_usage = true};
    if (!mock_ask_body(ask, body, read_member, NULL))
        return false;
    return ask->has_prompt || mock_ask_refuse(ask, "input", "Field required");
}

/* ---- the answer ------------------------------------------------------------------------------------------------ */

static bool wants_usage(const struct mock_conn *c)
{
    return strcmp(c->thread->server->options->usage, "never") != 0;
}

static void add_usage(const struct mock_conn *c, struct buf *out)
{
    const struct mock_gen *gen = &c->gen;
    uint64_t reasoning = c->thread->server->options->reasoning;
    unsigned long long total = gen->prompt_tokens + gen->tokens_done;
    buf_add_fmt(out,
                "\"usage\":{\"input_tokens\":%llu,\"input_tokens_details\":{\"cached_tokens\":0},"
                "\"output_tokens\":%llu,\"output_tokens_details\":{\"reasoning_tokens\":%llu},"
                "\"total_tokens\":%llu}",
                (unsigned long long)gen->prompt_tokens, (unsigned long long)gen->tokens_done,
                (unsigned long long)(reasoning < gen->tokens_done ? reasoning : gen->tokens_done),
                total);
}

/* The response object up to its output. */
static void add_object(const struct mock_conn *c, struct buf *out, const char *status)
{
    buf_add(out, buf_sv(&c->gen.head));
    buf_add_fmt(out, ",\"status\":\"%s\"", status);
    if (strcmp(status, "incomplete") == 0)
        buf_add_str(out, ",\"incomplete_details\":{\"reason\":\"max_output_tokens\"}");
}

static void begin_event(const struct mock_conn *c, struct buf *out, const char *type)
{
    buf_add_fmt(out, "{\"type\":\"%s\",\"sequence_number\":%llu", type,
                (unsigned long long)c->gen.sequence);
}

static void send(struct mock_conn *c, const char *type, const struct buf *json)
{
    mock_stream_send(c, type, buf_sv(json));
    c->gen.sequence++;
}

static void send_status(struct mock_conn *c, const char *type)
{
    struct buf *json = mock_stream_scratch(c);
    begin_event(c, json, type);
    buf_add_str(json, ",\"response\":");
    add_object(c, json, "in_progress");
    buf_add_str(json, ",\"output\":[],\"usage\":null}}");
    send(c, type, json);
}

void mock_responses_open(struct mock_conn *c)
{
    send_status(c, "response.created");
    send_status(c, "response.in_progress");
    struct buf *json = mock_stream_scratch(c);
    begin_event(c, json, "response.output_item.added");
    buf_add_str(json, ",\"output_index\":0,\"item\":{\"id\":\"msg_mock\",\"type\":\"message\","
                      "\"role\":\"assistant\",\"status\":\"in_progress\",\"content\":[]}}");
    send(c, "response.output_item.added", json);
}

static void send_delta(struct mock_conn *c, const char *type, uint64_t from, uint64_t to)
{
    if (from == to)
        return;
    struct buf *json = mock_stream_scratch(c);
    begin_event(c, json, type);
    buf_add_str(json, ",\"item_id\":\"msg_mock\",\"output_index\":0,\"content_index\":0,"
                      "\"delta\":\"");
    mock_stream_tokens(c, from, to, json);
    buf_add_str(json, "\"}");
    send(c, type, json);
}

void mock_responses_event(struct mock_conn *c, uint64_t from, uint64_t to)
{
    uint64_t reasoning = c->thread->server->options->reasoning;
    uint64_t turn = reasoning < from ? from : reasoning < to ? reasoning : to;
    send_delta(c, "response.reasoning_text.delta", from, turn);
    send_delta(c, "response.output_text.delta", turn, to);
    mock_stream_tokens(c, turn, to, &c->gen.text);
}

static void add_message(const struct mock_conn *c, struct buf *out)
{
    buf_add_str(out, "[{\"id\":\"msg_mock\",\"type\":\"message\",\"role\":\"assistant\","
                     "\"status\":\"completed\",\"content\":[{\"type\":\"output_text\",\"text\":\"");
    buf_add(out, buf_sv(&c->gen.text));
    buf_add_str(out, "\",\"annotations\":[]}]}]");
}

/* From the status on. */
static void add_end(const struct mock_conn *c, struct buf *out)
{
    bool stopped = strcmp(c->gen.finish_reason, "stop") == 0;
    add_object(c, out, stopped ? "completed" : "incomplete");
    buf_add_str(out, ",\"output\":");
    add_message(c, out);
    buf_add_char(out, ',');
    if (wants_usage(c))
        add_usage(c, out);
    else
        buf_add_str(out, "\"usage\":null");
    buf_add_char(out, '}');
}

void mock_responses_end(struct mock_conn *c)
{
    bool stopped = strcmp(c->gen.finish_reason, "stop") == 0;
    const char *type = stopped ? "response.completed" : "response.incomplete";
    struct buf *json = mock_stream_scratch(c);
    begin_event(c, json, "response.output_text.done");
    buf_add_str(json, ",\"item_id\":\"msg_mock\",\"output_index\":0,\"content_index\":0,"
                      "\"text\":\"");
    buf_add(json, buf_sv(&c->gen.text));
    buf_add_str(json, "\"}");
    send(c, "response.output_text.done", json);
    json = mock_stream_scratch(c);
    begin_event(c, json, type);
    buf_add_str(json, ",\"response\":");
    add_end(c, json);
    buf_add_char(json, '}');
    send(c, type, json);
    mock_stream_finish(c, false);
}

void mock_responses_error(struct mock_conn *c)
{
    struct buf *json = mock_stream_scratch(c);
    begin_event(c, json, "response.failed");
    buf_add_str(json, ",\"response\":");
    add_object(c, json, "failed");
    buf_add_str(json, ",\"output\":[],\"error\":{\"code\":\"server_error\",\"message\":"
                      "\"error injected by the mock server\"},\"usage\":null}}");
    send(c, "response.failed", json);
    mock_stream_finish(c, false);
}

void mock_responses_whole(struct mock_conn *c, struct buf *out)
{
    add_end(c, out);
}
