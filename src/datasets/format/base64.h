/* base64.h - RFC 4648 base64 with padding, as data URLs carry it.
 * Use: base64_add and base64_decode append.  Threads: pure.  Errors: false for text that is no base64. */
#ifndef VB_DATASETS_FORMAT_BASE64_H
#define VB_DATASETS_FORMAT_BASE64_H

#include "base/buf.h"

void base64_add(struct buf *out, struct sv bytes);
bool base64_decode(struct buf *out, struct sv text);

#endif
