/* places.h - where a text can be cut so that both sides are encoded as they are together, whatever stands further off.
 * A place lies between a letter and a space, line end, mark or symbol, when no entry of the vocabulary has these two side
 * by side: then splitters end a word there, and where a model has none, no merge reaches across.  Apostrophes are left
 * out, since splitters treat "'s" in ways of their own, and so is what may belong to a word ('_').
 * Use: places_new walks over the vocabulary; places_find, places_starts, places_ends; places_free.
 * Threads: read-only after places_new.  Errors: none. */
#ifndef VB_DATASETS_PLACES_H
#define VB_DATASETS_PLACES_H

#include "tokenizer/tokenizer.h"

struct places;

struct places *places_new(const struct tokenizer *tokenizer);
/* Only "letter, space, letter" from now on: tokenizers that put a space before any text. */
void places_words_only(struct places *places);
void places_free(struct places *places);

/* Byte offset (not 0) of the first place in valid UTF-8, or text.len. */
size_t places_find(const struct places *places, struct sv text);
/* Does a text that begins so have a place before it, behind a letter?  Does a text end in a letter? */
bool places_starts(const struct places *places, struct sv text);
bool places_ends(struct sv text);

#endif
