/* Reads an event in one pass over its bytes: the few fields that matter are picked up, all else is stepped over and
 * still checked, since an event that is not valid JSON fails its request. When a key stands twice the last one counts,
 * as in Python. */
#include "backends/reply_priv.h"

#include "base/num.h"

enum { SHORTEST_NAME = 4 };

/* No request has 2^40 tokens; and of counts below, 2^24 requests add up without running over. */
static const int64_t COUNT_LIMIT = (int64_t)1 << 40;

enum reply_key {
    KEY_CHOICES,
    KEY_USAGE,
    KEY_ERROR,
    KEY_OBJECT,
    KEY_MESSAGE,
    KEY_METRICS,
    KEY_COUNT,
};

static const struct sv reply_keys[KEY_COUNT] = {
    [KEY_CHOICES] = {"choices", 7}, [KEY_USAGE] = {"usage", 5},     [KEY_ERROR] = {"error", 5},
    [KEY_OBJECT] = {"object", 6},   [KEY_MESSAGE] = {"message", 7}, [KEY_METRICS] = {"metrics", 7},
};

/* The second name of each is that of /v1/responses. */
enum usage_key {
    USAGE_PROMPT,
    USAGE_COMPLETION,
    USAGE_DETAILS,
    USAGE_INPUT,
    USAGE_OUTPUT,
    USAGE_INPUT_DETAILS,
    USAGE_COMPLETION_DETAILS,
    USAGE_OUTPUT_DETAILS,
    USAGE_COUNT
};

static const struct sv usage_keys[USAGE_COUNT] = {
    [USAGE_PROMPT] = {"prompt_tokens", 13},
    [USAGE_COMPLETION] = {"completion_tokens", 17},
    [USAGE_DETAILS] = {"prompt_tokens_details", 21},
    [USAGE_INPUT] = {"input_tokens", 12},
    [USAGE_OUTPUT] = {"output_tokens", 13},
    [USAGE_INPUT_DETAILS] = {"input_tokens_details", 20},
    [USAGE_COMPLETION_DETAILS] = {"completion_tokens_details", 25},
    [USAGE_OUTPUT_DETAILS] = {"output_tokens_details", 21},
};

/* What the top level said, besides what goes into the reply at once. */
struct found {
    bool token;
    bool object_is_error; /* "object": "error" */
    struct reply_problem problem;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct sv reply_trim(struct sv v)
{
    while (v.len > 0 && is_blank(v.ptr[v.len - 1]))
        v.len--;
    while (v.len > 0 && is_blank(v.ptr[0]))
        v = sv_skip(v, 1);
    return v;
}

size_t reply_key(struct sv raw, const struct sv *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (sv_eq(raw, names[i]))
            return i;
    }
    /* A letter has only the escape \uXXXX, which is 5 bytes longer, and no name has less than SHORTEST_NAME letters:
     * the short keys that are met most need no further look. */
    if (raw.len < SHORTEST_NAME + 5 || memchr(raw.ptr, '\\', raw.len) == NULL)
        return count;
    size_t i = 0;
    while (i < count && !js_key_is(raw, names[i]))
        i++;
    return i;
}

bool reply_truthy(struct js_scan *s)
{
    struct sv text;
    bool escaped;
    bool value = false;
    switch (js_scan_peek(s)) {
    case JS_BOOL:
        return js_scan_bool(s, &value) && value;
    case JS_STRING:
        return js_scan_string(s, &text, &escaped) && text.len > 0;
    case JS_NUMBER:
        if (!js_scan_number(s, &text))
            return false;
        for (size_t i = 0; i < text.len && text.ptr[i] != 'e' && text.ptr[i] != 'E'; i++)
            value |= text.ptr[i] >= '1' && text.ptr[i] <= '9';
        return value;
    case JS_ARRAY:
    case JS_OBJECT:
        if (!js_scan_skip(s, &text))
            return false;
        return reply_trim(sv_make(text.ptr + 1, text.len - 2)).len > 0;
    case JS_NULL:
    case JS_BAD:
    default:
        js_scan_skip(s, NULL);
        return false;
    }
}

