/* doctor.h - the command `doctor`: checks way, server and machine before anything is measured, and says what to mend.
 * Use: doctor_run with a checked config.  Findings go to stdout as they are made; nothing is changed anywhere, and one
 * short request is sent.
 * Threads: main thread only.  Errors: none; *failures counts checks that failed. */
#ifndef VB_MODES_DOCTOR_H
#define VB_MODES_DOCTOR_H

#include "config/config.h"

void doctor_run(struct config *config, unsigned *failures);

#endif
