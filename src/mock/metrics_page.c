/* GET /metrics: the lines of vLLM's page that load generators read, with vLLM's names and labels. */
#include "mock/server_priv.h"

#include <stdio.h>

#include "base/num.h"

static uint64_t sum_counter(const struct mock_server *server, enum mock_counter what)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < server->thread_count; i++)
        sum += atomic_load_explicit(&server->threads[i].counters[what], memory_order_relaxed);
    return sum;
}

static void add_head(struct buf *out, const char *name, const char *type, const char *help)
{
    buf_add_fmt(out, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, type);
}

/* `label` is a further label with its comma (`,reason="x"`), or empty. */
static void add_value(struct buf *out, const struct mock_server *server, const char *name,
                      const char *label, uint64_t value)
{
    struct buf model = {0};
    for (const char *at = server->options->model; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            buf_add_char(&model, '\\');
        buf_add_char(&model, *at);
    }
    buf_add_fmt(out, "vllm:%s{engine=\"0\",model_name=\"" SV_FMT "\"%s} %llu.0\n", name,
                SV_ARG(buf_sv(&model)), label, (unsigned long long)value);
    buf_done(&model);
}

/* NAME_total and, as the Prometheus client does, NAME_created. */
static void add_counter(struct buf *out, const struct mock_server *server, const char *name,
                        const char *help, uint64_t value)
{
    char full[80];
    snprintf(full, sizeof(full), "%s_total", name);
    add_head(out, full, "counter", help);
    add_value(out, server, full, "", value);
    snprintf(full, sizeof(full), "%s_created", name);
    add_head(out, full, "gauge", help);
    add_value(out, server, full, "", (uint64_t)server->started_s);
}

static void add_gauge(struct buf *out, const struct mock_server *server, const char *name,
                      const char *help, uint64_t value)
{
    add_head(out, name, "gauge", help);
    add_value(out, server, name, "", value);
}

static void add_success(struct buf *out, const struct mock_server *server)
{
    static const struct {
        const char *label;
        enum mock_counter counter;
    } rows[] = {
        {",finished_reason=\"stop\"", MOCK_COUNT_STOP},
        {",finished_reason=\"length\"", MOCK_COUNT_LENGTH},
        {",finished_reason=\"abort\"", MOCK_COUNT_ABORT},
        {",finished_reason=\"error\"", MOCK_COUNT_ERROR},
    };
    add_head(out, "request_success_total", "counter", "Count of successfully processed requests.");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        add_value(out, server, "request_success_total", rows[i].label,
                  sum_counter(server, rows[i].counter));
}

static void add_speculation(struct buf *out, const struct mock_server *server)
{
    const struct mock_options *o = server->options;
    uint64_t drafts = sum_counter(server, MOCK_COUNT_DRAFTS);
    uint64_t per_draft = o->draft_tokens > 0 ? o->draft_tokens : o->tokens_per_event - 1;
    if (per_draft == 0)
        return;
    add_counter(out, server, "spec_decode_num_drafts", "Number of spec decoding drafts.", drafts);
    add_counter(out, server, "spec_decode_num_draft_tokens", "Number of draft tokens.",
                drafts * per_draft);
    add_counter(out, server, "spec_decode_num_accepted_tokens", "Number of accepted tokens.",
                sum_counter(server, MOCK_COUNT_ACCEPTED));
    add_head(out, "spec_decode_num_accepted_tokens_per_pos_total", "counter",
             "Accepted tokens per draft position.");
    for (unsigned p = 0; p < MOCK_POSITIONS && p < per_draft; p++) {
        uint64_t sum = 0;
        char label[32];
        for (unsigned i = 0; i < server->thread_count; i++)
            sum += atomic_load_explicit(&server->threads[i].accepted_at[p], memory_order_relaxed);
        snprintf(label, sizeof(label), ",position=\"%u\"", p);
        add_value(out, server, "spec_decode_num_accepted_tokens_per_pos_total", label, sum);
    }
}

void mock_metrics_page(const struct mock_server *server, struct buf *out)
{
    add_gauge(out, server, "num_requests_running", "Number of requests in model execution batches.",
              atomic_load_explicit(&server->gate.running, memory_order_relaxed));
    add_gauge(out, server, "num_requests_waiting", "Number of requests waiting to be processed.",
              atomic_load_explicit(&server->gate.waiting, memory_order_relaxed));
    add_gauge(out, server, "kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", 0);
    add_counter(out, server, "prompt_tokens", "Number of prefill tokens processed.",
                sum_counter(server, MOCK_COUNT_PROMPT_TOKENS));
    add_counter(out, server, "generation_tokens", "Number of generation tokens processed.",
                sum_counter(server, MOCK_COUNT_GENERATION_TOKENS));
    add_success(out, server);
    add_speculation(out, server);
}
