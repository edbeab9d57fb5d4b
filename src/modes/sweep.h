/* sweep.h - one run for each value of --sweep-max-concurrency or --sweep-request-rate, and a table of all.
 * Threads: main thread only.  Errors: struct error; what was measured is saved and shown first. */
#ifndef VB_MODES_SWEEP_H
#define VB_MODES_SWEEP_H

#include "modes/points.h"
#include "output/sweep.h"

/* `measure`: NULL for single runs. */
bool sweep_run(struct session *session, enum sweep_kind kind, points_measure_fn *measure,
               struct error *err);

#endif
