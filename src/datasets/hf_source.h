/* hf_source.h - where a data set lies: a file, a folder or a repository of the hub; its files are found and fetched.
 * Use: hf_source_open; hf_source_find for the files of a split; hf_source_fetch for each; hf_source_done.
 * Threads: one owner.  Errors: struct error that names the flag or the file. */
#ifndef VB_DATASETS_HF_SOURCE_H
#define VB_DATASETS_HF_SOURCE_H

#include "datasets/dataset.h"
#include "datasets/hf_layout.h"
#include "hub/hub.h"

enum hf_place { HF_FILE, HF_FOLDER, HF_HUB };

struct hf_source {
    const struct dataset_context *context;
    const char *path; /* --dataset-path; borrowed */
    enum hf_place place;
    const char *revision; /* HF_HUB: of the files that were found; NULL: main */
    bool has_features;    /* see hf_rows.h */
    struct sv *names;     /* of all files, sorted */
    size_t count;
    struct arena arena;
    struct hub_names listing;
};

bool hf_source_open(const struct dataset_context *context, struct hf_source *source,
                    struct error *err);
void hf_source_done(struct hf_source *source);

bool hf_source_find(struct hf_source *source, const struct hf_wanted *wanted,
                    struct hf_files *files, struct error *err);
/* The place of a file on this machine into *path (replaced, NUL-terminated). */
bool hf_source_fetch(struct hf_source *source, struct sv name, struct buf *path, struct error *err);
/* The same of a file that belongs to data set `id`: below the folder, where it is there, else from the hub. */
bool hf_source_fetch_of(struct hf_source *source, const char *id, struct sv name, struct buf *path,
                        struct error *err);
bool hf_source_has(const struct hf_source *source, struct sv name);

#endif
