/* hf_rows.h - the rows of a data set's files, in the order in which Python's library `datasets` 5.2 yields them.
 * Shuffled as a stream (IterableDataset.shuffle with its defaults): the files in a shuffled order, dealt out to at most
 * ten readers that take turns, and behind them a buffer of about 1000 rows that is shuffled whenever it is full and then
 * gives half of them out.  Shuffled as a whole (Dataset.shuffle): one permutation of all rows.  Both draw from numpy's
 * default generator.  Unshuffled: file after file.
 * Use: hf_rows_open; hf_rows_next until HF_ROWS_END or HF_ROWS_FAILED, hf_row_done for every row; hf_rows_close.
 * Threads: one owner; a row belongs to whoever has it, until hf_rows_close.
 * Errors: struct error that names file and row. */
#ifndef VB_DATASETS_HF_ROWS_H
#define VB_DATASETS_HF_ROWS_H

#include "base/buf.h"
#include "json/tree.h"

#include <stdint.h>

/* The place of file `index` on this machine, into *path (replaced). */
typedef bool hf_fetch_fn(void *user, size_t index, struct buf *path, struct error *err);

enum hf_order { HF_IN_ORDER, HF_SHUFFLED_STREAM, HF_SHUFFLED_WHOLE };

struct hf_rows_spec {
    const struct sv *names; /* of the files, for messages and for their kinds; borrowed */
    size_t count;
    hf_fetch_fn *fetch; /* called when the first row of a file is needed */
    void *user;
    enum hf_order order;
    uint64_t seed;
    bool has_features; /* the card tells the columns' types: decides how readers take turns */
    const char *const *columns; /* of Parquet files, ends with NULL; NULL: all */
    const char *const *maybe;   /* further ones, where the file has them; may be NULL */
};

struct hf_row {
    const struct js_value *value; /* an object; bytes of Parquet files as they are */
    struct arena *arena;          /* owns it; NULL: hf_rows does */
    struct sv file;
    size_t number; /* in the file, from 1 */
};

enum hf_rows_result { HF_ROWS_ROW, HF_ROWS_END, HF_ROWS_FAILED };

struct hf_rows;

/* Reads nothing yet but, of the first file, how it begins. */
struct hf_rows *hf_rows_open(const struct hf_rows_spec *spec, struct error *err);
enum hf_rows_result hf_rows_next(struct hf_rows *rows, struct hf_row *row, struct error *err);
void hf_row_done(struct hf_row *row);
void hf_rows_close(struct hf_rows *rows);

#endif
