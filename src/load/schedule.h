/* schedule.h - when each request is due: Python's arrival times, bit for bit.
 * Formulas (ORCHESTRATION 7 of the specification): rate_i constant, or ramped with p = i / max(n-1, 1);
 * gap_i = 0 for an infinite rate, 1/rate_i for infinite burstiness, else a gamma draw of shape b and scale
 * 1/(rate_i*b) from numpy's legacy stream; due_i = sum of gaps 0..i.  Without ramp-up all due times are scaled by
 * (n/rate)/due_last.
 * Threads: pure.  Errors: none. */
#ifndef VB_LOAD_SCHEDULE_H
#define VB_LOAD_SCHEDULE_H

#include "base/rng.h"
#include "config/config.h"
#include "datasets/workload.h"

#include <stddef.h>
#include <stdint.h>

/* Due times relative to the start, ns, ascending; count of them in due[].  Draws from `npl` as Python does. */
void schedule_fill(const struct config *config, struct mt19937 *npl, uint64_t *due_ns,
                   size_t count);

/* Due times that the data set brought along: of each request its own, or its predecessor's when that is later, for
 * requests are sent in order.  False when no request has one. */
bool schedule_from_workload(const struct workload *w, uint64_t *due_ns);

/* How many requests --duration takes at the rate or ramp of these settings: what schedule_fill spreads over that time.
 * A ramp is one of requests, so rate * time does not do: n requests of a linear ramp from s to e take
 * n ln(e/s) / (e - s) on average, those of an exponential one n (1/s - 1/e) / ln(e/s). */
size_t schedule_count(const struct config *config, uint64_t duration_ns);

/* The rate that request i of count is drawn with. */
double schedule_rate(const struct config *config, size_t i, size_t count);

#endif
