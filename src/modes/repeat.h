/* repeat.h - --num-runs: the same run several times, and how much its figures vary.
 * Threads: main thread only.  Errors: struct error; what was measured is saved and shown first. */
#ifndef VB_MODES_REPEAT_H
#define VB_MODES_REPEAT_H

#include "modes/session.h"

bool repeat_run(struct session *session, struct error *err);

#endif
