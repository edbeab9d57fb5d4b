/* libcurl.h - libcurl, loaded when the first request is made: it draws some twenty libraries in, which would cost every
 * run 15 ms and 5 MB, and hardly a run needs it.
 * Use: libcurl_load once; the members are libcurl's functions of these names; libcurl_unload.
 * Threads: one owner.  Errors: struct error, code E_UNSUPPORTED, when there is no libcurl. */
#ifndef VB_HUB_LIBCURL_H
#define VB_HUB_LIBCURL_H

/* The checks of types are macros around the functions, which are not linked here. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/error.h"

struct libcurl {
    bool is_loaded;
    CURLcode (*global_init)(long flags);
    void (*global_cleanup)(void);
    CURL *(*easy_init)(void);
    void (*easy_reset)(CURL *handle);
    CURLcode (*easy_setopt)(CURL *handle, CURLoption option, ...);
    CURLcode (*easy_perform)(CURL *handle);
    void (*easy_cleanup)(CURL *handle);
    const char *(*easy_strerror)(CURLcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLU *(*url)(void);
    CURLUcode (*url_set)(CURLU *url, CURLUPart part, const char *text, unsigned flags);
    CURLUcode (*url_get)(const CURLU *url, CURLUPart part, char **text, unsigned flags);
    void (*url_cleanup)(CURLU *url);
    void (*free)(void *memory);
};

/* Does nothing when it is loaded. */
bool libcurl_load(struct libcurl *api, struct error *err);
void libcurl_unload(struct libcurl *api);

#endif
