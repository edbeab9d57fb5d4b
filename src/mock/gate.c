/* The batch limit.  A connection that leaves hands its place to the first that waits, whichever thread that one is on;
 * one that is gone before its thread has seen the admission gives the place on. */
#include "mock/server_priv.h"

void mock_gate_init(struct mock_gate *gate, uint64_t limit)
{
    *gate = (struct mock_gate){.mutex = PTHREAD_MUTEX_INITIALIZER, .limit = limit};
}

void mock_gate_done(struct mock_gate *gate)
{
    pthread_mutex_destroy(&gate->mutex);
}

static void list_add(struct mock_list *list, struct mock_conn *c)
{
    c->gate_next = NULL;
    c->gate_prev = list->last;
    if (list->last != NULL)
        list->last->gate_next = c;
    else
        list->first = c;
    list->last = c;
}

static void list_remove(struct mock_list *list, struct mock_conn *c)
{
    if (c->gate_prev != NULL)
        c->gate_prev->gate_next = c->gate_next;
    else
        list->first = c->gate_next;
    if (c->gate_next != NULL)
        c->gate_next->gate_prev = c->gate_prev;
    else
        list->last = c->gate_prev;
    c->gate_prev = c->gate_next = NULL;
}

bool mock_gate_enter(struct mock_gate *gate, struct mock_conn *c)
{
    bool runs = true;
    if (gate->limit == 0) {
        atomic_fetch_add_explicit(&gate->running, 1, memory_order_relaxed);
        c->gate_state = MOCK_GATE_RUNNING;
        return true;
    }
    pthread_mutex_lock(&gate->mutex);
    runs = atomic_load_explicit(&gate->running, memory_order_relaxed) < gate->limit;
    if (runs) {
        atomic_fetch_add_explicit(&gate->running, 1, memory_order_relaxed);
        c->gate_state = MOCK_GATE_RUNNING;
    } else {
        atomic_fetch_add_explicit(&gate->waiting, 1, memory_order_relaxed);
        c->gate_state = MOCK_GATE_WAITING;
        list_add(&gate->queue, c);
    }
    pthread_mutex_unlock(&gate->mutex);
    return runs;
}

/* A place is free: the first that waits gets it, else the number of running ones goes down. */
static void pass_on(struct mock_gate *gate)
{
    struct mock_conn *next = gate->queue.first;
    if (next == NULL) {
        atomic_fetch_sub_explicit(&gate->running, 1, memory_order_relaxed);
        return;
    }
    list_remove(&gate->queue, next);
    atomic_fetch_sub_explicit(&gate->waiting, 1, memory_order_relaxed);
    next->gate_state = MOCK_GATE_ADMITTED;
    list_add(&next->thread->admitted, next);
    atomic_store_explicit(&next->thread->has_admitted, true, memory_order_release);
    poller_wake(&next->thread->poller);
}

void mock_gate_leave(struct mock_gate *gate, struct mock_conn *c)
{
    if (gate->limit == 0) {
        if (c->gate_state == MOCK_GATE_RUNNING)
            atomic_fetch_sub_explicit(&gate->running, 1, memory_order_relaxed);
        c->gate_state = MOCK_GATE_OUTSIDE;
        return;
    }
    pthread_mutex_lock(&gate->mutex);
    if (c->gate_state == MOCK_GATE_WAITING) {
        list_remove(&gate->queue, c);
        atomic_fetch_sub_explicit(&gate->waiting, 1, memory_order_relaxed);
    } else if (c->gate_state != MOCK_GATE_OUTSIDE) {
        if (c->gate_state == MOCK_GATE_ADMITTED)
            list_remove(&c->thread->admitted, c);
        pass_on(gate);
    }
    c->gate_state = MOCK_GATE_OUTSIDE;
    pthread_mutex_unlock(&gate->mutex);
}

struct mock_conn *mock_gate_take(struct mock_gate *gate, struct mock_thread *t)
{
    pthread_mutex_lock(&gate->mutex);
    struct mock_conn *c = t->admitted.first;
    if (c != NULL) {
        list_remove(&t->admitted, c);
        c->gate_state = MOCK_GATE_RUNNING;
    } else {
        atomic_store_explicit(&t->has_admitted, false, memory_order_relaxed);
    }
    pthread_mutex_unlock(&gate->mutex);
    return c;
}
