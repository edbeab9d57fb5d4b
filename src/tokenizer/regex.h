/* regex.h - the room's door to PCRE2: patterns of tokenizer files as the reference's engine (Oniguruma) reads them.
 * What differs between the two is rewritten before compiling: \s and \S are White_Space (PCRE2 counts U+180E in),
 * \w is letters, marks, Nd, Nl and connectors, \h a hexadecimal digit, \p{Han} the script and not its extensions,
 * {1,n}+ a repeat and not possessive, ^ and $ match at every line, [A&&[^B]] is A without B.  Classes take in what
 * Unicode 16 has assigned, whatever the library knows.  What cannot be rewritten is refused by name.
 * Use: regex_compile; regex_find with a struct regex_work of the calling thread; regex_free.
 * Threads: a compiled pattern is read-only.  Errors: struct error. */
#ifndef VB_TOKENIZER_REGEX_H
#define VB_TOKENIZER_REGEX_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"

struct regex;

/* Kept between searches; a zeroed struct is ready. */
struct regex_work {
    void *match_data;
};
void regex_work_done(struct regex_work *work);

/* ONIGURUMA: tokenizer.json; FANCY: tiktoken, where $ matches at the very end only and {1,3}+ is possessive. */
enum regex_dialect { REGEX_ONIGURUMA, REGEX_FANCY };

struct regex *regex_compile(struct sv pattern, enum regex_dialect dialect, struct error *err);
void regex_free(struct regex *re);

enum regex_result { REGEX_FOUND, REGEX_NONE, REGEX_TOO_HARD };

/* First match at or after `from` in valid UTF-8; *start and *end are byte offsets. */
enum regex_result regex_find(const struct regex *re, struct regex_work *work, struct sv text,
                             size_t from, size_t *start, size_t *end);

/* The pattern as handed to PCRE2 (for tests). */
bool regex_translate(struct sv pattern, enum regex_dialect dialect, struct buf *out,
                     struct error *err);

#endif
