/* jpeg.h - pixels as a JPEG file, with the bytes that Python's Pillow writes: baseline, quality 75, 4:2:0, JFIF 1.01.
 * Use: jpeg_encode or jpeg_encode_comment, jpeg_decode or jpeg_decode_comment.
 * Threads: safe.  Errors: struct error from the library. */
#ifndef VB_DATASETS_FORMAT_JPEG_H
#define VB_DATASETS_FORMAT_JPEG_H

#include "base/buf.h"
#include "base/error.h"

#include "datasets/format/png.h"

#include <stdint.h>

enum { JPEG_MAX_SIDE = 65500 };

/* rgb: height rows of width pixels of three bytes; the file is appended. */
bool jpeg_encode(const uint8_t *rgb, uint32_t width, uint32_t height, struct buf *out,
                 struct error *err);
/* The same with a comment in the file, unless it is empty. */
bool jpeg_encode_comment(const struct pixels *pixels, struct sv comment, struct buf *out,
                         struct error *err);
bool jpeg_decode(struct sv bytes, struct pixels *out, struct error *err);
/* The same; *comment (may be NULL) becomes the file's last comment. */
bool jpeg_decode_comment(struct sv bytes, struct pixels *out, struct buf *comment,
                         struct error *err);

#endif
