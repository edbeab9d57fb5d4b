/* The response parser: responses cut anywhere give what the whole block gives.  Input: one byte that decides where to
 * cut and whether the first response answers HEAD, then the bytes of the connection. */
#include "base/alloc.h"
#include "base/buf.h"
#include "net/http1.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void log_head(const struct http1_head *head, struct buf *log)
{
    struct sv value = {0};
    buf_add_fmt(log, "\n%d %d %d %d %llu ", head->status, head->keep_alive, head->chunked,
                head->has_length, (unsigned long long)head->content_length);
    buf_add(log, head->reason);
    buf_add(log, head->fields);
    if (http1_header(head, SV_LIT("content-type"), &value))
        buf_add(log, value);
}

/* Reads responses until the block is used up; false when the connection is of no more use. */
static bool drain(struct http1 *p, struct buf *log)
{
    for (;;) {
        struct sv body = {0};
        switch (http1_next(p, &body)) {
        case HTTP1_HEAD:
            log_head(&p->head, log);
            break;
        case HTTP1_BODY:
            if (body.len == 0)
                abort();
            buf_add(log, body);
            break;
        case HTTP1_DONE:
            buf_add_str(log, "|done");
            http1_reset(p);
            break;
        case HTTP1_NEED_MORE:
            if (http1_rest(p).len > 0)
                abort();
            return true;
        case HTTP1_BAD:
            buf_add_str(log, p->problem);
            return false;
        }
    }
}

static void run(struct sv stream, uint32_t seed, bool head, struct buf *log)
{
    struct http1 p;
    bool open = true;
    http1_init(&p);
    if (head)
        http1_expect_no_body(&p);
    while (open && stream.len > 0) {
        size_t len = stream.len;
        if (seed != 0) {
            seed = seed * 1664525u + 1013904223u;
            len = 1 + (seed >> 16) % ((seed >> 8) % 2 == 0 ? 4 : 64);
        }
        if (len > stream.len)
            len = stream.len;
        char *copy = mem_alloc(len);
        memcpy(copy, stream.ptr, len);
        http1_feed(&p, sv_make(copy, len));
        open = drain(&p, log);
        free(copy);
        stream = sv_skip(stream, len);
    }
    if (open)
        buf_add_str(log, http1_end(&p) == HTTP1_DONE ? "|closed" : p.problem);
    http1_done(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct sv stream = sv_make((const char *)data + 1, size - 1);
    bool head = data[0] % 16 == 15;
    struct buf whole = {0};
    struct buf cut = {0};
    run(stream, 0, head, &whole);
    run(stream, data[0] + 1u, head, &cut);
    if (!sv_eq(buf_sv(&whole), buf_sv(&cut)))
        abort();
    buf_done(&whole);
    buf_done(&cut);
    return 0;
}
