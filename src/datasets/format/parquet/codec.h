/* codec.h - unpacks what Parquet's writers compress.
 * Use: pq_unpack; the size is the one the page's header promises, and exactly that many bytes must come out.
 * Threads: safe.  Errors: struct error without a place; E_UNSUPPORTED for codecs that are not read. */
#ifndef VB_DATASETS_CODEC_H
#define VB_DATASETS_CODEC_H

#include "base/buf.h"
#include "base/error.h"

/* `out` becomes `size` bytes. */
bool pq_unpack(int codec, struct sv packed, size_t size, struct buf *out, struct error *err);

/* "SNAPPY", or "codec 9". */
const char *pq_codec_name(int codec);

enum { PQ_UNCOMPRESSED = 0 };

#endif
