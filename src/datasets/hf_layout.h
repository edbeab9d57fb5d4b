/* hf_layout.h - which files of a folder or repository hold a split of a data set, by their names alone.
 * The rules are those of Python's library `datasets` 5.2 (data_files.py, load.py): what the card says, else
 * data/SPLIT-00000-of-00001.*, else folders named after a split, else files named so, else all files are "train".
 * Use: hf_layout_find; hf_files_done.  hf_glob_match is there for its tests.
 * Threads: pure.  Errors: E_CONFIG that names the flag and what there is. */
#ifndef VB_DATASETS_HF_LAYOUT_H
#define VB_DATASETS_HF_LAYOUT_H

#include "datasets/hf_card.h"

/* Does the name, '/' between folders, match the pattern?  Of a pattern's part: '*' any characters, '?' one, "[a-z]" one
 * of these, "[!a]" none of these; a whole part "**" stands for any number of folders, at the end for any file below. */
bool hf_glob_match(struct sv pattern, struct sv name);

struct hf_wanted {
    const char *config; /* NULL: the data set's own choice */
    bool first_config;  /* without a choice of its own its first one, else that is an error */
    bool config_given;  /* else a `config` that is not there is not minded */
    const char *split;  /* NULL: train, test, validation, the first */
    bool split_needed;  /* without a split given there must be only one */
};

struct hf_files {
    struct sv *names; /* in Python's order, NUL-terminated */
    size_t count;
    struct sv split;
    struct sv config; /* empty: the data set has none */
    struct arena arena;
};

/* `names`: of all files, sorted by bytes.  `what` names the data set in messages. */
bool hf_layout_find(const char *what, const struct sv *names, size_t count,
                    const struct hf_card *card, const struct hf_wanted *wanted,
                    struct hf_files *files, struct error *err);
void hf_files_done(struct hf_files *files);

/* ".parquet", ".json", ".jsonl" or ".ndjson" at the end, in any case. */
bool hf_is_table(struct sv name);

#endif
