/* OpenAI's /v1/audio/transcriptions (and translations) as vLLM streams it: a form with the recording goes up, chunks
 * like those of chat/completions come back. Python counts every chunk with a choice, the opening one included. */
#include "backends/api_priv.h"
#include "backends/body_priv.h"
#include "backends/reply_priv.h"

bool audio_body_parts(const struct config *config, struct body_template *t, struct error *err)
{
    struct body b = {.is_form = true};
    body_add_model(&b);
    if (!config->plain_openai)
        body_add_output_len(&b, "max_completion_tokens");
    body_add_json(&b, "stream", "true");
    body_add_json(&b, "language", "\"en\"");
    if (!config->plain_openai) {
        body_add_json(&b, "stream_include_usage", "true");
        body_add_json(&b, "stream_continuous_usage_stats", "true");
    }
    return body_finish(&b, config, t, err);
}

static bool read_choice(struct js_scan *s, struct reply_event *event)
{
    chat_read_choice(s, event);
    return true;
}

enum scan_result audio_scan(struct sv name, struct sv data, struct reply_event *event)
{
    enum scan_result result = reply_scan(name, data, read_choice, event);
    event->prompt_tokens =
        -1; /* Python keeps the client's count: the server's is of sound, or of a fixed start */
    return result;
}
