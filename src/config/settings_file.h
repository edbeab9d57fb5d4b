/* settings_file.h - a file of settings: one YAML mapping, read as Python's YAML 1.1 reader reads it.
 * Use: settings_read; then walk file.items in the file's order.  Everything lives in the arena.
 * Threads: no state.  Errors: struct error (E_USAGE) with path and line. */
#ifndef VB_CONFIG_SETTINGS_FILE_H
#define VB_CONFIG_SETTINGS_FILE_H

#include "base/arena.h"
#include "base/error.h"

enum setting_kind { SETTING_NULL, SETTING_TRUE, SETTING_FALSE, SETTING_VALUE, SETTING_LIST };

/* One key of the mapping. */
struct settings_item {
    const char *name;
    size_t line; /* from 1 */
    enum setting_kind kind;
    /* SETTING_VALUE: one word; SETTING_LIST: any number.  Numbers as Python's str() prints them, a mapping as JSON. */
    const char **words;
    size_t count;
};

struct settings_file {
    struct settings_item *items;
    size_t count;
};

/* The name must end in .yaml or .yml.  An empty file has no items. */
bool settings_read(const char *path, struct arena *arena, struct settings_file *file,
                   struct error *err);

/* The same of a text; `path` for messages. */
bool settings_parse(struct sv text, const char *path, struct arena *arena,
                    struct settings_file *file, struct error *err);

/* Appends the text as a scalar that reads back as this very text. */
struct buf;
void settings_write_text(struct buf *out, struct sv text);

#endif
