/* The event loop of one serving thread.  A turn: wait until something happens or the earliest instant has come; read;
 * take in new connections and admitted requests; then send what is due.  Due events are handled in bounded portions, so
 * that a large wave does not keep requests unread, and the clock is looked at before every one. */
#include "mock/server_priv.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

enum {
    TIMERS_A_TURN = 64,
    EVENTS_BETWEEN = 8, /* a new request costs about 20 us: due tokens must not wait for hundreds */
    ACCEPTS_A_TURN = 16,
    ACCEPT_PAUSE_MS = 10,
};

void mock_loop_count(struct mock_thread *t, enum mock_counter what, uint64_t n)
{
    uint64_t old = atomic_load_explicit(&t->counters[what], memory_order_relaxed);
    atomic_store_explicit(&t->counters[what], old + n, memory_order_relaxed);
}

/* Both clocks at one instant; tried again when something came in between. */
static void read_clocks(struct mock_thread *t)
{
    for (int tries = 0; tries < 4; tries++) {
        uint64_t before = clock_mono_ns();
        uint64_t real = clock_real_ns();
        uint64_t after = clock_mono_ns();
        t->now_ns = after;
        t->real_minus_mono_ns = (int64_t)(real - (before + (after - before) / 2));
        if (after - before < 2 * NS_PER_US)
            break;
    }
}

static void give_connection(struct mock_server *server, int fd)
{
    uint64_t number = server->connections++;
    struct mock_thread *t = &server->threads[number % server->thread_count];
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
    struct mock_conn *c = mock_conn_new(t, fd, number);
    if (t->number == 0) {
        mock_conn_register(c);
        return;
    }
    pthread_mutex_lock(&t->inbox_mutex);
    c->next = t->inbox;
    t->inbox = c;
    pthread_mutex_unlock(&t->inbox_mutex);
    atomic_store_explicit(&t->has_inbox, true, memory_order_release);
    poller_wake(&t->poller);
}

/* The first thread accepts and deals the connections out in turn, so that all threads have the same load. */
static void accept_some(struct mock_thread *t)
{
    struct mock_server *server = t->server;
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        int fd = accept4(server->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            give_connection(server, fd);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            server->accept_paused_ns = t->now_ns + ACCEPT_PAUSE_MS * NS_PER_MS;
            poller_change(&t->poller, server->listen_fd, 0, server);
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

static void accept_again(struct mock_thread *t)
{
    struct mock_server *server = t->server;
    if (t->number == 0 && server->accept_paused_ns != 0 && t->now_ns >= server->accept_paused_ns) {
        server->accept_paused_ns = 0;
        poller_change(&t->poller, server->listen_fd, EPOLLIN, server);
    }
}

static void take_inbox(struct mock_thread *t)
{
    if (!atomic_exchange_explicit(&t->has_inbox, false, memory_order_acquire))
        return;
    pthread_mutex_lock(&t->inbox_mutex);
    struct mock_conn *c = t->inbox;
    t->inbox = NULL;
    pthread_mutex_unlock(&t->inbox_mutex);
    while (c != NULL) {
        struct mock_conn *next = c->next;
        mock_conn_register(c);
        c = next;
    }
}

static void take_admitted(struct mock_thread *t)
{
    if (!atomic_load_explicit(&t->has_admitted, memory_order_acquire))
        return;
    for (;;) {
        struct mock_conn *c = mock_gate_take(&t->server->gate, t);
        if (c == NULL)
            return;
        mock_gen_admitted(c, clock_mono_ns());
        mock_conn_settle(c);
    }
}

static void fire_timers(struct mock_thread *t)
{
    for (int i = 0; i < TIMERS_A_TURN; i++) {
        struct mock_timer *timer = mock_timers_due(&t->timers, clock_mono_ns());
        if (timer == NULL)
            return;
        /* The timer is the connection's first member. */
        mock_conn_on_timer((struct mock_conn *)(void *)timer);
    }
}

static void bury(struct mock_thread *t)
{
    while (t->dead != NULL) {
        struct mock_conn *c = t->dead;
        t->dead = c->next;
        mock_conn_free(c);
    }
}

static uint64_t wait_until_ns(const struct mock_thread *t)
{
    uint64_t until = mock_timers_next(&t->timers);
    uint64_t spin = t->server->options->spin_ns;
    if (until != UINT64_MAX)
        until = until > spin ? until - spin : 0;
    if (t->number == 0 && t->server->accept_paused_ns != 0 && t->server->accept_paused_ns < until)
        until = t->server->accept_paused_ns;
    return until;
}

static void run_turn(struct mock_thread *t)
{
    poller_wait(&t->poller, wait_until_ns(t), clock_mono_ns());
    read_clocks(t);
    for (int i = 0; i < t->poller.count; i++) {
        const struct epoll_event *e = &t->poller.events[i];
        if (e->data.ptr == t->server)
            accept_some(t);
        else
            mock_conn_on_event(e->data.ptr, e->events);
        if (i % EVENTS_BETWEEN == EVENTS_BETWEEN - 1)
            fire_timers(t);
    }
    accept_again(t);
    take_inbox(t);
    take_admitted(t);
    fire_timers(t);
    bury(t);
}

void *mock_loop_run(void *thread)
{
    struct mock_thread *t = thread;
    poller_sharpen_timers();
    while (!atomic_load_explicit(&t->server->stop, memory_order_acquire))
        run_turn(t);
    while (t->conns != NULL)
        mock_conn_close(t->conns, false);
    bury(t);
    return NULL;
}
