/* table.h - the building blocks of printed summaries: centred titles, rows of a label and a value.
 * Widths count bytes, so labels are ASCII.  Threads: pure functions on the caller's buffer.  Errors: none. */
#ifndef VB_OUTPUT_TABLE_H
#define VB_OUTPUT_TABLE_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

enum { TABLE_WIDTH = 50, TABLE_LABEL = 40, TABLE_VALUE = 10 };

/* The text centred in `fill` characters; an odd rest goes to the right.  "" gives a plain rule. */
void table_title(struct buf *out, const char *text, char fill, size_t width);
void table_text(struct buf *out, const char *label, const char *value);
void table_uint(struct buf *out, const char *label, uint64_t value);
/* Two decimals. */
void table_fixed(struct buf *out, const char *label, double value);

/* One write and a flush.  A reader that went away (EPIPE) is not an error. */
bool table_write(FILE *file, struct sv text, struct error *err);

#endif
