/* png.h - reads PNG images into pixels, and writes pixels with the bytes that Python's Pillow writes.
 * Read: all colour types and depths, no interlacing; transparency is dropped, as converting to RGB does in Python.
 * Written: 8-bit RGB, a filter chosen for each row by Pillow's rule, zlib's default level.
 * Use: png_decode, png_encode.  Threads: pure.  Errors: struct error with the reason; sizes are limited. */
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
bool png_encode(const struct pixels *in, struct buf *out, struct error *err);

#endif
