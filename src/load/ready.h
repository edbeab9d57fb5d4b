/* ready.h - the phases before the clock starts: the test request that waits for a server, and the warm-ups.
 * Use: ready_check, then ready_warm_up; both send copies of request 0 through the load engine without request ids, and
 * their records are dropped.
 * Threads: as load_run.  Errors: E_NETWORK with the last failure when the server does not become ready; E_INTERRUPTED. */
#ifndef VB_LOAD_READY_H
#define VB_LOAD_READY_H

#include "load/load.h"

/* Sends the test request until it succeeds or timeout_s have passed: after a failure it waits 5 s (or what is left) and
 * tries again (ORCHESTRATION 4).  `tick` (may be NULL) is told once a second how much time is left, and the last error. */
typedef void ready_tick_fn(void *user, uint64_t left_s, const char *last_error);
bool ready_check(const struct load_plan *main_plan, uint64_t timeout_s, ready_tick_fn *tick,
                 void *user, struct error *err);

/* Sends `count` warm-ups, all at once within the concurrency limit: copies of request 0, or the requests of `fresh` in
 * turn.  *failed gets how many failed. */
bool ready_warm_up(const struct load_plan *main_plan, const struct workload *fresh, uint64_t count,
                   uint64_t *failed, struct error *err);

#endif
