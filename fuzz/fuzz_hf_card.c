/* Cards of data sets: any bytes give a card or a message; the patterns that a card holds end on any names. */
#include "datasets/hf_layout.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const texts[] = {"data/test-00000-of-00001.parquet", "deep/a/b/c/train.json",
                                        "train.jsonl", "x.csv"};
    struct sv names[4];
    struct hf_card card = {0};
    struct error err = {0};
    for (size_t i = 0; i < 4; i++)
        names[i] = sv_from(texts[i]);
    if (!hf_card_parse(sv_make((const char *)data, size), &card, &err))
        return 0;
    for (size_t i = 0; i < card.count && i < 8; i++) {
        struct hf_wanted wanted = {.first_config = true};
        struct hf_files files = {0};
        wanted.config = card.configs[i].name.ptr;
        if (hf_layout_find("set", names, 4, &card, &wanted, &files, &err))
            hf_files_done(&files);
    }
    hf_card_done(&card);
    return 0;
}
