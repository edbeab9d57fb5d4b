/* The event stream as a pull parser over lines.  A line that lies inside the block is looked at in place; only a line
 * or an event that the block's end cuts is copied.  LF and CR are searched ahead once each, so a block costs two
 * passes of memchr however many lines it holds.
 * Example, "|" the end of a block: "data: {"a":1}|\n\n" gives {"a":1} at the "|" (it is balanced), keeps a copy in case
 * the line goes on, and forgets it at the blank line. */
#include "sse/sse.h"

enum line_kind {
    LINE_START, /* its kind is not known yet */
    LINE_DATA,
    LINE_NAME,
    LINE_SKIP, /* comments, id, retry and unknown fields */
};

enum json_state {
    JSON_BEFORE, /* only blanks so far */
    JSON_INSIDE,
    JSON_STRING,
    JSON_ESCAPE,
    JSON_COMPLETE, /* the outer bracket is closed, only blanks behind it */
    JSON_OTHER,    /* no object or array, or something stands behind it */
};

enum { KEPT_MEMORY_MAX = 64 * 1024 };

static const struct sv data_field = {"data:", 5};
static const struct sv name_field = {"event:", 6};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool all_blank(struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!is_blank(text.ptr[i]))
            return false;
    }
    return true;
}

static struct sv pending(const struct buf *kept, struct sv view)
{
    return view.ptr != NULL ? view : buf_sv(kept);
}

static void keep(struct buf *kept, struct sv *view)
{
    if (view->ptr != NULL)
        buf_add(kept, *view);
    *view = sv_make(NULL, 0);
}

static void clear_event(struct sse *p)
{
    p->name_view = sv_make(NULL, 0);
    p->data_view = sv_make(NULL, 0);
    p->name.len = 0;
    p->data.len = 0;
    p->checked = 0;
    p->depth = 0;
    p->json = JSON_BEFORE;
    p->has_data = false;
    p->given = false;
    p->replaces = false;
    p->clear = false;
}

/* The bracket state behind one more byte. */
static enum json_state json_step(struct sse *p, enum json_state state, char c)
{
    switch (state) {
    case JSON_STRING:
        if (c == '\\')
            return JSON_ESCAPE;
        return c == '"' ? JSON_INSIDE : JSON_STRING;
    case JSON_ESCAPE:
        return JSON_STRING;
    case JSON_BEFORE:
        if (is_blank(c))
            return JSON_BEFORE;
        if (c != '{' && c != '[')
            return JSON_OTHER;
        p->depth = 1;
        return JSON_INSIDE;
    case JSON_INSIDE:
        if (c == '"')
            return JSON_STRING;
        if (c == '{' || c == '[')
            p->depth++;
        else if ((c == '}' || c == ']') && --p->depth == 0)
            return JSON_COMPLETE;
        return JSON_INSIDE;
    case JSON_COMPLETE:
        return is_blank(c) ? JSON_COMPLETE : JSON_OTHER;
    case JSON_OTHER:
    default:
        return JSON_OTHER;
    }
}

/* Is the data so far one balanced object or array?  Looks at each byte once, however often it is asked. */
static bool data_complete(struct sse *p)
{
    struct sv data = pending(&p->data, p->data_view);
    enum json_state state = p->json;
    for (; p->checked < data.len && state != JSON_OTHER; p->checked++)
        state = json_step(p, state, data.ptr[p->checked]);
    p->json = (uint8_t)state;
    return state == JSON_COMPLETE;
}

static enum sse_result fill_event(const struct sse *p, struct sse_event *event)
{
    event->name = pending(&p->name, p->name_view);
    event->data = pending(&p->data, p->data_view);
    event->replaces = p->replaces;
    return SSE_EVENT;
}

static enum sse_result give_event(struct sse *p, struct sse_event *event)
{
    p->clear = true;
    return fill_event(p, event);
}

static enum line_kind classify(struct sv start, bool ended)
{
    if (sv_starts(start, data_field))
        return LINE_DATA;
    if (sv_starts(start, name_field))
        return LINE_NAME;
    if (ended) {
        if (sv_eq(start, SV_LIT("data")))
            return LINE_DATA;
        return sv_eq(start, SV_LIT("event")) ? LINE_NAME : LINE_SKIP;
    }
    return sv_starts(data_field, start) || sv_starts(name_field, start) ? LINE_START : LINE_SKIP;
}

static void begin_data(struct sse *p)
{
    if (p->has_data) {
        keep(&p->data, &p->data_view);
        buf_add_char(&p->data, '\n');
    }
    p->has_data = true;
}

/* Finds out what the line is and takes its field name off *piece.  False: the event under way is complete and must be
 * given out first (rule 2 of the header); nothing was consumed. */
static bool begin_line(struct sse *p, struct sv *piece, bool ended)
{
    size_t held = p->field_len;
    struct sv start = *piece;
    if (held > 0) {
        size_t more = sizeof(p->field) - held;
        if (more > piece->len)
            more = piece->len;
        memcpy(p->field + held, piece->ptr, more);
        start = sv_make(p->field, held + more);
    }
    enum line_kind kind = classify(start, ended);
    if (kind == LINE_START) {
        if (held == 0)
            memcpy(p->field, piece->ptr, piece->len);
        p->field_len = (uint8_t)start.len;
        *piece = sv_skip(*piece, piece->len);
        return true;
    }
    if (kind != LINE_SKIP && p->has_data && (p->given || data_complete(p))) {
        if (!p->given)
            return false;
        clear_event(p);
    }
    size_t field_len = kind == LINE_DATA ? data_field.len : name_field.len;
    if (field_len > start.len)
        field_len = start.len;
    *piece = sv_skip(*piece, field_len - held);
    p->line = (uint8_t)kind;
    p->field_len = 0;
    p->skip_blank = true;
    if (kind == LINE_DATA) {
        begin_data(p);
    } else if (kind == LINE_NAME) {
        p->name.len = 0;
        p->name_view = sv_make(NULL, 0);
    }
    return true;
}

