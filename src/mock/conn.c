/* One connection: bytes in, complete requests to the routes, bytes out at the pace the options ask for.  Nothing here
 * waits: what the kernel does not take stays in the output buffer, and a generation makes no further event before that
 * buffer is empty, so a slow client holds at most one write. */
#include "mock/server_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/sock.h"

enum {
    PIPELINE_MAX = 256 * 1024, /* input kept while an answer is under way */
    ANSWERS_MAX = 1024 * 1024, /* output of pipelined requests before the next one has to wait */
    KEEP_OUT_BYTES = 64 * 1024,
    LINGER_MS =
        200, /* after a refused request, so that its unread rest does not reset the answer away */
};

struct mock_conn *mock_conn_new(struct mock_thread *thread, int fd, uint64_t number)
{
    struct mock_conn *c = mem_new(struct mock_conn);
    c->thread = thread;
    c->fd = fd;
    c->number = number;
    mock_request_init(&c->request);
    return c;
}

/* By the connection's own thread. */
bool mock_conn_register(struct mock_conn *c)
{
    struct mock_thread *t = c->thread;
    c->prev = NULL;
    c->next = t->conns;
    if (t->conns != NULL)
        t->conns->prev = c;
    t->conns = c;
    c->interest = EPOLLIN;
    if (poller_add(&t->poller, c->fd, c->interest, c))
        return true;
    mock_conn_close(c, false);
    return false;
}

