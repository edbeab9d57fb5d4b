/* timers.h - due times of one thread: a heap ordered by instant, equal instants in the order they were set.
 * Use: a zeroed struct mock_timers; embed a struct mock_timer in the thing that waits, MOCK_TIMER_IDLE at first;
 * mock_timers_set (moves it when it is set already), mock_timers_clear, mock_timers_due.
 * Threads: one owner.  Errors: none. */
#ifndef VB_MOCK_TIMERS_H
#define VB_MOCK_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_timer {
    uint64_t due_ns;
    uint64_t turn; /* order among equal instants */
    size_t place;  /* index in the heap plus one; 0: not set */
};

struct mock_timers {
    struct mock_timer **heap;
    size_t count;
    size_t cap;
    uint64_t turns;
};

#define MOCK_TIMER_IDLE ((struct mock_timer){0})

void mock_timers_set(struct mock_timers *t, struct mock_timer *timer, uint64_t due_ns);
void mock_timers_clear(struct mock_timers *t, struct mock_timer *timer);
/* Takes the earliest one out when it is due at `now_ns`; NULL when none is. */
struct mock_timer *mock_timers_due(struct mock_timers *t, uint64_t now_ns);
/* UINT64_MAX when nothing is set. */
uint64_t mock_timers_next(const struct mock_timers *t);
void mock_timers_done(struct mock_timers *t);

#endif
