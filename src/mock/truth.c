/* Records are heap objects in a list; they are written out only on demand.  */
#include "mock/truth.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "json/writer.h"

enum { EVENTS_AT_ONCE = 4096 };

void mock_truth_log_init(struct mock_truth_log *log)
{
    *log = (struct mock_truth_log){.mutex = PTHREAD_MUTEX_INITIALIZER};
}

void mock_truth_log_done(struct mock_truth_log *log)
{
    mock_truth_clear(log);
    pthread_mutex_destroy(&log->mutex);
}

struct mock_truth_record *mock_truth_begin(uint64_t events)
{
    struct mock_truth_record *r = mem_new(struct mock_truth_record);
    r->cap = events < EVENTS_AT_ONCE ? (size_t)events : EVENTS_AT_ONCE;
    r->events = r->cap > 0 ? mem_array(r->cap, sizeof(*r->events)) : NULL;
    return r;
}

void mock_truth_due(struct mock_truth_record *r, uint64_t due_ns)
{
    MEM_GROW(r->events, r->count, r->cap);
    r->events[r->count++] = (struct mock_truth_event){.due_ns = due_ns};
}

void mock_truth_sent(struct mock_truth_record *r, size_t from, uint64_t sent_ns)
{
    for (size_t i = from; i < r->count; i++)
        r->events[i].sent_ns = sent_ns;
}

void mock_truth_lock(struct mock_truth_log *log)
{
    pthread_mutex_lock(&log->mutex);
}

void mock_truth_unlock(struct mock_truth_log *log)
{
    pthread_mutex_unlock(&log->mutex);
}

void mock_truth_publish(struct mock_truth_log *log, struct mock_truth_record *r)
{
    r->next = NULL;
    if (log->last != NULL)
        log->last->next = r;
    else
        log->first = r;
    log->last = r;
}

static void write_record(struct js_writer *w, const struct mock_truth_record *r)
{
    js_begin_object(w);
    js_key(w, "id");
    js_cstring(w, r->id);
    js_key(w, "index");
    js_uint(w, r->index);
    js_key(w, "endpoint");
    js_cstring(w, r->endpoint);
    js_key(w, "stream");
    js_bool(w, r->stream);
    js_key(w, "status");
    js_int(w, r->status);
    js_key(w, "outcome");
    js_cstring(w, r->outcome);
    js_key(w, "connection");
    js_uint(w, r->connection);
    js_key(w, "prompt_tokens");
    js_uint(w, r->prompt_tokens);
    js_key(w, "tokens");
    js_uint(w, r->tokens);
    js_key(w, "arrival_ns");
    js_uint(w, r->arrival_ns);
    js_key(w, "arrival_source");
    js_cstring(w, r->kernel_stamp ? "kernel" : "user");
    js_key(w, "start_ns");
    js_uint(w, r->start_ns);
    js_key(w, "end_ns");
    js_uint(w, r->end_ns);
    js_key(w, "realtime_offset_ns");
    js_int(w, r->real_minus_mono_ns);
    js_key(w, "blocked_writes");
    js_uint(w, r->blocked);
    js_key(w, "due_ns");
    js_begin_array(w);
    for (size_t i = 0; i < r->count; i++)
        js_uint(w, r->events[i].due_ns);
    js_end_array(w);
    js_key(w, "sent_ns");
    js_begin_array(w);
    for (size_t i = 0; i < r->count; i++)
        js_uint(w, r->events[i].sent_ns);
    js_end_array(w);
    js_end_object(w);
}

void mock_truth_write(struct mock_truth_log *log, struct buf *out)
{
    mock_truth_lock(log);
    for (const struct mock_truth_record *r = log->first; r != NULL; r = r->next) {
        struct js_writer w;
        js_writer_init(&w, out);
        write_record(&w, r);
        buf_add_char(out, '\n');
    }
    mock_truth_unlock(log);
}

void mock_truth_clear(struct mock_truth_log *log)
{
    mock_truth_lock(log);
    struct mock_truth_record *r = log->first;
    log->first = log->last = NULL;
    mock_truth_unlock(log);
    while (r != NULL) {
        struct mock_truth_record *next = r->next;
        free(r->events);
        free(r);
        r = next;
    }
}
