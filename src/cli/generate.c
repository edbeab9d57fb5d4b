/* The names of what can be generated. */
#include "cli/generate.h"

#include <string.h>

bool command_generate(const char *what, const struct command_flags *others, struct buf *out,
                      struct error *err)
{
    static const struct {
        const char *name;
        void (*write)(const struct command_flags *others, struct buf *out);
    } texts[] = {
        {"man", generate_man},
        {"bash", generate_bash},
        {"zsh", generate_zsh},
        {"fish", generate_fish},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (strcmp(what, texts[i].name) == 0) {
            texts[i].write(others, out);
            return true;
        }
    }
    return error_set(err, E_USAGE, "generate: '%s' is not one of man, bash, zsh, fish", what);
}
