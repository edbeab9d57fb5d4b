/* `vllm-bench mock-server`: its options, and serving until SIGINT or SIGTERM. */
#include "mock/mock.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "config/options.h"

#define AT(field)                .offset = offsetof(struct mock_options, field)
#define FLAG(word, target, text) .name = word, .kind = OPTION_SWITCH, AT(target), .help = text
#define COUNT(word, target, text)                                                                  \
    .name = word, .kind = OPTION_U64, .value = "N", AT(target), .help = text
#define RATE(word, target, text)                                                                   \
    .name = word, .kind = OPTION_DOUBLE, .value = "P", .max = 1, AT(target), .help = text
#define AFTER(word, target, text)                                                                  \
    .name = word, .kind = OPTION_I64, .value = "N", AT(target), .help = text

/* clang-format off */
static const struct option_row rows[] = {
#define GROUP .group = "server"
    {GROUP, .name = "host", .kind = OPTION_STRING, .value = "HOST", .default_text = "127.0.0.1",
     AT(host), .flags = OPTION_SHORT,
     .help = "Address to listen on: a name, an IPv4 or an IPv6 address ('::' is both)."},
    {GROUP, .name = "port", .kind = OPTION_INT, .value = "PORT", .max = 65535,
     .default_text = "8000", AT(port), .flags = OPTION_SHORT,
     .help = "Port to listen on; 0 chooses a free one."},
    {GROUP, .name = "threads", .kind = OPTION_UINT, .value = "N", .min = 1, .max = 256,
     AT(threads), .example = "2",
     .help = "Serving threads; by default half of the cores, at most 4."},
    {GROUP, .name = "model", .kind = OPTION_STRING, .value = "NAME", .default_text = "mock-model",
     AT(model), .flags = OPTION_SHORT, .help = "Name that /v1/models tells."},
    {GROUP, FLAG("strict-model", strict_model, "Answer 404 when a request names another model.")},
    {GROUP, COUNT("max-model-len", max_model_len,
     "Longest prompt and answer together; more is a 400."), .min = 1, .default_text = "131072"},
    {GROUP, COUNT("seed", seed, "Seed of everything that is drawn."), .default_text = "0"},
    {GROUP, FLAG("truth", truth,
     "Keep the send time of every token; GET /truth gives them as JSON lines, DELETE /truth "
      "forgets them."), .flags = OPTION_SHORT},
    {GROUP, .name = "truth-file", .kind = OPTION_STRING, .value = "FILE", AT(truth_file),
     .example = "truth.jsonl", .help = "Write the same lines to a file at the end."},
    {GROUP, .name = "spin", .kind = OPTION_DURATION_MS, .value = "MS", AT(spin_ns),
     .default_text = "0",
     .help = "Wake up this much early and watch the clock: exact to a few microseconds, at the "
      "price of a busy core."},
#undef GROUP
#define GROUP .group = "timing"
    {GROUP, .name = "ttft", .kind = OPTION_DURATION_MS, .value = "MS", .default_text = "50",
     AT(ttft_ns), .flags = OPTION_SHORT,
     .help = "Time from a request's last byte to its first token."},
    {GROUP, .name = "itl", .kind = OPTION_DURATION_MS, .value = "MS", .default_text = "10",
     AT(itl_ns), .flags = OPTION_SHORT, .help = "Time between token events."},
    {GROUP, .name = "ttft-dist", .kind = OPTION_CHOICE,
     .choices = "constant exponential normal lognormal", .default_text = "constant",
     AT(ttft_dist), .help = "Distribution of the time to the first token."},
    {GROUP, .name = "itl-dist", .kind = OPTION_CHOICE,
     .choices = "constant exponential normal lognormal", .default_text = "constant", AT(itl_dist),
     .help = "Distribution of the time between token events."},
    {GROUP, .name = "ttft-sigma", .aliases = "ttft-jitter", .kind = OPTION_DOUBLE, .value = "X",
     .max = 100, .default_text = "0.25", AT(ttft_sigma),
     .help = "Spread: a share of the mean for normal, sigma of the logarithm for lognormal."},
    {GROUP, .name = "itl-jitter", .aliases = "itl-sigma", .kind = OPTION_DOUBLE, .value = "X",
     .max = 100, .default_text = "0.25", AT(itl_sigma),
     .help = "Spread of the time between token events, as --ttft-sigma."},
    {GROUP, .name = "prefill-us-per-token", .kind = OPTION_DOUBLE, .value = "US", .max = 1e9,
     .default_text = "0", AT(prefill_us_per_token),
     .help = "Time that every prompt token adds before the first token."},
    {GROUP, .name = "itl-per-stream-us", .kind = OPTION_DOUBLE, .value = "US", .max = 1e9,
     .default_text = "0", AT(itl_per_stream_us),
     .help = "Time that every running request adds between token events: a larger batch is "
      "slower."},
    {GROUP, COUNT("max-batch", max_batch,
     "Requests that run at a time; more of them wait. 0: no limit."), .default_text = "0"},
    {GROUP, .name = "tokenize-delay", .kind = OPTION_DURATION_MS, .value = "MS",
     .default_text = "0", AT(tokenize_ns),
     .help = "Time before an answer of /tokenize and /detokenize."},
#undef GROUP
#define GROUP .group = "output"
    {GROUP, COUNT("tokens", tokens,
     "Length of every answer, whatever the request asks for. 0: as asked."), .default_text = "0",
     .flags = OPTION_SHORT},
    {GROUP, COUNT("default-tokens", default_tokens, "Length when the request does not say one."),
     .min = 1, .default_text = "16"},
    {GROUP, RATE("eos-rate", eos_rate,
     "Chance of an early end after each token; ignore_eos and min_tokens are honoured."),
     .default_text = "0"},
    {GROUP, COUNT("tokens-per-event", tokens_per_event,
     "Tokens in one event, as with speculative decoding."), .min = 1, .default_text = "1"},
    {GROUP, COUNT("draft-tokens", draft_tokens,
     "Draft tokens an event that /metrics counts. 0: one less than --tokens-per-event."),
     .default_text = "0"},
    {GROUP, COUNT("reasoning", reasoning, "Chat: the first N tokens are reasoning."),
     .default_text = "0"},
    {GROUP, .name = "reasoning-key", .kind = OPTION_STRING, .value = "NAME",
     .default_text = "reasoning", AT(reasoning_key),
     .help = "Chat: key of reasoning text in a delta."},
    {GROUP, .name = "role-chunk", .kind = OPTION_CHOICE, .choices = "early first merged none",
     .default_text = "first", AT(role_chunk),
     .help = "Chat: the opening role chunk comes at once, with the first token, inside its "
      "delta, or not."},
    {GROUP, .name = "usage", .kind = OPTION_CHOICE, .choices = "final each inline never",
     .default_text = "final", AT(usage),
     .help = "Usage in a last chunk when the request asks, in every chunk, in the last token's "
      "chunk, or never."},
    {GROUP, .name = "done", .kind = OPTION_SWITCH, AT(done),
     .help = "End a stream with data: [DONE] (the default)."},
    {GROUP, .name = "no-done", .kind = OPTION_SWITCH_OFF, AT(done),
     .help = "End a stream without data: [DONE]."},
    {GROUP, FLAG("final-empty", final_empty,
     "The finish reason comes in a chunk of its own without text.")},
    {GROUP, COUNT("empty-first", empty_first, "The first N events carry an empty text."),
     .default_text = "0"},
    {GROUP, FLAG("unicode", unicode, "Words of several bytes a letter.")},
    {GROUP, COUNT("text-bytes", text_bytes, "Bytes of every token's text. 0: words as they are."),
     .default_text = "0", .max = 1048576},
#undef GROUP
#define GROUP .group = "framing"
    {GROUP, .name = "no-chunked", .kind = OPTION_SWITCH_OFF, AT(chunked),
     .help = "Streams end with the connection instead of the last chunk."},
    {GROUP, FLAG("crlf", crlf, "Lines of the stream end with CR LF.")},
    {GROUP, FLAG("cr", cr, "Lines of the stream end with CR.")},
    {GROUP, FLAG("comments", comments, "A comment before every event, in a chunk of its own.")},
    {GROUP, COUNT("coalesce", coalesce, "Events a write."), .min = 1, .default_text = "1"},
    {GROUP, COUNT("split", split, "Bytes a write. 0: whole events."), .default_text = "0"},
    {GROUP, .name = "split-gap-us", .kind = OPTION_DOUBLE, .value = "US", .max = 1e9,
     .default_text = "0", AT(split_gap_us), .help = "Pause between the writes of --split."},
    {GROUP, .name = "slow-headers", .kind = OPTION_DURATION_MS, .value = "MS",
     .default_text = "0", AT(slow_headers_ns),
     .help = "Answers stop for this long in their first line."},
    {GROUP, FLAG("close-each", close_each, "Close the connection after every answer.")},
    {GROUP, .name = "close-idle", .kind = OPTION_DURATION_MS, .value = "MS", .default_text = "0",
     AT(close_idle_ns), .help = "Close connections that have been idle for this long. 0: never."},
#undef GROUP
#define GROUP .group = "faults"
    {GROUP, COUNT("fail-first", fail_first, "Answer the first N generation requests with 503."),
     .default_text = "0"},
    {GROUP, RATE("error-rate", error_rate,
     "Share of generation requests that get --error-status."), .default_text = "0",
     .flags = OPTION_SHORT},
    {GROUP, .name = "error-status", .kind = OPTION_INT, .value = "STATUS", .min = 400, .max = 599,
     .default_text = "500", AT(error_status), .help = "Status of --error-rate."},
    {GROUP, AFTER("drop-after", drop_after,
     "Break the connection after N token events. -1: never."), .min = -1, .max = 1e15,
     .default_text = "-1"},
    {GROUP, RATE("drop-rate", drop_rate, "Share of requests that --drop-after hits."),
     .default_text = "1"},
    {GROUP, FLAG("drop-rst", drop_rst, "Break it with a reset instead of an end.")},
    {GROUP, RATE("garbage-rate", garbage_rate,
     "Share of requests with an event that is no JSON."), .default_text = "0"},
    {GROUP, AFTER("error-event-after", error_event_after,
     "An error object in the stream after N token events. -1: never."), .min = -1, .max = 1e15,
     .default_text = "-1"},
    {GROUP, RATE("error-event-rate", error_event_rate,
     "Share of requests that --error-event-after hits."), .default_text = "1"},
    {GROUP, AFTER("stall-after", stall_after,
     "Silence after N token events; the connection stays open. -1: never."), .min = -1,
     .max = 1e15, .default_text = "-1"},
    {GROUP, RATE("stall-rate", stall_rate, "Share of requests that --stall-after hits."),
     .default_text = "1"},
#undef GROUP
};
/* clang-format on */

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]), DEFAULT_PORT = 8000 };

