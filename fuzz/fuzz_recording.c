/* Recordings: any bytes give a WAV file or a message. */
#include "datasets/audio.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__lsan_default_suppressions(void);

/* libsndfile 1.2.0 forgets to free what it made for an Ogg file whose beginning is damaged. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libvorbis\nleak:libsndfile\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out = {0};
    struct error err = {0};
    double seconds = 0.0;
    struct sv bytes = sv_make((const char *)data, size);
    audio_measure(bytes, &seconds, &err);
    audio_to_wav(bytes, (size & 1) != 0, &out, &seconds, &err);
    buf_done(&out);
    return 0;
}
