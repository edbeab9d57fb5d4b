/* OpenAI's /v1/responses, streamed.  Events carry their type; two kinds of delta are tokens, and the stream is complete
 * only when an event says how the response ended. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"
#include "backends/reply_priv.h"

bool responses_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {0};
    body_add_model(&b);
    body_add_prompt(&b, "input");
    body_add_output_len(&b, "max_output_tokens");
    body_add_json(&b, "stream", "true");
    body_add_json(&b, "store", "false");
    body_add_ignore_eos(&b, config);
    return body_finish(&b, config, t, err);
}

enum top_key {
    TOP_TYPE,
    TOP_DELTA,
    TOP_RESPONSE,
    TOP_ERROR,
    TOP_OBJECT,
    TOP_MESSAGE,
    TOP_USAGE,
    TOP_METRICS,
    TOP_COUNT
};

static const struct sv top_keys[TOP_COUNT] = {
    [TOP_TYPE] = {"type", 4},         [TOP_DELTA] = {"delta", 5},
    [TOP_RESPONSE] = {"response", 8}, [TOP_ERROR] = {"error", 5},
    [TOP_MESSAGE] = {"message", 7},   [TOP_USAGE] = {"usage", 5},
    [TOP_METRICS] = {"metrics", 7},   [TOP_OBJECT] = {"object", 6},
};

struct response_event {
    struct sv type;
    bool named_failure;         /* by the event's line */
    bool object_is_error;       /* "object": "error" */
    struct sv delta;            /* raw */
    struct reply_problem outer; /* `error` and `message` of the event */
    struct reply_problem inner; /* of its response object */
};

/* The response object that comes with the events of its life: usage, and the error of a failed one. */
static void read_response(struct js_scan *s, struct response_event *found,
                          struct reply_event *event)
{
    bool first = true;
    struct sv key;
    if (!reply_enter_object(s))
        return;
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, SV_LIT("usage")))
            reply_read_usage(s, event);
        else if (js_key_is(key, SV_LIT("error")))
            reply_read_error(s, &found->inner);
        else
            js_scan_skip(s, NULL);
    }
}

static void read_member(struct js_scan *s, struct sv key, struct response_event *found,
                        struct reply_event *event)
{
    struct sv text;
    switch ((enum top_key)reply_key(key, top_keys, TOP_COUNT)) {
    case TOP_TYPE:
        reply_string(s, &found->type);
        break;
    case TOP_DELTA:
        reply_string(s, &found->delta);
        break;
    case TOP_RESPONSE:
        read_response(s, found, event);
        break;
    case TOP_ERROR:
        reply_read_error(s, &found->outer);
        break;
    case TOP_OBJECT:
        reply_string(s, &text);
        found->object_is_error = sv_eq(text, SV_LIT("error"));
        break;
    case TOP_MESSAGE:
        reply_string(s, &found->outer.message);
        break;
    case TOP_USAGE:
        reply_read_usage(s, event);
        break;
    case TOP_METRICS:
        reply_read_metrics(s, event);
        break;
    case TOP_COUNT:
    default:
        js_scan_skip(s, NULL);
        break;
    }
}

static bool is_failure(struct sv type)
{
    return sv_eq(type, SV_LIT("error")) || sv_eq(type, SV_LIT("response.failed"));
}

static enum scan_result judge(const struct response_event *found, struct sv data,
                              struct reply_event *event)
{
    bool failed = is_failure(found->type) || found->named_failure || found->object_is_error;
    /* A response object carries its error in any event; only the event that ends it makes it one. */
    if (found->outer.error)
        return reply_set_error(event, found->outer.text, found->outer.is_string);
    if (failed && found->inner.error)
        return reply_set_error(event, found->inner.text, found->inner.is_string);
    if (failed && found->outer.message.len > 0)
        return reply_set_error(event, found->outer.message, true);
    if (failed)
        return reply_set_error(event, data, false);
    event->done = sv_eq(found->type, SV_LIT("response.completed")) ||
                  sv_eq(found->type, SV_LIT("response.incomplete"));
    if (sv_eq(found->type, SV_LIT("response.output_text.delta"))) {
        event->text = found->delta;
        return SCAN_TOKEN;
    }
    event->reasoning = sv_eq(found->type, SV_LIT("response.reasoning_text.delta"));
    return event->reasoning ? SCAN_TOKEN : SCAN_OTHER;
}

enum scan_result responses_scan(struct sv name, struct sv data, struct reply_event *event)
{
    struct response_event found = {0};
    struct js_scan s;
    bool first = true;
    struct sv key;
    reply_event_init(event);
    data = reply_trim(data);
    if (data.len == 0 || sv_eq(data, SV_LIT("[DONE]"))) {
        if (is_failure(name))
            return reply_set_error(event, data.len > 0 ? data : name, false);
        return SCAN_OTHER;
    }
    js_scan_init(&s, data);
    if (data.ptr[0] == '{' && js_scan_object(&s)) {
        while (js_scan_member(&s, &first, &key))
            read_member(&s, key, &found, event);
    } else {
        js_scan_skip(&s, NULL);
    }
    if (!js_scan_end(&s))
        return is_failure(name) ? reply_set_error(event, data, false) : SCAN_BAD;
    found.named_failure = is_failure(name);
    if (found.type.len == 0) /* some servers name the event only in its line */
        found.type = name;
    return judge(&found, data, event);
}
