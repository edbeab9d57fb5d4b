/* OpenAI's /v1/completions, streamed.  Every chunk with a choice is a decode step, even one without text (a special or
 * a stop token). */
#include "backends/api_priv.h"
#include "backends/body_priv.h"
#include "backends/reply_priv.h"

bool completions_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {0};
    body_add_model(&b);
    body_add_prompt(&b, "prompt");
    if (!config->plain_openai)
        body_add_json(&b, "repetition_penalty", "1.0");
    body_add_output_len(&b, "max_tokens");
    if (config->has_logprobs)
        body_add_json(&b, "logprobs", arena_fmt(&b.arena, "%lld", (long long)config->logprobs).ptr);
    else
        body_add_json(&b, "logprobs", "null");
    body_add_stream(&b);
    body_add_ignore_eos(&b, config);
    return body_finish(&b, config, t, err);
}

static bool read_choice(struct js_scan *s, struct reply_event *event)
{
    static const struct sv text_key = {"text", 4};
    bool first = true;
    struct sv key;
    if (js_scan_peek(s) != JS_OBJECT) {
        js_scan_skip(s, NULL);
        return true;
    }
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        if (reply_key(key, &text_key, 1) == 0)
            reply_string(s, &event->text);
        else
            js_scan_skip(s, NULL);
    }
    return true;
}

enum scan_result completions_scan(struct sv name, struct sv data, struct reply_event *event)
{
    return reply_scan(name, data, read_choice, event);
}
