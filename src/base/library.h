/* library.h - functions out of a shared library that is opened when they are first needed.
 * For libraries that only some runs need and that bring many others along: linked in, they would make every start of the
 * program several times slower.
 * Use: a struct of function pointers with the types of the library's header, a table that names them, library_open.
 *
 *     struct snappy { snappy_status (*uncompressed_length)(const char *, size_t, size_t *); } api;
 *     const struct library_symbol symbols[] = {
 *         LIBRARY_SYMBOL(struct snappy, uncompressed_length, "snappy_uncompressed_length")};
 *     library_open("libsnappy.so.1", symbols, 1, &api, err)
 *
 * The library stays open until the program ends; opening it again is cheap.
 * Threads: safe.  Errors: struct error, E_UNSUPPORTED, that names the file and what to install. */
#ifndef VB_BASE_LIBRARY_H
#define VB_BASE_LIBRARY_H

#include "base/error.h"

#include <stddef.h>

struct library_symbol {
    const char *name;
    size_t offset; /* of the function pointer in the struct */
};

#define LIBRARY_SYMBOL(type, member, symbol)                                                       \
    {                                                                                              \
        .name = (symbol), .offset = offsetof(type, member)                                         \
    }

/* file: the library's name with its version, "libcurl.so.4".  Fills the `count` pointers in *api. */
bool library_open(const char *file, const struct library_symbol *symbols, size_t count, void *api,
                  struct error *err);

#endif
