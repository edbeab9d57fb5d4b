/* JSON: the three ways to read a text (skipping it, walking it, making a tree) must accept the same texts; what is
 * written must read back as the same; escaping must give valid strings for any bytes. */
#include "json/scan.h"
#include "json/tree.h"
#include "json/writer.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool walk(struct js_scan *s, int depth);

static bool walk_children(struct js_scan *s, bool object, int depth)
{
    struct sv key;
    bool first = true;
    if (depth > JS_MAX_DEPTH || !(object ? js_scan_object(s) : js_scan_array(s)))
        return false;
    while (object ? js_scan_member(s, &first, &key) : js_scan_element(s, &first)) {
        if (!walk(s, depth))
            return false;
    }
    return !s->bad;
}

/* One value by the single steps. */
static bool walk(struct js_scan *s, int depth)
{
    struct sv text;
    bool flag;
    switch (js_scan_peek(s)) {
    case JS_NULL:
        return js_scan_null(s);
    case JS_BOOL:
        return js_scan_bool(s, &flag);
    case JS_NUMBER:
        return js_scan_number(s, &text);
    case JS_STRING:
        return js_scan_string(s, &text, &flag);
    case JS_ARRAY:
        return walk_children(s, false, depth + 1);
    case JS_OBJECT:
        return walk_children(s, true, depth + 1);
    case JS_BAD:
        break;
    }
    return false;
}

static void write_tree(struct buf *out, const struct js_value *root)
{
    struct js_writer w;
    js_writer_init(&w, out);
    js_write_value(&w, root);
}

/* Written, read and written again must give the same text. */
static void check_round_trip(const struct js_value *root)
{
    struct arena arena = {0};
    struct error err;
    struct buf once = {0};
    struct buf twice = {0};
    write_tree(&once, root);
    const struct js_value *again = js_parse(&arena, buf_sv(&once), "written text", &err);
    if (again == NULL)
        abort();
    write_tree(&twice, again);
    if (!sv_eq(buf_sv(&once), buf_sv(&twice)))
        abort();
    buf_done(&once);
    buf_done(&twice);
    arena_done(&arena);
}

static void check_readers(struct sv text)
{
    struct arena arena = {0};
    struct error err;
    struct js_scan s;
    js_scan_init(&s, text);
    bool skipped = js_scan_skip(&s, NULL) && js_scan_end(&s);
    if (!skipped && (!s.bad || js_scan_peek(&s) != JS_BAD || js_scan_offset(&s) > text.len))
        abort();
    js_scan_init(&s, text);
    bool walked = walk(&s, 0) && js_scan_end(&s);
    const struct js_value *root = js_parse(&arena, text, "input", &err);
    if (walked != skipped || (root != NULL) != skipped || js_is_complete(text) != skipped)
        abort();
    if (root != NULL)
        check_round_trip(root);
    arena_done(&arena);
}

static void check_strings(struct sv text)
{
    struct buf quoted = {0};
    struct buf back = {0};
    struct buf again = {0};
    buf_add_char(&quoted, '"');
    js_escape(&quoted, text);
    buf_add_char(&quoted, '"');
    if (!js_is_complete(buf_sv(&quoted)))
        abort();
    struct sv escaped = sv_make(quoted.ptr + 1, quoted.len - 2);
    if (!js_unescape(escaped, &back))
        abort();
    js_escape(&again, buf_sv(&back));
    if (!sv_eq(buf_sv(&again), escaped) || !js_key_is(escaped, buf_sv(&back)))
        abort();
    buf_reset(&back);
    js_unescape(text, &back); /* any bytes: must only stay inside them */
    buf_done(&quoted);
    buf_done(&back);
    buf_done(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sv text = sv_make((const char *)data, size);
    check_readers(text);
    check_strings(text);
    return 0;
}
