/* tokens.h - the mock server's own tokenizer: small, reversible, the same on every machine.
 *   0..255         one byte each
 *   256..931       pairs of small letters "aa".."zz"
 *   932..          a blank and a word: common English words first, then made-up words of three syllables (" bakilo")
 *   131069..131071 <|media_pad|>, <|im_start|> and <|im_end|>; never found in text, only put there by a chat prompt
 * Encoding takes the longest entry at every position, so the text of words, pairs and ASCII bytes in a random order
 * nearly always gives the same ids again: prompts built by /tokenize and /detokenize settle after one or two rounds.
 * Worked example: "the fox" is "th" 256+19*26+7, "e" 101, " fox" one word.
 * Threads: pure functions.  Errors: none. */
#ifndef VB_MOCK_TOKENS_H
#define VB_MOCK_TOKENS_H

#include "base/buf.h"

#include <stdint.h>

enum {
    MOCK_TOKENS_COUNT = 131072,
    MOCK_TOKEN_MEDIA = MOCK_TOKENS_COUNT - 3,
    MOCK_TOKEN_START = MOCK_TOKENS_COUNT - 2,
    MOCK_TOKEN_END = MOCK_TOKENS_COUNT - 1,
};

struct mock_tokens {
    uint32_t *ids;
    size_t count;
    size_t cap;
};

void mock_tokens_add(struct mock_tokens *tokens, uint32_t id);
void mock_tokens_done(struct mock_tokens *tokens);

/* Number of tokens; the ids are appended to `out` unless it is NULL. */
size_t mock_tokens_encode(struct sv text, struct mock_tokens *out);
/* Appends the token's bytes; an id past the end counts from the start again (every id has a text). */
void mock_tokens_decode(uint64_t id, struct buf *out);
/* The text of the n-th common word, blank included; n counts from the start again past the end. */
struct sv mock_tokens_word(size_t n);

#endif
