/* splitter.h - hand-made scanners for the split patterns of the known families.
 * A pattern is looked up as text; one that is not in the table is PCRE2's work (regex.h).  The scanners give what the
 * references' engines give, in linear time and without a stack, on texts of any length.
 * Use: splitter_find once; splitter_next in a loop.  Threads: read-only.  Errors: none. */
#ifndef VB_TOKENIZER_SPLITTER_H
#define VB_TOKENIZER_SPLITTER_H

#include "base/sv.h"

#include <stdint.h>

struct splitter;

/* End of the match that starts at `at` (< text.len); `at` itself when none starts there. */
typedef size_t splitter_next_fn(const struct splitter *s, struct sv text, size_t at);

/* Pieces from `from` on, at most `most`: ends[i] is where the i-th ends and the next one begins.  Returns how many. */
typedef size_t splitter_cut_fn(const struct splitter *s, struct sv text, size_t from,
                               const char **ends, size_t most);

struct splitter {
    const char *name;
    splitter_next_fn *next;
    splitter_cut_fn *cut; /* NULL when not every character belongs to a piece */
    uint32_t letters;     /* flags of unicode.h: what a word consists of */
    uint32_t other_not;   /* what the run of symbols does not take */
    unsigned max_digits;  /* 0: no limit */
    bool contractions;    /* 's 't 're 've 'm 'll 'd */
    bool slash;           /* symbols take / along with line ends */
    bool han;             /* runs of Han stand alone (Kimi) */
    bool tail_first;      /* white space up to the end of the text is one piece */
    bool total;           /* some alternative matches everywhere */
};

/* NULL when the pattern is not known. */
const struct splitter *splitter_find(struct sv pattern);
/* The pattern of ByteLevel's use_regex and of GPT-2. */
extern const struct splitter splitter_gpt2;

/* splitter_cut.c: one for each kind of pattern. */
size_t splitter_cut_cl100k(const struct splitter *s, struct sv text, size_t from, const char **ends,
                           size_t most);
size_t splitter_cut_o200k(const struct splitter *s, struct sv text, size_t from, const char **ends,
                          size_t most);
size_t splitter_cut_gpt2(const struct splitter *s, struct sv text, size_t from, const char **ends,
                         size_t most);

/* For tests and benches: the table. */
size_t splitter_count(void);
const struct splitter *splitter_at(size_t index, struct sv *pattern);

#endif
