/* probe.h - probes: small requests one after the other beside the load, to see what one more user would meet
 * (--probe-request-rate).  Each is a run of the load engine of its own, on one connection, outside the limit of the load.
 * Use: probe_new; probe_start when the load's clock begins to run; probe_stop when the load has ended (also without a
 * start).
 * Threads: one probing thread, which keeps all signals blocked; the calls come from one other thread.  Errors: none;
 * failed probes are counted. */
#ifndef VB_LOAD_PROBE_H
#define VB_LOAD_PROBE_H

#include "load/load.h"
#include "metrics/probe_stats.h"

struct probe;

/* The requests go where the load's plan goes, with its body; `rate` is how many follow each other in a second, were the
 * answers there at once: after each the probing thread rests for 1 / rate seconds. */
struct probe *probe_new(const struct load_plan *plan, double rate);
void probe_start(struct probe *p);
/* Ends probing and frees.  A probe that is under way then is given up and not counted. */
void probe_stop(struct probe *p, struct probe_stats *stats);

#endif
