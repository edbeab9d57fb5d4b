/* custom_rows.h - reads the lines of a `custom` data set: {"prompt": TEXT, "output_tokens": N}, other keys ignored.
 * Use: custom_rows_parse; custom_row_text for the rows that are used; custom_rows_done.  Rows are views of the text.
 * Threads: one owner.  Errors: struct error with file, line and reason. */
#ifndef VB_DATASETS_CUSTOM_ROWS_H
#define VB_DATASETS_CUSTOM_ROWS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>

struct custom_row {
    struct sv raw_prompt;   /* JSON string without its quotes */
    uint32_t output_tokens; /* 0 when not asked for */
};

struct custom_rows {
    struct custom_row *items;
    size_t count;
    size_t cap;
};

/* `per_line`: every line must have a positive output_tokens. */
bool custom_rows_parse(struct sv text, const char *name, bool per_line, struct custom_rows *rows,
                       struct error *err);
/* Appends the prompt with its escapes resolved. */
void custom_row_text(const struct custom_row *row, struct buf *out);
void custom_rows_done(struct custom_rows *rows);

#endif