const struct option_row *mock_option_rows(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

static const char intro[] = "usage: vllm-bench mock-server [options]\n\n"
                            "An OpenAI-compatible server without a model: exact timing, recorded "
                            "send times, faults on demand.\n"
                            "Serves until Ctrl-C.\n\n";

static void warn(void *target, const char *sentence)
{
    (void)target;
    fprintf(stderr, "vllm-bench mock-server: warning: %s\n", sentence);
}

static int complain(const struct error *err)
{
    fprintf(stderr, "vllm-bench mock-server: %s\n", err->message);
    return error_exit_status(err->code);
}

static int print_help(const struct option_parser *p)
{
    struct buf text = {0};
    unsigned width = option_help_width();
    bool found = true;
    buf_add_str(&text, intro);
    if (p->help == OPTION_HELP_SHORT)
        option_help_short(&text, rows, ROW_COUNT, width);
    else if (p->help == OPTION_HELP_TOPIC)
        found = option_help_topic(&text, rows, ROW_COUNT, width, p->help_topic);
    else
        option_help_full(&text, rows, ROW_COUNT, width);
    if (found)
        fwrite(text.ptr, 1, text.len, stdout);
    else
        fprintf(stderr, "vllm-bench mock-server: no option fits '%s'\n", p->help_topic);
    buf_done(&text);
    return found ? 0 : error_exit_status(E_USAGE);
}

/* SIGINT and SIGTERM are blocked before any thread exists, so that only sigwait sees them. */
static int serve(const struct mock_options *o)
{
    struct error err;
    sigset_t set;
    int number = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    struct mock_server *server = mock_start(o, &err);
    if (server == NULL)
        return complain(&err);
    bool v6 = strchr(o->host, ':') != NULL;
    printf("listening on http://%s%s%s:%u\n", v6 ? "[" : "", o->host, v6 ? "]" : "",
           mock_port(server));
    fflush(stdout);
    while (sigwait(&set, &number) != 0)
        continue;
    return mock_stop(server, &err) ? 0 : complain(&err);
}

int mock_main(int argc, char **argv)
{
    struct mock_options o;
    struct error err;
    mock_options_init(&o);
    o.port = DEFAULT_PORT;
    struct option_parser p = {
        .command = "vllm-bench mock-server",
        .rows = rows,
        .row_count = ROW_COUNT,
        .target = &o,
        .arena = &o.arena,
        .warn = warn,
    };
    int status;
    if (!option_parse(&p, argc - 1, argv + 1, &err)) {
        status = complain(&err);
    } else if (p.help != OPTION_HELP_NONE) {
        status = print_help(&p);
    } else if (p.version) {
        puts("vllm-bench " VB_VERSION);
        status = 0;
    } else {
        status = serve(&o);
    }
    mock_options_done(&o);
    return status;
}
