/* Starting and stopping: the listening socket, the threads, and the truth file at the end. */
#include "mock/server_priv.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "net/sock.h"

enum { THREADS_BY_CORES_MAX = 4, FILES_NEEDED = 64, BACKLOG = 65535 };

/* Half of the cores: the client needs the other half when it runs on the same machine. */
static unsigned choose_threads(const struct mock_options *o)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (o->threads > 0)
        return o->threads;
    if (cores < 4)
        return 1;
    return cores / 2 < THREADS_BY_CORES_MAX ? (unsigned)(cores / 2) : THREADS_BY_CORES_MAX;
}

static int listen_at(const struct addrinfo *a)
{
    const int on = 1, off = 0;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    /* On the listening socket too: a request that comes before its connection is accepted is stamped. */
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int sys = errno;
    close(fd);
    errno = sys;
    return -1;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof(address);
    memset(&address, 0, sizeof(address));
    if (getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return 0;
    struct sockaddr_in6 v6;
    struct sockaddr_in v4;
    memcpy(&v6, &address, sizeof(v6));
    memcpy(&v4, &address, sizeof(v4));
    return ntohs(address.ss_family == AF_INET6 ? v6.sin6_port : v4.sin_port);
}

static bool open_listener(struct mock_server *server, struct error *err)
{
    const struct mock_options *o = server->options;
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    char service[8];
    snprintf(service, sizeof(service), "%u", (unsigned)o->port & 0xffffu);
    int result = getaddrinfo(o->host, service, &hints, &list);
    if (result != 0)
        return error_set(err, E_NETWORK, "cannot resolve '%s': %s", o->host, gai_strerror(result));
    int sys = 0;
    for (const struct addrinfo *a = list; a != NULL && server->listen_fd < 0; a = a->ai_next) {
        server->listen_fd = listen_at(a);
        sys = errno;
    }
    freeaddrinfo(list);
    if (server->listen_fd < 0)
        return error_sys(err, E_NETWORK, sys, "cannot listen on '%s' port %d", o->host, o->port);
    server->port = bound_port(server->listen_fd);
    return true;
}

static bool open_threads(struct mock_server *server, struct error *err)
{
    for (unsigned i = 0; i < server->thread_count; i++) {
        struct mock_thread *t = &server->threads[i];
        t->poller.epoll_fd = t->poller.wake_fd = t->poller.timer_fd = -1;
    }
    for (unsigned i = 0; i < server->thread_count; i++) {
        struct mock_thread *t = &server->threads[i];
        t->server = server;
        t->number = i;
        t->block = mem_alloc(MOCK_READ_BYTES);
        pthread_mutex_init(&t->inbox_mutex, NULL);
        mock_truth_log_init(&t->truth);
        if (!poller_open(&t->poller, err))
            return false;
    }
    struct poller *first = &server->threads[0].poller;
    if (!poller_add(first, server->listen_fd, EPOLLIN, server))
        return error_sys(err, E_IO, errno, "cannot watch the listening socket");
    return true;
}

/* Signals are the business of the thread that called mock_start. */
static bool start_threads(struct mock_server *server, struct error *err)
{
    sigset_t all, old;
    int result = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (unsigned i = 0; i < server->thread_count && result == 0; i++) {
        struct mock_thread *t = &server->threads[i];
        result = pthread_create(&t->id, NULL, mock_loop_run, t);
        if (result == 0)
            server->started++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return result == 0 || error_sys(err, E_IO, result, "cannot start a thread");
}

static struct mock_thread *new_threads(unsigned count)
{
    size_t bytes = count * sizeof(struct mock_thread);
    struct mock_thread *threads = aligned_alloc(_Alignof(struct mock_thread), bytes);
    if (threads != NULL)
        memset(threads, 0, bytes);
    return threads;
}

static void free_inbox(struct mock_thread *t)
{
    while (t->inbox != NULL) {
        struct mock_conn *c = t->inbox;
        t->inbox = c->next;
        close(c->fd);
        mock_conn_free(c);
    }
}

static void join_threads(struct mock_server *server)
{
    atomic_store_explicit(&server->stop, true, memory_order_release);
    for (unsigned i = 0; i < server->started; i++)
        poller_wake(&server->threads[i].poller);
    for (unsigned i = 0; i < server->started; i++)
        pthread_join(server->threads[i].id, NULL);
    server->started = 0;
}

static void server_free(struct mock_server *server)
{
    join_threads(server);
    for (unsigned i = 0; server->threads != NULL && i < server->thread_count; i++) {
        struct mock_thread *t = &server->threads[i];
        if (t->server == NULL)
            continue;
        free_inbox(t);
        poller_close(&t->poller);
        mock_timers_done(&t->timers);
        mock_truth_log_done(&t->truth);
        pthread_mutex_destroy(&t->inbox_mutex);
        buf_done(&t->scratch);
        free(t->block);
    }
    free(server->threads);
    if (server->listen_fd >= 0)
        close(server->listen_fd);
    mock_gate_done(&server->gate);
    free(server);
}

struct mock_server *mock_start(const struct mock_options *o, struct error *err)
{
    if (!mock_options_check(o, err) || !sock_raise_file_limit(FILES_NEEDED, err))
        return NULL;
    struct mock_server *server = mem_new(struct mock_server);
    server->options = o;
    server->listen_fd = -1;
    server->truth = o->truth || o->truth_file != NULL;
    server->started_s = time(NULL);
    mock_model_init(&server->model, o);
    mock_gate_init(&server->gate, o->max_batch);
    /* An hour of truth is not to be lost to a folder that is not there. */
    bool ok = o->truth_file == NULL || file_write_atomic(o->truth_file, (struct sv){0}, err) ||
              error_context(err, "--truth-file");
    ok = ok && open_listener(server, err);
    if (ok) {
        server->thread_count = choose_threads(o);
        server->threads = new_threads(server->thread_count);
        ok = server->threads != NULL || error_set(err, E_LIMIT, "out of memory for the threads");
    }
    if (!ok || !open_threads(server, err) || !start_threads(server, err)) {
        server_free(server);
        return NULL;
    }
    return server;
}

uint16_t mock_port(const struct mock_server *server)
{
    return server->port;
}

bool mock_stop(struct mock_server *server, struct error *err)
{
    bool ok = true;
    if (server == NULL)
        return true;
    join_threads(server);
    if (server->options->truth_file != NULL) {
        struct buf text = {0};
        for (unsigned i = 0; i < server->thread_count; i++)
            mock_truth_write(&server->threads[i].truth, &text);
        ok = file_write_atomic(server->options->truth_file, buf_sv(&text), err);
        buf_done(&text);
    }
    server_free(server);
    return ok;
}
