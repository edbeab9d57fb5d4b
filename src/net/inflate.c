/* zlib behind a pull interface.  A gzip body may hold several members one after the other (RFC 1952 2.2); "deflate" is
 * zlib's format, but some servers send the raw one: that is tried when the first bytes are not zlib's. */
#include "net/inflate.h"

#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/alloc.h"

enum { PLAIN_BLOCK = 64 * 1024, WINDOW_GZIP = 15 + 16, WINDOW_ZLIB = 15, WINDOW_RAW = -15 };

struct inflater {
    z_stream z;
    bool gzip;
    bool begun; /* bytes of the present member were read */
    bool ended; /* a member has ended */
    bool broken;
    char plain[PLAIN_BLOCK];
};

struct inflater *inflater_new(struct sv coding)
{
    bool gzip = sv_eq_nocase(coding, SV_LIT("gzip")) || sv_eq_nocase(coding, SV_LIT("x-gzip"));
    if (!gzip && !sv_eq_nocase(coding, SV_LIT("deflate")))
        return NULL;
    struct inflater *inflater = mem_new(struct inflater);
    inflater->gzip = gzip;
    if (inflateInit2(&inflater->z, gzip ? WINDOW_GZIP : WINDOW_ZLIB) != Z_OK)
        abort(); /* out of memory */
    return inflater;
}

void inflater_free(struct inflater *inflater)
{
    if (inflater == NULL)
        return;
    inflateEnd(&inflater->z);
    free(inflater);
}

void inflater_feed(struct inflater *inflater, struct sv piece)
{
    inflater->z.next_in = (unsigned char *)(uintptr_t)piece.ptr;
    inflater->z.avail_in = (unsigned)piece.len;
    /* The low nibble of zlib's first byte is 8, and the two bytes are a multiple of 31 (RFC 1950 2.2). */
    if (!inflater->begun && !inflater->gzip && piece.len > 0 && (piece.ptr[0] & 0x0f) != 8)
        inflateReset2(&inflater->z, WINDOW_RAW);
    inflater->begun |= piece.len > 0;
}

enum inflate_result inflater_next(struct inflater *inflater, struct sv *plain)
{
    z_stream *z = &inflater->z;
    while (!inflater->broken && z->avail_in > 0) {
        if (inflater->ended) {
            if (!inflater->gzip)
                break; /* what follows a deflate stream belongs to nobody */
            inflateReset(z);
            inflater->ended = false;
        }
        z->next_out = (unsigned char *)inflater->plain;
        z->avail_out = PLAIN_BLOCK;
        int result = inflate(z, Z_SYNC_FLUSH);
        size_t len = PLAIN_BLOCK - z->avail_out;
        inflater->ended = result == Z_STREAM_END;
        inflater->broken = result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR;
        if (len > 0) {
            *plain = sv_make(inflater->plain, len);
            return INFLATE_DATA;
        }
        if (result == Z_BUF_ERROR)
            break;
    }
    return inflater->broken ? INFLATE_BAD : INFLATE_NEED_MORE;
}
