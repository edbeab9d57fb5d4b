/* headers.h - the lines of a reply's head that a download needs, taken apart as they arrive.
 * Use: hub_headers_reset before each reply; hub_headers_line for every line (a status line begins a new head, so that
 * those of "100 Continue" or of a proxy's tunnel are forgotten).
 * Threads: one owner.  Errors: a value that is malformed or too long counts as not there. */
#ifndef VB_HUB_HEADERS_H
#define VB_HUB_HEADERS_H

#include "base/sv.h"

#include <stdint.h>

enum { HUB_ETAG_MAX = 200, HUB_COMMIT_MAX = 80, HUB_LOCATION_MAX = 8000 };

struct hub_headers {
    unsigned status;
    bool has_length;
    uint64_t length; /* Content-Length */
    bool has_range;
    bool has_range_total;
    uint64_t
        range_first; /* Content-Range: bytes FIRST-LAST/TOTAL; "bytes *" has no first: has_range is false */
    uint64_t range_total;
    bool has_linked_size;
    uint64_t linked_size; /* X-Linked-Size: of the file behind a redirect */
    unsigned retry_after_s;
    char etag[HUB_ETAG_MAX + 1]; /* without quotes and "W/"; empty: none */
    char linked_etag[HUB_ETAG_MAX + 1];
    char commit[HUB_COMMIT_MAX + 1]; /* X-Repo-Commit: letters and digits only */
    char location[HUB_LOCATION_MAX + 1];
};

void hub_headers_reset(struct hub_headers *h);
void hub_headers_line(struct hub_headers *h, struct sv line);

/* Can this be the name of a blob: no '/', no control characters, no '.' in front? */
bool hub_is_etag(struct sv text);
/* Letters and digits, at least one, at most HUB_COMMIT_MAX. */
bool hub_is_commit(struct sv text);

#endif
