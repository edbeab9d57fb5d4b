/* gates.h - conditions on a result that a CI job sets: --max-failures and --fail-if.
 * Use: gates_check with the result object of each run.
 * Threads: pure.  Errors: E_GATE, naming every gate that is not met. */
#ifndef VB_MODES_GATES_H
#define VB_MODES_GATES_H

#include "config/config.h"
#include "json/tree.h"

/* `where` names the run in the message ("concurrency=4"); NULL: the only one. */
bool gates_check(const struct config *config, const struct js_value *result, const char *where,
                 struct error *err);

#endif
