/* Request bodies are read in place; a prompt is counted, never kept.  Types are checked as a real server does it: a wrong
 * one is a 400 that names the parameter, unknown keys are skipped. */
#include "mock/ask_priv.h"

#include <stdio.h>

#include "json/scan.h"

bool mock_ask_refuse(struct mock_ask *ask, const char *param, const char *message)
{
    if (ask->status == 0) {
        ask->status = 400;
        ask->param = param;
        snprintf(ask->message, sizeof(ask->message), "%s", message);
    }
    return false;
}

static bool skip(struct js_scan *s)
{
    return js_scan_skip(s, NULL);
}

bool mock_ask_count(struct mock_ask *ask, struct js_scan *s, const char *param, uint64_t *out)
{
    if (js_scan_peek(s) == JS_NULL)
        return skip(s);
    struct sv text = {0};
    if (js_scan_peek(s) != JS_NUMBER || !js_scan_number(s, &text))
        return mock_ask_refuse(ask, param, "Input should be a valid integer");
    struct js_scan number;
    js_scan_init(&number, text);
    if (!js_scan_u64(&number, out))
        return mock_ask_refuse(ask, param, "Input should be a valid integer, at least 0");
    return true;
}

bool mock_ask_flag(struct mock_ask *ask, struct js_scan *s, const char *param, bool *out)
{
    if (js_scan_peek(s) == JS_NULL)
        return skip(s);
    if (js_scan_peek(s) != JS_BOOL)
        return mock_ask_refuse(ask, param, "Input should be a valid boolean");
    return js_scan_bool(s, out);
}

bool mock_ask_text(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out)
{
    struct sv raw = {0};
    bool escaped = false;
    if (!js_scan_string(s, &raw, &escaped))
        return false;
    if (!escaped) {
        ask->prompt_tokens += mock_tokens_encode(raw, out);
        return true;
    }
    struct buf plain = {0};
    bool ok = js_unescape(raw, &plain);
    if (ok)
        ask->prompt_tokens += mock_tokens_encode(buf_sv(&plain), out);
    buf_done(&plain);
    return ok || mock_ask_refuse(ask, NULL, "JSON decode error: invalid escape in a string");
}

/* A string, or an array of token ids, or an array of one of the two. */
static bool read_prompt(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out, int depth)
{
    enum js_type type = js_scan_peek(s);
    if (type == JS_STRING)
        return mock_ask_text(ask, s, out);
    if (type != JS_ARRAY || depth > 1)
        return mock_ask_refuse(ask, "prompt", "prompt should be a string or a list of token ids");
    bool first = true;
    size_t prompts = 0;
    js_scan_array(s);
    while (js_scan_element(s, &first)) {
        if (js_scan_peek(s) == JS_NUMBER) {
            uint64_t id = 0;
            if (!js_scan_u64(s, &id))
                return mock_ask_refuse(ask, "prompt", "token ids should be integers, at least 0");
            ask->prompt_tokens++;
        } else if (!read_prompt(ask, s, out, depth + 1)) {
            return false;
        } else if (++prompts > 1) {
            return mock_ask_refuse(ask, "prompt", "this server takes one prompt in a request");
        }
    }
    return !s->bad;
}

static void add_mark(struct mock_ask *ask, uint32_t id, struct mock_tokens *out)
{
    ask->prompt_tokens++;
    if (out != NULL)
        mock_tokens_add(out, id);
}

/* One typed part of a message: text counts its tokens; a picture or sound counts a fixed number. */
static bool read_part(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out)
{
    enum { MEDIA_TOKENS = 16 };
    bool first = true, text = false;
    struct sv key;
    if (js_scan_peek(s) == JS_STRING)
        return mock_ask_text(ask, s, out);
    if (js_scan_peek(s) != JS_OBJECT)
        return mock_ask_refuse(ask, "messages", "content parts should be objects");
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        bool is_text = js_key_is(key, SV_LIT("text")) && js_scan_peek(s) == JS_STRING;
        text |= is_text;
        if (is_text ? !mock_ask_text(ask, s, out) : !skip(s))
            return false;
    }
    for (int i = 0; i < MEDIA_TOKENS && !text; i++)
        add_mark(ask, MOCK_TOKEN_MEDIA, out);
    return !s->bad;
}

static bool read_content(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out)
{
    enum js_type type = js_scan_peek(s);
    if (type == JS_STRING)
        return mock_ask_text(ask, s, out);
    if (type == JS_NULL)
        return skip(s);
    if (type != JS_ARRAY)
        return mock_ask_refuse(ask, "messages", "content should be a string or a list of parts");
    bool first = true;
    js_scan_array(s);
    while (js_scan_element(s, &first)) {
        if (!read_part(ask, s, out))
            return false;
    }
    return !s->bad;
}

