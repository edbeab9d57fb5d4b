/* See libcurl.h. */
#include "hub/libcurl.h"

#include "base/library.h"

#define ENTRY(member) LIBRARY_SYMBOL(struct libcurl, member, "curl_" #member)
static const struct library_symbol symbols[] = {
    ENTRY(global_init),  ENTRY(global_cleanup), ENTRY(easy_init),    ENTRY(easy_reset),
    ENTRY(easy_setopt),  ENTRY(easy_perform),   ENTRY(easy_cleanup), ENTRY(easy_strerror),
    ENTRY(slist_append), ENTRY(slist_free_all), ENTRY(url),          ENTRY(url_set),
    ENTRY(url_get),      ENTRY(url_cleanup),    ENTRY(free),
};
#undef ENTRY

enum { SYMBOLS = sizeof(symbols) / sizeof(symbols[0]) };

bool libcurl_load(struct libcurl *api, struct error *err)
{
    struct libcurl loaded = {.is_loaded = true};
    struct error other; /* the first name's error is told */
    if (api->is_loaded)
        return true;
    /* Debian's and Red Hat's name, then that of Debian's other flavour. */
    if (!library_open("libcurl.so.4", symbols, SYMBOLS, &loaded, err) &&
        !library_open("libcurl-gnutls.so.4", symbols, SYMBOLS, &loaded, &other))
        return error_context(err, "nothing can be downloaded; install libcurl4");
    if (loaded.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return error_set(err, E_UNSUPPORTED, "libcurl cannot be used here");
    *api = loaded;
    return true;
}

void libcurl_unload(struct libcurl *api)
{
    /* The library stays in memory: what it draws in has handlers for the program's end. */
    if (api->is_loaded)
        api->global_cleanup();
    *api = (struct libcurl){0};
}
