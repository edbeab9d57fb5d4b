/* mock.h - an OpenAI-compatible server with exact timing: the demo's default target and the tests' double.
 * Use, threads inside this process: mock_options_init; set fields; mock_start ... mock_stop; mock_options_done.
 * Use, a process of its own: mock_spawn (before any thread exists) ... mock_reap.  The command: mock_main.
 * The options are read until mock_stop, so they live as long as the server.
 * Threads: a server owns its threads; start and stop from one thread.  Errors: struct error. */
#ifndef VB_MOCK_MOCK_H
#define VB_MOCK_MOCK_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>
#include <sys/types.h>

/* All settings of `vllm-bench mock-server`.  "After N" fields count token events and are off when negative; rates are
 * shares of the generation requests, drawn from the seed and the request's index. */
struct mock_options {
    struct arena arena; /* strings that the option parser copied */

    /* server */
    const char *host;
    int port;         /* 0: a free one */
    unsigned threads; /* 0: by cores */
    uint64_t seed;
    const char *model;
    bool strict_model; /* an unknown model is 404; else any name is served */
    uint64_t max_model_len;
    bool truth;             /* keep the send times, GET /truth */
    const char *truth_file; /* written by mock_stop; NULL none; implies truth */
    uint64_t spin_ns;       /* wake up this much early and watch the clock */

    /* timing */
    uint64_t ttft_ns, itl_ns;
    const char *ttft_dist, *itl_dist; /* constant, exponential, normal, lognormal */
    double ttft_sigma, itl_sigma; /* normal: share of the mean; lognormal: sigma of the logarithm */
    double prefill_us_per_token;
    double itl_per_stream_us; /* added to every gap for each running request */
    uint64_t tokenize_ns;     /* before an answer of /tokenize and /detokenize */
    uint64_t max_batch;       /* requests beyond it wait; 0: no limit */

    /* output */
    uint64_t tokens;         /* 0: what the request asks for */
    uint64_t default_tokens; /* when it asks for nothing */
    double eos_rate; /* chance of an end after each token, unless ignore_eos or below min_tokens */
    uint64_t tokens_per_event;
    uint64_t draft_tokens; /* per event, for the counters of /metrics; 0: tokens_per_event - 1 */
    uint64_t reasoning;    /* chat: first tokens that go to delta.<reasoning_key> */
    const char *reasoning_key;
    const char *role_chunk; /* early, first, merged, none */
    const char *usage;      /* final, each, inline, never */
    bool done;              /* data: [DONE] */
    bool final_empty;       /* finish_reason in a chunk of its own */
    uint64_t empty_first;   /* first events with empty text */
    bool unicode;
    uint64_t text_bytes; /* of every token's text; 0: words as they are */

    /* framing */
    bool chunked;
    bool crlf, cr, comments;
    uint64_t coalesce; /* events a write */
    uint64_t split;    /* bytes a write; 0: whole events */
    double split_gap_us;
    uint64_t slow_headers_ns;
    bool close_each;
    uint64_t close_idle_ns; /* 0: never */

    /* faults */
    uint64_t fail_first; /* 503 for the first generation requests */
    double error_rate;
    int error_status;
    int64_t drop_after;
    double drop_rate;
    bool drop_rst;
    double garbage_rate;
    int64_t error_event_after;
    double error_event_rate;
    int64_t stall_after;
    double stall_rate;
};

struct mock_server;

void mock_options_init(struct mock_options *o);
void mock_options_done(struct mock_options *o);
/* Rules across fields and names of choices; mock_start calls it too. */
bool mock_options_check(const struct mock_options *o, struct error *err);

/* Listens and serves from threads of this process; NULL on failure. */
struct mock_server *mock_start(const struct mock_options *o, struct error *err);
uint16_t mock_port(const struct mock_server *server);
/* Ends the threads, writes the truth file and frees the server.  False when the file could not be written. */
bool mock_stop(struct mock_server *server, struct error *err);

/* Forks a child that serves until SIGTERM or until its parent ends; it ignores SIGINT, so that a Ctrl-C on the terminal
 * leaves it to finish what is in flight.  Only while the calling process has a single thread. */
bool mock_spawn(const struct mock_options *o, pid_t *pid, uint16_t *port, struct error *err);
void mock_reap(pid_t pid);

/* `vllm-bench mock-server`; argv[0] is the command word.  Returns the exit status. */
int mock_main(int argc, char **argv);

/* The flags of the command, for texts about them. */
struct option_row;
const struct option_row *mock_option_rows(size_t *count);

#endif
