/* ticks.h - where an axis of counts gets its marks, and how they are written.
 * Threads: pure functions.  Errors: none. */
#ifndef VB_REPORT_TICKS_H
#define VB_REPORT_TICKS_H

#include "base/num.h"

/* The distance of marks on an axis of this length: 1, 2 or 5 times a power of ten, whole, at most `most` steps. */
double ticks_step(double length, int most);
/* A whole value: "0", "9500", "12k", "1.5M"; exact for multiples of the step. */
void ticks_text(double value, double step, char out[NUM_TEXT_MAX]);

#endif