bool reply_string(struct js_scan *s, struct sv *text)
{
    bool escaped;
    *text = sv_make("", 0);
    if (js_scan_peek(s) == JS_STRING)
        return js_scan_string(s, text, &escaped);
    js_scan_skip(s, NULL);
    return false;
}

int64_t reply_count(struct js_scan *s)
{
    struct sv text;
    int64_t value;
    if (js_scan_peek(s) != JS_NUMBER) {
        js_scan_skip(s, NULL);
        return -1;
    }
    if (!js_scan_number(s, &text) || !num_parse_i64(text, &value) || value < 0 ||
        value >= COUNT_LIMIT)
        return -1;
    return value;
}

static double read_double(struct js_scan *s)
{
    struct sv text;
    double value;
    if (js_scan_peek(s) != JS_NUMBER) {
        js_scan_skip(s, NULL);
        return (double)NAN;
    }
    /* 1e999 is JSON, but no time */
    bool known = js_scan_number(s, &text) && num_parse_double(text, &value) && isfinite(value);
    return known ? value : (double)NAN;
}

bool reply_enter_object(struct js_scan *s)
{
    if (js_scan_peek(s) == JS_OBJECT)
        return js_scan_object(s);
    js_scan_skip(s, NULL);
    return false;
}

static void read_prompt_details(struct js_scan *s, struct reply_event *event)
{
    bool first = true;
    struct sv key;
    event->cached_tokens = -1;
    if (!reply_enter_object(s))
        return;
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, SV_LIT("cached_tokens")))
            event->cached_tokens = reply_count(s);
        else
            js_scan_skip(s, NULL);
    }
}

static void read_completion_details(struct js_scan *s, struct reply_event *event)
{
    bool first = true;
    struct sv key;
    event->reasoning_tokens = -1;
    if (!reply_enter_object(s))
        return;
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, SV_LIT("reasoning_tokens")))
            event->reasoning_tokens = reply_count(s);
        else
            js_scan_skip(s, NULL);
    }
}

void reply_read_usage(struct js_scan *s, struct reply_event *event)
{
    bool first = true;
    struct sv key;
    event->reasoning_tokens = -1;
    event->prompt_tokens = -1;
    event->completion_tokens = -1;
    event->cached_tokens = -1;
    if (!reply_enter_object(s))
        return;
    while (js_scan_member(s, &first, &key)) {
        switch ((enum usage_key)reply_key(key, usage_keys, USAGE_COUNT)) {
        case USAGE_PROMPT:
        case USAGE_INPUT:
            event->prompt_tokens = reply_count(s);
            break;
        case USAGE_COMPLETION:
        case USAGE_OUTPUT:
            event->completion_tokens = reply_count(s);
            break;
        case USAGE_DETAILS:
        case USAGE_INPUT_DETAILS:
            read_prompt_details(s, event);
            break;
        case USAGE_COMPLETION_DETAILS:
        case USAGE_OUTPUT_DETAILS:
            read_completion_details(s, event);
            break;
        case USAGE_COUNT:
        default:
            js_scan_skip(s, NULL);
            break;
        }
    }
}

void reply_read_metrics(struct js_scan *s, struct reply_event *event)
{
    bool first = true;
    struct sv key;
    event->server_queue_ms = (double)NAN;
    event->server_ttft_ms = (double)NAN;
    if (!reply_enter_object(s))
        return;
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, SV_LIT("queue_time_ms")))
            event->server_queue_ms = read_double(s);
        else if (js_key_is(key, SV_LIT("time_to_first_token_ms")))
            event->server_ttft_ms = read_double(s);
        else
            js_scan_skip(s, NULL);
    }
}

/* The message inside an error object; false when it has none. */
static bool error_message(struct sv object, struct sv *message)
{
    struct js_scan s;
    bool first = true;
    bool found = false;
    struct sv key;
    js_scan_init(&s, object);
    if (!js_scan_object(&s))
        return false;
    while (js_scan_member(&s, &first, &key)) {
        if (js_key_is(key, SV_LIT("message")))
            found = reply_string(&s, message) && message->len > 0;
        else
            js_scan_skip(&s, NULL);
    }
    return found;
}

