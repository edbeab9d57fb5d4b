/* sock.h - TCP sockets as the client needs them: non-blocking, no delay, kernel receive stamps.
 * Use: sock_connect, wait until writable, sock_connect_result; then sock_read / sock_write.
 * Threads: a socket belongs to one thread.  Errors: negative results carry errno; hot calls never format text. */
#ifndef VB_NET_SOCK_H
#define VB_NET_SOCK_H

#include "base/error.h"

#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Starts a connection; the file descriptor, or -1 with *sys set.  May still be under way (then wait for writable). */
int sock_connect(const struct sockaddr_storage *address, socklen_t len, int *sys);
/* 0 when the connection stands, else its errno. */
int sock_connect_result(int fd);

/* One read.  Returns the bytes, 0 at end of stream, -1 with errno.  *stamp_real_ns gets the kernel's receive time of the
 * newest byte (CLOCK_REALTIME), 0 when the kernel gave none. */
ssize_t sock_read(int fd, void *into, size_t cap, uint64_t *stamp_real_ns);

/* One write; the bytes taken, or -1 with errno.  Never raises SIGPIPE. */
ssize_t sock_write(int fd, const struct iovec *parts, int count);

/* Segments sent again so far on this connection (TCP_INFO). */
uint32_t sock_retransmits(int fd);

/* "127.0.0.1:8000", "[::1]:8000". */
void sock_address_text(const struct sockaddr_storage *address, char *out, size_t cap);

/* Raises the soft limit of open files to the hard limit and demands `need` of them; the error names `ulimit -n`. */
bool sock_raise_file_limit(uint64_t need, struct error *err);

/* A sentence for a failed connection: what, where, why, and for exhausted ports or files what to do. */
void sock_connect_error_text(int sys, const char *address, char *out, size_t cap);

#endif
