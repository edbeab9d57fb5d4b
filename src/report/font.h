/* font.h - an alphabet of lines: letters, digits and signs of ASCII as short strokes on a grid.
 * Units: capitals are 10 high, small letters 7, and letters reach 4 below the line.
 * Threads: pure functions.  Errors: none. */
#ifndef VB_REPORT_FONT_H
#define VB_REPORT_FONT_H

#include <stdbool.h>
#include <stddef.h>

struct segment {
    double x0, y0, x1, y1; /* y upwards from the line */
};

enum { GLYPH_SEGMENTS = 96, GLYPH_GAP = 2 };

/* Fills the strokes of one letter, GLYPH_SEGMENTS at most; returns their number and the letter's width. */
size_t font_glyph(char letter, struct segment *segments, double *width);

#endif
