/* The event stream reader: a stream cut anywhere gives the events of the whole stream, but for what early delivery is
 * allowed to change (sse.h): blanks at the end of data, and an event that is given again as a whole.
 * Input: one byte that decides where to cut, then the stream. */
#include "base/alloc.h"
#include "base/buf.h"
#include "sse/sse.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct log {
    struct buf text;
    size_t last; /* where the newest event begins */
};

static void log_event(struct log *log, const struct sse_event *event)
{
    if (event->replaces)
        log->text.len = log->last;
    log->last = log->text.len;
    buf_add(&log->text, event->name);
    buf_add_char(&log->text, '\n');
    size_t end = event->data.len;
    while (end > 0 && (event->data.ptr[end - 1] == ' ' || event->data.ptr[end - 1] == '\t'))
        end--;
    buf_add(&log->text, sv_make(event->data.ptr, end));
    buf_add_char(&log->text, '\r'); /* never part of a line */
}

static void drain(struct sse *p, struct log *log)
{
    struct sse_event event;
    while (sse_next(p, &event) == SSE_EVENT)
        log_event(log, &event);
}

/* A block in memory of its own, freed before the next: stale views are seen by the sanitizer. */
static void feed(struct sse *p, struct sv block, struct log *log)
{
    char *copy = mem_alloc(block.len);
    memcpy(copy, block.ptr, block.len);
    sse_feed(p, sv_make(copy, block.len));
    drain(p, log);
    free(copy);
}

static void run(struct sv stream, uint32_t seed, struct log *log)
{
    struct sse p;
    sse_init(&p);
    while (stream.len > 0) {
        size_t len = stream.len;
        if (seed != 0) {
            seed = seed * 1664525u + 1013904223u;
            len = 1 + (seed >> 16) % ((seed >> 8) % 2 == 0 ? 4 : 32);
        }
        if (len > stream.len)
            len = stream.len;
        feed(&p, sv_make(stream.ptr, len), log);
        stream = sv_skip(stream, len);
    }
    sse_end(&p);
    drain(&p, log);
    sse_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct sv stream = sv_make((const char *)data + 1, size - 1);
    struct log whole = {0};
    struct log cut = {0};
    run(stream, 0, &whole);
    run(stream, data[0] + 1u, &cut);
    if (!sv_eq(buf_sv(&whole.text), buf_sv(&cut.text)))
        abort();
    buf_done(&whole.text);
    buf_done(&cut.text);
    return 0;
}
