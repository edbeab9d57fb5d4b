#include "tokenizer/load.h"
struct tokenizer *vocab_merges_parse(const struct tokenizer_files *files, struct error *err)
{
    error_set(err, E_UNSUPPORTED, "vocab.json of '%s' is not supported yet", files->name);
    return NULL;
}
