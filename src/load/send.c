/* Puts a request on the wire: one writev of parts that were serialised before the clock started.  Only the item's id,
 * the Content-Length and, for prompts of token ids, the digits are written here.
 *
 * A write that fails does not end the request: the server may have answered (413, 401) before it stopped reading.  The
 * read side finds that answer, or the end of the stream, and judges. */
#include "load/conn_priv.h"

#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/num.h"
#include "net/sock.h"

enum { MAX_PARTS = 8 };

struct parts {
    struct iovec at[MAX_PARTS];
    int count;
    size_t bytes;
};

static void add(struct parts *p, struct sv text)
{
    if (text.len == 0)
        return;
    p->at[p->count].iov_base = (void *)(uintptr_t)text.ptr;
    p->at[p->count].iov_len = text.len;
    p->count++;
    p->bytes += text.len;
}

static struct sv prompt_text(struct worker *w, const struct request *request)
{
    if (request->prompt.kind == PROMPT_JSON)
        return request->prompt.json;
    buf_reset(&w->scratch);
    workload_prompt_write(w->plan->workload, &request->prompt, &w->scratch);
    return buf_sv(&w->scratch);
}

/* What the kernel did not take is kept, so that the scratch buffer is free for the next connection. */
static void keep_rest(struct conn *c, const struct parts *p, size_t sent)
{
    for (int i = 0; i < p->count; i++) {
        struct sv part = sv_make(p->at[i].iov_base, p->at[i].iov_len);
        size_t skip = sent < part.len ? sent : part.len;
        sent -= skip;
        buf_add(&c->pending, sv_skip(part, skip));
    }
}

/* The variable part of the head: length, id, end of the head. */
static size_t write_head(const struct worker *w, const struct conn *c, size_t length, char *out,
                         size_t cap)
{
    int n;
    if (w->plan->id_prefix != NULL)
        n = snprintf(out, cap, "%zu\r\nx-request-id: %s%zu\r\n\r\n", length, w->plan->id_prefix,
                     c->item);
    else
        n = snprintf(out, cap, "%zu\r\n\r\n", length);
    return (size_t)n < cap ? (size_t)n : cap - 1;
}

static void write_parts(struct worker *w, struct conn *c, const struct parts *p)
{
    struct record *r = c->record;
    uint64_t now = clock_mono_ns();
    if (c->pooled && !r->reconnected) {
        r->start_ns = now;
        conn_note_start(w, c);
    }
    c->state = CONN_BUSY;
    ssize_t n = sock_write(c->fd, p->at, p->count);
    bool broken = n < 0 && errno != EAGAIN;
    size_t sent = n > 0 ? (size_t)n : 0;
    if (sent < p->bytes)
        keep_rest(c, p, sent);
    conn_want_write(w, c, sent < p->bytes && !broken);
}

void conn_send(struct worker *w, struct conn *c)
{
    const struct load_plan *plan = w->plan;
    const struct body_template *body = plan->body;
    size_t index = plan->order != NULL ? plan->order[c->item] : c->item;
    const struct request *request = &plan->workload->requests[index];
    char length[NUM_TEXT_MAX];
    char head[320];
    struct sv prompt = body->has_prompt ? prompt_text(w, request) : sv_make(NULL, 0);
    size_t length_len = body->has_output_len ? num_format_u64(length, request->output_len) : 0;
    size_t total = body->head.len + prompt.len + body->middle.len + length_len + body->tail.len;
    size_t head_len = write_head(w, c, total, head, sizeof(head));
    struct parts p = {0};
    add(&p, buf_sv(&w->shared->head));
    add(&p, sv_make(head, head_len));
    add(&p, buf_sv(&body->head));
    add(&p, prompt);
    add(&p, buf_sv(&body->middle));
    add(&p, sv_make(length, length_len));
    add(&p, buf_sv(&body->tail));
    write_parts(w, c, &p);
}

void conn_flush(struct worker *w, struct conn *c)
{
    struct iovec rest = {.iov_base = c->pending.ptr + c->pending_sent,
                         .iov_len = c->pending.len - c->pending_sent};
    if (rest.iov_len > 0) {
        ssize_t n = sock_write(c->fd, &rest, 1);
        if (n < 0 && errno != EAGAIN) {
            conn_want_write(w, c, false);
            return;
        }
        c->pending_sent += n > 0 ? (size_t)n : 0;
    }
    if (c->pending_sent == c->pending.len) {
        buf_done(&c->pending);
        c->pending_sent = 0;
        conn_want_write(w, c, false);
    }
}