static void append(struct buf *kept, struct sv *view, struct sv piece)
{
    if (view->ptr == NULL && kept->len == 0) {
        *view = piece;
    } else {
        keep(kept, view);
        buf_add(kept, piece);
    }
}

static void add_value(struct sse *p, struct sv piece)
{
    if (p->line == LINE_START || p->line == LINE_SKIP || piece.len == 0)
        return;
    if (p->skip_blank && piece.ptr[0] == ' ')
        piece = sv_skip(piece, 1);
    p->skip_blank = false;
    if (p->line == LINE_NAME) {
        append(&p->name, &p->name_view, piece);
    } else {
        if (p->given && !all_blank(piece)) {
            p->given = false;
            p->replaces = true;
        }
        append(&p->data, &p->data_view, piece);
    }
    size_t size = p->name.len + p->name_view.len + p->data.len + p->data_view.len;
    if (size > SSE_MAX_EVENT)
        p->too_long = true;
}

static const char *find_from(const char *at, const char *end, char c)
{
    if (*at == c)
        return at;
    const char *found = memchr(at, c, (size_t)(end - at));
    return found != NULL ? found : end;
}

/* End of the line that begins at `at`, or of the block. */
static const char *find_line_end(struct sse *p)
{
    if (p->lf < p->at)
        p->lf = find_from(p->at, p->end, '\n');
    if (p->cr < p->at)
        p->cr = find_from(p->at, p->end, '\r');
    return p->lf < p->cr ? p->lf : p->cr;
}

static void end_line(struct sse *p, const char *line_end)
{
    p->after_cr = *line_end == '\r';
    p->at = line_end + 1;
    p->line = LINE_START;
    p->field_len = 0;
}

/* A byte that is not part of the line: the LF of a CRLF, or of the BOM.  True when one was skipped. */
static bool skip_byte(struct sse *p)
{
    static const char bom[] = "\xef\xbb\xbf";
    if (p->after_cr) {
        p->after_cr = false;
        if (*p->at == '\n') {
            p->at++;
            return true;
        }
    }
    if (p->bom_len < 3) {
        if (*p->at == bom[p->bom_len]) {
            p->bom_len++;
            p->at++;
            return true;
        }
        if (p->bom_len > 0)
            p->line = LINE_SKIP; /* half a BOM begins an unknown field */
        p->bom_len = 3;
    }
    return false;
}

/* All bytes of the block are consumed: early delivery, the last event, and keeping what must survive the block. */
static enum sse_result end_block(struct sse *p, struct sse_event *event)
{
    enum sse_result result = SSE_NEED_MORE;
    if (p->has_data && !p->given) {
        if (p->ended)
            return give_event(p, event);
        if (data_complete(p)) {
            p->given = true;
            result = fill_event(p, event);
        }
    }
    if (p->given && p->line != LINE_DATA) {
        p->name_view = sv_make(NULL, 0);
        p->data_view = sv_make(NULL, 0);
    } else {
        keep(&p->name, &p->name_view);
        keep(&p->data, &p->data_view);
    }
    return result;
}

enum sse_result sse_next(struct sse *p, struct sse_event *event)
{
    if (p->clear)
        clear_event(p);
    while (p->at < p->end && !p->too_long) {
        if ((p->after_cr || p->bom_len < 3) && skip_byte(p))
            continue;
        const char *line_end = find_line_end(p);
        bool ended = line_end < p->end;
        struct sv piece = sv_make(p->at, (size_t)(line_end - p->at));
        if (p->line == LINE_START) {
            if (ended && piece.len == 0 && p->field_len == 0) {
                end_line(p, line_end);
                if (p->has_data && !p->given)
                    return give_event(p, event);
                clear_event(p);
                continue;
            }
            if (!begin_line(p, &piece, ended))
                return give_event(p, event);
        }
        add_value(p, piece);
        if (ended)
            end_line(p, line_end);
        else
            p->at = p->end;
    }
    return p->too_long ? SSE_TOO_LONG : end_block(p, event);
}

void sse_feed(struct sse *p, struct sv block)
{
    p->at = block.ptr;
    p->end = block.ptr + block.len;
    p->lf = NULL;
    p->cr = NULL;
}

void sse_end(struct sse *p)
{
    p->ended = true;
}

void sse_init(struct sse *p)
{
    *p = (struct sse){0};
}

static void keep_memory(struct buf *b)
{
    if (b->cap > KEPT_MEMORY_MAX)
        buf_done(b);
    b->len = 0;
}

void sse_reset(struct sse *p)
{
    keep_memory(&p->name);
    keep_memory(&p->data);
    *p = (struct sse){.name = p->name, .data = p->data};
}

void sse_done(struct sse *p)
{
    buf_done(&p->name);
    buf_done(&p->data);
    *p = (struct sse){0};
}
