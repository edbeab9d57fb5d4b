/* See image.h.  Orientation: EXIF 2.3, tag 0x0112 of the first directory. */
#include "datasets/format/image.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/library.h"
#include "datasets/format/jpeg.h"

#include <stdlib.h>
#include <webp/demux.h>

enum { PIXELS_MAX = 64 * 1024 * 1024 };

static const char *kind_of(struct sv b)
{
    if (sv_starts(b, SV_LIT("\x89PNG\r\n")))
        return "PNG";
    if (sv_starts(b, SV_LIT("\xFF\xD8\xFF")))
        return "JPEG";
    if (b.len >= 12 && sv_starts(b, SV_LIT("RIFF")) && memcmp(b.ptr + 8, "WEBP", 4) == 0)
        return "WebP";
    if (sv_starts(b, SV_LIT("GIF8")))
        return "GIF";
    if (sv_starts(b, SV_LIT("II*\0")) || sv_starts(b, SV_LIT("MM\0*")))
        return "TIFF";
    if (sv_starts(b, SV_LIT("BM")) && b.len > 14 && memcmp(b.ptr + 6, "\0\0\0\0", 4) == 0)
        return "BMP";
    if (b.len >= 12 && memcmp(b.ptr + 4, "ftypavif", 8) == 0)
        return "AVIF";
    return NULL;
}

bool image_is_known(struct sv bytes)
{
    return kind_of(bytes) != NULL;
}

/* ---- orientation -------------------------------------------------------------------------------------------------- */

struct tiff {
    struct sv bytes;
    bool big;
};

/* 0 behind the end. */
static uint32_t tiff_number(const struct tiff *t, size_t at, unsigned bytes)
{
    uint32_t value = 0;
    if (at > t->bytes.len || t->bytes.len - at < bytes)
        return 0;
    for (unsigned i = 0; i < bytes; i++)
        value = value << 8 | (unsigned char)t->bytes.ptr[t->big ? at + i : at + bytes - 1 - i];
    return value;
}

/* 1 to 8; 1 when nothing is said. */
static unsigned exif_orientation(struct sv exif)
{
    enum { TAG = 0x0112, SHORT = 3 };
    struct tiff t = {.bytes = exif, .big = sv_starts(exif, SV_LIT("MM"))};
    if (!t.big && !sv_starts(exif, SV_LIT("II")))
        return 1;
    size_t directory = tiff_number(&t, 4, 4);
    uint32_t count = tiff_number(&t, directory, 2);
    for (uint32_t i = 0; i < count; i++) {
        size_t entry = directory + 2 + (size_t)i * 12;
        if (entry > exif.len)
            break;
        if (tiff_number(&t, entry, 2) != TAG || tiff_number(&t, entry + 2, 2) != SHORT)
            continue;
        uint32_t value = tiff_number(&t, entry + 8, 2);
        return value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

/* The first EXIF segment of a JPEG file, from its byte order mark on. */
static struct sv jpeg_exif(struct sv bytes)
{
    struct sv rest = sv_skip(bytes, 2);
    while (rest.len >= 4 && (unsigned char)rest.ptr[0] == 0xFF) {
        unsigned marker = (unsigned char)rest.ptr[1];
        size_t length = (size_t)(unsigned char)rest.ptr[2] << 8 | (unsigned char)rest.ptr[3];
        if (marker == 0xDA || length < 2 || length > rest.len - 2)
            break;
        struct sv body = sv_make(rest.ptr + 4, length - 2);
        if (marker == 0xE1 && sv_starts(body, SV_LIT("Exif\0\0")))
            return sv_skip(body, 6);
        rest = sv_skip(rest, length + 2);
    }
    return (struct sv){0};
}

/* Where pixel (x, y) of the upright picture stands in the stored one.  Orientations 5 to 8 swap the sides. */
static size_t stored_place(const struct pixels *p, unsigned orientation, uint32_t x, uint32_t y)
{
    uint32_t right = p->width - 1;
    uint32_t bottom = p->height - 1;
    bool swapped = orientation >= 5;
    uint32_t column = swapped ? y : x;
    uint32_t row = swapped ? x : y;
    if (orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8)
        column = right - column;
    if (orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7)
        row = bottom - row;
    return (size_t)row * p->width + column;
}

static void turn_upright(struct pixels *p, unsigned orientation)
{
    if (orientation == 1)
        return;
    bool swapped = orientation >= 5;
    struct pixels made = {.width = swapped ? p->height : p->width,
                          .height = swapped ? p->width : p->height};
    made.rgb = mem_array((size_t)made.width * made.height, 3);
    uint8_t *to = made.rgb;
    for (uint32_t y = 0; y < made.height; y++)
        for (uint32_t x = 0; x < made.width; x++, to += 3)
            memcpy(to, p->rgb + stored_place(p, orientation, x, y) * 3, 3);
    free(p->rgb);
    *p = made;
}

/* ---- WebP --------------------------------------------------------------------------------------------------------- */

/* Opened late: most runs see no such picture. */
struct webp {
    WebPDemuxer *(*demux)(const WebPData *, int, WebPDemuxState *, int);
    void (*demux_delete)(WebPDemuxer *);
    uint32_t (*demux_number)(const WebPDemuxer *, WebPFormatFeature);
    int (*options_init)(WebPAnimDecoderOptions *, int);
    WebPAnimDecoder *(*decoder_new)(const WebPData *, const WebPAnimDecoderOptions *, int);
    int (*decoder_next)(WebPAnimDecoder *, uint8_t **, int *);
    void (*decoder_delete)(WebPAnimDecoder *);
};

static bool open_library(struct webp *lib, struct error *err)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(struct webp, demux, "WebPDemuxInternal"),
        LIBRARY_SYMBOL(struct webp, demux_delete, "WebPDemuxDelete"),
        LIBRARY_SYMBOL(struct webp, demux_number, "WebPDemuxGetI"),
        LIBRARY_SYMBOL(struct webp, options_init, "WebPAnimDecoderOptionsInitInternal"),
        LIBRARY_SYMBOL(struct webp, decoder_new, "WebPAnimDecoderNewInternal"),
        LIBRARY_SYMBOL(struct webp, decoder_next, "WebPAnimDecoderGetNext"),
        LIBRARY_SYMBOL(struct webp, decoder_delete, "WebPAnimDecoderDelete"),
    };
    return library_open("libwebpdemux.so.2", symbols, sizeof(symbols) / sizeof(symbols[0]), lib,
                        err);
}

