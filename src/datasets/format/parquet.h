/* parquet.h - rows of an Apache Parquet file as JSON trees, one at a time.
 * Use: parquet_open (or parquet_open_memory); parquet_select for some of the columns, else all are read; parquet_next
 * until PARQUET_END or PARQUET_FAILED; parquet_free.
 * What is read: the footer when opening, then of each wanted column one page at a time; a page is unpacked when a row
 * needs it, so the first rows of a large file cost what they hold.  The file is mapped, not read.
 * A row is an object with one member for each wanted column, in the order of the file:
 *     null, booleans, integers      as they are (unsigned types up to 2^64 - 1)
 *     floating point                the shortest text that reads back as a double; NaN and infinities are null
 *     decimal                       string, "-12.50": no exponent, as many decimals as the type says
 *     date, time, timestamp         string as Python's isoformat: "2024-02-29", "23:59:59.000001",
 *                                   "2024-02-29T12:00:00" with "+00:00" where the type is in UTC; the fraction has 6
 *                                   digits, or 9 when there are nanoseconds, or is absent when it is zero
 *     text (also enum, JSON)        string, checked to be UTF-8
 *     UUID                          string, "01234567-89ab-..."
 *     other bytes                   string: base64, or the bytes themselves (see parquet_options)
 *     list                          array
 *     map                           object; keys that are no text are written as JSON
 *     group                         object
 * Compressions: none, Snappy, gzip, Zstandard, LZ4 (raw and Hadoop's), Brotli.
 * Threads: a reader belongs to one thread.  Errors: struct error, "'file': column 'a.b', row group 1, page 2: reason";
 * E_PARSE for what is malformed, E_UNSUPPORTED for what is not read (encryption, LZO), E_LIMIT for sizes, E_IO. */
#ifndef VB_DATASETS_FORMAT_PARQUET_H
#define VB_DATASETS_FORMAT_PARQUET_H

#include "base/arena.h"
#include "base/error.h"
#include "json/tree.h"

#include <stdint.h>

struct parquet_options {
    bool
        raw_bytes; /* binary values are their bytes instead of base64: js_as_sv gives the bytes of a picture; such a
                     * row must not be written as JSON */
    size_t max_page_bytes; /* a compressed page, unpacked; 0: 1 GiB */
    size_t max_row_bytes;  /* a row's tree; 0: 512 MiB */
};

struct parquet;

enum parquet_result { PARQUET_ROW, PARQUET_END, PARQUET_FAILED };

/* The file's name in messages is `path` or `name`, which is copied; the bytes are borrowed until parquet_free.
 * options: NULL for the defaults.  NULL on failure. */
struct parquet *parquet_open(const char *path, const struct parquet_options *options,
                             struct error *err);
struct parquet *parquet_open_memory(const char *name, struct sv bytes,
                                    const struct parquet_options *options, struct error *err);
void parquet_free(struct parquet *p);

uint64_t parquet_row_count(const struct parquet *p);

/* Top-level columns of the file, whether selected or not.  Views live as long as the reader. */
size_t parquet_column_count(const struct parquet *p);
struct sv parquet_column_name(const struct parquet *p, size_t index); /* index < count */
bool parquet_has_column(const struct parquet *p, const char *name);

/* Only these top-level columns are read from now on; reading starts again at the first row.  NULL: all columns.
 * A name that the file does not have is an error that names the columns it has; the selection stays as it was. */
bool parquet_select(struct parquet *p, const char *const *names, size_t count, struct error *err);

/* The next row, made in `arena`; the tree points nowhere else, so it lives as long as the arena.  After PARQUET_FAILED
 * every further call fails alike; what a failed row left in the arena is garbage. */
enum parquet_result parquet_next(struct parquet *p, struct arena *arena,
                                 const struct js_value **row, struct error *err);

#endif
