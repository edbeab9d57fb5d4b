/* See library.h. */
#include "base/library.h"

#include <dlfcn.h>
#include <string.h>

bool library_open(const char *file, const struct library_symbol *symbols, size_t count, void *api,
                  struct error *err)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return error_set(err, E_UNSUPPORTED, "the library '%s' is needed for this: %s", file,
                         dlerror());
    for (size_t i = 0; i < count; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (function == NULL) {
            error_set(err, E_UNSUPPORTED, "the library '%s' has no function '%s'", file,
                      symbols[i].name);
            dlclose(library);
            return false;
        }
        /* ISO C has no conversion between the two kinds of pointers; POSIX says that the bytes are the same. */
        memcpy((char *)api + symbols[i].offset, &function, sizeof(function));
    }
    return true;
}
