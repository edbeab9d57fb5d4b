#include "tokenizer/load.h"
struct tokenizer *sentencepiece_parse(const struct tokenizer_files *files, struct error *err)
{
    error_set(err, E_UNSUPPORTED, "SentencePiece model '%s' is not supported yet", files->name);
    return NULL;
}
