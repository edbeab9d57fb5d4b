/* video.h - frames as an MP4 file, by the program ffmpeg: MPEG-4 part 2 ("mp4v"), 30 frames a second, with the settings
 * of OpenCV's VideoWriter, which Python's tool uses.  The bytes differ from OpenCV's, since the encoders' versions do; the
 * frames given to them do not.
 * Use: video_check once, before work is put into frames; video_encode.
 * Threads: safe, after SIGPIPE is ignored.  Errors: struct error with what ffmpeg said. */
#ifndef VB_DATASETS_FORMAT_VIDEO_H
#define VB_DATASETS_FORMAT_VIDEO_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>

/* Whether ffmpeg can be started. */
bool video_check(struct error *err);

/* bgr: `frames` pictures of height rows of width pixels of three bytes, blue first; the file is appended.  An odd last
 * column or row is cut off; each side has at least two pixels. */
bool video_encode(const uint8_t *bgr, uint32_t width, uint32_t height, uint32_t frames,
                  struct buf *out, struct error *err);

#endif
