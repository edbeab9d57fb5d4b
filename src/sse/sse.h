/* sse.h - reads a server-sent-event stream as bytes arrive, over any segmentation.
 * Use: sse_init; for every block of body bytes sse_feed, then sse_next until it says SSE_NEED_MORE; at the end of the
 * body sse_end, then sse_next once more.  Views in an event die at the next sse_next, sse_feed or sse_done; the fed
 * block must stay until sse_next said SSE_NEED_MORE.
 * Rules (WHATWG HTML 9.2.6, wider where servers are): line ends LF, CRLF and lone CR; "data:" with or without one
 * blank; several data lines are joined with LF; comments, id and retry are skipped; "event:" is kept; a UTF-8 BOM at
 * the start is skipped.  An event whose data is one complete JSON value or [DONE] is given out when a block ends even
 * though its blank line has not come yet (the caller's stamp is then right); the late blank line gives nothing.  An
 * unfinished event at sse_end is given out if it has data (servers end without the blank line).
 * No allocation when a line lies inside one block; a partial event is kept in `carry`, bounded by SSE_MAX_EVENT.
 * Threads: one parser belongs to one thread.  Errors: SSE_TOO_LONG ends the stream; everything else is data. */
#ifndef VB_SSE_SSE_H
#define VB_SSE_SSE_H

#include "base/buf.h"
#include "base/sv.h"

enum { SSE_MAX_EVENT = 16 * 1024 * 1024 };

enum sse_result { SSE_EVENT, SSE_NEED_MORE, SSE_TOO_LONG };

struct sse_event {
    struct sv name; /* of "event:", empty when none */
    struct sv data; /* data lines joined with LF */
};

struct sse; /* the fields are the module's own; held by value in a connection */

#include "sse/sse_state.h"

void sse_init(struct sse *p);
/* Forgets the stream but keeps the carry buffer's memory, for the next response on the connection. */
void sse_reset(struct sse *p);
void sse_done(struct sse *p);

void sse_feed(struct sse *p, struct sv block);
void sse_end(struct sse *p);
enum sse_result sse_next(struct sse *p, struct sse_event *event);

#endif
