/* run.h - one measured run: workload, readiness, warm-ups, load, figures.  Modes arrange runs; none repeats this.
 * Use: run_init with the session and the settings of this run; run_build; then either print its dry-run figures or
 * run_measure; run_report hands everything to the outputs; run_done.
 * Threads: main thread only.  Errors: struct error; run_done is needed after a failure too. */
#ifndef VB_MODES_RUN_H
#define VB_MODES_RUN_H

#include "base/rng.h"
#include "load/load.h"
#include "load/probe.h"
#include "load/scrape.h"
#include "metrics/summary.h"
#include "modes/session.h"
#include "output/progress.h"
#include "output/run_report.h"

struct run {
    struct session *session;
    const struct config *config; /* of this run: a mode may vary rate, concurrency, seed ... */
    struct mt19937 py, npl;      /* the process-wide random streams of Python */
    struct workload workload;
    struct body_template body;
    struct sv *lora; /* adapters as the body holds them, and which one each request uses */
    uint32_t *lora_of;
    struct buf headers;
    uint64_t *due_ns;
    const struct load_feed
        *feed;        /* conversations: requests that come to be in the run; NULL none */
    size_t due_count; /* items: the requests of the workload, more or fewer with --duration */
    struct load_plan plan;
    struct load_result load;
    struct threshold *threshold; /* waits to profile; NULL: not asked for */
    struct probe *probe;         /* NULL: none asked for; freed when the load has ended */
    struct probe_stats probe_stats;
    struct server_stats server_stats;
    struct summary summary;
    struct progress progress;
    struct rps_change *rps_changes;
    size_t rps_change_count;
};

void run_init(struct run *r, struct session *session, const struct config *config);
/* The workload. */
bool run_build(struct run *r, struct error *err);
/* Everything from the ready check to the figures.  An interrupted load is no error here: r->load.interrupted. */
bool run_measure(struct run *r, struct error *err);
/* Figures of some records by the settings of this run. */
void run_summarize(const struct run *r, const struct record *records, size_t count,
                   struct summary *summary);
/* Borrows from the run. */
void run_report(const struct run *r, struct run_report *report);
/* Whether the run as such succeeded: E_INTERRUPTED, or E_RESULT when no request completed. */
bool run_judge(const struct run *r, struct error *err);
/* Totals, histograms and sharing of the workload, to stdout. */
void run_print_dry(const struct run *r);
/* To the file of --save-workload, when given. */
bool run_save_workload(const struct run *r, struct error *err);
void run_done(struct run *r);

#endif
