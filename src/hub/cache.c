/* The cache on disk:
 *     models--ORG--NAME/refs/main                   commit, without a line end
 *     models--ORG--NAME/blobs/ETAG                  content
 *     models--ORG--NAME/snapshots/COMMIT/a/b.json   symbolic link ../../../blobs/ETAG
 *     models--ORG--NAME/.no_exist/COMMIT/b.json     empty: the commit has no such file */
#include "hub/hub_priv.h"

#include "base/alloc.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_MAX_BYTES = 4096 };

void hub_add_repo_folder(const struct hub_context *hub, enum hub_kind kind, const char *id,
                         struct buf *out)
{
    buf_add_fmt(out, "%s/%s--", hub->cache, kind == HUB_DATASET ? "datasets" : "models");
    for (const char *c = id; *c != '\0'; c++) {
        if (*c == '/')
            buf_add_str(out, "--");
        else
            buf_add_char(out, *c);
    }
}

static void add_place(const struct hub_context *hub, const struct hub_file *file,
                      const char *inside, const char *commit, struct buf *out)
{
    hub_add_repo_folder(hub, file->kind, file->id, out);
    buf_add_fmt(out, "/%s/%s", inside, commit);
    if (file->name != NULL)
        buf_add_fmt(out, "/%s", file->name);
}

bool hub_cached_commit(const struct hub_context *hub, enum hub_kind kind, const char *id,
                       const char *revision, char commit[HUB_COMMIT_MAX + 1])
{
    struct buf path = {0};
    struct buf text = {0};
    struct error ignored;
    struct sv word = {0};
    const char *name = hub_revision(revision);
    if (!hub_is_id(id) || !hub_is_path(sv_from(name)))
        return false;
    hub_add_repo_folder(hub, kind, id, &path);
    size_t repo = path.len;
    buf_add_fmt(&path, "/refs/%s", name);
    if (file_exists(buf_cstr(&path)) && !file_is_dir(buf_cstr(&path)) &&
        file_read(buf_cstr(&path), &text, &ignored))
        word = sv_trim(buf_sv(&text));
    if (word.len == 0 && hub_is_commit(sv_from(name))) {
        path.len = repo;
        buf_add_fmt(&path, "/snapshots/%s", name);
        word = file_is_dir(buf_cstr(&path)) ? sv_from(name) : word;
    }
    bool ok = word.ptr != NULL && hub_is_commit(word);
    if (ok) {
        memcpy(commit, word.ptr, word.len);
        commit[word.len] = '\0';
    }
    buf_done(&path);
    buf_done(&text);
    return ok;
}

static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

static bool find(const struct hub_context *hub, const struct hub_file *file, const char *inside,
                 struct buf *path)
{
    char commit[HUB_COMMIT_MAX + 1];
    if (!hub_is_path(sv_from(file->name)) ||
        !hub_cached_commit(hub, file->kind, file->id, file->revision, commit))
        return false;
    buf_reset(path);
    add_place(hub, file, inside, commit, path);
    return is_file(buf_cstr(path));
}

bool hub_find_cached(const struct hub_context *hub, const struct hub_file *file, struct buf *path)
{
    return find(hub, file, "snapshots", path);
}

bool hub_known_absent(const struct hub_context *hub, const struct hub_file *file)
{
    struct buf path = {0};
    bool known = find(hub, file, ".no_exist", &path);
    buf_done(&path);
    return known;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* The folder that `path` is in. */
static bool make_parent(const char *path, struct error *err)
{
    struct buf folder = {0};
    const char *slash = strrchr(path, '/');
    buf_add(&folder, sv_make(path, slash != NULL ? (size_t)(slash - path) : 0));
    bool ok = slash == NULL || file_make_dirs(buf_cstr(&folder), err);
    buf_done(&folder);
    return ok;
}

/* A file system without symbolic links gets the file itself, as from Python's library. */
static bool put_instead(const char *blob, const char *place, int reason, struct error *err)
{
    bool impossible = reason == EPERM || reason == EOPNOTSUPP || reason == ENOSYS;
    if (impossible && (link(blob, place) == 0 || rename(blob, place) == 0))
        return true;
    return error_sys(err, E_IO, reason, "cannot make the link '%s'", place);
}

/* A link that is there already is replaced in one step, so that a reader never misses it. */
static bool put_link(const char *target, const char *blob, const char *place, struct error *err)
{
    char there[LINK_MAX_BYTES];
    ssize_t n = readlink(place, there, sizeof(there));
    if (n >= 0 && sv_eq(sv_make(there, (size_t)n), sv_from(target)))
        return true;
    struct buf temporary = {0};
    buf_add_fmt(&temporary, "%s.tmp.%ld", place, (long)getpid());
    unlink(buf_cstr(&temporary));
    bool ok = true;
    if (symlink(target, buf_cstr(&temporary)) != 0)
        ok = put_instead(blob, place, errno, err);
    else if (rename(buf_cstr(&temporary), place) != 0)
        ok = error_sys(err, E_IO, errno, "cannot make the link '%s'", place);
    if (!ok)
        unlink(buf_cstr(&temporary));
    buf_done(&temporary);
    return ok;
}

/* refs/REVISION says COMMIT; a revision that is the commit itself needs none. */
static bool write_ref(const struct hub_context *hub, const struct hub_file *file,
                      const char *commit, struct error *err)
{
    struct buf path = {0};
    char known[HUB_COMMIT_MAX + 1];
    const char *revision = hub_revision(file->revision);
    if (strcmp(revision, commit) == 0)
        return true;
    if (hub_cached_commit(hub, file->kind, file->id, revision, known) && strcmp(known, commit) == 0)
        return true;
    hub_add_repo_folder(hub, file->kind, file->id, &path);
    buf_add_fmt(&path, "/refs/%s", revision);
    bool ok = make_parent(buf_cstr(&path), err) &&
              file_write_atomic(buf_cstr(&path), sv_from(commit), err);
    buf_done(&path);
    return ok;
}

bool hub_link(const struct hub_context *hub, const struct hub_file *file, const char *commit,
              const char *etag, struct error *err)
{
    struct buf place = {0};
    struct buf target = {0};
    struct buf blob = {0};
    add_place(hub, file, "snapshots", commit, &place);
    hub_add_repo_folder(hub, file->kind, file->id, &blob);
    buf_add_fmt(&blob, "/blobs/%s", etag);
    buf_add_str(&target, "../../");
    for (const char *c = file->name; *c != '\0'; c++)
        buf_add_str(&target, *c == '/' ? "../" : "");
    buf_add_fmt(&target, "blobs/%s", etag);
    bool ok = make_parent(buf_cstr(&place), err) &&
              put_link(buf_cstr(&target), buf_cstr(&blob), buf_cstr(&place), err) &&
              write_ref(hub, file, commit, err);
    buf_done(&place);
    buf_done(&target);
    buf_done(&blob);
    return ok;
}

void hub_note_absent(const struct hub_context *hub, const struct hub_file *file, const char *commit)
{
    struct buf path = {0};
    struct error ignored;
    add_place(hub, file, ".no_exist", commit, &path);
    if (make_parent(buf_cstr(&path), &ignored) && !file_exists(buf_cstr(&path))) {
        int fd = open(buf_cstr(&path), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            write_ref(hub, file, commit, &ignored);
        }
    }
    buf_done(&path);
}
