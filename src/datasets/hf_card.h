/* hf_card.h - the card of a data set, README.md: which configurations it has and which files belong to their splits.
 * The card begins with YAML between two lines of three dashes; of it the list `configs` is read, and whether there is a
 * `dataset_info`.
 * Use: hf_card_parse; hf_card_done.  A file without such a beginning is a card that says nothing.
 * Threads: one owner.  Errors: struct error with the line of the YAML. */
#ifndef VB_DATASETS_HF_CARD_H
#define VB_DATASETS_HF_CARD_H

#include "base/arena.h"
#include "base/error.h"

struct hf_card_split {
    struct sv name;
    struct sv *patterns; /* of file names, below the configuration's folder */
    size_t count;
};

struct hf_card_config {
    struct sv name;
    bool is_default;
    struct sv folder; /* data_dir; empty: the whole data set */
    struct hf_card_split *splits;
    size_t count; /* 0: the splits follow from the names of the files */
};

struct hf_card {
    struct hf_card_config *configs;
    size_t count;
    bool has_features; /* the types of the columns are told */
    struct arena arena;
};

bool hf_card_parse(struct sv readme, struct hf_card *card, struct error *err);
void hf_card_done(struct hf_card *card);

#endif
