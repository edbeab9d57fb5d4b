/* The life of one generation: checked, planned, admitted, then one event after the other at absolute due times: start +
 * TTFT, and each next one a gap behind the due time (not the send time) of the last, so that lateness never adds up. */
#include "mock/server_priv.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/num.h"

enum {
    WRITES_A_STEP = 16,
    STATUS_LINE_START = 9, /* "HTTP/1.1 ": what --slow-headers lets out at once */
    UNAVAILABLE = 503,
};

static const struct mock_options *options_of(const struct mock_conn *c)
{
    return c->thread->server->options;
}

struct buf *mock_gen_out(struct mock_conn *c)
{
    return options_of(c)->coalesce > 1 ? &c->gen.batch : &c->out;
}

void mock_gen_done(struct mock_gen *gen)
{
    buf_done(&gen->id);
    buf_done(&gen->head);
    buf_done(&gen->text);
    buf_done(&gen->reasoning);
    buf_done(&gen->batch);
}

static void record_begin(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    const struct mock_thread *t = c->thread;
    struct sv id = c->request.request_id;
    if (!t->server->truth)
        return;
    if (id.len == 0)
        id = buf_sv(&gen->id);
    struct mock_truth_record *r = mock_truth_begin(gen->events);
    size_t n = id.len < MOCK_ID_MAX ? id.len : MOCK_ID_MAX;
    if (n > 0)
        memcpy(r->id, id.ptr, n);
    r->index = gen->index;
    r->endpoint = mock_api_path(gen->api);
    r->stream = gen->stream;
    r->status = 200;
    r->connection = c->number;
    r->arrival_ns = c->arrival_ns;
    r->kernel_stamp = c->kernel_stamp;
    r->prompt_tokens = gen->prompt_tokens;
    r->real_minus_mono_ns = t->real_minus_mono_ns;
    gen->record = r;
    gen->marked = 0;
}

void mock_gen_publish(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    struct mock_truth_record *r = gen->record;
    r->outcome = gen->outcome;
    r->tokens = gen->tokens_done;
    r->end_ns = clock_mono_ns();
    mock_truth_publish(&c->thread->truth, r);
    gen->record = NULL;
}

/* An answer that is an error status: recorded, and over. */
static void refuse(struct mock_conn *c, int status, const char *param, const char *message)
{
    struct mock_gen *gen = &c->gen;
    mock_reply_error(c, status, param, message);
    mock_loop_count(c->thread, MOCK_COUNT_ERROR, 1);
    record_begin(c);
    if (gen->record == NULL)
        return;
    gen->outcome = "refused";
    gen->record->status = status;
    mock_truth_lock(&c->thread->truth);
    mock_gen_publish(c);
    mock_truth_unlock(&c->thread->truth);
}

static bool fits_model(struct mock_conn *c, const struct mock_ask *ask, uint64_t wanted)
{
    const struct mock_options *o = options_of(c);
    char text[400];
    if (o->strict_model && !sv_eq(ask->model, sv_from(o->model))) {
        snprintf(text, sizeof(text), "The model `%.*s` does not exist. Valid aliases: %s.",
                 (int)(ask->model.len < 100 ? ask->model.len : 100),
                 ask->model.ptr != NULL ? ask->model.ptr : "", o->model);
        refuse(c, 404, "model", text);
        return false;
    }
    if (ask->min_tokens > wanted) {
        refuse(c, 400, "min_tokens", "min_tokens must be less than or equal to max_tokens");
        return false;
    }
    if (mock_api_pools(ask->api)) /* these cut what is too long */
        return true;
    if (wanted > o->max_model_len || ask->prompt_tokens > o->max_model_len - wanted) {
        snprintf(text, sizeof(text),
                 "This model's maximum context length is %llu tokens. However, you requested %llu "
                 "output tokens and your prompt contains at least %llu input tokens. Please "
                 "reduce the length of the input prompt or the number of requested output tokens.",
                 (unsigned long long)o->max_model_len, (unsigned long long)wanted,
                 (unsigned long long)ask->prompt_tokens);
        refuse(c, 400, "input_tokens", text);
        return false;
    }
    return true;
}

static void set_usage(struct mock_gen *gen, const struct mock_ask *ask, const char *mode)
{
    bool never = strcmp(mode, "never") == 0;
    bool each = strcmp(mode, "each") == 0;
    gen->usage_inline = strcmp(mode, "inline") == 0;
    gen->usage_each = each || (!never && ask->include_usage && ask->continuous_usage);
    gen->usage_final = each || (!never && !gen->usage_inline && ask->include_usage);
}

