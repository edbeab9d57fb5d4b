/* multi_turn.h - --multi-turn: conversations, and a sweep over how many of their requests are in flight.
 * Threads: main thread only.  Errors: struct error. */
#ifndef VB_MODES_MULTI_TURN_H
#define VB_MODES_MULTI_TURN_H

#include "modes/session.h"

bool multi_turn_run(struct session *session, struct error *err);

#endif
