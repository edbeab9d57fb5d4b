/* notes.h - the lines a run writes beside its result: phases on stderr in Python's words, dry-run figures.
 * Threads: one owner of the stream.  Errors: none; what cannot be written is lost. */
#ifndef VB_OUTPUT_NOTES_H
#define VB_OUTPUT_NOTES_H

#include "config/config.h"
#include "metrics/summary.h"

#include <stdio.h>

/* Phases, in the order of a run. */
#define NOTE_NO_TEMPERATURE                                                                        \
    "WARNING: vllm bench serve no longer sets temperature==0 (greedy) in requests by default. "    \
    "The default will be determined on the server side and can be model/API specific. For the "    \
    "old behavior, include --temperature=0."
#define NOTE_TEST_RUN         "Starting initial single prompt test run..."
#define NOTE_READY_WAIT       "Waiting for endpoint to become up in %llu seconds" /* unsigned long long */
#define NOTE_READY_DONE       "Initial test run completed."
#define NOTE_READY_SKIPPED    "Skipping endpoint ready check."
#define NOTE_WARMUP           "Warming up with %llu requests..." /* unsigned long long */
#define NOTE_WARMUP_DONE      "Warmup run completed."
#define NOTE_MAIN_RUN         "Starting main benchmark run..."
#define NOTE_PROFILER_START   "Starting profiler..."
#define NOTE_PROFILER_STARTED "Profiler started"
#define NOTE_PROFILER_STOP    "Stopping profiler..."
#define NOTE_PROFILER_STOPPED "Profiler stopped"

#define NOTE_PROBES "Probe request rate: %.2f req/s"

/* One line; the newline is added. */
void note(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Traffic request rate or ramp-up, burstiness factor, maximum request concurrency. */
void note_traffic(FILE *file, const struct config *config);

/* A warning when the server had more than 1 % of freshly made random prompts in its cache: they came from an earlier
 * run, and the figures are better than those of new prompts. */
void note_warm_cache(FILE *file, const struct config *config, const struct summary *summary);

struct dry_run_stats {
    uint64_t prompts;
    uint64_t input_tokens;
    uint64_t output_tokens; /* expected */
};

/* The block `Dry run stats:`; belongs on stdout. */
void note_dry_run(FILE *file, const struct dry_run_stats *stats);

#endif
