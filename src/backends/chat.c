/* OpenAI's /v1/chat/completions, streamed.  The opening chunk, which only names the role, is no token; reasoning and
 * tool calls are tokens without being part of the visible answer. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"
#include "backends/reply_priv.h"

bool chat_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    static const struct body_piece messages[] = {
        {PART_WRAPPER, "[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"},
        {PART_PROMPT, NULL},
        {PART_WRAPPER, "}"},
        {PART_MEDIA, NULL},
        {PART_WRAPPER, "]}]"},
    };
    struct body b = {0};
    body_add_model(&b);
    body_add_pieces(&b, "messages", messages, BODY_COUNT(messages));
    body_add_output_len(&b, "max_completion_tokens");
    body_add_stream(&b);
    body_add_ignore_eos(&b, config);
    return body_finish(&b, config, t, err);
}

enum delta_key {
    DELTA_CONTENT,
    DELTA_ROLE,
    DELTA_REASONING,
    DELTA_REASONING_CONTENT,
    DELTA_TOOL_CALLS,
    DELTA_FUNCTION_CALL,
    DELTA_COUNT,
};

static const struct sv delta_keys[DELTA_COUNT] = {
    [DELTA_CONTENT] = {"content", 7},        [DELTA_ROLE] = {"role", 4},
    [DELTA_REASONING] = {"reasoning", 9},    [DELTA_REASONING_CONTENT] = {"reasoning_content", 17},
    [DELTA_TOOL_CALLS] = {"tool_calls", 10}, [DELTA_FUNCTION_CALL] = {"function_call", 13},
};

/* What a delta holds. */
struct delta {
    bool has[DELTA_COUNT]; /* DELTA_ROLE: the key is there; the others: it is not empty */
    bool empty_content;    /* "content": "" */
    struct sv text;
};

static void read_delta(struct js_scan *s, struct delta *delta)
{
    bool first = true;
    struct sv key;
    *delta = (struct delta){0};
    if (js_scan_peek(s) != JS_OBJECT) {
        js_scan_skip(s, NULL);
        return;
    }
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        enum delta_key which = (enum delta_key)reply_key(key, delta_keys, DELTA_COUNT);
        if (which == DELTA_COUNT) {
            js_scan_skip(s, NULL);
        } else if (which == DELTA_CONTENT && js_scan_peek(s) == JS_STRING) {
            reply_string(s, &delta->text);
            delta->has[which] = delta->text.len > 0;
            delta->empty_content = delta->text.len == 0;
        } else {
            delta->has[which] = reply_truthy(s) || which == DELTA_ROLE;
            if (which == DELTA_CONTENT) {
                delta->text = sv_make("", 0);
                delta->empty_content = false;
            }
        }
    }
}

bool chat_read_choice(struct js_scan *s, struct reply_event *event)
{
    static const struct sv delta_key = {"delta", 5};
    struct delta delta = {0};
    bool first = true;
    struct sv key;
    if (js_scan_peek(s) != JS_OBJECT) {
        js_scan_skip(s, NULL);
        return false;
    }
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        if (reply_key(key, &delta_key, 1) == 0)
            read_delta(s, &delta);
        else
            js_scan_skip(s, NULL);
    }
    bool reasoning = delta.has[DELTA_REASONING] || delta.has[DELTA_REASONING_CONTENT];
    bool answer =
        delta.has[DELTA_CONTENT] || delta.has[DELTA_TOOL_CALLS] || delta.has[DELTA_FUNCTION_CALL];
    if (delta.text.len > 0)
        event->text = delta.text;
    event->reasoning = reasoning && !answer;
    return reasoning || answer || (delta.empty_content && !delta.has[DELTA_ROLE]);
}

enum scan_result chat_scan(struct sv name, struct sv data, struct reply_event *event)
{
    return reply_scan(name, data, chat_read_choice, event);
}
