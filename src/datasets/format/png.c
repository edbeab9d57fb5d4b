/* See png.h.  The format: W3C PNG, 2nd edition.  Writing follows Pillow's ZipEncode: of the filters none, up, sub and
 * Paeth the one with the least sum of signed magnitudes, tried in this order, a later one only when it is smaller. */
#include "datasets/format/png.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <zlib.h>

enum { SIDE_MAX = 32768, PIXELS_MAX = 64 * 1024 * 1024, CHUNK_BYTES = 65536 };
enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6 };
enum { NONE, SUB, UP, AVERAGE, PAETH };

#define SIGNATURE "\x89PNG\r\n\x1a\n"

/* ---- reading ------------------------------------------------------------------------------------------------------ */

struct header {
    uint32_t width;
    uint32_t height;
    unsigned depth;
    unsigned type;
    unsigned channels;
    bool interlaced;
    uint8_t palette[256][3];
    uint8_t opacity[256];    /* of the palette's colours */
    unsigned transparent[3]; /* the colour that is; of gray the first number */
    bool has_transparent;
    struct buf data; /* of all IDAT chunks */
};

static bool bad(struct error *err, const char *what)
{
    return error_set(err, E_PARSE, "malformed PNG image: %s", what);
}

static uint32_t big(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static bool read_header(struct sv chunk, struct header *h, struct error *err)
{
    static const unsigned channels[7] = {1, 0, 3, 1, 2, 0, 4};
    if (chunk.len != 13)
        return bad(err, "the header has a wrong length");
    h->width = big(chunk.ptr);
    h->height = big(chunk.ptr + 4);
    h->depth = (unsigned char)chunk.ptr[8];
    h->type = (unsigned char)chunk.ptr[9];
    h->channels = h->type < 7 ? channels[h->type] : 0;
    bool deep = h->depth == 8 || (h->depth == 16 && h->type != PALETTE);
    bool flat = (h->type == GRAY || h->type == PALETTE) &&
                (h->depth == 1 || h->depth == 2 || h->depth == 4);
    if (h->channels == 0 || (!deep && !flat))
        return bad(err, "unknown colour type or depth");
    h->interlaced = chunk.ptr[12] != 0;
    memset(h->opacity, 255, sizeof(h->opacity));
    if (h->width == 0 || h->height == 0 || h->width > SIDE_MAX || h->height > SIDE_MAX ||
        (uint64_t)h->width * h->height > PIXELS_MAX)
        return bad(err, "its size is out of range");
    return true;
}

/* tRNS: opacities of the palette, or the one colour that cannot be seen. */
static void read_transparency(struct sv body, struct header *h)
{
    const unsigned char *b = (const unsigned char *)body.ptr;
    size_t numbers = h->type == GRAY ? 1 : h->type == RGB ? 3 : 0;
    if (h->type == PALETTE)
        memcpy(h->opacity, body.ptr, body.len < sizeof(h->opacity) ? body.len : sizeof(h->opacity));
    h->has_transparent = numbers > 0 && body.len >= numbers * 2;
    for (size_t i = 0; h->has_transparent && i < numbers; i++)
        h->transparent[i] = (unsigned)b[i * 2] << 8 | b[i * 2 + 1];
}

static bool read_chunks(struct sv rest, struct header *h, struct error *err)
{
    bool seen = false;
    if (!sv_starts(rest, SV_LIT(SIGNATURE)))
        return bad(err, "no signature");
    rest = sv_skip(rest, 8);
    while (rest.len >= 12) {
        uint32_t length = big(rest.ptr);
        if (length > rest.len - 12)
            return bad(err, "a chunk is cut off");
        struct sv body = sv_make(rest.ptr + 8, length);
        struct sv name = sv_make(rest.ptr + 4, 4);
        if (sv_eq(name, SV_LIT("IHDR"))) {
            if (!read_header(body, h, err))
                return false;
            seen = true;
        } else if (sv_eq(name, SV_LIT("PLTE"))) {
            memcpy(h->palette, body.ptr,
                   body.len < sizeof(h->palette) ? body.len : sizeof(h->palette));
        } else if (sv_eq(name, SV_LIT("tRNS")) && seen) {
            read_transparency(body, h);
        } else if (sv_eq(name, SV_LIT("IDAT"))) {
            buf_add(&h->data, body);
        } else if (sv_eq(name, SV_LIT("IEND"))) {
            break;
        }
        rest = sv_skip(rest, (size_t)length + 12);
    }
    return seen || bad(err, "no header");
}

static unsigned paeth(unsigned a, unsigned b, unsigned c)
{
    int p = (int)a + (int)b - (int)c;
    int pa = abs(p - (int)a);
    int pb = abs(p - (int)b);
    int pc = abs(p - (int)c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* Takes the filter off a row in place; `above` is the row before it, zeros at first. */
static bool unfilter(unsigned filter, uint8_t *row, const uint8_t *above, size_t stride,
                     size_t pixel)
{
    if (filter > PAETH)
        return false;
    for (size_t i = 0; i < stride; i++) {
        unsigned left = i >= pixel ? row[i - pixel] : 0;
        unsigned corner = i >= pixel ? above[i - pixel] : 0;
        unsigned add = filter == SUB       ? left
                       : filter == UP      ? above[i]
                       : filter == AVERAGE ? (left + above[i]) / 2
                       : filter == PAETH   ? paeth(left, above[i], corner)
                                           : 0;
        row[i] = (uint8_t)(row[i] + add);
    }
    return true;
}

/* Sample `index` of a row as it is stored. */
static unsigned stored(const struct header *h, const uint8_t *row, size_t index)
{
    if (h->depth == 8)
        return row[index];
    if (h->depth == 16)
        return (unsigned)row[index * 2] << 8 | row[index * 2 + 1];
    size_t bit = index * h->depth;
    unsigned mask = (1u << h->depth) - 1;
    return row[bit / 8] >> (8 - h->depth - bit % 8) & mask;
}

/* The same in 8 bits, as Pillow reads it: of 16 the high byte, but gray that is too large for 8 bits is white; small
 * depths of gray are widened. */
static uint8_t sample(const struct header *h, const uint8_t *row, size_t index)
{
    unsigned value = stored(h, row, index);
    if (h->depth == 16)
        return (uint8_t)(h->type != GRAY ? value >> 8 : value < 255 ? value : 255);
    unsigned mask = (1u << h->depth) - 1;
    return (uint8_t)(h->type == GRAY && h->depth < 8 ? value * 255 / mask : value);
}

/* Pillow compares the widened pixel with the low byte of the colour that the file names, except for one bit. */
static bool is_transparent(const struct header *h, const uint8_t *colour)
{
    for (size_t i = 0; i < h->channels; i++) {
        unsigned key = h->transparent[i] & 255;
        if (h->depth == 1)
            key = h->transparent[i] != 0 ? 255 : 0;
        if (colour[i] != key)
            return false;
    }
    return h->depth != 16 || h->type != GRAY;
}

void pixels_on_white(const uint8_t *rgb, unsigned opacity, uint8_t *out)
{
    for (size_t i = 0; i < 3; i++) {
        unsigned t = 255 * (255 - opacity) + rgb[i] * opacity + 128;
        out[i] = (uint8_t)(((t >> 8) + t) >> 8);
    }
}

static void put_pixel(const struct header *h, const uint8_t *row, size_t x, uint8_t *rgb)
{
    size_t at = x * h->channels;
    uint8_t first = sample(h, row, at);
    unsigned opacity = 255;
    uint8_t colour[3] = {first, first, first};
    if (h->type == PALETTE) {
        memcpy(colour, h->palette[first], 3);
        opacity = h->opacity[first];
    } else if (h->channels >= 3) {
        colour[1] = sample(h, row, at + 1);
        colour[2] = sample(h, row, at + 2);
    }
    if (h->type == GRAY_ALPHA || h->type == RGB_ALPHA)
        opacity = sample(h, row, at + h->channels - 1);
    else if (h->has_transparent && is_transparent(h, colour))
        opacity = 0;
    pixels_on_white(colour, opacity, rgb);
}

static bool inflate_rows(const struct header *h, uint8_t *raw, size_t size, struct error *err)
{
    uLongf got = size;
    int result = uncompress(raw, &got, (const Bytef *)h->data.ptr, h->data.len);
    return (result == Z_OK && got == size) || bad(err, "the pixels cannot be unpacked");
}

/* The pixels that come together: the whole picture, or one of the seven passes of an interlaced one. */
struct pass {
    uint32_t x, y;   /* of the first */
    uint32_t dx, dy; /* from one to the next */
};

static uint32_t steps(uint32_t size, uint32_t first, uint32_t step)
{
    return size > first ? (size - first + step - 1) / step : 0;
}

static size_t row_bytes(const struct header *h, uint32_t width)
{
    return ((size_t)h->depth * h->channels * width + 7) / 8;
}

static size_t pass_bytes(const struct header *h, const struct pass *p)
{
    uint32_t width = steps(h->width, p->x, p->dx);
    return width > 0 ? (row_bytes(h, width) + 1) * steps(h->height, p->y, p->dy) : 0;
}

static bool put_pass(const struct header *h, const struct pass *p, uint8_t *raw,
                     const uint8_t *zeros, struct pixels *out, struct error *err)
{
    uint32_t width = steps(h->width, p->x, p->dx);
    uint32_t height = steps(h->height, p->y, p->dy);
    size_t stride = row_bytes(h, width);
    size_t bits = (size_t)h->depth * h->channels;
    const uint8_t *last = zeros;
    for (uint32_t y = 0; width > 0 && y < height; y++) {
        uint8_t *row = raw + y * (stride + 1) + 1;
        if (!unfilter(row[-1], row, last, stride, bits < 8 ? 1 : bits / 8))
            return bad(err, "unknown filter");
        last = row;
        uint8_t *to = out->rgb + (size_t)(p->y + y * p->dy) * h->width * 3;
        for (uint32_t x = 0; x < width; x++)
            put_pixel(h, row, x, to + (size_t)(p->x + x * p->dx) * 3);
    }
    return true;
}

static bool unpack(const struct header *h, struct pixels *out, struct error *err)
{
    static const struct pass whole[] = {{0, 0, 1, 1}};
    static const struct pass seven[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                        {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    const struct pass *passes = h->interlaced ? seven : whole;
    size_t count = h->interlaced ? 7 : 1;
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += pass_bytes(h, &passes[i]);
    uint8_t *raw = mem_alloc(size);
    uint8_t *zeros = mem_array(row_bytes(h, h->width), 1);
    bool ok = inflate_rows(h, raw, size, err);
    out->width = h->width;
    out->height = h->height;
    out->rgb = mem_array((size_t)h->width * h->height, 3);
    uint8_t *at = raw;
    for (size_t i = 0; ok && i < count; i++) {
        ok = put_pass(h, &passes[i], at, zeros, out, err);
        at += pass_bytes(h, &passes[i]);
    }
    free(raw);
    free(zeros);
    if (!ok) {
        free(out->rgb);
        *out = (struct pixels){0};
    }
    return ok;
}

bool png_decode(struct sv bytes, struct pixels *out, struct error *err)
{
    struct header *h = mem_new(struct header);
    bool ok = read_chunks(bytes, h, err) && unpack(h, out, err);
    buf_done(&h->data);
    free(h);
    return ok;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

static unsigned magnitude(unsigned v)
{
    return v < 128 ? v : 256 - v;
}

/* One filter over a row; returns the sum of magnitudes. */
static uint64_t filter_row(unsigned filter, const uint8_t *row, const uint8_t *above, size_t stride,
                           uint8_t *out)
{
    uint64_t sum = 0;
    out[0] = (uint8_t)filter;
    for (size_t i = 0; i < stride; i++) {
        unsigned left = i >= 3 ? row[i - 3] : 0;
        unsigned corner = i >= 3 ? above[i - 3] : 0;
        unsigned less = filter == SUB     ? left
                        : filter == UP    ? above[i]
                        : filter == PAETH ? paeth(left, above[i], corner)
                                          : 0;
        out[i + 1] = (uint8_t)(row[i] - less);
        sum += magnitude(out[i + 1]);
    }
    return sum;
}

static void put_big(struct buf *out, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_add_char(out, (char)(value >> shift & 255));
}

static void put_chunk(struct buf *out, const char *name, struct sv body)
{
    put_big(out, (uint32_t)body.len);
    size_t start = out->len;
    buf_add_str(out, name);
    buf_add(out, body);
    put_big(out, (uint32_t)crc32(0, (const Bytef *)out->ptr + start, (uInt)(out->len - start)));
}

static void filter_rows(const struct pixels *in, uint8_t *filtered)
{
    static const unsigned order[] = {NONE, UP, SUB, PAETH};
    size_t stride = (size_t)in->width * 3;
    uint8_t *tries = mem_alloc(stride + 1);
    uint8_t *zeros = mem_array(stride, 1);
    for (size_t y = 0; y < in->height; y++) {
        const uint8_t *row = in->rgb + y * stride;
        uint8_t *best = filtered + y * (stride + 1);
        uint64_t least = UINT64_MAX;
        for (size_t k = 0; k < 4 && least > 0; k++) {
            uint64_t sum = filter_row(order[k], row, y > 0 ? row - stride : zeros, stride, tries);
            if (sum >= least)
                continue;
            least = sum;
            memcpy(best, tries, stride + 1);
        }
    }
    free(tries);
    free(zeros);
}

static bool deflate_all(uint8_t *bytes, size_t size, struct buf *packed)
{
    z_stream z = {0};
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15, 9, Z_FILTERED) != Z_OK)
        return false;
    size_t room = deflateBound(&z, size);
    z.next_in = bytes;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)buf_reserve(packed, room);
    z.avail_out = (uInt)room;
    bool ok = deflate(&z, Z_FINISH) == Z_STREAM_END;
    packed->len += z.total_out;
    deflateEnd(&z);
    return ok;
}

bool png_encode(const struct pixels *in, struct buf *out, struct error *err)
{
    size_t size = ((size_t)in->width * 3 + 1) * in->height;
    uint8_t *filtered = mem_alloc(size);
    struct buf packed = {0};
    struct buf header = {0};
    filter_rows(in, filtered);
    bool ok = deflate_all(filtered, size, &packed);
    free(filtered);
    buf_add(out, SV_LIT(SIGNATURE));
    put_big(&header, in->width);
    put_big(&header, in->height);
    buf_add(&header, sv_make("\x08\x02\0\0\0", 5));
    put_chunk(out, "IHDR", buf_sv(&header));
    for (struct sv rest = buf_sv(&packed); rest.len > 0;) {
        size_t n = rest.len < CHUNK_BYTES ? rest.len : CHUNK_BYTES;
        put_chunk(out, "IDAT", sv_make(rest.ptr, n));
        rest = sv_skip(rest, n);
    }
    put_chunk(out, "IEND", (struct sv){"", 0});
    buf_done(&packed);
    buf_done(&header);
    return ok || error_set(err, E_LIMIT, "cannot pack a PNG image");
}