static void add_text(struct mock_ask *ask, struct sv text, struct mock_tokens *out)
{
    ask->prompt_tokens += mock_tokens_encode(text, out);
}

/* <|im_start|>role\ncontent<|im_end|>\n: role and content in this order, wherever they stand in the object. */
static bool read_message(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out)
{
    struct sv role = SV_LIT("user"), content = {0}, key;
    bool first = true, escaped = false;
    if (js_scan_peek(s) != JS_OBJECT)
        return mock_ask_refuse(ask, "messages", "messages should be objects");
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        bool ok;
        if (js_key_is(key, SV_LIT("role")) && js_scan_peek(s) == JS_STRING)
            ok = js_scan_string(s, &role, &escaped);
        else
            ok = js_scan_skip(s, js_key_is(key, SV_LIT("content")) ? &content : NULL);
        if (!ok)
            return false;
    }
    if (s->bad)
        return false;
    add_mark(ask, MOCK_TOKEN_START, out);
    add_text(ask, role, out);
    add_text(ask, SV_LIT("\n"), out);
    if (content.ptr != NULL) {
        struct js_scan inner;
        js_scan_init(&inner, content);
        if (!read_content(ask, &inner, out))
            return false;
    }
    add_mark(ask, MOCK_TOKEN_END, out);
    add_text(ask, SV_LIT("\n"), out);
    return true;
}

bool mock_ask_messages(struct mock_ask *ask, struct js_scan *s, struct mock_tokens *out)
{
    if (js_scan_peek(s) != JS_ARRAY)
        return mock_ask_refuse(ask, "messages", "Input should be a valid list");
    bool first = true;
    js_scan_array(s);
    while (js_scan_element(s, &first)) {
        if (!read_message(ask, s, out))
            return false;
    }
    add_mark(ask, MOCK_TOKEN_START, out);
    add_text(ask, SV_LIT("assistant\n"), out);
    return !s->bad;
}

static bool read_stream_options(struct mock_ask *ask, struct js_scan *s)
{
    bool first = true;
    struct sv key;
    if (js_scan_peek(s) == JS_NULL)
        return skip(s);
    if (js_scan_peek(s) != JS_OBJECT)
        return mock_ask_refuse(ask, "stream_options", "Input should be a valid object");
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        bool ok;
        if (js_key_is(key, SV_LIT("include_usage")))
            ok = mock_ask_flag(ask, s, "stream_options", &ask->include_usage);
        else if (js_key_is(key, SV_LIT("continuous_usage_stats")))
            ok = mock_ask_flag(ask, s, "stream_options", &ask->continuous_usage);
        else
            ok = skip(s);
        if (!ok)
            return false;
    }
    return !s->bad;
}

/* Completions give a number, chat gives a boolean. */
static bool read_logprobs(struct mock_ask *ask, struct js_scan *s)
{
    enum js_type type = js_scan_peek(s);
    if (type == JS_BOOL)
        return js_scan_bool(s, &ask->logprobs);
    ask->logprobs = type == JS_NUMBER;
    return skip(s);
}

bool mock_ask_model(struct mock_ask *ask, struct js_scan *s)
{
    bool escaped = false;
    if (js_scan_peek(s) != JS_STRING)
        return mock_ask_refuse(ask, "model", "Input should be a valid string");
    return js_scan_string(s, &ask->model, &escaped);
}

bool mock_ask_max_tokens(struct mock_ask *ask, struct js_scan *s)
{
    ask->has_max_tokens = js_scan_peek(s) != JS_NULL;
    if (!mock_ask_count(ask, s, "max_tokens", &ask->max_tokens))
        return false;
    if (ask->has_max_tokens && ask->max_tokens == 0)
        return mock_ask_refuse(ask, "max_tokens", "max_tokens must be at least 1, got 0.");
    return true;
}

