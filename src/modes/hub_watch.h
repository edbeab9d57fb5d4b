/* hub_watch.h - the hub as a mode uses it: settings of the command line, notices and the progress of downloads on stderr,
 * Ctrl-C between two bytes.
 * Use: hub_watch_init; watch->hub for everything; hub_watch_done.
 * Threads: main thread only.  Errors: none of its own. */
#ifndef VB_MODES_HUB_WATCH_H
#define VB_MODES_HUB_WATCH_H

#include "config/config.h"
#include "hub/hub.h"

struct hub_watch {
    struct hub_context hub;
    bool quiet;         /* --disable-tqdm: no progress */
    bool begun;         /* a line of progress was shown */
    uint64_t shown_ns;  /* when */
    size_t shown_bytes; /* length of the line on the terminal */
};

/* `config` NULL: the defaults of a command that has none of these flags. */
void hub_watch_init(struct hub_watch *watch, const struct config *config);
void hub_watch_done(struct hub_watch *watch);

/* "12.3/45.6 MB (27%), 8.1 MB/s, ETA 0:00:04" behind the name. */
void hub_watch_format(const struct hub_progress *progress, struct buf *out);

#endif
