/* Files of settings, and dotted flags: any bytes give items or one sentence with the file's name, and text that is
 * written reads back as itself. */
#include "config/options_priv.h"
#include "config/settings_file.h"

#include <stdlib.h>

static void check_round_trip(struct arena *arena, struct sv text)
{
    struct buf out = {0};
    struct settings_file file;
    struct error err;
    buf_add_str(&out, "a: [");
    settings_write_text(&out, text);
    buf_add_str(&out, "]\n");
    if (!settings_parse(buf_sv(&out), "f.yaml", arena, &file, &err) ||
        !sv_eq(sv_from(file.items[0].words[0]), text)) {
        abort();
    }
    buf_done(&out);
}

static bool is_text(struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < ' ' || text.ptr[i] > '~') {
            return false;
        }
    }
    return true;
}

static void check_members(struct arena *arena, const char *word)
{
    struct error err;
    struct sv merged;
    struct sv a = option_json_nest(arena, SV_LIT("a.b"), word);
    struct sv b = option_json_nest(arena, SV_LIT("a.c+"), word);
    if (!option_json_merge(arena, a, b, &merged, &err)) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct settings_file file;
    struct error err = {0};
    struct sv text = arena_copy(&arena, sv_make((const char *)data, size));
    if (!settings_parse(text, "f.yaml", &arena, &file, &err)) {
        if (strncmp(err.message, "f.yaml: ", 8) != 0) {
            abort();
        }
    } else {
        for (size_t i = 0; i < file.count; i++) {
            for (size_t j = 0; j < file.items[i].count; j++) {
                (void)strlen(file.items[i].words[j]);
            }
        }
    }
    if (is_text(text)) {
        check_round_trip(&arena, text);
    }
    check_members(&arena, text.ptr);
    arena_done(&arena);
    return 0;
}