void mock_conn_close(struct mock_conn *c, bool reset)
{
    struct mock_thread *t = c->thread;
    if (c->dead)
        return;
    c->dead = true;
    if (c->busy)
        mock_gen_end(c);
    mock_timers_clear(&t->timers, &c->timer);
    if (reset) {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    close(c->fd);
    if (c->prev != NULL)
        c->prev->next = c->next;
    else
        t->conns = c->next;
    if (c->next != NULL)
        c->next->prev = c->prev;
    c->next = t->dead;
    t->dead = c;
}

void mock_conn_free(struct mock_conn *c)
{
    mock_request_done(&c->request);
    mock_gen_done(&c->gen);
    buf_done(&c->in);
    buf_done(&c->out);
    free(c);
}

static void set_interest(struct mock_conn *c)
{
    uint32_t want = c->blocked ? EPOLLOUT : 0;
    if (c->in.len < PIPELINE_MAX)
        want |= EPOLLIN;
    if (want != c->interest && !c->dead) {
        c->interest = want;
        poller_change(&c->thread->poller, c->fd, want, c);
    }
}

/* Bytes that may go out in the next write. */
static size_t allowed(const struct mock_conn *c, uint64_t now_ns)
{
    const struct mock_options *o = c->thread->server->options;
    size_t n = mock_conn_pending(c);
    if (now_ns < c->hold_until_ns)
        n = c->hold_at > c->out_at ? c->hold_at - c->out_at : 0;
    if (o->split > 0) {
        if (now_ns < c->piece_due_ns)
            return 0;
        n = n < o->split ? n : (size_t)o->split;
    }
    return n;
}

/* The buffer is empty: its events were completed by the write at `sent_ns`. */
static void out_is_empty(struct mock_conn *c, uint64_t sent_ns)
{
    struct mock_gen *gen = &c->gen;
    c->out_at = 0;
    c->hold_at = 0;
    if (c->out.cap > KEEP_OUT_BYTES)
        buf_done(&c->out);
    else
        buf_reset(&c->out);
    if (c->busy && gen->record != NULL) {
        mock_truth_sent(gen->record, gen->marked, sent_ns);
        gen->marked = gen->record->count;
    }
}

/* False when the connection is broken. */
static bool write_out(struct mock_conn *c)
{
    const struct mock_options *o = c->thread->server->options;
    for (;;) {
        uint64_t now = clock_mono_ns();
        size_t n = allowed(c, now);
        if (now >= c->hold_until_ns)
            c->hold_until_ns = 0;
        if (n == 0)
            return true;
        ssize_t sent = send(c->fd, c->out.ptr + c->out_at, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0) {
            c->blocked = errno == EAGAIN;
            if (c->blocked && c->busy && c->gen.record != NULL)
                c->gen.record->blocked++;
            return c->blocked;
        }
        c->out_at += (size_t)sent;
        if (o->split > 0)
            c->piece_due_ns = now + (uint64_t)(o->split_gap_us * 1e3);
        if (mock_conn_pending(c) == 0) {
            out_is_empty(c, now);
            return true;
        }
    }
}

void mock_conn_flush(struct mock_conn *c)
{
    if (c->dead)
        return;
    bool last = c->busy && c->gen.finishing && c->gen.record != NULL;
    bool ok;
    c->blocked = false;
    if (last) {
        mock_truth_lock(&c->thread->truth);
        ok = write_out(c);
        if (ok && mock_conn_pending(c) == 0)
            mock_gen_publish(c);
        mock_truth_unlock(&c->thread->truth);
    } else {
        ok = write_out(c);
    }
    if (ok)
        set_interest(c);
    else
        mock_conn_close(c, false);
}

/* Feeds bytes to the request parser until an answer is under way; the rest waits in c->in. */
static void feed(struct mock_conn *c, struct sv block)
{
    while (!c->dead && !c->busy && !c->closing && block.len > 0 &&
           mock_conn_pending(c) < ANSWERS_MAX) {
        size_t used = 0;
        enum mock_request_result result = mock_request_feed(&c->request, block, &used);
        block = sv_skip(block, used);
        switch (result) {
        case MOCK_REQUEST_MORE:
            break;
        case MOCK_REQUEST_CONTINUE:
            buf_add_str(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
            mock_conn_flush(c);
            break;
        case MOCK_REQUEST_READY:
            mock_route(c);
            mock_conn_flush(c);
            if (!c->busy) {
                mock_request_reset(&c->request);
                c->served = true;
            }
            break;
        case MOCK_REQUEST_BAD:
            c->request.keep_alive = false;
            c->linger_due_ns = clock_mono_ns() + LINGER_MS * NS_PER_MS;
            mock_reply_error(c, c->request.status, NULL, c->request.problem);
            mock_conn_flush(c);
            break;
        }
    }
    if (!c->dead && !c->closing && block.len > 0)
        buf_add(&c->in, block);
}

static void take_arrival(struct mock_conn *c, uint64_t stamp_real_ns)
{
    struct mock_thread *t = c->thread;
    uint64_t now = clock_mono_ns();
    c->arrival_ns = now;
    c->kernel_stamp = false;
    if (stamp_real_ns == 0)
        return;
    uint64_t mono = stamp_real_ns - (uint64_t)t->real_minus_mono_ns;
    /* A step of the wall clock between stamp and sample would give nonsense. */
    if (mono <= now && now - mono < 10 * NS_PER_S) {
        c->arrival_ns = mono;
        c->kernel_stamp = true;
    }
}

static void read_some(struct mock_conn *c)
{
    uint64_t stamp = 0;
    ssize_t n = sock_read(c->fd, c->thread->block, MOCK_READ_BYTES, &stamp);
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        mock_conn_close(c, false);
        return;
    }
    take_arrival(c, stamp);
    struct sv block = sv_make(c->thread->block, (size_t)n);
    if (c->busy || c->in.len > 0)
        buf_add(&c->in, block);
    else if (!c->closing)
        feed(c, block);
    set_interest(c);
}

void mock_conn_on_event(struct mock_conn *c, uint32_t events)
{
    if (c->dead)
        return;
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        read_some(c);
    if (!c->dead && (events & EPOLLOUT)) {
        mock_conn_flush(c);
        if (!c->dead && c->busy && mock_conn_pending(c) == 0)
            mock_gen_step(c);
    }
    mock_conn_settle(c);
}

void mock_conn_on_timer(struct mock_conn *c)
{
    if (mock_conn_pending(c) > 0)
        mock_conn_flush(c);
    if (!c->dead && c->busy && mock_conn_pending(c) == 0)
        mock_gen_step(c);
    uint64_t now = clock_mono_ns();
    if ((c->idle_due_ns != 0 && c->idle_due_ns <= now) || (c->shut && c->linger_due_ns <= now))
        mock_conn_close(c, false);
    mock_conn_settle(c);
}

/* Input that came while the last answer was under way; its requests begin now. */
static void feed_pipelined(struct mock_conn *c)
{
    struct buf waiting = c->in;
    c->in = (struct buf){0};
    c->arrival_ns = clock_mono_ns();
    c->kernel_stamp = false;
    feed(c, buf_sv(&waiting));
    buf_done(&waiting);
    set_interest(c);
}

static bool is_idle(const struct mock_conn *c)
{
    return !c->busy && c->served && mock_conn_pending(c) == 0 && mock_request_is_empty(&c->request);
}

/* When the connection has something to do by itself; UINT64_MAX: never. */
static uint64_t next_due_ns(struct mock_conn *c)
{
    const struct mock_options *o = c->thread->server->options;
    if (c->shut)
        return c->linger_due_ns;
    if (!is_idle(c))
        c->idle_due_ns = 0;
    else if (o->close_idle_ns > 0 && c->idle_due_ns == 0)
        c->idle_due_ns = clock_mono_ns() + o->close_idle_ns;
    if (c->idle_due_ns != 0)
        return c->idle_due_ns;
    if (mock_conn_pending(c) > 0) {
        if (c->hold_until_ns != 0 && c->hold_at <= c->out_at)
            return c->hold_until_ns;
        return o->split > 0 && !c->blocked ? c->piece_due_ns : UINT64_MAX;
    }
    return c->busy ? c->gen.due_ns : UINT64_MAX; /* never while it waits for its admission */
}

static void arm(struct mock_conn *c)
{
    struct mock_timers *timers = &c->thread->timers;
    uint64_t due = next_due_ns(c);
    if (due == UINT64_MAX)
        mock_timers_clear(timers, &c->timer);
    else if (c->timer.place == 0 || c->timer.due_ns != due)
        mock_timers_set(timers, &c->timer, due);
}

static void end_connection(struct mock_conn *c)
{
    shutdown(c->fd, SHUT_WR);
    if (c->linger_due_ns == 0)
        mock_conn_close(c, false);
    c->shut = true;
}

void mock_conn_settle(struct mock_conn *c)
{
    while (!c->dead && mock_conn_pending(c) == 0) {
        if (c->busy && c->gen.finishing) {
            mock_gen_end(c);
            c->served = true;
            mock_request_reset(&c->request);
        }
        if (c->closing && !c->busy && !c->shut) {
            end_connection(c);
        } else if (!c->busy && !c->closing && c->in.len > 0) {
            feed_pipelined(c);
        } else {
            break;
        }
    }
    if (!c->dead)
        arm(c);
}
