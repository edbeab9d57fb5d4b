/* parallel.h - runs independent pieces of heavy work on all cores.
 * Use: parallel_threads for the number worth starting, then parallel_for; it returns when every piece is done.
 * Pieces are handed out in ascending order, so a piece that takes long should have a low index.
 * Threads: the caller's thread takes part.  Errors: none; a thread that cannot be started is done without. */
#ifndef VB_DATASETS_PARALLEL_H
#define VB_DATASETS_PARALLEL_H

#include <stddef.h>

struct tokenizer;

typedef void parallel_piece_fn(void *user, size_t index);

/* Cores this process may use, at most 64. */
unsigned parallel_threads(void);
/* As many as can tokenize at a time: cores, or connections when the tokenizer asks a server.  1 for a few pieces that
 * are not worth a thread; `tokenizer` may be NULL. */
unsigned parallel_tokenizing(const struct tokenizer *tokenizer, size_t pieces);
void parallel_for(size_t count, unsigned threads, parallel_piece_fn *piece, void *user);

#endif
