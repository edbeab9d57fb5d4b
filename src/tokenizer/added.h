/* added.h - finds added tokens (special or not) in a text, leftmost first, the longest of those that start there.
 * Use: added_add for every token, added_sort once, then added_find in a loop; added_done.
 * lstrip and rstrip take the white space beside the token along; single_word demands that no word character touches it.
 * Threads: read-only after added_sort.  Errors: none. */
#ifndef VB_TOKENIZER_ADDED_H
#define VB_TOKENIZER_ADDED_H

#include "base/sv.h"

#include <stdint.h>

struct added_token {
    struct sv content; /* as searched for; lives as long as the set */
    uint32_t id;
    bool lstrip;
    bool rstrip;
    bool single_word;
};

struct added_set {
    struct added_token *items; /* sorted by content */
    size_t count;
    size_t cap;
    bool starts[256]; /* some token starts with this byte */
    int only_start;   /* the one byte that all start with, or -1 */
};

void added_add(struct added_set *set, struct added_token token);
void added_sort(struct added_set *set);
void added_done(struct added_set *set);

struct added_match {
    uint32_t id;
    size_t start; /* with what lstrip took */
    size_t end;   /* with what rstrip took */
};

/* The next match at or after *from, with the search's state in *from and *taken (both 0 at first; *taken is the end of
 * the match before, which lstrip does not reach across). */
bool added_find(const struct added_set *set, struct sv text, size_t *from, size_t *taken,
                struct added_match *match);

#endif
