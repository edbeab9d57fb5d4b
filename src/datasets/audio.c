/* See audio.h.  RIFF: chunks of a name, a length and that many bytes, padded to even. */
#include "datasets/audio.h"

#include <math.h>

static uint32_t little(const char *at, unsigned bytes)
{
    uint32_t value = 0;
    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | (unsigned char)at[i];
    return value;
}

static void add_little(struct buf *out, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, value >>= 8)
        buf_add_char(out, (char)(value & 255));
}

bool audio_length(struct sv bytes, double *seconds)
{
    uint32_t byte_rate = 0;
    *seconds = 0.0;
    if (bytes.len < 12 || memcmp(bytes.ptr, "RIFF", 4) != 0 ||
        memcmp(bytes.ptr + 8, "WAVE", 4) != 0)
        return false;
    for (struct sv rest = sv_skip(bytes, 12); rest.len >= 8;) {
        size_t length = little(rest.ptr + 4, 4);
        if (memcmp(rest.ptr, "fmt ", 4) == 0 && rest.len >= 24)
            byte_rate = little(rest.ptr + 16, 4);
        if (memcmp(rest.ptr, "data", 4) == 0) {
            length = length < rest.len - 8 ? length : rest.len - 8;
            *seconds = byte_rate > 0 ? (double)length / byte_rate : 0.0;
            return byte_rate > 0;
        }
        rest = sv_skip(rest, 8 + length + length % 2);
    }
    return false;
}

bool audio_from_samples(const struct js_value *samples, uint32_t rate, struct buf *out)
{
    uint32_t bytes = (uint32_t)samples->count * 2;
    buf_add_str(out, "RIFF");
    add_little(out, 36 + bytes, 4);
    buf_add_str(out, "WAVEfmt ");
    add_little(out, 16, 4);
    add_little(out, 1, 2); /* PCM */
    add_little(out, 1, 2); /* one channel */
    add_little(out, rate, 4);
    add_little(out, rate * 2, 4);
    add_little(out, 2, 2);
    add_little(out, 16, 2);
    buf_add_str(out, "data");
    add_little(out, bytes, 4);
    for (const struct js_value *s = samples->first; s != NULL; s = s->next) {
        double value;
        if (!js_as_double(s, &value))
            return false;
        value = value > 1.0 ? 1.0 : value < -1.0 ? -1.0 : value;
        add_little(out, (uint32_t)(int32_t)lrint(value * 32767.0), 2);
    }
    return true;
}