/* Looked at before a decoder makes room for the picture. */
static bool webp_size(const struct webp *lib, const WebPData *data, struct pixels *out,
                      struct error *err)
{
    WebPDemuxer *demuxer = lib->demux(data, 0, NULL, WEBP_DEMUX_ABI_VERSION);
    if (demuxer == NULL)
        return error_set(err, E_PARSE, "malformed WebP image");
    *out = (struct pixels){.width = lib->demux_number(demuxer, WEBP_FF_CANVAS_WIDTH),
                           .height = lib->demux_number(demuxer, WEBP_FF_CANVAS_HEIGHT)};
    lib->demux_delete(demuxer);
    uint64_t count = (uint64_t)out->width * out->height;
    return (count > 0 && count <= PIXELS_MAX) ||
           error_set(err, E_LIMIT, "a WebP image of more than %d pixels", PIXELS_MAX);
}

static bool decode_webp(struct sv bytes, struct pixels *out, struct error *err)
{
    WebPData data = {.bytes = (const uint8_t *)bytes.ptr, .size = bytes.len};
    WebPAnimDecoderOptions options;
    struct webp lib;
    struct pixels made;
    uint8_t *canvas = NULL;
    int time_ms;
    if (!open_library(&lib, err) || !webp_size(&lib, &data, &made, err))
        return false;
    if (!lib.options_init(&options, WEBP_DEMUX_ABI_VERSION))
        return error_set(err, E_UNSUPPORTED, "the WebP library is of another version");
    options.color_mode = MODE_RGBA;
    WebPAnimDecoder *decoder = lib.decoder_new(&data, &options, WEBP_DEMUX_ABI_VERSION);
    bool ok = decoder != NULL && lib.decoder_next(decoder, &canvas, &time_ms);
    if (ok) {
        size_t count = (size_t)made.width * made.height;
        made.rgb = mem_array(count, 3);
        for (size_t i = 0; i < count; i++)
            pixels_on_white(canvas + i * 4, canvas[i * 4 + 3], made.rgb + i * 3);
        *out = made;
    }
    lib.decoder_delete(decoder);
    return ok || error_set(err, E_PARSE, "malformed WebP image");
}

/* ---- all kinds ---------------------------------------------------------------------------------------------------- */

bool image_decode(struct sv bytes, struct pixels *out, struct buf *comment, struct error *err)
{
    const char *kind = kind_of(bytes);
    if (kind != NULL && strcmp(kind, "PNG") == 0)
        return png_decode(bytes, out, err);
    if (kind != NULL && strcmp(kind, "WebP") == 0)
        return decode_webp(bytes, out, err);
    if (kind != NULL && strcmp(kind, "JPEG") == 0) {
        if (!jpeg_decode_comment(bytes, out, comment, err))
            return false;
        turn_upright(out, exif_orientation(jpeg_exif(bytes)));
        return true;
    }
    return kind != NULL ? error_set(err, E_UNSUPPORTED,
                                    "a %s image; PNG, JPEG and WebP images are read", kind)
                        : error_set(err, E_UNSUPPORTED, "neither a PNG, a JPEG nor a WebP image");
}

bool image_add_jpeg_url(struct sv bytes, struct buf *out, struct error *err)
{
    struct pixels pixels = {0};
    struct buf comment = {0};
    struct buf jpeg = {0};
    bool ok = image_decode(bytes, &pixels, &comment, err) &&
              jpeg_encode_comment(&pixels, buf_sv(&comment), &jpeg, err);
    if (ok) {
        buf_add_str(out, "data:image/jpeg;base64,");
        base64_add(out, buf_sv(&jpeg));
    }
    free(pixels.rgb);
    buf_done(&comment);
    buf_done(&jpeg);
    return ok;
}
