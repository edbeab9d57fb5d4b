/* TCP sockets with kernel receive stamps (SO_TIMESTAMPNS).  The stamp is made when the segment arrives, so it is free of
 * the time that the reader needs to come round to the socket. */
#include "net/sock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

int sock_connect(const struct sockaddr_storage *address, socklen_t len, int *sys)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        *sys = errno;
        return -1;
    }
    const int on = 1;
    const int keepalive_s = 60;
    /* Failures here are not fatal: without stamps sock_read reports none, and the result says so. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &keepalive_s, sizeof(keepalive_s));
    struct sockaddr_storage copy = *address;
    int result;
    do {
        result = connect(fd, (struct sockaddr *)&copy, len);
    } while (result < 0 && errno == EINTR);
    if (result < 0 && errno != EINPROGRESS) {
        *sys = errno;
        close(fd);
        return -1;
    }
    *sys = 0;
    return fd;
}

int sock_connect_result(int fd)
{
    int sys = 0;
    socklen_t len = sizeof(sys);
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys, &len) < 0)
        return errno;
    return sys;
}

ssize_t sock_read(int fd, void *into, size_t cap, uint64_t *stamp_real_ns)
{
    union {
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
        struct cmsghdr align;
    } control;
    struct iovec part = {.iov_base = into, .iov_len = cap};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof(control.bytes),
    };
    ssize_t n;
    do {
        n = recvmsg(fd, &message, 0);
    } while (n < 0 && errno == EINTR);
    *stamp_real_ns = 0;
    if (n <= 0)
        return n;
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
        struct timespec t;
        memcpy(&t, CMSG_DATA(c), sizeof(t));
        *stamp_real_ns = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
    }
    return n;
}

ssize_t sock_write(int fd, const struct iovec *parts, int count)
{
    struct iovec copy[16];
    if (count > 16)
        count = 16;
    memcpy(copy, parts, sizeof(copy[0]) * (size_t)count);
    struct msghdr message = {.msg_iov = copy, .msg_iovlen = (size_t)count};
    ssize_t n;
    do {
        n = sendmsg(fd, &message, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n;
}

uint32_t sock_retransmits(int fd)
{
    struct tcp_info info;
    socklen_t len = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0)
        return 0;
    return info.tcpi_total_retrans;
}

void sock_address_text(const struct sockaddr_storage *address, char *out, size_t cap)
{
    char host[INET6_ADDRSTRLEN] = "?";
    if (address->ss_family == AF_INET6) {
        struct sockaddr_in6 v6;
        memcpy(&v6, address, sizeof(v6));
        inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
        snprintf(out, cap, "[%s]:%u", host, ntohs(v6.sin6_port));
    } else {
        struct sockaddr_in v4;
        memcpy(&v4, address, sizeof(v4));
        inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
        snprintf(out, cap, "%s:%u", host, ntohs(v4.sin_port));
    }
}

bool sock_raise_file_limit(uint64_t need, struct error *err)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return error_sys(err, E_IO, errno, "cannot read the limit of open files");
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
            return error_sys(err, E_IO, errno, "cannot raise the limit of open files");
    }
    if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < need)
        return error_set(err, E_LIMIT,
                         "this run needs %llu open files and the limit is %llu; raise it with "
                         "'ulimit -n %llu' or lower --max-concurrency",
                         (unsigned long long)need, (unsigned long long)limit.rlim_cur,
                         (unsigned long long)need);
    return true;
}

void sock_connect_error_text(int sys, const char *address, char *out, size_t cap)
{
    const char *hint = "";
    if (sys == EADDRNOTAVAIL)
        hint = "; all local ports are in use: lower --max-concurrency or widen "
               "net.ipv4.ip_local_port_range";
    else if (sys == EMFILE || sys == ENFILE)
        hint = "; too many open files: raise the limit with 'ulimit -n'";
    char reason[128];
    snprintf(out, cap, "cannot connect to %s: %s%s", address,
             strerror_r(sys, reason, sizeof(reason)), hint);
}
