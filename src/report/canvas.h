/* canvas.h - a picture in memory: rectangles and texts with smooth edges, and the PNG file made of it.
 * Use: canvas_new; canvas_rect, canvas_text ...; canvas_png; canvas_free.  Positions are in pixels from the upper left
 * corner and need not be whole; what lies outside is cut off.  Colours are 0xRRGGBB.
 * Texts are drawn with an alphabet of lines (font.h) of our own: no library and no font file is needed, and the same
 * picture comes out on every machine.
 * Threads: one owner.  Errors: struct error, of the PNG file alone. */
#ifndef VB_REPORT_CANVAS_H
#define VB_REPORT_CANVAS_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct canvas {
    int width, height;
    uint8_t *rgb; /* rows from the top, three bytes a pixel */
};

/* White. */
struct canvas *canvas_new(int width, int height);
void canvas_free(struct canvas *c);

struct box {
    double x0, y0, x1, y1;
};

/* Opacity from 0 to 1. */
void canvas_rect(struct canvas *c, struct box box, uint32_t colour, double opacity);
/* A border of `width` pixels, half of it inside. */
void canvas_frame(struct canvas *c, struct box box, double width, uint32_t colour);

enum text_align { TEXT_LEFT, TEXT_CENTRE, TEXT_RIGHT };

struct text_style {
    double size; /* height of capitals */
    bool bold;
    uint32_t colour;
    enum text_align align;
    bool upright; /* turned a quarter to the left: it is read from below to above */
};

/* The text's line stands on (x, y), or on the right of x when upright; bytes that the alphabet lacks are drawn as a box. */
void canvas_text(struct canvas *c, double x, double y, const struct text_style *style,
                 const char *text);
/* Its length in pixels. */
double canvas_text_width(const struct text_style *style, const char *text);

/* Appends the picture as a PNG file. */
bool canvas_png(const struct canvas *c, struct buf *out, struct error *err);

#endif
