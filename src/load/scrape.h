/* scrape.h - the server's own counters from its metrics page (Prometheus text, as vLLM writes it).
 * Use: scrape_counters before the load and, when that found any, after it; metrics/server_stats.h makes figures of them.
 * Threads: as load/server.h.  Errors: none; a server without such a page has no counters. */
#ifndef VB_LOAD_SCRAPE_H
#define VB_LOAD_SCRAPE_H

#include "load/server.h"
#include "metrics/server_stats.h"

/* The page is a help, not the measurement: a server that does not answer must not hold up the run for longer. */
enum { SCRAPE_TIMEOUT_S = 10 };

/* GET /metrics.  False when there is no page or it has no counter of interest.  `patience` (may be NULL) tells when the
 * page takes long. */
bool scrape_counters(const struct server *s, const struct fetch_patience *patience,
                     struct server_counters *counters);

/* Adds up one page: names that begin with vllm:spec_decode or vllm:diffusion and end in _total, over all label sets;
 * values are cut to whole numbers.  Lines that are anything else are passed over. */
void scrape_parse(struct sv page, struct server_counters *counters);

#endif