static bool read_member(struct mock_ask *ask, struct js_scan *s, struct sv key)
{
    uint64_t n = 1;
    if (js_key_is(key, SV_LIT("model")))
        return mock_ask_model(ask, s);
    if (js_key_is(key, ask->chat ? SV_LIT("messages") : SV_LIT("prompt"))) {
        ask->has_prompt = true;
        ask->prompt_tokens = 0;
        return ask->chat ? mock_ask_messages(ask, s, NULL) : read_prompt(ask, s, NULL, 0);
    }
    if (js_key_is(key, SV_LIT("max_tokens")) || js_key_is(key, SV_LIT("max_completion_tokens")))
        return mock_ask_max_tokens(ask, s);
    if (js_key_is(key, SV_LIT("min_tokens")))
        return mock_ask_count(ask, s, "min_tokens", &ask->min_tokens);
    if (js_key_is(key, SV_LIT("ignore_eos")))
        return mock_ask_flag(ask, s, "ignore_eos", &ask->ignore_eos);
    if (js_key_is(key, SV_LIT("stream")))
        return mock_ask_flag(ask, s, "stream", &ask->stream);
    if (js_key_is(key, SV_LIT("stream_options")))
        return read_stream_options(ask, s);
    if (js_key_is(key, SV_LIT("logprobs")))
        return read_logprobs(ask, s);
    if (js_key_is(key, SV_LIT("n"))) {
        if (!mock_ask_count(ask, s, "n", &n))
            return false;
        return n == 1 || mock_ask_refuse(ask, "n", "this server gives one answer; n must be 1");
    }
    return skip(s);
}

/* After a failure inside: malformed JSON unless a parameter was refused. */
static bool fail(struct mock_ask *ask, const struct js_scan *s)
{
    if (ask->status == 0) {
        ask->status = 400;
        snprintf(ask->message, sizeof(ask->message), "JSON decode error at byte %zu",
                 js_scan_offset(s));
    }
    return false;
}

bool mock_ask_body(struct mock_ask *ask, struct sv body, mock_ask_member_fn *member, void *context)
{
    struct js_scan s;
    struct sv key;
    bool first = true;
    js_scan_init(&s, body);
    if (js_scan_peek(&s) != JS_BAD && js_scan_peek(&s) != JS_OBJECT)
        return mock_ask_refuse(ask, NULL, "the body should be a JSON object");
    if (!js_scan_object(&s))
        return fail(ask, &s);
    while (js_scan_member(&s, &first, &key)) {
        if (!member(ask, &s, key, context))
            return fail(ask, &s);
    }
    return js_scan_end(&s) || fail(ask, &s);
}

static bool generation_member(struct mock_ask *ask, struct js_scan *s, struct sv key, void *unused)
{
    (void)unused;
    return read_member(ask, s, key);
}

bool mock_ask_parse(struct mock_ask *ask, bool chat, struct sv body)
{
    *ask = (struct mock_ask){.api = chat ? MOCK_API_CHAT : MOCK_API_COMPLETIONS, .chat = chat};
    if (!mock_ask_body(ask, body, generation_member, NULL))
        return false;
    if (!ask->has_prompt)
        return mock_ask_refuse(ask, chat ? "messages" : "prompt", "Field required");
    return true;
}

static bool tokenize_member(struct mock_ask *ask, struct js_scan *s, struct sv key, void *out)
{
    if (js_key_is(key, SV_LIT("messages"))) {
        ask->has_prompt = true;
        return mock_ask_messages(ask, s, out);
    }
    if (!js_key_is(key, SV_LIT("prompt")))
        return skip(s);
    ask->has_prompt = true;
    if (js_scan_peek(s) != JS_STRING)
        return mock_ask_refuse(ask, "prompt", "Input should be a valid string");
    return mock_ask_text(ask, s, out);
}

bool mock_ask_tokenize(struct mock_ask *ask, struct sv body, struct mock_tokens *out)
{
    *ask = (struct mock_ask){0};
    if (!mock_ask_body(ask, body, tokenize_member, out))
        return false;
    return ask->has_prompt || mock_ask_refuse(ask, "prompt", "Field required");
}

static bool detokenize_member(struct mock_ask *ask, struct js_scan *s, struct sv key, void *out)
{
    if (!js_key_is(key, SV_LIT("tokens")))
        return skip(s);
    ask->has_prompt = true;
    if (js_scan_peek(s) != JS_ARRAY)
        return mock_ask_refuse(ask, "tokens", "Input should be a valid list");
    bool first = true;
    js_scan_array(s);
    while (js_scan_element(s, &first)) {
        uint64_t id = 0;
        if (js_scan_peek(s) != JS_NUMBER || !js_scan_u64(s, &id))
            return mock_ask_refuse(ask, "tokens", "token ids should be integers, at least 0");
        mock_tokens_decode(id, out);
    }
    return !s->bad;
}

bool mock_ask_detokenize(struct mock_ask *ask, struct sv body, struct buf *out)
{
    *ask = (struct mock_ask){0};
    if (!mock_ask_body(ask, body, detokenize_member, out))
        return false;
    return ask->has_prompt || mock_ask_refuse(ask, "tokens", "Field required");
}
