/* csv.h - records of a comma-separated file (RFC 4180): quoted fields, doubled quotes, CRLF, blank lines skipped.
 * Use: csv_init; csv_next until CSV_END or CSV_FAILED; fields[0..count) are views that die at the next call.
 * Threads: one owner.  Errors: struct error, "'file': line N, column M: reason". */
#ifndef VB_DATASETS_FORMAT_CSV_H
#define VB_DATASETS_FORMAT_CSV_H

#include "base/buf.h"
#include "base/error.h"

enum { CSV_MAX_FIELDS = 256 };

struct csv {
    const char *name;
    struct sv text;
    size_t at;
    size_t line; /* of the record, from 1 */
    size_t next_line;
    struct sv fields[CSV_MAX_FIELDS];
    size_t count;
    struct buf unquoted; /* of the current record */
};

enum csv_result { CSV_RECORD, CSV_END, CSV_FAILED };

bool csv_init(struct csv *c, const char *name, struct sv text, struct error *err);
enum csv_result csv_next(struct csv *c, struct error *err);
/* Position of the field of that name in the current record (the header); false: absent. */
bool csv_find(const struct csv *c, const char *name, size_t *index);
void csv_done(struct csv *c);

#endif
