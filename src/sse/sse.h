/* sse.h - reads a server-sent-event stream as bytes arrive, over any segmentation.
 * Use: sse_init; for every block of body bytes sse_feed, then sse_next until it says SSE_NEED_MORE; at the end of the
 * body sse_end, then sse_next until SSE_NEED_MORE.  Views in an event die at the next sse_next, sse_feed or sse_done;
 * the fed block must stay until sse_next said SSE_NEED_MORE.
 * Rules (WHATWG HTML 9.2.6, wider where servers are): line ends LF, CRLF and lone CR; "data:" with or without one
 * blank; several data lines are joined with LF; comments, id and retry are skipped; "event:" is kept; a UTF-8 BOM at
 * the start is skipped.  An unfinished event at sse_end is given out if it has data (servers end without the blank
 * line).
 * Data that is one balanced JSON object or array ("[DONE]" looks like one) is called complete here. Three rules follow
 * from it, and the events are the same for every segmentation but for the third:
 *  1. Early delivery: when a block ends and the data so far is complete, the event is given out at once (the caller's
 *     stamp is then right).  The rest of its line, if blank, and its blank line give nothing more.
 *  2. A data or event line that follows complete data begins a new event, as if the blank line stood between: several
 *     lines that begin with a whole JSON value never are one valid JSON text, and some servers forget the blank line.
 *  3. When an event was given out early and its line goes on with more than blanks, the line is given out again as a
 *     whole, with `replaces` set.  Such a line is not valid JSON, so its reader refuses it as it would unsplit.
 * No allocation when the lines of an event lie inside one block; otherwise what must survive the block is copied,
 * bounded by SSE_MAX_EVENT.
 * Threads: one parser belongs to one thread.  Errors: SSE_TOO_LONG ends the stream; everything else is data. */
#ifndef VB_SSE_SSE_H
#define VB_SSE_SSE_H

#include "base/buf.h"
#include "base/sv.h"

#include <stdint.h>

enum { SSE_MAX_EVENT = 16 * 1024 * 1024 };

enum sse_result { SSE_EVENT, SSE_NEED_MORE, SSE_TOO_LONG };

struct sse_event {
    struct sv name; /* of "event:", empty when none */
    struct sv data; /* data lines joined with LF */
    bool replaces;  /* the event before this one was the beginning of it */
};

/* Held by value in a connection; the fields are the module's own. */
struct sse {
    const char *at; /* unread part of the block */
    const char *end;
    const char *lf; /* first LF and CR at or behind `at`, `end` when there is none */
    const char *cr;
    struct sv name_view; /* name and data while they are lines of the present block, NULL else */
    struct sv data_view;
    struct buf name; /* the same once they had to be kept over a block's end or joined */
    struct buf data;
    size_t checked; /* bytes of the data that the completeness check has seen */
    uint32_t depth; /* of open brackets there */
    uint8_t json;   /* enum json_state */
    uint8_t line;   /* enum line_kind of the line under way */
    uint8_t field_len;
    uint8_t bom_len;
    char field[6]; /* beginning of the line while its kind is not known */
    bool after_cr;
    bool skip_blank; /* the blank behind the colon may still come */
    bool has_data;
    bool given; /* the event under way was given out early */
    bool replaces;
    bool clear; /* the event was given out for good: forget it first */
    bool too_long;
    bool ended;
};

void sse_init(struct sse *p);
/* Forgets the stream but keeps the buffers' memory, for the next response on the connection. */
void sse_reset(struct sse *p);
void sse_done(struct sse *p);

void sse_feed(struct sse *p, struct sv block);
void sse_end(struct sse *p);
enum sse_result sse_next(struct sse *p, struct sse_event *event);

#endif
