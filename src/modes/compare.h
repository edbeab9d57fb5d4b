/* compare.h - --compare: result files side by side, each with the first; nothing is measured.
 * Threads: main thread only.  Errors: E_GATE when a figure is worse than --compare-threshold lets; E_IO, E_PARSE. */
#ifndef VB_MODES_COMPARE_H
#define VB_MODES_COMPARE_H

#include "config/config.h"

bool compare_run(const struct config *config, struct error *err);

#endif