static void plan(struct mock_conn *c, const struct mock_ask *ask, uint64_t wanted)
{
    const struct mock_options *o = options_of(c);
    const struct mock_model *m = &c->thread->server->model;
    struct mock_gen *gen = &c->gen;
    gen->tokens = o->tokens;
    if (gen->tokens == 0 && ask->ignore_eos)
        gen->tokens = wanted;
    else if (gen->tokens == 0)
        gen->tokens = mock_plan_tokens(m, gen->index, ask->min_tokens, wanted);
    if (mock_api_pools(gen->api))
        gen->tokens = 1; /* one event: the answer */
    gen->events = (gen->tokens + o->tokens_per_event - 1) / o->tokens_per_event;
    gen->finish_reason = gen->tokens < wanted ? "stop" : "length";
    set_usage(gen, ask, o->usage);
    gen->logprobs = ask->logprobs;
    mock_plan_init(&gen->plan, m, gen->index, gen->events);
}

static void hold_head(struct mock_conn *c)
{
    const struct mock_options *o = options_of(c);
    if (o->slow_headers_ns == 0)
        return;
    c->hold_at = c->out.len + STATUS_LINE_START;
    c->hold_until_ns = clock_mono_ns() + o->slow_headers_ns;
}

static void begin_answer(struct mock_conn *c, const struct mock_ask *ask)
{
    struct mock_gen *gen = &c->gen;
    struct mock_server *server = c->thread->server;
    c->busy = true;
    mock_stream_begin(c, ask->model.len > 0 ? ask->model : sv_from(server->options->model),
                      c->request.request_id);
    record_begin(c);
    mock_loop_count(c->thread, MOCK_COUNT_PROMPT_TOKENS, gen->prompt_tokens);
    if (gen->stream) {
        hold_head(c);
        mock_reply_stream_head(c);
        if (gen->api == MOCK_API_RESPONSES)
            mock_responses_open(c);
        else if (gen->chat && strcmp(server->options->role_chunk, "early") == 0)
            mock_stream_role(c);
    }
    gen->due_ns = UINT64_MAX;
    if (mock_gate_enter(&server->gate, c))
        mock_gen_admitted(c, c->arrival_ns);
}

void mock_gen_start(struct mock_conn *c, const struct mock_ask *ask)
{
    const struct mock_options *o = options_of(c);
    struct mock_gen *gen = &c->gen;
    struct mock_gen kept = *gen; /* the buffers */
    *gen = (struct mock_gen){
        .id = kept.id,
        .head = kept.head,
        .text = kept.text,
        .reasoning = kept.reasoning,
        .batch = kept.batch,
        .api = ask->api,
        .chat = ask->chat,
        .inputs = ask->inputs,
        .encoding = ask->encoding,
        .stream = ask->stream,
        .prompt_tokens = ask->prompt_tokens,
        .outcome = "aborted",
        .index = atomic_fetch_add_explicit(&c->thread->server->next_index, 1, memory_order_relaxed),
    };
    buf_reset(&gen->id);
    buf_reset(&gen->text);
    buf_reset(&gen->reasoning);
    buf_reset(&gen->batch);
    uint64_t room =
        o->max_model_len > ask->prompt_tokens ? o->max_model_len - ask->prompt_tokens : 1;
    uint64_t wanted = ask->has_max_tokens        ? ask->max_tokens
                      : o->default_tokens < room ? o->default_tokens
                                                 : room;
    if (gen->index < o->fail_first) {
        refuse(c, UNAVAILABLE, NULL, "the mock server is not ready yet");
        return;
    }
    if (!fits_model(c, ask, wanted))
        return;
    plan(c, ask, wanted);
    if (gen->plan.fault == MOCK_FAULT_STATUS)
        refuse(c, o->error_status, NULL, "error injected by the mock server");
    else
        begin_answer(c, ask);
}

void mock_gen_admitted(struct mock_conn *c, uint64_t start_ns)
{
    struct mock_gen *gen = &c->gen;
    gen->due_ns =
        start_ns + mock_plan_ttft_ns(&gen->plan, &c->thread->server->model, gen->prompt_tokens);
    if (gen->record != NULL)
        gen->record->start_ns = start_ns;
}

/* Hands the batch over and sends. */
static void release(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    if (gen->batch.len > 0) {
        buf_add(&c->out, buf_sv(&gen->batch));
        buf_reset(&gen->batch);
    }
    gen->batched = 0;
    mock_conn_flush(c);
}

static void finish(struct mock_conn *c, const char *outcome)
{
    c->gen.outcome = outcome;
    c->gen.finishing = true;
}

