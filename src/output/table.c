/* Rows are Python's "{:<40} {:<10}": label and value are padded on the right and the blanks at the end are kept, so
 * that a comparison line by line with the Python tool's summary holds. */
#include "output/table.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

static void add_fill(struct buf *out, char fill, size_t n)
{
    memset(buf_reserve(out, n + 1), fill, n);
    out->len += n;
}

void table_title(struct buf *out, const char *text, char fill, size_t width)
{
    size_t len = strlen(text);
    size_t rest = len < width ? width - len : 0;
    add_fill(out, fill, rest / 2);
    buf_add_str(out, text);
    add_fill(out, fill, rest - rest / 2);
    buf_add_char(out, '\n');
}

void table_text(struct buf *out, const char *label, const char *value)
{
    buf_add_fmt(out, "%-*s %-*s\n", TABLE_LABEL, label, TABLE_VALUE, value);
}

void table_uint(struct buf *out, const char *label, uint64_t value)
{
    char text[NUM_TEXT_MAX];
    num_format_u64(text, value);
    table_text(out, label, text);
}

void table_fixed(struct buf *out, const char *label, double value)
{
    /* The largest double has 309 digits. */
    char text[400];
    num_format_fixed(text, sizeof(text), value, 2);
    table_text(out, label, text);
}

bool table_write(FILE *file, struct sv text, struct error *err)
{
    errno = 0;
    if (fwrite(text.ptr, 1, text.len, file) == text.len && fflush(file) == 0)
        return true;
    if (errno == EPIPE)
        return true;
    return error_sys(err, E_IO, errno, "cannot write the summary");
}
