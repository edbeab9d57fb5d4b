/* See codec.h.  The codecs: Compression.md of apache/parquet-format. */
#include "datasets/format/parquet/codec.h"

#include "base/library.h"

#include <brotli/decode.h>
#include <limits.h>
#include <lz4.h>
#include <snappy-c.h>
#include <stdint.h>
#define ZLIB_CONST /* the input is not written to */
#include <zlib.h>
#include <zstd.h>

enum { SNAPPY = 1, GZIP = 2, LZO = 3, BROTLI = 4, LZ4_HADOOP = 5, ZSTD = 6, LZ4_RAW = 7 };

const char *pq_codec_name(int codec)
{
    static const char *const names[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO",
                                        "BROTLI",       "LZ4",    "ZSTD", "LZ4_RAW"};
    bool known = codec >= 0 && (size_t)codec < sizeof(names) / sizeof(names[0]);
    return known ? names[codec] : "an unknown codec";
}

/* Opened late: it brings the C++ library along. */
struct snappy {
    snappy_status (*length)(const char *compressed, size_t compressed_length, size_t *result);
    snappy_status (*uncompress)(const char *compressed, size_t compressed_length,
                                char *uncompressed, size_t *uncompressed_length);
};

static bool open_snappy(struct snappy *api, struct error *err)
{
    static const struct library_symbol symbols[] = {
        LIBRARY_SYMBOL(struct snappy, length, "snappy_uncompressed_length"),
        LIBRARY_SYMBOL(struct snappy, uncompress, "snappy_uncompress"),
    };
    return library_open("libsnappy.so.1", symbols, sizeof(symbols) / sizeof(symbols[0]), api, err);
}

static bool unpack_snappy(const struct snappy *api, struct sv packed, size_t size, char *out)
{
    size_t promised = 0;
    size_t got = size;
    return api->length(packed.ptr, packed.len, &promised) == SNAPPY_OK && promised == size &&
           api->uncompress(packed.ptr, packed.len, out, &got) == SNAPPY_OK && got == size;
}

/* gzip or zlib, as libraries behind the writers do either; several gzip members may follow each other. */
static bool unpack_gzip(struct sv packed, size_t size, char *out)
{
    z_stream z = {0};
    if (packed.len > UINT_MAX || size > UINT_MAX || inflateInit2(&z, 15 + 32) != Z_OK)
        return false;
    z.next_in = (const Bytef *)packed.ptr;
    z.avail_in = (uInt)packed.len;
    z.next_out = (Bytef *)out;
    z.avail_out = (uInt)size;
    int result = Z_OK;
    for (;;) {
        result = inflate(&z, Z_FINISH);
        if (result != Z_STREAM_END || z.avail_in == 0 || z.avail_out == 0 ||
            inflateReset(&z) != Z_OK)
            break;
    }
    bool done = result == Z_STREAM_END && z.avail_out == 0;
    inflateEnd(&z);
    return done;
}

static bool unpack_brotli(struct sv packed, size_t size, char *out)
{
    size_t got = size;
    return BrotliDecoderDecompress(packed.len, (const uint8_t *)packed.ptr, &got, (uint8_t *)out) ==
               BROTLI_DECODER_RESULT_SUCCESS &&
           got == size;
}

static bool unpack_lz4_block(struct sv packed, size_t size, char *out)
{
    if (packed.len > INT_MAX || size > INT_MAX)
        return false;
    return LZ4_decompress_safe(packed.ptr, out, (int)packed.len, (int)size) == (int)size;
}

static uint32_t big(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* Hadoop's framing: for each block its size unpacked and packed, big-endian. */
static bool unpack_lz4_hadoop(struct sv packed, size_t size, char *out)
{
    size_t done = 0;
    while (packed.len >= 8) {
        size_t whole = big(packed.ptr);
        size_t part = big(packed.ptr + 4);
        packed = sv_skip(packed, 8);
        if (part > packed.len || whole > size - done ||
            !unpack_lz4_block(sv_make(packed.ptr, part), whole, out + done))
            return false;
        done += whole;
        packed = sv_skip(packed, part);
    }
    return packed.len == 0 && done == size;
}

static bool unpack_zstd(struct sv packed, size_t size, char *out)
{
    size_t got = ZSTD_decompress(out, size, packed.ptr, packed.len);
    return !ZSTD_isError(got) && got == size;
}

/* The codec LZ4 was never defined; writers other than Hadoop's wrote a bare block. */
static bool unpack_lz4_any(struct sv packed, size_t size, char *out)
{
    return unpack_lz4_hadoop(packed, size, out) || unpack_lz4_block(packed, size, out);
}

typedef bool unpack_fn(struct sv packed, size_t size, char *out);

bool pq_unpack(int codec, struct sv packed, size_t size, struct buf *out, struct error *err)
{
    static unpack_fn *const codecs[] = {
        [GZIP] = unpack_gzip, [BROTLI] = unpack_brotli,     [LZ4_HADOOP] = unpack_lz4_any,
        [ZSTD] = unpack_zstd, [LZ4_RAW] = unpack_lz4_block,
    };
    bool known = codec >= 0 && (size_t)codec < sizeof(codecs) / sizeof(codecs[0]);
    if (codec != SNAPPY && (!known || codecs[codec] == NULL))
        return error_set(err, E_UNSUPPORTED, "compression by %s (%d) is not supported",
                         pq_codec_name(codec), codec);
    struct snappy api;
    if (codec == SNAPPY && !open_snappy(&api, err))
        return false;
    buf_reset(out);
    char *to = buf_reserve(out, size + 1);
    bool done =
        codec == SNAPPY ? unpack_snappy(&api, packed, size, to) : codecs[codec](packed, size, to);
    if (!done)
        return error_set(err, E_PARSE,
                         "%zu bytes cannot be unpacked by %s to the %zu bytes that are promised",
                         packed.len, pq_codec_name(codec), size);
    out->len = size;
    return true;
}
