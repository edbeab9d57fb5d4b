/* trace_time.h - times of day as traces write them: "2023-11-16 18:17:03.9799600", with any number of decimals.
 * Use: trace_time_parse.  Threads: pure.  Errors: false. */
#ifndef VB_DATASETS_TRACE_TIME_H
#define VB_DATASETS_TRACE_TIME_H

#include "base/sv.h"

#include <stdint.h>

/* ns since 1970, without zones; digits past the ninth are dropped; 'T' for the blank and a final 'Z' are accepted. */
bool trace_time_parse(struct sv text, int64_t *ns);

#endif
