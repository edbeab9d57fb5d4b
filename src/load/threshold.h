/* threshold.h - profiling only while the server is full: --profile-batch-threshold (ORCHESTRATION 11).  Beside the load a
 * thread reads vllm:num_requests_running from the metrics page, at once and then every half second; when it has reached
 * the threshold the profiler is started, and stopped when the duration is over or the load has ended.
 * Use: threshold_start when the clock begins to run; threshold_stop when the load has ended.
 * Threads: one of its own with all signals blocked.  Errors: none; the report says what came of it. */
#ifndef VB_LOAD_THRESHOLD_H
#define VB_LOAD_THRESHOLD_H

#include "load/server.h"

struct threshold;

struct threshold_report {
    bool reached;
    bool started;
    bool cut;           /* the load ended before the duration was over */
    bool failed;        /* a profiler call went wrong */
    struct error error; /* of it */
};

struct threshold *threshold_start(const struct server *server, uint64_t running,
                                  uint64_t duration_ns);
/* Ends and frees; NULL gives an empty report. */
void threshold_stop(struct threshold *t, struct threshold_report *report);

/* The first such line of a metrics page; false without one. */
bool threshold_running(struct sv page, double *running);

#endif
