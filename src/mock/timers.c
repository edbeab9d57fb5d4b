/* A binary heap of pointers; every timer knows its place, so moving and removing it costs no search. */
#include "mock/timers.h"

#include <stdlib.h>

#include "base/alloc.h"

static bool earlier(const struct mock_timer *a, const struct mock_timer *b)
{
    return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->turn < b->turn);
}

static void put(struct mock_timers *t, size_t i, struct mock_timer *timer)
{
    t->heap[i] = timer;
    timer->place = i + 1;
}

static void sift_up(struct mock_timers *t, size_t i, struct mock_timer *timer)
{
    while (i > 0 && earlier(timer, t->heap[(i - 1) / 2])) {
        put(t, i, t->heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    put(t, i, timer);
}

static void sift_down(struct mock_timers *t, size_t i, struct mock_timer *timer)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= t->count)
            break;
        if (child + 1 < t->count && earlier(t->heap[child + 1], t->heap[child]))
            child++;
        if (!earlier(t->heap[child], timer))
            break;
        put(t, i, t->heap[child]);
        i = child;
    }
    put(t, i, timer);
}

void mock_timers_clear(struct mock_timers *t, struct mock_timer *timer)
{
    if (timer->place == 0)
        return;
    size_t i = timer->place - 1;
    timer->place = 0;
    struct mock_timer *last = t->heap[--t->count];
    if (last == timer)
        return;
    if (i > 0 && earlier(last, t->heap[(i - 1) / 2]))
        sift_up(t, i, last);
    else
        sift_down(t, i, last);
}

void mock_timers_set(struct mock_timers *t, struct mock_timer *timer, uint64_t due_ns)
{
    mock_timers_clear(t, timer);
    timer->due_ns = due_ns;
    timer->turn = t->turns++;
    MEM_GROW(t->heap, t->count, t->cap);
    sift_up(t, t->count++, timer);
}

struct mock_timer *mock_timers_due(struct mock_timers *t, uint64_t now_ns)
{
    if (t->count == 0 || t->heap[0]->due_ns > now_ns)
        return NULL;
    struct mock_timer *timer = t->heap[0];
    mock_timers_clear(t, timer);
    return timer;
}

uint64_t mock_timers_next(const struct mock_timers *t)
{
    return t->count > 0 ? t->heap[0]->due_ns : UINT64_MAX;
}

void mock_timers_done(struct mock_timers *t)
{
    free(t->heap);
    *t = (struct mock_timers){0};
}
