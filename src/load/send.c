/* Puts a request on the wire: one writev of parts that were serialised before the clock started.  Only the item's id,
 * the Content-Length and, for prompts of token ids, the digits are written here.
 *
 * A write that fails does not end the request: the server may have answered (413, 401) before it stopped reading.  The
 * read side finds that answer, or the end of the stream, and judges. */
#include "load/conn_priv.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/num.h"

enum { MAX_PARTS = BODY_MAX_VIEWS + 2, HEAD_MAX = 1024 };

struct parts {
    struct iovec at[MAX_PARTS];
    int count;
};

static void add(struct parts *p, struct sv text)
{
    if (text.len == 0)
        return;
    p->at[p->count].iov_base = (void *)(uintptr_t)text.ptr;
    p->at[p->count].iov_len = text.len;
    p->count++;
}

static struct sv prompt_text(struct worker *w, const struct request *request)
{
    if (request->prompt.kind == PROMPT_JSON || request->prompt.kind == PROMPT_MESSAGES)
        return request->prompt.json;
    buf_reset(&w->scratch);
    workload_prompt_write(w->plan->workload, &request->prompt, &w->scratch);
    return buf_sv(&w->scratch);
}

/* The variable part of the head: the item's number behind the id's prefix, the length, the end of the head. */
static size_t write_head(const struct worker *w, const struct conn *c, size_t length, char *out,
                         size_t cap)
{
    int n;
    size_t used = 0;
    if (w->plan->feed != NULL)
        used = w->plan->feed->head(w->plan->feed->user, c->item, out, cap);
    if (w->plan->id_prefix != NULL)
        n = snprintf(out, cap, "%zu\r\nContent-Length: %zu\r\n\r\n", c->item, length);
    else
        n = snprintf(out + used, cap - used, "Content-Length: %zu\r\n\r\n", length);
    size_t all = used + (size_t)n;
    return all < cap ? all : cap - 1;
}

static void write_parts(struct worker *w, struct conn *c, const struct parts *p)
{
    struct record *r = c->record;
    uint64_t now = clock_mono_ns();
    if (c->pooled && !r->reconnected) {
        r->start_ns = now;
        conn_note_start(w, c);
    }
    c->state = CONN_BUSY;
    bool sound = stream_write(&c->stream, p->at, p->count);
    conn_want_write(w, c, sound && stream_wants_write(&c->stream));
}

/* A workload that is begun again gives the same request the same adapter. */
static size_t lora_item(const struct load_plan *plan, size_t item)
{
    return plan->send_for_ns > 0 ? item % plan->workload->count : item;
}

static struct body_values values_of(struct worker *w, const struct conn *c,
                                    const struct request *request, struct sv output_len)
{
    const struct load_plan *plan = w->plan;
    struct body_values values = {
        .model = plan->lora_of != NULL ? plan->lora[plan->lora_of[lora_item(plan, c->item)]]
                                       : plan->model,
        .prompt = prompt_text(w, request),
        .is_messages = request->prompt.kind == PROMPT_MESSAGES,
        .first_len = request->prompt.first_bytes,
        .output_len = output_len,
        .media = request->media,
        .extra = request->extra,
        .has_index = plan->id_prefix != NULL,
        .index = c->item,
    };
    if (request->file != NULL) {
        values.file = request->file->bytes;
        values.file_name = request->file->name;
    }
    return values;
}

void conn_send(struct worker *w, struct conn *c)
{
    const struct load_plan *plan = w->plan;
    size_t index = load_request_index(plan, c->item);
    const struct request *request = &plan->workload->requests[index];
    char digits[NUM_TEXT_MAX];
    char head[HEAD_MAX];
    struct sv views[BODY_MAX_VIEWS];
    struct parts p = {0};
    size_t digits_len = num_format_u64(digits, request->output_len);
    struct body_values values = values_of(w, c, request, sv_make(digits, digits_len));
    size_t count = body_expand(plan->body, &values, views);
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += views[i].len;
    add(&p, buf_sv(&w->shared->head));
    add(&p, sv_make(head, write_head(w, c, total, head, sizeof(head))));
    for (size_t i = 0; i < count; i++)
        add(&p, views[i]);
    write_parts(w, c, &p);
}

void conn_flush(struct worker *w, struct conn *c)
{
    bool sound = stream_flush(&c->stream);
    conn_want_write(w, c, sound && stream_wants_write(&c->stream));
}
