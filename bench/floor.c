/* The floor: a bare epoll reader with kernel receive stamps, one thread, connections opened beforehand.  It looks for
 * nothing but the end of each response (and, when a result is asked for, counts the events of each read), so no client
 * can use less CPU or read the times better; figures of clients are given as ratios to it.
 *
 *   floor PORT STREAMS REQUESTS TOKENS [RESULT PREFIX]
 *
 * RESULT gets {"ttfts": [...], "itls": [[...], ...]} in seconds, as a client's detailed result; request i carries
 * X-Request-Id PREFIXi.  Times are CLOCK_REALTIME throughout: the wall clock must not be stepped during a run. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define LAST_CHUNK "\r\n0\r\n\r\n"
#define EVENT_MARK "data: {"

enum { BLOCK = 64 * 1024, TAIL = sizeof(LAST_CHUNK) - 1, MARK = sizeof(EVENT_MARK) - 1 };

struct stream {
    int fd;
    size_t request;
    char tail[TAIL];
    size_t matched; /* bytes of EVENT_MARK that the last bytes were */
};

struct request {
    uint64_t start_ns;
    size_t events;
    uint64_t *event_ns; /* NULL when no result is wanted */
};

struct run {
    uint16_t port;
    size_t streams, requests, tokens;
    const char *result, *prefix;
    size_t next; /* first request that was not sent */
    size_t done;
    struct request *request;
    int epoll_fd;
    char *block;
};

static void die(const char *what)
{
    fprintf(stderr, "floor: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void *zeroed(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL)
        die("memory");
    return memory;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int open_connection(const struct run *run)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET,
        .sin_port = htons(run->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct sockaddr_storage storage = {0};
    memcpy(&storage, &to, sizeof(to));
    const int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&storage, sizeof(to)) < 0)
        die("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) < 0)
        die("SO_TIMESTAMPNS");
    return fd;
}

static void send_next(struct run *run, struct stream *s)
{
    char body[256];
    char text[768];
    s->request = run->next++;
    s->matched = 0;
    memset(s->tail, 0, TAIL);
    int body_len = snprintf(body, sizeof(body),
                            "{\"model\":\"mock-model\",\"prompt\":[1,2,3,4,5,6,7,8],"
                            "\"max_tokens\":%zu,\"stream\":true,\"ignore_eos\":true}",
                            run->tokens);
    int len = snprintf(text, sizeof(text),
                       "POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n"
                       "Content-Type: application/json\r\nX-Request-Id: %.64s%zu\r\n"
                       "Content-Length: %d\r\n\r\n%s",
                       (unsigned)run->port, run->prefix, s->request, body_len, body);
    struct request *r = &run->request[s->request];
    if (run->result != NULL)
        r->event_ns = zeroed(run->tokens, sizeof(*r->event_ns));
    r->start_ns = now_ns();
    if (send(s->fd, text, (size_t)len, MSG_NOSIGNAL) != len)
        die("send");
}

/* The bytes and the kernel's time of one read. */
static size_t read_stamped(const struct run *run, int fd, uint64_t *stamp_ns)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = run->block, .iov_len = BLOCK};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes),
    };
    ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0)
        die("the server closed a connection");
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c == NULL || c->cmsg_type != SCM_TIMESTAMPNS)
        die("the kernel gives no receive time");
    struct timespec t;
    memcpy(&t, CMSG_DATA(c), sizeof(t));
    *stamp_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return (size_t)n;
}

static void count_events(struct run *run, struct stream *s, size_t n, uint64_t stamp_ns)
{
    struct request *r = &run->request[s->request];
    for (size_t i = 0; i < n; i++) {
        char c = run->block[i];
        s->matched = c == EVENT_MARK[s->matched] ? s->matched + 1 : c == EVENT_MARK[0];
        if (s->matched == MARK) {
            s->matched = 0;
            if (r->events < run->tokens)
                r->event_ns[r->events++] = stamp_ns;
        }
    }
}

/* Do the bytes so far end with the last chunk? */
static bool at_last_chunk(struct run *run, struct stream *s, size_t n)
{
    if (n >= TAIL) {
        memcpy(s->tail, run->block + n - TAIL, TAIL);
    } else {
        memmove(s->tail, s->tail + n, TAIL - n);
        memcpy(s->tail + TAIL - n, run->block, n);
    }
    return memcmp(s->tail, LAST_CHUNK, TAIL) == 0;
}

static void receive(struct run *run, struct stream *s)
{
    uint64_t stamp_ns = 0;
    size_t n = read_stamped(run, s->fd, &stamp_ns);
    if (n == 0)
        return;
    if (run->result != NULL)
        count_events(run, s, n, stamp_ns);
    if (!at_last_chunk(run, s, n))
        return;
    run->done++;
    if (run->next < run->requests)
        send_next(run, s);
}

static void read_all(struct run *run)
{
    struct epoll_event events[256];
    while (run->done < run->requests) {
        int count = epoll_wait(run->epoll_fd, events, 256, 30000);
        if (count == 0) {
            errno = ETIMEDOUT;
            die("nothing came for 30 s");
        }
        for (int i = 0; i < count; i++)
            receive(run, events[i].data.ptr);
    }
}

static void write_result(const struct run *run)
{
    FILE *f = fopen(run->result, "w");
    if (f == NULL)
        die(run->result);
    fputs("{\"ttfts\":[", f);
    for (size_t i = 0; i < run->requests; i++)
        fprintf(f, "%s%.9f", i > 0 ? "," : "",
                (double)(run->request[i].event_ns[0] - run->request[i].start_ns) / 1e9);
    fputs("],\"itls\":[", f);
    for (size_t i = 0; i < run->requests; i++) {
        const struct request *r = &run->request[i];
        fputs(i > 0 ? ",[" : "[", f);
        for (size_t k = 1; k < r->events; k++)
            fprintf(f, "%s%.9f", k > 1 ? "," : "",
                    (double)(int64_t)(r->event_ns[k] - r->event_ns[k - 1]) / 1e9);
        fputc(']', f);
    }
    fputs("]}\n", f);
    if (fclose(f) != 0)
        die(run->result);
}

static size_t number(const char *text)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*text == '\0' || *end != '\0' || value == 0 || value > 100000000) {
        fprintf(stderr, "floor: '%s' is no number from 1 to 100000000\n", text);
        exit(2);
    }
    return (size_t)value;
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 7) {
        fputs("usage: floor PORT STREAMS REQUESTS TOKENS [RESULT PREFIX]\n", stderr);
        return 2;
    }
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    struct run run = {
        .port = (uint16_t)number(argv[1]),
        .streams = number(argv[2]),
        .requests = number(argv[3]),
        .tokens = number(argv[4]),
        .result = argc == 7 ? argv[5] : NULL,
        .prefix = argc == 7 ? argv[6] : "floor-",
        .epoll_fd = epoll_create1(EPOLL_CLOEXEC),
    };
    if (run.streams > run.requests)
        run.streams = run.requests;
    run.request = zeroed(run.requests, sizeof(*run.request));
    run.block = zeroed(1, BLOCK);
    struct stream *streams = zeroed(run.streams, sizeof(*streams));
    for (size_t i = 0; i < run.streams; i++) {
        streams[i].fd = open_connection(&run);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &streams[i]};
        if (epoll_ctl(run.epoll_fd, EPOLL_CTL_ADD, streams[i].fd, &event) < 0)
            die("epoll_ctl");
    }
    for (size_t i = 0; i < run.streams; i++)
        send_next(&run, &streams[i]);
    read_all(&run);
    if (run.result != NULL)
        write_result(&run);
    return 0;
}
