/* server_stats.h - what the server's own counters say of a run: speculative and diffusion decoding.
 * Use: fill a struct server_counters before and one after the run (load/scrape.h reads them), then server_stats_make.
 * The counters count for the whole server: what other clients did meanwhile is in them.
 * Threads: pure functions.  Errors: none; counters that were not found or did not move give no figures. */
#ifndef VB_METRICS_SERVER_STATS_H
#define VB_METRICS_SERVER_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Draft positions that are kept; what lies beyond is not looked at. */
enum { SERVER_POSITIONS_MAX = 64 };

struct server_position {
    int64_t position; /* in the draft, from 0 */
    int64_t accepted;
};

/* One reading, summed over engines. */
struct server_counters {
    bool has_speculation; /* any counter of that kind was there */
    int64_t drafts;
    int64_t draft_tokens;
    int64_t accepted_tokens;
    struct server_position positions[SERVER_POSITIONS_MAX];
    size_t position_count;
    bool has_diffusion;
    int64_t denoising_steps;
    int64_t canvas_positions;
    int64_t committed_tokens;
};

/* METRICS 6 and 7: differences of two readings and what follows from them. */
struct server_stats {
    bool has_speculation;
    double acceptance_rate; /* percent of the draft tokens */
    double
        acceptance_length; /* tokens a draft yields, the verified one included; 0 without drafts */
    uint64_t drafts;
    uint64_t draft_tokens;
    uint64_t accepted_tokens;
    double position_rates[2 * SERVER_POSITIONS_MAX]; /* 0 to 1, by ascending position */
    int64_t positions[2 * SERVER_POSITIONS_MAX];
    size_t position_count;
    bool has_diffusion;
    double committed_throughput; /* tokens per second of the run */
    double steps_per_canvas;
    double committed_per_step;
    uint64_t committed_tokens;
    uint64_t denoising_steps; /* without the one of each canvas that only commits it */
    uint64_t canvas_positions;
};

void server_stats_make(const struct server_counters *before, const struct server_counters *after,
                       double duration_s, struct server_stats *stats);

#endif
