/* fingerprint.h - sixteen hexadecimal digits that are the same for settings that measure the same thing: by them a sweep
 * that is resumed knows the points that it has.
 * In it: everything that shapes requests, load and figures, of headers the names only.  Not in it: where results go, what
 * is printed, gates, the other points.
 * Threads: pure.  Errors: none. */
#ifndef VB_CONFIG_FINGERPRINT_H
#define VB_CONFIG_FINGERPRINT_H

#include "config/config.h"

enum { FINGERPRINT_LEN = 16 };

void config_fingerprint(const struct config *config, char out[FINGERPRINT_LEN + 1]);

#endif
