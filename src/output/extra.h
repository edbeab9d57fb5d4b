/* extra.h - the parts of a result object that not every run has: probes, the server's own counters, figures by tokens.
 * Each writes nothing when there is nothing to say.
 * Threads: read-only on the report.  Errors: none. */
#ifndef VB_OUTPUT_EXTRA_H
#define VB_OUTPUT_EXTRA_H

#include "output/fields.h"
#include "output/run_report.h"

/* probe_completed ... probe_max_e2el_ms. */
void extra_probe(struct fields *f, const struct run_report *report);
/* spec_decode_... and diffusion_... */
void extra_server(struct fields *f, const struct run_report *report);
/* Our own: total_cached_tokens, cached_token_share, per_token, reasoning. */
void extra_tokens(struct fields *f, const struct run_report *report);

#endif
