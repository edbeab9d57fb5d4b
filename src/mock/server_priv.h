/* server_priv.h - the parts of a running mock server, and what its files offer each other.
 * A server has threads; a thread has an event loop and connections; a connection has at most one generation under way.
 * Threads: a connection belongs to its thread.  Shared between threads: the gate, the inboxes, the truth logs (each with
 * a lock) and the counters (atomic, written by one thread each).
 * Life of a connection: a dead one (its socket closed) stays allocated until the end of the loop turn, so that callers
 * may look at `dead` after any call.  Errors: struct error on starting; later failures close the connection. */
#ifndef VB_MOCK_SERVER_PRIV_H
#define VB_MOCK_SERVER_PRIV_H

#include "mock/ask.h"
#include "mock/mock.h"
#include "mock/plan.h"
#include "mock/request.h"
#include "mock/timers.h"
#include "mock/truth.h"
#include "net/poller.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum mock_gate_state {
    MOCK_GATE_OUTSIDE,
    MOCK_GATE_WAITING,  /* in the gate's queue */
    MOCK_GATE_ADMITTED, /* in its thread's list, which has been woken */
    MOCK_GATE_RUNNING,
};

/* One answer under way. */
struct mock_gen {
    struct mock_plan plan;
    enum mock_api api;
    bool chat, stream;
    uint64_t inputs; /* pooling */
    enum mock_encoding encoding;
    uint64_t sequence; /* /v1/responses: number of the next event */
    bool usage_final, usage_each, usage_inline;
    bool logprobs;
    bool finishing; /* everything is in the output buffer */
    uint64_t index;
    uint64_t prompt_tokens;
    uint64_t tokens, tokens_done;
    uint64_t events, events_done;
    uint64_t due_ns; /* of the next event; UINT64_MAX: never */
    uint64_t text_offset;
    const char *finish_reason;
    const char *outcome;
    struct buf id;   /* "cmpl-..." */
    struct buf head; /* JSON up to and with "choices":[ */
    struct buf text; /* without stream: the answer so far */
    struct buf reasoning;
    struct buf batch; /* --coalesce: events that wait for their write */
    uint64_t batched;
    struct mock_truth_record *record; /* NULL without truth */
    size_t marked;                    /* events whose send time is recorded */
};

struct mock_conn {
    struct mock_timer timer; /* first: the loop gets from one to the other */
    struct mock_thread *thread;
    struct mock_conn *prev, *next; /* of its thread */
    uint64_t number;
    int fd;
    uint32_t interest;
    bool dead;
    bool busy;    /* a generation is under way */
    bool closing; /* once the output is written */
    bool shut;    /* our half is closed, the rest of the input is thrown away */
    bool served;  /* one answer at least */
    bool blocked; /* the kernel takes no more output now */
    struct mock_request request;
    struct buf in; /* read while busy */
    struct buf out;
    size_t out_at;          /* sent so far */
    size_t hold_at;         /* nothing behind this offset goes out ... */
    uint64_t hold_until_ns; /* ... before this instant */
    uint64_t piece_due_ns;  /* next write with --split-gap-us */
    uint64_t idle_due_ns;   /* 0: not idle, or no limit */
    uint64_t linger_due_ns; /* 0: close at once */
    uint64_t arrival_ns;
    bool kernel_stamp;
    struct mock_gen gen;
    enum mock_gate_state gate_state; /* with prev and next: under the gate's lock */
    struct mock_conn *gate_prev, *gate_next;
};

struct mock_list {
    struct mock_conn *first, *last;
};

/* At most `limit` requests run at a time, the others wait in order of arrival. */
struct mock_gate {
    pthread_mutex_t mutex;
    uint64_t limit; /* 0: none */
    _Atomic uint64_t running, waiting;
    struct mock_list queue;
};

enum mock_counter {
    MOCK_COUNT_PROMPT_TOKENS,
    MOCK_COUNT_GENERATION_TOKENS,
    MOCK_COUNT_LENGTH,
    MOCK_COUNT_STOP,
    MOCK_COUNT_ABORT,
    MOCK_COUNT_ERROR,
    MOCK_COUNT_DRAFTS,
    MOCK_COUNT_ACCEPTED,
    MOCK_COUNT_COUNT
};

enum { MOCK_POSITIONS = 16, MOCK_READ_BYTES = 64 * 1024 };

struct mock_thread {
    struct mock_server *server;
    unsigned number;
    pthread_t id;
    struct poller poller;
    struct mock_timers timers;
    uint64_t now_ns;            /* clock at the start of the turn */
    int64_t real_minus_mono_ns; /* sampled with it */
    struct mock_conn *conns, *dead;
    char *block; /* MOCK_READ_BYTES */
    struct buf scratch;
    char date[32]; /* of date_s */
    time_t date_s;
    struct mock_truth_log truth;
    pthread_mutex_t inbox_mutex;
    struct mock_conn *inbox; /* accepted for this thread, linked by next */
    _Atomic bool has_inbox, has_admitted;
    struct mock_list admitted; /* under the gate's lock */
    _Alignas(64) _Atomic uint64_t counters[MOCK_COUNT_COUNT];
    _Atomic uint64_t accepted_at[MOCK_POSITIONS];
};

