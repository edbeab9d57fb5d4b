/* dump.h - the effective settings as text: for people to read, and as a file that --config reads.
 * Use: config_dump or config_save after config_check, with a copy of the config as it was before: what differs was
 * derived.
 * Secrets (header values, a password in a URL, the API key) are never written; their lines are comments.
 * Threads: no state.  Errors: none; config_save: E_IO. */
#ifndef VB_CONFIG_DUMP_H
#define VB_CONFIG_DUMP_H

#include "base/buf.h"
#include "config/config.h"
#include "config/options.h"

struct config_snapshot {
    struct config
        before; /* shallow: as config_parse left it; shares the arena of `after` and is never freed */
    const struct config *after;
    const struct option_parser *parser;
};

/* Every setting with where it came from.  What was not given is a comment: read back as if it had been given, a default
 * would be refused beside other flags (--host beside --mock) or warned of. */
void config_dump(const struct config_snapshot *snapshot, struct buf *out);

/* What was given, for the next run; the defaults stand as comments. */
bool config_save(const struct config_snapshot *snapshot, const char *path, struct error *err);

#endif
