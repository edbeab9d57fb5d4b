/* The life of one connection: opened, idle in the pool, busy with a request, closed.  A request ends exactly once, in
 * conn_finish (receive.c calls it through conn_end) or conn_fail. */
#include "load/conn_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/sock.h"

struct conn *conn_new(struct worker *w)
{
    struct conn *c = mem_new(struct conn);
    c->stream.fd = -1;
    http1_init(&c->http);
    sse_init(&c->sse);
    MEM_GROW(w->conns, w->conn_count, w->conn_cap);
    w->conns[w->conn_count++] = c;
    return c;
}

bool conn_open(struct worker *w, struct conn *c)
{
    if (!stream_open(&c->stream, w->plan->target))
        return false;
    if (!poller_add(&w->poller, c->stream.fd, EPOLLIN | EPOLLOUT, c))
        return false;
    c->wants_write = true;
    c->state = CONN_CONNECTING;
    c->pooled = false;
    return true;
}

void conn_adopt(struct worker *w, struct conn *c, const struct net_stream *stream)
{
    c->stream = *stream;
    c->state = CONN_IDLE;
    w->stats.connections++;
    if (!poller_add(&w->poller, c->stream.fd, EPOLLIN, c))
        conn_close(w, c);
}

void conn_close(struct worker *w, struct conn *c)
{
    if (c->stream.fd >= 0 && c->state != CONN_CONNECTING)
        w->stats.tcp_retransmits += sock_retransmits(c->stream.fd);
    stream_close(&c->stream);
    c->state = CONN_CLOSED;
    c->wants_write = false;
}

void conn_free(struct worker *w, struct conn *c)
{
    conn_close(w, c);
    http1_done(&c->http);
    sse_done(&c->sse);
    inflater_free(c->inflater);
    buf_done(&c->body);
    free(c);
}

void conn_reset_response(struct conn *c)
{
    http1_reset(&c->http);
    sse_reset(&c->sse);
    inflater_free(TAKE(c->inflater));
    buf_reset(&c->body);
    c->answered = false;
    c->saw_done = false;
    c->error_event = sv_make(NULL, 0);
    c->has_error_event = false;
    c->body_kind = BODY_UNKNOWN;
}

static void fail_to_connect(struct worker *w, struct conn *c)
{
    buf_reset(&w->scratch);
    buf_add_str(&w->scratch, stream_problem(&c->stream));
    conn_fail(w, c, FAILURE_CONNECT, buf_sv(&w->scratch));
}

void conn_start(struct worker *w, struct conn *c, size_t item, uint64_t could_go_ns)
{
    struct record *r = &w->shared->records[item];
    r->due_ns = worker_due_ns(w, item);
    r->sent = true;
    c->record = r;
    c->item = item;
    c->could_go_ns = could_go_ns;
    w->busy++;
    counter_add(&w->counters->sent, 1);
    conn_reset_response(c);
    if (c->state == CONN_IDLE) {
        c->pooled = true;
        conn_send(w, c);
        return;
    }
    r->start_ns = clock_mono_ns();
    conn_note_start(w, c);
    w->stats.requests_connecting++;
    if (!conn_open(w, c))
        fail_to_connect(w, c);
}

void conn_note_start(struct worker *w, struct conn *c)
{
    struct record *r = c->record;
    r->send_lag_ns = r->start_ns > c->could_go_ns ? r->start_ns - c->could_go_ns : 0;
    hist_add(&w->stats.send_lag, r->send_lag_ns);
    c->last_read_ns = r->start_ns;
}

static void connected(struct worker *w, struct conn *c)
{
    uint64_t now = clock_mono_ns();
    uint64_t took = now - c->stream.begun_ns;
    uint64_t tls = c->stream.tls_begun_ns > 0 ? now - c->stream.tls_begun_ns : 0;
    hist_add(&w->stats.connect_time, took);
    w->stats.tls_handshakes += tls > 0;
    w->stats.tls_total_ns += tls;
    w->stats.connections++;
    c->state = CONN_IDLE;
    if (c->record != NULL) {
        c->record->connect_ns += took;
        c->record->tls_ns += tls;
        conn_send(w, c);
        return;
    }
    w->connecting--;
    conn_want_write(w, c, false);
}

