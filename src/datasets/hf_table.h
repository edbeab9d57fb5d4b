/* hf_table.h - one file of rows: Parquet, JSON lines, a JSON array, or an object that holds one array of objects.
 * Use: hf_table_open; hf_table_next; hf_table_close.
 * Threads: one owner.  Errors: struct error that names the file and the place in it. */
#ifndef VB_DATASETS_HF_TABLE_H
#define VB_DATASETS_HF_TABLE_H

#include "datasets/hf_rows.h"

struct hf_table;

/* `name` for messages and rows, borrowed; it also says whether the file is Parquet.  columns, maybe: see hf_rows.h. */
struct hf_table *hf_table_open(const char *path, struct sv name, const char *const *columns,
                               const char *const *maybe, struct error *err);
/* The row is made in `shared`; NULL: in an arena of its own, which hf_row_done frees. */
enum hf_rows_result hf_table_next(struct hf_table *table, struct arena *shared, struct hf_row *row,
                                  struct error *err);
void hf_table_close(struct hf_table *table);

/* Does the file begin as a JSON array? */
bool hf_table_is_array(const char *path, struct sv name, bool *array, struct error *err);

#endif
