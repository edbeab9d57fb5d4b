/* See lock.h. */
#include "hub/lock.h"

#include "base/clock.h"
#include "base/file.h"
#include "hub/hub_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum { STEP_MS = 50, LONGEST_S = 1800 };

/* Appends ".locks/REPO" or "REPO/blobs" below the cache. */
static void add_folder(const struct hub_context *hub, const struct hub_file *file, bool pythons,
                       struct buf *out)
{
    struct buf repo = {0};
    hub_add_repo_folder(hub, file->kind, file->id, &repo);
    const char *name = buf_cstr(&repo) + strlen(hub->cache);
    if (pythons)
        buf_add_fmt(out, "%s/.locks%s", hub->cache, name);
    else
        buf_add_fmt(out, "%s/blobs", buf_cstr(&repo));
    buf_done(&repo);
}

static bool open_lock(const struct hub_context *hub, const struct hub_file *file, const char *etag,
                      bool pythons, int *fd, struct error *err)
{
    struct buf path = {0};
    add_folder(hub, file, pythons, &path);
    bool ok = file_make_dirs(buf_cstr(&path), err);
    buf_add_fmt(&path, "/%s.lock", etag);
    if (ok) {
        *fd = open(buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        ok = *fd >= 0 || error_sys(err, E_IO, errno, "cannot open '%s'", buf_cstr(&path));
    }
    buf_done(&path);
    return ok;
}

static enum hub_outcome wait_for(struct hub_context *hub, const struct hub_file *file, int fd,
                                 struct error *err)
{
    uint64_t end = clock_mono_ns() + LONGEST_S * NS_PER_S;
    bool said = false;
    for (;;) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return HUB_OK;
        if (errno != EWOULDBLOCK && errno != EINTR)
            return HUB_OK; /* a file system without locks: the sizes and hashes are checked all the same */
        if (!said)
            hub_notice(hub, "Another process is downloading '%s' of '%s'; waiting for it",
                       file->name, file->id);
        said = true;
        if (hub->stop != NULL && hub->stop(hub->user)) {
            error_set(err, E_INTERRUPTED, "the download was interrupted");
            return HUB_INTERRUPTED;
        }
        uint64_t now = clock_mono_ns();
        if (now >= end) {
            error_set(err, E_IO, "another process has held the lock of '%s' of '%s' for %d s",
                      file->name, file->id, LONGEST_S);
            return HUB_FAILED;
        }
        clock_sleep_until_ns(now + STEP_MS * NS_PER_MS);
    }
}

enum hub_outcome hub_lock_take(struct hub_context *hub, const struct hub_file *file,
                               const char *etag, struct hub_lock *lock, struct error *err)
{
    *lock = (struct hub_lock){{-1, -1}};
    enum hub_outcome outcome = HUB_OK;
    for (unsigned i = 0; i < 2 && outcome == HUB_OK; i++)
        outcome = open_lock(hub, file, etag, i == 0, &lock->fds[i], err)
                      ? wait_for(hub, file, lock->fds[i], err)
                      : HUB_FAILED;
    if (outcome != HUB_OK)
        hub_lock_drop(lock);
    return outcome;
}

void hub_lock_drop(struct hub_lock *lock)
{
    for (unsigned i = 0; i < 2; i++) {
        if (lock->fds[i] >= 0)
            close(lock->fds[i]);
        lock->fds[i] = -1;
    }
}
