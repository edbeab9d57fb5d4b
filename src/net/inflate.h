/* inflate.h - undoes a response's Content-Encoding as its bytes arrive: gzip and deflate, by zlib.
 * Use: inflater_new with the header's value; for every piece inflater_feed, then inflater_next until it gives nothing;
 * inflater_free.
 * Threads: one owner.  Errors: INFLATE_BAD is final. */
#ifndef VB_NET_INFLATE_H
#define VB_NET_INFLATE_H

#include "base/sv.h"

enum inflate_result { INFLATE_DATA, INFLATE_NEED_MORE, INFLATE_BAD };

struct inflater;

/* `coding`: "gzip", "x-gzip" or "deflate" in any case; NULL for everything else. */
struct inflater *inflater_new(struct sv coding);
void inflater_free(struct inflater *inflater);

/* The piece must stay until inflater_next said INFLATE_NEED_MORE. */
void inflater_feed(struct inflater *inflater, struct sv piece);
/* INFLATE_DATA: *plain is a view that dies at the next call. */
enum inflate_result inflater_next(struct inflater *inflater, struct sv *plain);

#endif
