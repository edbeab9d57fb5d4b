/* The scanners of stream events: they say "malformed" exactly when the tree reader does, their views lie in the text,
 * and an event says the same after any other event.  Input: one byte that picks the API ('0' to '7' completions and chat,
 * 'a' to 'h' responses and audio, 'p' to 'w' pooling) and the event name, then the data; for the last rule its lines are
 * events. */
#include "backends/backend.h"
#include "base/arena.h"
#include "json/tree.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static bool inside(struct sv view, struct sv text)
{
    return view.len == 0 || (view.ptr >= text.ptr && view.ptr + view.len <= text.ptr + text.len);
}

/* The scanners count nesting from the values they step over, the tree from the top: deep texts may differ. */
static bool is_deep(struct sv text)
{
    size_t brackets = 0;
    for (size_t i = 0; i < text.len; i++)
        brackets += text.ptr[i] == '{' || text.ptr[i] == '[';
    return brackets >= JS_MAX_DEPTH - 8;
}

static struct sv trim(struct sv v)
{
    while (v.len > 0 && strchr(" \t\r\n", v.ptr[v.len - 1]) != NULL && v.ptr[v.len - 1] != '\0')
        v.len--;
    while (v.len > 0 && strchr(" \t\r\n", v.ptr[0]) != NULL && v.ptr[0] != '\0')
        v = sv_skip(v, 1);
    return v;
}

static bool is_json(struct sv text)
{
    struct arena arena = {0};
    struct error err;
    bool valid = js_parse(&arena, text, "event", &err) != NULL;
    arena_done(&arena);
    return valid;
}

static void check_views(const struct reply_event *event, enum scan_result result, struct sv text)
{
    struct buf plain = {0};
    check(inside(event->text, text));
    if (result == SCAN_ERROR && event->error_is_raw_string)
        check(inside(event->error, text) && js_unescape(event->error, &plain));
    if (result == SCAN_TOKEN)
        check(js_unescape(event->text, &plain));
    check(event->prompt_tokens >= -1 && event->completion_tokens >= -1 &&
          event->cached_tokens >= -1);
    buf_done(&plain);
}

static bool same_view(struct sv a, struct sv b)
{
    return a.len == b.len && (a.len == 0 || a.ptr == b.ptr);
}

static void check_lines(const struct backend *backend, struct sv text)
{
    struct backend_memo memo = {0};
    struct sv line;
    while (sv_split(&text, '\n', &line)) {
        struct reply_event alone;
        enum scan_result wanted = backend->scan(sv_make("", 0), line, &alone);
        enum scan_result result = backend_scan_next(backend, &memo, sv_make("", 0), line);
        const struct reply_event *event = &memo.event;
        check(result == wanted && event->done == alone.done && event->reasoning == alone.reasoning);
        check(same_view(event->text, alone.text) && same_view(event->error, alone.error));
        check(event->prompt_tokens == alone.prompt_tokens &&
              event->completion_tokens == alone.completion_tokens &&
              event->cached_tokens == alone.cached_tokens);
    }
}

static const struct backend *backend_for(uint8_t pick)
{
    bool odd = (pick & 1) != 0;
    if (pick >> 4 == 6)
        return backend_find(odd ? "openai-responses" : "openai-audio");
    if (pick >> 4 == 7)
        return backend_find("vllm-pooling");
    return backend_find(odd ? "openai-chat" : "openai");
}

/* The whole reply of a pooling request has no tokens, no end mark and no event names. */
static void check_pooled(const struct backend *backend, struct sv text)
{
    struct reply_event event;
    enum scan_result result = backend->scan(sv_make("", 0), text, &event);
    check(result != SCAN_TOKEN && !event.done);
    if (!is_deep(text))
        check((result != SCAN_BAD) == is_json(text));
    check_views(&event, result, text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    const struct backend *backend = backend_for(data[0]);
    if (backend->pooling) {
        check_pooled(backend, sv_make((const char *)data + 1, size - 1));
        return 0;
    }
    bool error_event = (data[0] & 6) == 6;
    struct sv text = sv_make((const char *)data + 1, size - 1);
    struct reply_event event;
    enum scan_result result =
        backend->scan(error_event ? SV_LIT("error") : sv_make("", 0), text, &event);
    struct sv trimmed = trim(text);
    if (error_event)
        check(result == SCAN_ERROR);
    else if (trimmed.len == 0 || sv_eq(trimmed, SV_LIT("[DONE]")))
        check(result == SCAN_OTHER && event.done == (trimmed.len > 0 && !backend->needs_terminal));
    else if (!is_deep(text))
        check((result != SCAN_BAD) == is_json(text));
    check_views(&event, result, text);
    check_lines(backend, text);

    enum scan_result plain = backend_scan_plain(backend, text, &event);
    check(plain != SCAN_TOKEN);
    check_views(&event, plain, text);
    struct buf message = {0};
    backend_error_text(text, &message);
    check(message.len <= 500);
    buf_done(&message);
    return 0;
}
