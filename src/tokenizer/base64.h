/* base64.h - reads standard base64 (RFC 4648, with padding).
 * Threads: safe.  Errors: return value. */
#ifndef VB_TOKENIZER_BASE64_H
#define VB_TOKENIZER_BASE64_H

#include "base/buf.h"

/* Appends the bytes; false when the text is no base64 (what was appended so far is then of no use). */
bool base64_read(struct buf *out, struct sv text);

#endif
