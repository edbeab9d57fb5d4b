/* audio.h - WAV files: how long a recording is, and samples made into one.
 * Use: audio_length, audio_from_samples.  Threads: pure.  Errors: false. */
#ifndef VB_DATASETS_AUDIO_H
#define VB_DATASETS_AUDIO_H

#include "base/buf.h"
#include "json/tree.h"

#include <stdint.h>

/* Seconds of a WAV file; false (and 0) when the bytes are none. */
bool audio_length(struct sv bytes, double *seconds);
/* Samples from -1 to 1 as a WAV file of 16 bits, one channel. */
bool audio_from_samples(const struct js_value *samples, uint32_t rate, struct buf *out);

#endif
