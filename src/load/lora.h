/* lora.h - which adapter each request uses as its model (--lora-modules).
 * Use: lora_assign once, after the data set has been built and before the schedule draws.
 * Threads: called from one thread.  Errors: none. */
#ifndef VB_LOAD_LORA_H
#define VB_LOAD_LORA_H

#include "base/rng.h"
#include "config/config.h"

#include <stdint.h>

/* Index into config->lora_modules for each of `count` requests; the array is the caller's to free.  Random choices are
 * drawn from Python's process-wide stream as Python draws them, one a request. */
uint32_t *lora_assign(const struct config *config, struct mt19937 *py, size_t count);

#endif
