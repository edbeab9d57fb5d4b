/* The server's own words out of a body that is no event stream: JSON in the shapes that servers use, or the readable
 * part of plain text and HTML. */
#include "backends/backend.h"

#include "base/arena.h"
#include "json/tree.h"
#include "json/writer.h"

enum { MAX_TEXT = 500, MAX_SCANNED = 64 * 1024 };

static bool is_json_start(char c)
{
    return c == '{' || c == '[' || c == '"';
}

/* Appends text with white space and control characters folded to single blanks, at most MAX_TEXT bytes and never half
 * a UTF-8 character; a cut is marked "...". */
static void add_folded(struct buf *out, struct sv text)
{
    size_t start = out->len;
    bool blank = false;
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c <= ' ' || c == 0x7f) {
            blank = out->len > start;
            continue;
        }
        if (out->len - start + blank >= MAX_TEXT) {
            size_t end = start + MAX_TEXT - 3;
            while (end > start && ((unsigned char)out->ptr[end] & 0xc0) == 0x80)
                end--;
            out->len = end;
            buf_add_str(out, "...");
            return;
        }
        if (blank)
            buf_add_char(out, ' ');
        blank = false;
        buf_add_char(out, (char)c);
    }
}

/* Does `text` at `at` begin with the tag name, in any case? */
static bool tag_is(struct sv text, size_t at, struct sv name)
{
    return text.len - at >= name.len && sv_eq_nocase(sv_make(text.ptr + at, name.len), name);
}

/* Where the content of <script> and <style> ends; `at` for other tags. */
static size_t skip_element(struct sv text, size_t at)
{
    struct sv end = tag_is(text, at, SV_LIT("<script"))  ? SV_LIT("</script")
                    : tag_is(text, at, SV_LIT("<style")) ? SV_LIT("</style")
                                                         : sv_make("", 0);
    if (end.len == 0)
        return at;
    for (; at < text.len; at++) {
        if (text.ptr[at] == '<' && tag_is(text, at, end))
            break;
    }
    return at;
}

/* Appends the text between the tags. */
static void strip_tags(struct buf *out, struct sv html)
{
    for (size_t at = 0; at < html.len;) {
        if (html.ptr[at] != '<') {
            buf_add_char(out, html.ptr[at++]);
            continue;
        }
        at = skip_element(html, at);
        at += sv_find(sv_skip(html, at), '>') + 1;
        buf_add_char(out, ' ');
    }
}

/* A list of validation errors: [{"loc":["body","model"],"msg":"field required"}, ...]. */
static void add_detail_list(struct buf *out, const struct js_value *list)
{
    for (const struct js_value *item = list->first; item != NULL; item = item->next) {
        struct sv text;
        if (item != list->first)
            buf_add_str(out, "; ");
        const struct js_value *loc = js_get(item, "loc");
        if (loc != NULL && loc->type == JS_ARRAY && loc->first != NULL) {
            for (const struct js_value *part = loc->first; part != NULL; part = part->next) {
                buf_add(out, part->text);
                buf_add_str(out, part->next != NULL ? "." : ": ");
            }
        }
        if (js_as_sv(js_get(item, "msg"), &text) || js_as_sv(item, &text)) {
            buf_add(out, text);
        } else {
            struct js_writer w;
            js_writer_init(&w, out);
            js_write_value(&w, item);
        }
    }
}

/* Appends what the value says; false when it says nothing readable. */
static bool add_message(struct buf *out, const struct js_value *value)
{
    static const char *const names[] = {"message", "error", "detail", "msg", "error_message"};
    struct sv text;
    if (js_as_sv(value, &text)) {
        buf_add(out, text);
        return text.len > 0;
    }
    if (value == NULL || value->count == 0)
        return false;
    if (value->type == JS_ARRAY)
        return add_message(out, value->first);
    if (value->type != JS_OBJECT)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct js_value *member = js_get(value, names[i]);
        if (member != NULL && member->type == JS_ARRAY && member->count > 0) {
            add_detail_list(out, member);
            return true;
        }
        if (add_message(out, member))
            return true;
    }
    return false;
}

static bool add_json_message(struct buf *out, struct sv body)
{
    struct arena arena = {0};
    struct error err;
    const struct js_value *value = js_parse(&arena, body, "reply", &err);
    bool found = add_message(out, value);
    arena_done(&arena);
    return found;
}

void backend_error_text(struct sv body, struct buf *out)
{
    struct buf text = {0};
    body = sv_trim(body);
    if (body.len > 0 && is_json_start(body.ptr[0]) && add_json_message(&text, body)) {
        add_folded(out, buf_sv(&text));
    } else if (body.len > 0 && body.ptr[0] == '<') {
        strip_tags(&text, body.len > MAX_SCANNED ? sv_make(body.ptr, MAX_SCANNED) : body);
        add_folded(out, buf_sv(&text));
    } else {
        add_folded(out, body);
    }
    buf_done(&text);
}

/* Top-level strings that only an error has: FastAPI's `detail`, or `message` beside no choices. */
static bool plain_message(struct sv body, struct reply_event *event)
{
    struct js_scan s;
    struct sv key;
    struct sv text;
    bool escaped;
    bool first = true;
    bool choices = false;
    bool found = false;
    js_scan_init(&s, body);
    if (!js_scan_object(&s))
        return false;
    while (js_scan_member(&s, &first, &key)) {
        choices |= js_key_is(key, SV_LIT("choices"));
        bool message = js_key_is(key, SV_LIT("message")) || js_key_is(key, SV_LIT("detail"));
        if (!message || js_scan_peek(&s) != JS_STRING) {
            js_scan_skip(&s, NULL);
        } else if (js_scan_string(&s, &text, &escaped) && text.len > 0) {
            event->error = text;
            event->error_is_raw_string = true;
            found = true;
        }
    }
    return found && !choices;
}

enum scan_result backend_scan_plain(const struct backend *backend, struct sv body,
                                    struct reply_event *event)
{
    body = sv_trim(body);
    enum scan_result result = backend->scan(sv_make("", 0), body, event);
    if (result == SCAN_TOKEN)
        return SCAN_OTHER;
    if (result == SCAN_OTHER && plain_message(body, event))
        return SCAN_ERROR;
    return result;
}