struct mock_server {
    const struct mock_options *options;
    struct mock_model model;
    int listen_fd;
    uint16_t port;
    bool truth;
    time_t started_s;
    unsigned thread_count, started;
    struct mock_thread *threads;
    struct mock_gate gate;
    uint64_t connections;        /* accepted so far: the first thread's */
    uint64_t accept_paused_ns;   /* no free descriptor: try again then; 0: listening */
    _Atomic uint64_t next_index; /* of generation requests */
    _Atomic bool stop;
};

/* loop.c */
void *mock_loop_run(void *thread);
void mock_loop_count(struct mock_thread *t, enum mock_counter what, uint64_t n);

/* conn.c */
struct mock_conn *mock_conn_new(struct mock_thread *thread, int fd, uint64_t number);
bool mock_conn_register(struct mock_conn *c);
void mock_conn_on_event(struct mock_conn *c, uint32_t events);
void mock_conn_on_timer(struct mock_conn *c);
/* After anything happened: ends a generation that is written out, goes on with pipelined input, sets the timer. */
void mock_conn_settle(struct mock_conn *c);
/* Sends what the kernel, --split and --slow-headers allow. */
void mock_conn_flush(struct mock_conn *c);
void mock_conn_close(struct mock_conn *c, bool reset);
void mock_conn_free(struct mock_conn *c);
static inline size_t mock_conn_pending(const struct mock_conn *c)
{
    return c->out.len - c->out_at;
}

/* reply.c: whole answers and heads, into c->out; `lines`: further header lines */
void mock_reply_bytes(struct mock_conn *c, const char *lines, struct sv body);
void mock_reply_text(struct mock_conn *c, int status, const char *type, struct sv body);
void mock_reply_json(struct mock_conn *c, int status, struct sv body);
void mock_reply_error(struct mock_conn *c, int status, const char *param, const char *message);
void mock_reply_stream_head(struct mock_conn *c);
void mock_reply_error_object(struct buf *out, int status, const char *param, const char *message);

/* routes.c: a request is complete */
void mock_route(struct mock_conn *c);

/* metrics_page.c */
void mock_metrics_page(const struct mock_server *server, struct buf *out);

/* gate.c */
void mock_gate_init(struct mock_gate *gate, uint64_t limit);
void mock_gate_done(struct mock_gate *gate);
/* True when the request may run now; else its thread will find it among the admitted ones. */
bool mock_gate_enter(struct mock_gate *gate, struct mock_conn *c);
void mock_gate_leave(struct mock_gate *gate, struct mock_conn *c);
/* The next admitted connection of this thread, or NULL. */
struct mock_conn *mock_gate_take(struct mock_gate *gate, struct mock_thread *t);

/* generate.c */
/* Where the text of events goes. */
struct buf *mock_gen_out(struct mock_conn *c);
void mock_gen_start(struct mock_conn *c, const struct mock_ask *ask);
void mock_gen_admitted(struct mock_conn *c, uint64_t start_ns);
/* Produces and sends the events that are due. */
void mock_gen_step(struct mock_conn *c);
/* The answer is written out, or the client is gone. */
void mock_gen_end(struct mock_conn *c);
void mock_gen_publish(struct mock_conn *c);
void mock_gen_done(struct mock_gen *gen);

/* stream.c: text of the answers */
/* Endpoint of an API, as the truth names it. */
const char *mock_api_path(enum mock_api api);
static inline bool mock_api_pools(enum mock_api api)
{
    return api >= MOCK_API_EMBEDDINGS;
}
/* One event; `name` of its own line, or NULL. */
void mock_stream_send(struct mock_conn *c, const char *name, struct sv json);
/* The end of the body, behind "data: [DONE]" unless it is switched off. */
void mock_stream_finish(struct mock_conn *c, bool done);
/* Empties the thread's scratch buffer. */
struct buf *mock_stream_scratch(struct mock_conn *c);
void mock_stream_tokens(struct mock_conn *c, uint64_t from, uint64_t to, struct buf *out);
void mock_stream_begin(struct mock_conn *c, struct sv model, struct sv request_id);
void mock_stream_role(struct mock_conn *c);
void mock_stream_event(struct mock_conn *c, uint64_t tokens, bool last);
void mock_stream_garbage(struct mock_conn *c);
void mock_stream_error(struct mock_conn *c);
void mock_stream_end(struct mock_conn *c, bool usage);
void mock_stream_collect(struct mock_conn *c, uint64_t tokens);
void mock_stream_whole(struct mock_conn *c, struct buf *out);

/* responses.c: the same for /v1/responses */
void mock_responses_open(struct mock_conn *c);
void mock_responses_event(struct mock_conn *c, uint64_t from, uint64_t to);
void mock_responses_end(struct mock_conn *c);
void mock_responses_error(struct mock_conn *c);
void mock_responses_whole(struct mock_conn *c, struct buf *out);

/* pooling.c: the whole answer of a pooling request; `damaged`: cut off */
void mock_pool_reply(struct mock_conn *c, bool damaged);

#endif
