/* position.h - messages about a place in a text file: file, line, column, reason.
 * Use: position_error for a fault at byte `offset` of `text`; position_malformed when JSON breaks there.
 * Columns count characters, as editors show them.  Threads: pure.  Errors: they make them; always false. */
#ifndef VB_DATASETS_FORMAT_POSITION_H
#define VB_DATASETS_FORMAT_POSITION_H

#include "base/error.h"
#include "base/sv.h"

bool position_error(const char *name, struct sv text, size_t offset, struct error *err,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
bool position_malformed(const char *name, struct sv text, size_t offset, struct error *err);

/* A whole file as UTF-8 text: refuses UTF-16 and bad UTF-8, takes a byte order mark off. */
bool position_check_text(const char *name, struct sv *text, struct error *err);

#endif
