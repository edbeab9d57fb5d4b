/* lock.h - one process at a time downloads a blob: locks on .locks/REPO/ETAG.lock, which Python's library takes, and on
 * blobs/ETAG.lock, which Rust's takes.  The files stay behind, as theirs do.
 * Use: hub_lock_take, hub_lock_drop.  Where the file system knows no locks, none is held.
 * Threads: one owner.  Errors: struct error. */
#ifndef VB_HUB_LOCK_H
#define VB_HUB_LOCK_H

#include "hub/hub.h"

struct hub_lock {
    int fds[2];
};

/* Waits for another process with a notice, half an hour at most. */
enum hub_outcome hub_lock_take(struct hub_context *hub, const struct hub_file *file,
                               const char *etag, struct hub_lock *lock, struct error *err);
void hub_lock_drop(struct hub_lock *lock);

#endif
