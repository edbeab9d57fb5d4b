/* image.h - pictures of any kind that is read here, as Python's Pillow and vLLM make them ready to be sent: turned upright
 * by their EXIF orientation, transparency laid on white, RGB.
 * Read: PNG, JPEG, WebP (of a moving one the first picture).
 * Use: image_decode, or image_add_jpeg_url.  Threads: safe.  Errors: struct error with the reason. */
#ifndef VB_DATASETS_FORMAT_IMAGE_H
#define VB_DATASETS_FORMAT_IMAGE_H

#include "datasets/format/png.h"

/* Does it begin as a picture, of a kind that is read here or not? */
bool image_is_known(struct sv bytes);

/* *comment (may be NULL) gets a JPEG file's comment, which Pillow keeps when it writes the picture again. */
bool image_decode(struct sv bytes, struct pixels *out, struct buf *comment, struct error *err);

/* Appends "data:image/jpeg;base64,..." of the picture, compressed again with Pillow's defaults. */
bool image_add_jpeg_url(struct sv bytes, struct buf *out, struct error *err);

#endif
