/* hub_tokenizer.h - a tokenizer by name: inside the program, on the disk, in the hub's cache, on the hub.
 * Threads: main thread only.  Errors: struct error. */
#ifndef VB_MODES_HUB_TOKENIZER_H
#define VB_MODES_HUB_TOKENIZER_H

#include "hub/hub.h"
#include "tokenizer/tokenizer.h"

struct hub_tokenizer_request {
    const char *id;
    enum tokenizer_use use;
    bool
        named; /* the user named it as a tokenizer: then a name without '/' may be a repository too */
};

/* *missing: there is none of this name anywhere, or the hub could not be asked; without it a tokenizer that is there
 * cannot be loaded. */
struct tokenizer *hub_tokenizer_find(struct hub_context *hub,
                                     const struct hub_tokenizer_request *request, bool *missing,
                                     struct error *err);

#endif
