/* See libcurl.h. */
#include "hub/libcurl.h"

#include <dlfcn.h>
#include <string.h>

#define ENTRY(member)                                                                              \
    {                                                                                              \
        "curl_" #member, offsetof(struct libcurl, member)                                          \
    }
static const struct {
    const char *name;
    size_t offset;
} entries[] = {
    ENTRY(global_init),  ENTRY(global_cleanup), ENTRY(easy_init),    ENTRY(easy_reset),
    ENTRY(easy_setopt),  ENTRY(easy_perform),   ENTRY(easy_cleanup), ENTRY(easy_strerror),
    ENTRY(slist_append), ENTRY(slist_free_all), ENTRY(url),          ENTRY(url_set),
    ENTRY(url_get),      ENTRY(url_cleanup),    ENTRY(free),
};
#undef ENTRY

/* Debian's and Red Hat's name, then that of Debian's other flavour. */
static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static bool find_entries(struct libcurl *api, struct error *err)
{
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        void *entry = dlsym(api->library, entries[i].name);
        if (entry == NULL)
            return error_set(err, E_UNSUPPORTED, "the libcurl of this machine has no '%s'",
                             entries[i].name);
        memcpy((char *)api + entries[i].offset, &entry, sizeof(entry));
    }
    return api->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ||
           error_set(err, E_UNSUPPORTED, "libcurl cannot be used here");
}

bool libcurl_load(struct libcurl *api, struct error *err)
{
    struct libcurl loaded = {0};
    if (api->library != NULL)
        return true;
    for (size_t i = 0; loaded.library == NULL && i < sizeof(names) / sizeof(names[0]); i++)
        loaded.library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (loaded.library == NULL)
        return error_set(err, E_UNSUPPORTED,
                         "libcurl.so.4 cannot be loaded, without which nothing is downloaded (%s); "
                         "install libcurl4",
                         dlerror());
    if (!find_entries(&loaded, err)) {
        dlclose(loaded.library);
        return false;
    }
    *api = loaded;
    return true;
}

void libcurl_unload(struct libcurl *api)
{
    /* The library stays in memory: what it draws in has handlers for the program's end. */
    if (api->library != NULL)
        api->global_cleanup();
    *api = (struct libcurl){0};
}
