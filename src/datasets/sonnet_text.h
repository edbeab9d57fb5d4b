/* sonnet_text.h - the built-in text of the data set "sonnet": data/sonnets.txt, made into C by tools/embed.py.
 * Use: sonnet_text.  Threads: constant.  Errors: none. */
#ifndef VB_DATASETS_SONNET_TEXT_H
#define VB_DATASETS_SONNET_TEXT_H

#include "base/sv.h"

struct sv sonnet_text(void);

#endif
