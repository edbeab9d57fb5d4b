/* See multi_turn.h.  The pause is the same for all, so the queue's times never go back and a ring is enough. */
#include "load/multi_turn.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "json/writer.h"

/* The list of messages of the next request; the closing bracket is taken off again when the answer is added. */
static void add_user(struct driver *d, size_t conversation, const struct turn *turn)
{
    struct buf *m = &d->states[conversation].messages;
    if (d->data->no_history)
        buf_reset(m);
    buf_add_str(m, m->len == 0 ? "[" : ",");
    buf_add_str(m, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":");
    buf_add(m, turn->text);
    buf_add_str(m, "}]}]");
}

static void add_answer(struct driver *d, size_t conversation, struct sv text)
{
    struct buf *m = &d->states[conversation].messages;
    m->len--;
    buf_add_str(m, ",{\"role\":\"assistant\",\"content\":\"");
    js_escape(m, text);
    buf_add_str(m, "\"}");
}

/* Makes the request of the conversation's next turn. */
static size_t prepare(struct driver *d, size_t conversation)
{
    struct driver_state *state = &d->states[conversation];
    const struct turn *turn =
        &d->data->turns[d->data->conversations[conversation].first + state->next];
    size_t item = d->first_item[conversation] + state->next;
    struct request *r = &d->workload->requests[item];
    add_user(d, conversation, turn);
    r->prompt = (struct prompt){.kind = PROMPT_MESSAGES,
                                .json = buf_sv(&state->messages),
                                .json_bytes = (uint32_t)state->messages.len};
    r->prompt_len =
        (uint32_t)(d->data->no_history ? turn->user_len : state->running + turn->user_len);
    return item;
}

static void push(struct driver *d, size_t conversation, uint64_t when_ns)
{
    size_t at = (d->queue_first + d->queue_count++) % d->data->count;
    d->queue[at] = (struct driver_entry){conversation, when_ns};
}

static void begin(void *user, uint64_t start_ns)
{
    struct driver *d = user;
    d->start_ns = start_ns;
    buf_reset(&d->states[0].messages); /* the ready check has used it */
    for (size_t i = 0; i < d->data->count; i++)
        push(d, i, start_ns);
}

static enum load_feed_state next(void *user, uint64_t now_ns, size_t *item, uint64_t *when_ns)
{
    struct driver *d = user;
    if (d->queue_count == 0) {
        *when_ns = UINT64_MAX;
        return d->in_flight > 0 ? LOAD_FEED_WAIT : LOAD_FEED_END;
    }
    struct driver_entry entry = d->queue[d->queue_first];
    *when_ns = entry.when_ns;
    if (entry.when_ns > now_ns)
        return LOAD_FEED_WAIT;
    d->queue_first = (d->queue_first + 1) % d->data->count;
    d->queue_count--;
    d->in_flight++;
    d->states[entry.conversation].attempted++;
    *item = prepare(d, entry.conversation);
    d->due_ns[*item] = entry.when_ns - d->start_ns;
    return LOAD_FEED_ITEM;
}

static void ended(void *user, size_t item, const struct record *record)
{
    struct driver *d = user;
    size_t conversation = d->owner[item];
    struct driver_state *state = &d->states[conversation];
    d->in_flight--;
    state->end_ns = record->end_ns;
    if (!record_ok(record)) {
        state->failed = true;
        return;
    }
    const struct conversation *c = &d->data->conversations[conversation];
    int64_t usage = record->usage_completion_tokens;
    state->running += d->data->turns[c->first + state->next].user_len;
    state->running += usage > 0 ? (uint64_t)usage : record->events;
    add_answer(d, conversation, record->text);
    if (++state->next < c->count)
        push(d, conversation, record->end_ns + d->delay_ns);
    else
        state->finished = true;
}

static size_t head(void *user, size_t item, char *out, size_t cap)
{
    struct driver *d = user;
    size_t conversation = d->owner[item];
    int n = snprintf(out, cap, "x-request-id: %sconv-%zu-turn%zu\r\nX-Session-ID: %sconv-%zu\r\n",
                     d->id_prefix, conversation, item - d->first_item[conversation], d->id_prefix,
                     conversation);
    return n > 0 && (size_t)n < cap ? (size_t)n : 0;
}

static void make_items(struct driver *d, bool min_tokens)
{
    const struct multi_turn_data *data = d->data;
    size_t item = 0;
    for (size_t i = 0; i < data->count; i++) {
        d->first_item[i] = item;
        for (size_t k = 0; k < data->conversations[i].count; k++, item++) {
            const struct turn *turn = &data->turns[data->conversations[i].first + k];
            struct request *r = &d->workload->requests[item];
            *r = (struct request){.prompt = {.kind = PROMPT_MESSAGES, .json = SV_LIT("[]")},
                                  .output_len = turn->output_len,
                                  .due_offset_ns = UINT64_MAX};
            if (min_tokens)
                r->extra = arena_fmt(&d->workload->arena, "\"min_tokens\":%u", turn->output_len);
            d->owner[item] = i;
        }
    }
}

void driver_init(struct driver *d, const struct multi_turn_data *data, struct workload *workload,
                 const char *id_prefix, uint64_t delay_ns, bool min_tokens)
{
    size_t items = 0;
    for (size_t i = 0; i < data->count; i++)
        items += data->conversations[i].count;
    *d = (struct driver){
        .data = data, .workload = workload, .id_prefix = id_prefix, .delay_ns = delay_ns};
    d->feed = (struct load_feed){d, begin, next, ended, head};
    d->workload->count = items;
    d->workload->requests = arena_array(&d->workload->arena, items, sizeof(struct request));
    d->first_item = mem_array(data->count, sizeof(*d->first_item));
    d->owner = mem_array(items, sizeof(*d->owner));
    d->due_ns = mem_array(items, sizeof(*d->due_ns));
    d->states = mem_array(data->count, sizeof(*d->states));
    d->queue = mem_array(data->count, sizeof(*d->queue));
    make_items(d, min_tokens);
    prepare(d, 0);
}

void driver_done(struct driver *d)
{
    for (size_t i = 0; d->data != NULL && i < d->data->count; i++)
        buf_done(&d->states[i].messages);
    free(d->first_item);
    free(d->owner);
    free(d->states);
    free(d->queue);
    *d = (struct driver){0};
}
