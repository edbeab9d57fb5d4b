/* Parquet: any bytes give rows or a message.  Rows are valid JSON; as many come as the footer promises; a column read
 * alone gives what it gives among the others. */
#include "datasets/format/parquet.h"
#include "json/writer.h"

#include <stdlib.h>

enum { ROWS_MAX = 300, BYTES_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_row(struct buf *out, const struct js_value *row)
{
    struct js_writer w;
    buf_reset(out);
    js_writer_init(&w, out);
    js_write_value(&w, row);
}

/* Rows until the end or ROWS_MAX; those of column `only` are appended to *column. */
static enum parquet_result read_rows(struct parquet *p, const char *only, struct buf *column)
{
    struct arena arena = {0};
    struct buf text = {0};
    struct error err = {0};
    const struct js_value *row = NULL;
    enum parquet_result result = PARQUET_END;
    uint64_t count = 0;
    while (count < ROWS_MAX && (result = parquet_next(p, &arena, &row, &err)) == PARQUET_ROW) {
        write_row(&text, row);
        if (!js_is_complete(buf_sv(&text)))
            abort();
        if (js_get(row, only) != NULL) { /* not of names with NUL */
            write_row(&text, js_get(row, only));
            buf_add(column, buf_sv(&text));
        }
        arena_done(&arena);
        count++;
    }
    if (result == PARQUET_END && count < ROWS_MAX && count != parquet_row_count(p))
        abort();
    if (result == PARQUET_FAILED && err.message[0] == '\0')
        abort();
    arena_done(&arena);
    buf_done(&text);
    return result;
}

static bool is_unique(const struct parquet *p, struct sv name)
{
    size_t found = 0;
    for (size_t i = 0; i < parquet_column_count(p); i++)
        found += sv_eq(parquet_column_name(p, i), name);
    return found == 1 && memchr(name.ptr, '\0', name.len) == NULL;
}

static void read_column_alone(struct parquet *p)
{
    struct buf whole = {0};
    struct buf alone = {0};
    struct error err = {0};
    size_t count = parquet_column_count(p);
    struct sv name = count > 0 ? parquet_column_name(p, count - 1) : SV_LIT("");
    struct arena names = {0};
    const char *only = arena_copy(&names, name).ptr;
    enum parquet_result result = read_rows(p, only, &whole);
    if (count > 0 && is_unique(p, name)) {
        if (!parquet_select(p, &only, 1, &err))
            abort();
        if (read_rows(p, only, &alone) != PARQUET_FAILED && result != PARQUET_FAILED &&
            !sv_eq(buf_sv(&whole), buf_sv(&alone)))
            abort();
    }
    arena_done(&names);
    buf_done(&whole);
    buf_done(&alone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parquet_options options = {.max_page_bytes = BYTES_MAX, .max_row_bytes = BYTES_MAX};
    struct error err = {0};
    struct parquet *p = parquet_open_memory("x", sv_make((const char *)data, size), &options, &err);
    if (p != NULL)
        read_column_alone(p);
    parquet_free(p);
    return 0;
}