static void finish_whole(struct mock_conn *c)
{
    bool damaged = c->gen.plan.fault == MOCK_FAULT_GARBAGE;
    hold_head(c);
    if (mock_api_pools(c->gen.api)) {
        mock_pool_reply(c, damaged);
    } else {
        struct buf body = {0};
        mock_stream_whole(c, &body);
        body.len -= damaged ? body.len / 4 : 0; /* no longer JSON */
        mock_reply_json(c, 200, buf_sv(&body));
        buf_done(&body);
    }
    finish(c, "complete");
}

/* The planned fault is due.  True when the answer goes on. */
static bool run_fault(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    enum mock_fault fault = gen->plan.fault;
    if (fault == MOCK_FAULT_GARBAGE) {
        if (gen->stream) {
            mock_stream_garbage(c);
            gen->plan.fault = MOCK_FAULT_NONE;
        }
        return true;
    }
    if (gen->batch.len > 0) {
        release(c);
        if (c->dead || mock_conn_pending(c) > 0)
            return false; /* comes here again when that is written */
    }
    if (fault == MOCK_FAULT_DROP) {
        gen->outcome = "dropped";
        mock_conn_close(c, options_of(c)->drop_rst);
    } else if (fault == MOCK_FAULT_STALL) {
        gen->outcome = "stalled";
        gen->due_ns = UINT64_MAX;
    } else {
        if (gen->stream)
            mock_stream_error(c);
        else
            mock_reply_error(c, 500, NULL, "error injected by the mock server");
        finish(c, "error");
        release(c);
    }
    return false;
}

static void count_event(struct mock_thread *t, uint64_t tokens)
{
    mock_loop_count(t, MOCK_COUNT_GENERATION_TOKENS, tokens);
    mock_loop_count(t, MOCK_COUNT_DRAFTS, 1);
    mock_loop_count(t, MOCK_COUNT_ACCEPTED, tokens - 1);
    for (uint64_t i = 0; i + 1 < tokens && i < MOCK_POSITIONS; i++) {
        uint64_t old = atomic_load_explicit(&t->accepted_at[i], memory_order_relaxed);
        atomic_store_explicit(&t->accepted_at[i], old + 1, memory_order_relaxed);
    }
}

static void make_event(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    struct mock_server *server = c->thread->server;
    const struct mock_options *o = server->options;
    uint64_t left = gen->tokens - gen->tokens_done;
    uint64_t n = left < o->tokens_per_event ? left : o->tokens_per_event;
    bool last = n == left;
    if (gen->record != NULL)
        mock_truth_due(gen->record, gen->due_ns);
    if (gen->stream)
        mock_stream_event(c, n, last);
    else
        mock_stream_collect(c, n);
    gen->tokens_done += n;
    gen->events_done++;
    gen->batched++;
    if (!mock_api_pools(gen->api))
        count_event(c->thread, n);
    if (!last) {
        gen->due_ns +=
            mock_plan_gap_ns(&gen->plan, &server->model,
                             atomic_load_explicit(&server->gate.running, memory_order_relaxed));
    } else if (gen->stream) {
        mock_stream_end(c, gen->usage_final);
        finish(c, "complete");
    } else {
        finish_whole(c);
    }
}

void mock_gen_step(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    uint64_t coalesce = options_of(c)->coalesce;
    for (int writes = 0; writes < WRITES_A_STEP && !gen->finishing;) {
        if (mock_conn_pending(c) > 0 || gen->due_ns > clock_mono_ns())
            return;
        if (gen->plan.fault != MOCK_FAULT_NONE && gen->events_done == gen->plan.after &&
            !run_fault(c))
            return;
        make_event(c);
        if (gen->finishing || (gen->stream && gen->batched >= coalesce)) {
            release(c);
            writes++;
        }
        if (c->dead)
            return;
    }
}

static enum mock_counter counter_of(const struct mock_gen *gen)
{
    if (strcmp(gen->outcome, "complete") == 0)
        return strcmp(gen->finish_reason, "stop") == 0 ? MOCK_COUNT_STOP : MOCK_COUNT_LENGTH;
    return strcmp(gen->outcome, "error") == 0 ? MOCK_COUNT_ERROR : MOCK_COUNT_ABORT;
}

void mock_gen_end(struct mock_conn *c)
{
    struct mock_gen *gen = &c->gen;
    if (mock_conn_pending(c) > 0 && gen->finishing)
        gen->outcome = "aborted";
    if (gen->record != NULL) {
        mock_truth_lock(&c->thread->truth);
        mock_gen_publish(c);
        mock_truth_unlock(&c->thread->truth);
    }
    mock_loop_count(c->thread, counter_of(gen), 1);
    mock_gate_leave(&c->thread->server->gate, c);
    c->busy = false;
}
