/* Whole files.  Atomic writing goes through "<path>.tmp.<pid>.<thread>" in the target's folder, so that a reader sees
 * the old file or the new one and never half of either. */
#include "base/file.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 64 * 1024 };

/* For CLEANUP: closes, keeping errno. */
static void close_fd(const int *fd)
{
    int kept = errno;
    if (*fd >= 0)
        close(*fd);
    errno = kept;
}

bool file_read(const char *path, struct buf *out, struct error *err)
{
    size_t before = out->len;
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_sys(err, E_IO, errno, "cannot open '%s'", path);
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0)
        buf_reserve(out, (size_t)info.st_size +
                             1); /* one more, so that the end is seen without growing */
    for (;;) {
        size_t room = out->cap - out->len;
        char *to = buf_reserve(out, room > 0 ? room : READ_STEP);
        ssize_t got = read(fd, to, out->cap - out->len);
        if (got == 0)
            return true;
        if (got > 0) {
            out->len += (size_t)got;
        } else if (errno != EINTR) {
            out->len = before;
            return error_sys(err, E_IO, errno, "cannot read '%s'", path);
        }
    }
}

/* False with errno set. */
bool file_write_all(int fd, struct sv content)
{
    while (content.len > 0) {
        ssize_t put = write(fd, content.ptr, content.len);
        if (put >= 0)
            content = sv_skip(content, (size_t)put);
        else if (errno != EINTR)
            return false;
    }
    return true;
}

/* Where a new file has to be renamed to; NULL for what is written in place: "/dev/stdout", pipes and the like cannot be
 * replaced, and a link to nothing yet makes its target. */
static char *replaced_path(const char *path)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
        return NULL;
    char *real = realpath(path, NULL); /* a link stays a link: its target is replaced */
    if (real == NULL && lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        return NULL;
    return real != NULL ? real : mem_strdup(path);
}

static void out_failed(struct file_out *out)
{
    if (out->reason == 0)
        out->reason = errno;
}

bool file_out_begin(struct file_out *out, const char *path, struct error *err)
{
    *out = (struct file_out){.path = path, .target = replaced_path(path)};
    const char *opened = path;
    if (out->target != NULL) {
        buf_add_fmt(&out->temporary, "%s.tmp.%ld.%ld", out->target, (long)getpid(), (long)gettid());
        opened = buf_cstr(&out->temporary);
    }
    out->fd = open(opened, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (out->fd < 0) {
        int reason = errno;
        buf_done(&out->temporary);
        free(out->target);
        *out = (struct file_out){.fd = -1};
        return error_sys(err, E_IO, reason, "cannot write '%s'", path);
    }
    struct stat old;
    if (out->target != NULL && stat(out->target, &old) == 0 &&
        fchmod(out->fd, old.st_mode & 07777) != 0)
        out_failed(out);
    return true;
}

void file_out_add(struct file_out *out, struct sv content)
{
    if (out->reason == 0 && !file_write_all(out->fd, content))
        out_failed(out);
}

bool file_out_end(struct file_out *out, struct error *err)
{
    bool replaces = out->target != NULL;
    if (out->reason == 0 && replaces && fsync(out->fd) != 0)
        out_failed(out);
    if (close(out->fd) != 0)
        out_failed(out);
    if (out->reason == 0 && replaces && rename(buf_cstr(&out->temporary), out->target) != 0)
        out_failed(out);
    if (out->reason != 0 && replaces)
        unlink(buf_cstr(&out->temporary));
    bool good =
        out->reason == 0 || error_sys(err, E_IO, out->reason, "cannot write '%s'", out->path);
    buf_done(&out->temporary);
    free(out->target);
    *out = (struct file_out){.fd = -1};
    return good;
}

bool file_write_atomic(const char *path, struct sv content, struct error *err)
{
    struct file_out out;
    if (!file_out_begin(&out, path, err))
        return false;
    file_out_add(&out, content);
    return file_out_end(&out, err);
}

bool file_write_new(const char *path, struct sv content, struct error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_sys(err, E_IO, errno, "cannot make '%s'", path);
    bool good = file_write_all(fd, content) && fsync(fd) == 0;
    int reason = errno;
    if (close(fd) != 0 && good) {
        good = false;
        reason = errno;
    }
    if (!good)
        unlink(path);
    return good || error_sys(err, E_IO, reason, "cannot write '%s'", path);
}

bool file_append_record(const char *path, struct sv content, struct error *err)
{
    CLEANUP(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return error_sys(err, E_IO, errno, "cannot open '%s'", path);
    int locked;
    do
        locked = flock(fd, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    /* file systems without locks still keep the single write together */
    struct stat info = {0};
    struct buf record = {0};
    bool good = fstat(fd, &info) == 0;
    if (good) {
        if (info.st_size > 0)
            buf_add_char(&record, '\n');
        buf_add(&record, content);
        good = file_write_all(fd, buf_sv(&record));
    }
    int reason = errno;
    /* half a record would spoil the whole file for its readers */
    bool cut = good || !S_ISREG(info.st_mode) || ftruncate(fd, info.st_size) == 0;
    buf_done(&record);
    if (!cut)
        return error_sys(err, E_IO, reason, "'%s' ends in a part of a record; cannot append", path);
    return good || error_sys(err, E_IO, reason, "cannot append to '%s'", path);
}

/* One folder; true when it exists afterwards. */
static bool make_dir(const char *path)
{
    if (mkdir(path, 0777) == 0)
        return true;
    int reason = errno;
    if (file_is_dir(path)) /* also where mkdir says EROFS or EACCES of a folder that exists */
        return true;
    errno = reason;
    return false;
}

bool file_make_dirs(const char *path, struct error *err)
{
    CLEANUP(mem_free_ptr) char *part = mem_strdup(path);
    for (char *at = part; *at != '\0'; at++) {
        if (*at != '/' || at == part)
            continue;
        *at = '\0';
        bool good = make_dir(part);
        if (!good)
            return error_sys(err, E_IO, errno, "cannot make the folder '%s'", part);
        *at = '/';
    }
    return make_dir(part) || error_sys(err, E_IO, errno, "cannot make the folder '%s'", part);
}

bool file_exists(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool file_map_open(const char *path, struct file_map *map, struct error *err)
{
    CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_sys(err, E_IO, errno, "cannot open '%s'", path);
    struct stat info;
    if (fstat(fd, &info) != 0)
        return error_sys(err, E_IO, errno, "cannot read '%s'", path);
    if (!S_ISREG(info.st_mode))
        return error_set(err, E_IO, "cannot map '%s'; it is no regular file", path);
    if (info.st_size == 0) {
        *map = (struct file_map){.view = sv_make("", 0)};
        return true;
    }
    size_t size = (size_t)info.st_size;
    void *base = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (base == MAP_FAILED)
        return error_sys(err, E_IO, errno, "cannot map '%s'", path);
    *map = (struct file_map){.view = sv_make(base, size), .base = base};
    return true;
}

void file_map_close(struct file_map *map)
{
    if (map->base != NULL)
        munmap(map->base, map->view.len);
    *map = (struct file_map){0};
}
