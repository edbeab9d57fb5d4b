/* See audio.h.  The library reads from and writes to memory by callbacks.  Samples out of range are cut, as Python's
 * soundfile asks for. */
#include "datasets/audio.h"

#include "base/library.h"

#include <math.h>
#include <sndfile.h>

enum { BLOCK = 8192, CHANNELS_MAX = 64 };

static const size_t out_max = (size_t)2000 * 1000 * 1000; /* a WAV file holds less than 4 GB */

/* Opened late: it brings a dozen codecs along. */
struct sound {
    SNDFILE *(*open_virtual)(SF_VIRTUAL_IO *, int, SF_INFO *, void *);
    int (*close)(SNDFILE *);
    int (*command)(SNDFILE *, int, void *, int);
    const char *(*strerror)(SNDFILE *);
    sf_count_t (*read_single)(SNDFILE *, float *, sf_count_t);
    sf_count_t (*read_double)(SNDFILE *, double *, sf_count_t);
    sf_count_t (*write_single)(SNDFILE *, const float *, sf_count_t);
    sf_count_t (*write_double)(SNDFILE *, const double *, sf_count_t);
};

static bool open_library(struct sound *lib, struct error *err)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(struct sound, open_virtual, "sf_open_virtual"),
        LIBRARY_SYMBOL(struct sound, close, "sf_close"),
        LIBRARY_SYMBOL(struct sound, command, "sf_command"),
        LIBRARY_SYMBOL(struct sound, strerror, "sf_strerror"),
        LIBRARY_SYMBOL(struct sound, read_single, "sf_readf_float"),
        LIBRARY_SYMBOL(struct sound, read_double, "sf_readf_double"),
        LIBRARY_SYMBOL(struct sound, write_single, "sf_writef_float"),
        LIBRARY_SYMBOL(struct sound, write_double, "sf_writef_double"),
    };
    return library_open("libsndfile.so.1", symbols, sizeof(symbols) / sizeof(symbols[0]), lib, err);
}

/* ---- files in memory ---------------------------------------------------------------------------------------------- */

struct memory {
    struct sv in;
    struct buf *out; /* written to; NULL: read only */
    size_t base;     /* bytes that were in `out` before */
    sf_count_t at;
};

static sf_count_t memory_length(void *user)
{
    const struct memory *m = user;
    return (sf_count_t)(m->out != NULL ? m->out->len - m->base : m->in.len);
}

static sf_count_t memory_seek(sf_count_t offset, int whence, void *user)
{
    struct memory *m = user;
    sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? m->at : memory_length(m);
    sf_count_t to;
    if (__builtin_add_overflow(from, offset, &to) || to < 0 || to > (sf_count_t)out_max)
        return -1;
    m->at = to;
    return to;
}

static sf_count_t memory_tell(void *user)
{
    const struct memory *m = user;
    return m->at;
}

static sf_count_t memory_read(void *to, sf_count_t count, void *user)
{
    struct memory *m = user;
    struct sv all = m->out != NULL ? sv_skip(buf_sv(m->out), m->base) : m->in;
    struct sv left = sv_skip(all, (size_t)m->at);
    size_t n = count < 0 ? 0 : (size_t)count < left.len ? (size_t)count : left.len;
    if (n > 0)
        memcpy(to, left.ptr, n);
    m->at += (sf_count_t)n;
    return (sf_count_t)n;
}

static sf_count_t memory_write(const void *from, sf_count_t count, void *user)
{
    struct memory *m = user;
    if (m->out == NULL || count <= 0 || (size_t)m->at + (size_t)count > out_max)
        return 0;
    size_t end = m->base + (size_t)m->at + (size_t)count;
    while (m->out->len < end)
        buf_add_char(m->out, '\0');
    memcpy(m->out->ptr + m->base + m->at, from, (size_t)count);
    m->at += count;
    return count;
}

/* The library copies the table of callbacks. */
static SNDFILE *open_memory(const struct sound *lib, struct memory *m, int mode, SF_INFO *info)
{
    SF_VIRTUAL_IO io = {.get_filelen = memory_length,
                        .seek = memory_seek,
                        .read = memory_read,
                        .write = memory_write,
                        .tell = memory_tell};
    return lib->open_virtual(&io, mode, info, m);
}

static SNDFILE *open_recording(const struct sound *lib, struct memory *m, SF_INFO *info,
                               struct error *err)
{
    *info = (SF_INFO){0};
    SNDFILE *file = open_memory(lib, m, SFM_READ, info);
    if (file != NULL && info->samplerate > 0 && info->channels > 0 &&
        info->channels <= CHANNELS_MAX && info->frames >= 0)
        return file;
    if (file == NULL)
        error_set(err, E_PARSE, "no recording that can be read: %s", lib->strerror(NULL));
    else
        error_set(err, E_PARSE, "no recording that can be read: its header is wrong");
    if (file != NULL)
        lib->close(file);
    return NULL;
}

bool audio_measure(struct sv bytes, double *seconds, struct error *err)
{
    struct memory m = {.in = bytes};
    struct sound lib;
    SF_INFO info;
    SNDFILE *file = open_library(&lib, err) ? open_recording(&lib, &m, &info, err) : NULL;
    if (file == NULL)
        return false;
    *seconds = (double)info.frames / info.samplerate;
    lib.close(file);
    return true;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static SNDFILE *open_wav(const struct sound *lib, struct memory *m, int rate, int channels,
                         struct error *err)
{
    SF_INFO info = {
        .samplerate = rate, .channels = channels, .format = SF_FORMAT_WAV | SF_FORMAT_PCM_16};
    SNDFILE *file = open_memory(lib, m, SFM_WRITE, &info);
    if (file == NULL)
        error_set(err, E_LIMIT, "cannot make a WAV file: %s", lib->strerror(NULL));
    else
        lib->command(file, SFC_SET_CLIPPING, NULL, SF_TRUE);
    return file;
}

/* The library works on whole frames; a block is as many as fit. */
static bool copy_samples(const struct sound *lib, SNDFILE *in, SNDFILE *out, int channels,
                         bool single, sf_count_t *frames)
{
    union {
        double d[BLOCK / 8];
        float f[BLOCK / 8];
    } block;
    sf_count_t room = BLOCK / 8 / channels;
    *frames = 0;
    for (;;) {
        sf_count_t n =
            single ? lib->read_single(in, block.f, room) : lib->read_double(in, block.d, room);
        if (n <= 0)
            return true;
        sf_count_t written =
            single ? lib->write_single(out, block.f, n) : lib->write_double(out, block.d, n);
        if (written != n)
            return false;
        *frames += n;
    }
}

bool audio_to_wav(struct sv bytes, bool single, struct buf *out, double *seconds, struct error *err)
{
    struct memory from = {.in = bytes};
    struct memory to = {.out = out, .base = out->len};
    struct sound lib;
    SF_INFO info;
    sf_count_t frames = 0;
    SNDFILE *in = open_library(&lib, err) ? open_recording(&lib, &from, &info, err) : NULL;
    SNDFILE *wav = in != NULL ? open_wav(&lib, &to, info.samplerate, info.channels, err) : NULL;
    bool ok = wav != NULL && (copy_samples(&lib, in, wav, info.channels, single, &frames) ||
                              error_set(err, E_LIMIT, "the recording is too long for a WAV file"));
    if (wav != NULL)
        lib.close(wav);
    if (in != NULL)
        lib.close(in);
    if (ok)
        *seconds = (double)frames / info.samplerate;
    else
        out->len = to.base;
    return ok;
}

static void add_little(struct buf *out, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++, value >>= 8)
        buf_add_char(out, (char)(value & 255));
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
