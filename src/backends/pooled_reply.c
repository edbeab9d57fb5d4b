/* The reply of a pooling request: one JSON text, of which only the counts matter, or an error in its place.  It may be
 * megabytes of numbers, so it is read once. */
#include "backends/api_priv.h"
#include "backends/reply_priv.h"

enum top_key {
    TOP_USAGE,
    TOP_ERROR,
    TOP_OBJECT,
    TOP_MESSAGE,
    TOP_DETAIL,
    TOP_DATA,
    TOP_RESULTS,
    TOP_EMBEDDINGS,
    TOP_COUNT
};

static const struct sv top_keys[TOP_COUNT] = {
    [TOP_USAGE] = {"usage", 5},     [TOP_ERROR] = {"error", 5},
    [TOP_OBJECT] = {"object", 6},   [TOP_MESSAGE] = {"message", 7},
    [TOP_DETAIL] = {"detail", 6},   [TOP_DATA] = {"data", 4},
    [TOP_RESULTS] = {"results", 7}, [TOP_EMBEDDINGS] = {"embeddings", 10},
};

struct pooled {
    struct reply_problem problem;
    bool object_is_error;
    bool has_result;
    struct sv detail; /* raw */
};

/* Rerank servers give only the total, which is all input. */
static void read_total(struct sv usage, struct reply_event *event)
{
    struct js_scan s;
    bool first = true;
    struct sv key;
    js_scan_init(&s, usage);
    if (event->prompt_tokens >= 0 || usage.len == 0 || usage.ptr[0] != '{')
        return;
    js_scan_object(&s);
    while (js_scan_member(&s, &first, &key)) {
        if (js_key_is(key, SV_LIT("total_tokens")))
            event->prompt_tokens = reply_count(&s);
        else
            js_scan_skip(&s, NULL);
    }
}

static void read_usage(struct js_scan *s, struct reply_event *event)
{
    struct js_scan again = *s;
    struct sv usage;
    reply_read_usage(s, event);
    if (js_scan_skip(&again, &usage))
        read_total(usage, event);
}

static void read_member(struct js_scan *s, struct sv key, struct pooled *found,
                        struct reply_event *event)
{
    struct sv text;
    switch ((enum top_key)reply_key(key, top_keys, TOP_COUNT)) {
    case TOP_USAGE:
        read_usage(s, event);
        break;
    case TOP_ERROR:
        reply_read_error(s, &found->problem);
        break;
    case TOP_OBJECT:
        reply_string(s, &text);
        found->object_is_error = sv_eq(text, SV_LIT("error"));
        break;
    case TOP_MESSAGE:
        reply_string(s, &found->problem.message);
        break;
    case TOP_DETAIL:
        reply_string(s, &found->detail);
        break;
    case TOP_DATA:
    case TOP_RESULTS:
    case TOP_EMBEDDINGS:
        found->has_result = true;
        js_scan_skip(s, NULL);
        break;
    case TOP_COUNT:
    default:
        js_scan_skip(s, NULL);
        break;
    }
}

enum scan_result pooled_scan(struct sv name, struct sv data, struct reply_event *event)
{
    struct pooled found = {0};
    struct js_scan s;
    bool first = true;
    struct sv key;
    (void)name;
    reply_event_init(event);
    data = reply_trim(data);
    js_scan_init(&s, data);
    if (data.len > 0 && data.ptr[0] == '{' && js_scan_object(&s)) {
        while (js_scan_member(&s, &first, &key))
            read_member(&s, key, &found, event);
    } else {
        js_scan_skip(&s, NULL);
    }
    if (!js_scan_end(&s))
        return SCAN_BAD;
    if (found.problem.error)
        return reply_set_error(event, found.problem.text, found.problem.is_string);
    if (found.problem.message.len > 0 && (found.object_is_error || !found.has_result))
        return reply_set_error(event, found.problem.message, true);
    if (found.detail.len > 0 && !found.has_result)
        return reply_set_error(event, found.detail, true);
    return SCAN_OTHER;
}