static void connect_failed(struct worker *w, struct conn *c)
{
    if (c->record != NULL) {
        fail_to_connect(w, c);
        return;
    }
    conn_close(w, c);
    w->connecting--;
    w->preopen_failed = true;
}

void conn_want_write(struct worker *w, struct conn *c, bool on)
{
    if (c->wants_write == on)
        return;
    c->wants_write = on;
    poller_change(&w->poller, c->stream.fd, on ? EPOLLIN | EPOLLOUT : EPOLLIN, c);
}

/* One step further towards an open connection. */
static void set_up(struct worker *w, struct conn *c, uint32_t events)
{
    if (c->stream.phase == STREAM_CONNECT && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0)
        return;
    switch (stream_advance(&c->stream)) {
    case STREAM_READY:
        connected(w, c);
        break;
    case STREAM_WAIT:
        conn_want_write(w, c, stream_wants_write(&c->stream));
        break;
    case STREAM_FAILED:
        connect_failed(w, c);
        break;
    }
}

void conn_event(struct worker *w, struct conn *c, uint32_t events)
{
    if (c->state == CONN_CLOSED)
        return;
    if (c->state == CONN_CONNECTING) {
        set_up(w, c, events);
        return;
    }
    if ((events & (EPOLLIN | EPOLLERR | EPOLLHUP)) != 0)
        conn_receive(w, c);
    if ((events & EPOLLOUT) != 0 && (c->state == CONN_BUSY || c->state == CONN_IDLE))
        conn_flush(w, c);
}

/* The server had closed a pooled connection before the request reached it: that is no failure of the request. */
static bool send_again(struct worker *w, struct conn *c)
{
    if (!c->pooled || c->answered || c->record->reconnected)
        return false;
    c->record->reconnected = true;
    w->stats.reconnects++;
    w->stats.requests_connecting++;
    conn_close(w, c);
    conn_reset_response(c);
    if (!conn_open(w, c))
        fail_to_connect(w, c);
    return true;
}

void conn_broken(struct worker *w, struct conn *c, int sys)
{
    if (c->record == NULL) {
        conn_close(w, c);
        return;
    }
    if (send_again(w, c))
        return;
    const char *phase = c->answered ? "before the response was complete" : "before any response";
    char text[512], reason[128];
    if (sys == EPROTO)
        snprintf(text, sizeof(text), "%s", stream_problem(&c->stream));
    else if (sys != 0)
        snprintf(text, sizeof(text), "connection broke %s: %s", phase,
                 strerror_r(sys, reason, sizeof(reason)));
    else
        snprintf(text, sizeof(text), "connection closed by the server %s", phase);
    conn_fail(w, c, FAILURE_CLOSED_EARLY, sv_from(text));
}

static void keep_text(struct worker *w, struct conn *c)
{
    const struct load_plan *plan = w->plan;
    struct record *r = c->record;
    if (plan->text == LOAD_TEXT_NONE || c->body_kind != BODY_EVENTS || c->body.len == 0)
        return;
    if (plan->text == LOAD_TEXT_WITHOUT_USAGE && r->usage_completion_tokens > 0)
        return;
    buf_reset(&w->scratch);
    js_unescape(buf_sv(&c->body), &w->scratch);
    r->text = record_slab_copy(&w->slab, buf_sv(&w->scratch));
}

static void end_request(struct worker *w, struct conn *c, uint64_t when_ns)
{
    struct record *r = c->record;
    keep_text(w, c);
    r->done = true;
    r->end_ns = when_ns > r->start_ns ? when_ns : r->start_ns;
    counter_add(&w->counters->done, 1);
    if (!record_ok(r) && !record_unfinished(r))
        counter_add(&w->counters->failed, 1);
    c->record = NULL;
    w->busy--;
    worker_slot_free(w, c, r->end_ns);
    if (w->plan->feed != NULL)
        w->plan->feed->ended(w->plan->feed->user, c->item, r);
}

void conn_finish(struct worker *w, struct conn *c, bool keep, uint64_t when_ns)
{
    if (keep)
        c->state = CONN_IDLE;
    else
        conn_close(w, c);
    end_request(w, c, when_ns);
}

void conn_fail(struct worker *w, struct conn *c, enum failure_kind kind, struct sv message)
{
    c->record->failure = kind;
    c->record->error = record_slab_copy(&w->slab, message);
    conn_close(w, c);
    end_request(w, c, clock_mono_ns());
}
