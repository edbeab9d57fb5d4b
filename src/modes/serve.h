/* serve.h - one benchmark run: discovery, readiness, workload, load, metrics, outputs.
 * Threads: call from the main thread; it starts the workers.  Errors: struct error; an interrupted run is
 * E_INTERRUPTED after its results were saved. */
#ifndef VB_MODES_SERVE_H
#define VB_MODES_SERVE_H

#include "config/config.h"

bool serve_run(struct config *config, struct error *err);

#endif
