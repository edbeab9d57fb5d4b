/* base64.h - standard base64 with padding (RFC 4648, section 4), written and read.
 * Use: both append to *out.  Threads: safe.  Errors: return value. */
#ifndef VB_BASE_BASE64_H
#define VB_BASE_BASE64_H

#include "base/buf.h"

void base64_add(struct buf *out, struct sv bytes);

/* Appends the bytes.  False, and nothing appended, when the text is no base64: another character, a length that is no
 * multiple of four, a '=' before the end.  Bits behind the last byte are not looked at, as Python does. */
bool base64_read(struct buf *out, struct sv text);

#endif
