/* tokenize.h - the command `tokenize`: ids, pieces or counts of texts, and ids back to texts.
 * Threads: call from the main thread.  Errors: struct error. */
#ifndef VB_MODES_TOKENIZE_H
#define VB_MODES_TOKENIZE_H

#include "base/error.h"

/* argv holds what stands behind the command's name. */
bool tokenize_run(int argc, char **argv, struct error *err);

#endif
