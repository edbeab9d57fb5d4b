/* run_report.h - everything the outputs need to show one finished run; borrowed, filled by the mode.
 * Threads: read-only.  Errors: none. */
#ifndef VB_OUTPUT_RUN_REPORT_H
#define VB_OUTPUT_RUN_REPORT_H

#include "config/config.h"
#include "metrics/client.h"
#include "metrics/probe_stats.h"
#include "metrics/record.h"
#include "metrics/server_stats.h"
#include "metrics/summary.h"

#include <time.h>

struct rps_change {
    int64_t rps;
    uint64_t real_ns; /* wall clock */
};

struct run_report {
    const struct config *config;
    const char *model_id;     /* --model, or the root that the server named */
    const char *tokenizer_id; /* NULL: none */
    bool has_tokenizer;       /* a tokenizer was loaded (Python prints token figures only then) */
    bool pooling;             /* embeddings, scores: summary_options.pooling was set */
    time_t date;              /* end of the run, shown as local time */
    const struct record *records; /* data set order */
    size_t count;
    uint64_t start_ns; /* benchmark start, monotonic */
    const struct summary *summary;
    const struct client_stats *client;
    const struct server_stats *server; /* the server's own counters; NULL: not read */
    const struct probe_stats *probe;   /* NULL: no probes were asked for */
    bool interrupted;
    const struct rps_change *rps_changes; /* with ramp-up */
    size_t rps_change_count;
};

#endif
