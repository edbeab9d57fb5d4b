#include "tokenizer/load.h"
struct tokenizer *builtin_load(const char *name)
{
    (void)name;
    return NULL;
}
