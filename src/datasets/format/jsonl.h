/* jsonl.h - the lines of a JSON-lines text, one object each, with good error positions.
 * Use: jsonl_init; jsonl_next until it says JSONL_END or JSONL_FAILED; jsonl_error for faults found in a line.
 * A byte order mark and CRLF are accepted, blank lines are skipped, lines are checked to be UTF-8.
 * Lines are views of the text.  Threads: one owner.  Errors: struct error, "'file': line N, column M: reason". */
#ifndef VB_DATASETS_FORMAT_JSONL_H
#define VB_DATASETS_FORMAT_JSONL_H

#include "base/error.h"
#include "base/sv.h"

struct jsonl {
    const char *name; /* of the file, for messages */
    struct sv rest;
    struct sv line; /* the current one */
    size_t number;  /* its number, from 1 */
};

enum jsonl_result { JSONL_LINE, JSONL_END, JSONL_FAILED };

bool jsonl_init(struct jsonl *j, const char *name, struct sv text, struct error *err);
enum jsonl_result jsonl_next(struct jsonl *j, struct error *err);

/* "'name': line N: ..." about the current line; always false. */
bool jsonl_error(const struct jsonl *j, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The current line is malformed at byte `offset`; always false. */
bool jsonl_malformed(const struct jsonl *j, size_t offset, struct error *err);

#endif
