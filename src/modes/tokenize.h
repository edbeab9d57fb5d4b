/* tokenize.h - the command `tokenize`: ids, pieces or counts of texts, and ids back to texts.
 * Threads: call from the main thread.  Errors: struct error. */
#ifndef VB_MODES_TOKENIZE_H
#define VB_MODES_TOKENIZE_H

#include "base/error.h"
#include "config/options.h"

/* argv holds what stands behind the command's name. */
bool tokenize_run(int argc, char **argv, struct error *err);

/* The flags of the command, for texts about them. */
const struct option_row *tokenize_option_rows(size_t *count);

#endif
