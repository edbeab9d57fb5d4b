/* png.h - reads PNG images into pixels, and writes pixels with the bytes that Python's Pillow writes.
 * Read: all colour types and depths, interlaced or not; what is transparent is laid on white, as vLLM does it.
 * Written: 8-bit RGB, a filter chosen for each row by Pillow's rule, zlib's default level.
 * Use: png_decode, png_encode; pixels_on_white for other kinds.
 * Threads: pure.  Errors: struct error with the reason; sizes are limited. */
#ifndef VB_DATASETS_FORMAT_PNG_H
#define VB_DATASETS_FORMAT_PNG_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

struct pixels {
    uint8_t *rgb; /* height rows of width pixels of 3 bytes; free() */
    uint32_t width;
    uint32_t height;
};

bool png_decode(struct sv bytes, struct pixels *out, struct error *err);
/* One pixel of opacity 0 to 255 laid on white, with Pillow's rounding. */
void pixels_on_white(const uint8_t *rgb, unsigned opacity, uint8_t *out);
bool png_encode(const struct pixels *in, struct buf *out, struct error *err);

#endif
