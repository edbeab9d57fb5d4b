/* datasets_server.h - what the datasets server, a service beside the hub, knows of a data set: its configurations and
 * splits, its files in Parquet form, its rows.
 * Use: one function a question; the context is that of hub.h, whose token, retries and offline setting hold here too.
 * Threads: as hub.h.  Errors: enum hub_outcome and struct error; HUB_OFFLINE where only the network could answer. */
#ifndef VB_HUB_DATASETS_SERVER_H
#define VB_HUB_DATASETS_SERVER_H

#include "hub/hub.h"

struct datasets_config {
    struct sv name;
    const struct sv *splits; /* in the server's order */
    size_t split_count;
};

struct datasets_info {
    struct datasets_config *configs; /* in the server's order */
    size_t count;
    struct arena arena; /* owns all strings, which are NUL-terminated */
};

/* GET /info?dataset=ID.  An answer without any configuration is HUB_FAILED. */
enum hub_outcome datasets_info_get(struct hub_context *hub, const char *id,
                                   struct datasets_info *info, struct error *err);
void datasets_info_done(struct datasets_info *info);

/* The configuration and split to use (DATASETS 13.1): `config` when given, else "default", else the first; `split` when
 * given, else train, test, validation, the first.  What is given must exist: E_CONFIG, naming what there is. */
bool datasets_info_choose(const struct datasets_info *info, const char *config, const char *split,
                          struct sv *chosen_config, struct sv *chosen_split, struct error *err);

/* The revision of a data set's repository that has its files in Parquet form. */
#define DATASETS_PARQUET_REVISION "refs/convert/parquet"

/* GET /parquet?dataset=ID: the files of one configuration and split (also "partial-SPLIT"), as paths inside the revision
 * DATASETS_PARQUET_REVISION, sorted by bytes; fetch them with hub_fetch_file.  None is no error: count is 0. */
enum hub_outcome datasets_parquet_list(struct hub_context *hub, const char *id, const char *config,
                                       const char *split, struct hub_names *names,
                                       struct error *err);

/* Rows, through /rows in pages of 100. */
struct datasets_rows {
    const char *id;
    const char *config;
    const char *split;
    uint64_t max_rows;      /* 0: all */
    const char *cache_name; /* of the file, below hub->own_cache/datasets/ */
};
/* The path of a file that holds the rows as one JSON array of objects into *path (replaced, NUL-terminated); it is made
 * when it is not there (a file that is there is used without network).  A download that ends early leaves no file. */
enum hub_outcome datasets_rows_fetch(struct hub_context *hub, const struct datasets_rows *rows,
                                     struct buf *path, struct error *err);

#endif
