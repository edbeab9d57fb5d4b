/* fit.h - does a workload go with a backend?  What a backend would silently leave out, or cannot send, is said before
 * anything is sent.
 * Use: load_fits once the body template is there.  Threads: pure.  Errors: E_CONFIG. */
#ifndef VB_LOAD_FIT_H
#define VB_LOAD_FIT_H

#include "backends/backend.h"
#include "datasets/workload.h"

/* *warning is a sentence for the user, or NULL. */
bool load_fits(const struct backend *backend, const struct body_template *body,
               const struct workload *workload, const char **warning, struct error *err);

#endif
