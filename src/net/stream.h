/* stream.h - a client connection as a byte stream, whatever lies underneath: TCP or a unix-domain socket, a proxy's
 * tunnel, TLS.
 * Use: stream_open; after every event of its socket stream_advance until STREAM_READY; then stream_read / stream_write;
 * stream_close.  stream_wants_write says whether the socket is to be watched for writing as well.
 * Bytes that the kernel does not take at once are kept here and sent by stream_flush.
 * Threads: a stream belongs to one thread.  Errors: STREAM_FAILED and negative results; stream_problem is the sentence. */
#ifndef VB_NET_STREAM_H
#define VB_NET_STREAM_H

#include "base/buf.h"
#include "net/target.h"

#include <sys/uio.h>

enum stream_phase { STREAM_CLOSED, STREAM_CONNECT, STREAM_TUNNEL, STREAM_HANDSHAKE, STREAM_OPEN };

enum stream_step { STREAM_READY, STREAM_WAIT, STREAM_FAILED };

struct tls_session;

struct net_stream {
    int fd;
    enum stream_phase phase;
    const struct net_target *target;
    struct tls_session *tls; /* NULL: plain */
    struct buf out; /* bytes the kernel has not taken yet (plain, or the proxy's request) */
    size_t out_sent;
    struct buf in; /* the proxy's reply */
    uint64_t begun_ns;
    uint64_t tls_begun_ns; /* when the handshake began, 0 without TLS */
    char *problem;         /* on the heap; NULL none */
};

/* Begins to connect.  False when that failed at once. */
bool stream_open(struct net_stream *s, const struct net_target *target);
/* Goes on with setting up after an event; nothing once it is open. */
enum stream_step stream_advance(struct net_stream *s);

/* One read of the socket.  Returns bytes, 0 at the end of the stream, -1 with errno: EAGAIN also when only protocol
 * bytes came; EPROTO when TLS failed.  `cap` must be at least 16 KiB with TLS.  *stamp_real_ns: as sock_read. */
ssize_t stream_read(struct net_stream *s, char *into, size_t cap, uint64_t *stamp_real_ns);

/* Sends all parts, or keeps what the kernel does not take.  False when the connection is broken: errno. */
bool stream_write(struct net_stream *s, const struct iovec *parts, int count);
bool stream_flush(struct net_stream *s);
bool stream_wants_write(const struct net_stream *s);

const char *stream_problem(const struct net_stream *s);
/* Closes the socket, frees everything; a closed stream may be opened again.  Zeroed memory with fd -1 is closed. */
void stream_close(struct net_stream *s);

#endif
