/* Neighbouring events of a stream mostly differ in their text alone.  Such an event needs no second look at its JSON:
 *     {"id":"c0","choices":[{"text":" a","index":0}]}         read in full; its text lies at byte 32
 *     {"id":"c0","choices":[{"text":" about","index":0}]}     the same bytes up to there and behind the text
 * What stands between is checked to be one JSON string, so the result is that of a full look: no backend decides by what
 * a text says, only by whether it is empty, and empty texts are never compared. */
#include "backends/backend.h"
#include "json/scan.h"

/* Is `data` the remembered event with another text?  Then *text is that one. */
static bool repeats(const struct backend_memo *memo, struct sv data, struct sv *text)
{
    struct sv last = memo->event.text;
    size_t before = (size_t)(last.ptr - memo->data.ptr);
    size_t after = memo->data.len - before - last.len;
    if (data.len <= before + after || memcmp(data.ptr, memo->data.ptr, before) != 0)
        return false;
    size_t len = data.len - before - after;
    if (memcmp(data.ptr + before + len, last.ptr + last.len, after) != 0)
        return false;
    struct js_scan s;
    bool escaped;
    js_scan_init(&s, sv_skip(data, before - 1)); /* from the opening quote */
    return js_scan_string(&s, text, &escaped) && text->len == len;
}

enum scan_result backend_scan_next(const struct backend *backend, struct backend_memo *memo,
                                   struct sv name, struct sv data)
{
    if (memo->data.ptr != NULL && name.len == 0 && repeats(memo, data, &memo->event.text)) {
        memo->data = data;
        return SCAN_TOKEN;
    }
    enum scan_result result = backend->scan(name, data, &memo->event);
    bool comparable = result == SCAN_TOKEN && name.len == 0 && memo->event.text.len > 0;
    memo->data = comparable ? data : sv_make(NULL, 0);
    return result;
}
