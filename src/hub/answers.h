/* answers.h - takes the JSON answers of the hub and of the datasets server apart.
 * Use: one function a kind of answer, on the whole text.
 * Threads: safe.  Errors: struct error, code E_PARSE or E_SERVER; outputs are then empty. */
#ifndef VB_HUB_ANSWERS_H
#define VB_HUB_ANSWERS_H

#include "hub/datasets_server.h"
#include "json/tree.h"

/* {"siblings": [{"rfilename": NAME}, ...]}; names that are no paths inside the repository are left out and counted. */
bool hub_parse_listing(struct sv text, struct hub_names *names, size_t *left_out,
                       struct error *err);
/* {"dataset_info": {CONFIG: {"splits": {SPLIT: ...}}, ...}} */
bool hub_parse_info(struct sv text, struct datasets_info *info, struct error *err);
/* {"parquet_files": [{"config", "split", "url"}, ...]}: paths behind "refs/convert/parquet/" in the URLs of one
 * configuration and split. */
bool hub_parse_parquet(struct sv text, const char *config, const char *split,
                       struct hub_names *names, struct error *err);

/* One page of /rows. */
struct hub_rows_page {
    size_t count;
    uint64_t total; /* rows of the split; 0: not said */
    size_t cut;     /* rows with cells that the server shortened */
};
/* {"rows": [{"row": {...}, "truncated_cells": [...]}, ...], "num_rows_total": N}: at most `limit` rows are appended as
 * JSON, commas between them (and in front when *out is not empty). */
bool hub_parse_rows(struct sv text, uint64_t limit, struct buf *out, struct hub_rows_page *page,
                    struct error *err);

void hub_names_sort(struct hub_names *names);

#endif