void reply_read_error(struct js_scan *s, struct reply_problem *problem)
{
    struct js_scan again = *s;
    struct sv raw;
    problem->error = reply_truthy(s);
    if (!problem->error)
        return;
    bool string = js_scan_peek(&again) == JS_STRING;
    js_scan_skip(&again, &raw);
    problem->is_string = true;
    if (string)
        problem->text = sv_make(raw.ptr + 1, raw.len - 2);
    else if (raw.ptr[0] != '{' || !error_message(raw, &problem->text)) {
        problem->text = raw;
        problem->is_string = false;
    }
}

static void read_choices(struct js_scan *s, reply_choice_fn *read_choice, struct found *found,
                         struct reply_event *event)
{
    bool first = true;
    found->token = false;
    event->text = sv_make("", 0);
    event->reasoning = false;
    if (js_scan_peek(s) != JS_ARRAY) {
        js_scan_skip(s, NULL);
        return;
    }
    js_scan_array(s);
    if (!js_scan_element(s, &first))
        return;
    found->token = read_choice(s, event);
    while (js_scan_element(s, &first))
        js_scan_skip(s, NULL);
}

static void read_member(struct js_scan *s, struct sv key, reply_choice_fn *read_choice,
                        struct found *found, struct reply_event *event)
{
    struct sv text;
    switch ((enum reply_key)reply_key(key, reply_keys, KEY_COUNT)) {
    case KEY_CHOICES:
        read_choices(s, read_choice, found, event);
        break;
    case KEY_USAGE:
        reply_read_usage(s, event);
        break;
    case KEY_ERROR:
        reply_read_error(s, &found->problem);
        break;
    case KEY_OBJECT:
        reply_string(s, &text);
        found->object_is_error = sv_eq(text, SV_LIT("error"));
        break;
    case KEY_MESSAGE:
        reply_string(s, &found->problem.message);
        break;
    case KEY_METRICS:
        reply_read_metrics(s, event);
        break;
    case KEY_COUNT:
    default:
        js_scan_skip(s, NULL);
        break;
    }
}

void reply_event_init(struct reply_event *event)
{
    *event = (struct reply_event){.prompt_tokens = -1,
                                  .completion_tokens = -1,
                                  .cached_tokens = -1,
                                  .reasoning_tokens = -1,
                                  .server_queue_ms = (double)NAN,
                                  .server_ttft_ms = (double)NAN};
}

enum scan_result reply_set_error(struct reply_event *event, struct sv text, bool is_string)
{
    event->error = text;
    event->error_is_raw_string = is_string;
    return SCAN_ERROR;
}

/* Is it an error, and what is its message? */
static bool judge_error(const struct found *found, bool error_event, struct sv data,
                        struct reply_event *event)
{
    const struct reply_problem *problem = &found->problem;
    if (problem->error)
        reply_set_error(event, problem->text, problem->is_string);
    else if ((found->object_is_error || error_event) && problem->message.len > 0)
        reply_set_error(event, problem->message, true);
    else if (error_event)
        reply_set_error(event, data, false);
    else
        return false;
    return true;
}

enum scan_result reply_scan(struct sv name, struct sv data, reply_choice_fn *read_choice,
                            struct reply_event *event)
{
    struct found found = {0};
    struct js_scan s;
    reply_event_init(event);
    bool error_event = name.len == 5 && sv_eq(name, SV_LIT("error"));
    js_scan_init(&s, data);
    if (data.len > 0 && data.ptr[0] == '{') {
        bool first = true;
        struct sv key;
        js_scan_object(&s);
        while (js_scan_member(&s, &first, &key))
            read_member(&s, key, read_choice, &found, event);
    } else {
        struct sv text = reply_trim(data);
        if (text.len > 0 && text.ptr[0] == '{')
            return reply_scan(name, text, read_choice, event);
        event->done = sv_eq(text, SV_LIT("[DONE]"));
        if (error_event)
            return reply_set_error(event, text.len > 0 ? text : SV_LIT("event: error"), false);
        if (text.len == 0 || event->done)
            return SCAN_OTHER;
        js_scan_skip(&s, NULL);
    }
    if (!js_scan_end(&s))
        return error_event ? reply_set_error(event, data, false) : SCAN_BAD;
    if (judge_error(&found, error_event, data, event))
        return SCAN_ERROR;
    return found.token ? SCAN_TOKEN : SCAN_OTHER;
}
