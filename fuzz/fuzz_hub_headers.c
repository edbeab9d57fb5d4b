/* Heads of replies, line by line: names for the cache must never lead out of it, whatever came before. */
#include "hub/headers.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_tag(const char *tag)
{
    if (tag[0] != '\0' && (tag[0] == '.' || strchr(tag, '/') != NULL || !hub_is_etag(sv_from(tag))))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_headers h;
    struct sv rest = sv_make((const char *)data, size);
    struct sv line;
    hub_headers_reset(&h);
    while (size > 0 && sv_split(&rest, '\n', &line)) {
        hub_headers_line(&h, sv_trim(line));
        check_tag(h.etag);
        check_tag(h.linked_etag);
        if (h.commit[0] != '\0' && !hub_is_commit(sv_from(h.commit)))
            abort();
        if (strlen(h.location) > HUB_LOCATION_MAX || h.retry_after_s > 3600)
            abort();
    }
    return 0;
}
