/* audio.h - recordings: how long one is, and one made into a WAV file as Python's soundfile writes it.
 * Read: what libsndfile reads (WAV, FLAC, Ogg, MP3 ...).  Written: WAV, 16 bits.
 * Use: audio_measure, audio_to_wav, audio_from_samples.  Threads: pure.  Errors: struct error with the library's words. */
#ifndef VB_DATASETS_AUDIO_H
#define VB_DATASETS_AUDIO_H

#include "base/buf.h"
#include "base/error.h"
#include "json/tree.h"

#include <stdint.h>

bool audio_measure(struct sv bytes, double *seconds, struct error *err);
/* Reads the recording as numbers from -1 to 1, of single or double precision, and appends these as a WAV file of the same
 * rate and channels. */
bool audio_to_wav(struct sv bytes, bool single, struct buf *out, double *seconds,
                  struct error *err);
/* Samples from -1 to 1 as a WAV file of 16 bits, one channel; false: not all are numbers. */
bool audio_from_samples(const struct js_value *samples, uint32_t rate, struct buf *out);

#endif
