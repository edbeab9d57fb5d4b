/* python_pattern.h - finds the split pattern in the text of a model's Python tokenizer.  The text is read, never run.
 * Threads: safe.  Errors: none: nothing found appends nothing. */
#ifndef VB_TOKENIZER_PYTHON_PATTERN_H
#define VB_TOKENIZER_PYTHON_PATTERN_H

#include "base/buf.h"

void python_pattern(struct sv source, struct buf *out);

#endif
