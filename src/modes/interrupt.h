/* interrupt.h - Ctrl-C between the runs of a mode: the first one is noted, so that what was measured is saved and nothing
 * new is started; a second one ends the program.  During a load the load engine takes the signals over.
 * Use: interrupt_watch; interrupt_seen between steps; interrupt_end.
 * Threads: main thread only.  Errors: none. */
#ifndef VB_MODES_INTERRUPT_H
#define VB_MODES_INTERRUPT_H

#include <stdbool.h>

void interrupt_watch(void);
bool interrupt_seen(void);
void interrupt_end(void);

#endif
