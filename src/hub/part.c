/* See part.h.  The trailer is written behind the bytes that it counts, so that after an interruption it is at most too
 * small. */
#include "hub/part.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { TRAILER = 8, READ_STEP = 256 * 1024, SAVE_EVERY = 1024 * 1024 };

static bool failed(const struct part *p, const char *what, struct error *err)
{
    return error_sys(err, E_IO, errno, "cannot %s '%.*s'", what, (int)p->path.len, p->path.ptr);
}

static bool write_at(const struct part *p, struct sv bytes, uint64_t at, struct error *err)
{
    while (bytes.len > 0) {
        ssize_t put = pwrite(p->fd, bytes.ptr, bytes.len, (off_t)at);
        if (put < 0 && errno != EINTR)
            return failed(p, "write", err);
        if (put > 0) {
            bytes = sv_skip(bytes, (size_t)put);
            at += (uint64_t)put;
        }
    }
    return true;
}

/* How much of an existing part counts; 0 when it is no part of this file. */
static uint64_t saved_bytes(const struct part *p)
{
    struct stat info;
    unsigned char trailer[TRAILER];
    uint64_t done = 0;
    if (fstat(p->fd, &info) != 0 || (uint64_t)info.st_size != p->size + TRAILER ||
        pread(p->fd, trailer, TRAILER, (off_t)p->size) != TRAILER)
        return 0;
    for (unsigned i = 0; i < TRAILER; i++)
        done |= (uint64_t)trailer[i] << (8 * i);
    return done <= p->size ? done : 0;
}

static bool hash_saved(struct part *p, struct error *err)
{
    char *block = mem_alloc(READ_STEP);
    uint64_t at = 0;
    bool ok = true;
    while (ok && at < p->done) {
        uint64_t left = p->done - at;
        ssize_t got = pread(p->fd, block, left < READ_STEP ? (size_t)left : READ_STEP, (off_t)at);
        if (got > 0) {
            sha256_add(&p->hash, sv_make(block, (size_t)got));
            at += (uint64_t)got;
        } else if (got == 0 || errno != EINTR) {
            ok = failed(p, "read", err);
        }
    }
    free(block);
    return ok;
}

/* Before the download, not in the midst of it. */
static bool check_room(const struct part *p, struct error *err)
{
    struct statvfs disk;
    if (fstatvfs(p->fd, &disk) != 0)
        return true;
    uint64_t free_bytes = (uint64_t)disk.f_bavail * disk.f_frsize;
    if (p->size - p->done <= free_bytes)
        return true;
    return error_set(err, E_IO, "'%.*s' needs %llu MB more, but its disk has only %llu MB left",
                     (int)p->path.len, p->path.ptr,
                     (unsigned long long)((p->size - p->done) / 1000000),
                     (unsigned long long)(free_bytes / 1000000));
}

bool part_open(struct part *p, const char *path, uint64_t size, bool hashing, struct error *err)
{
    *p = (struct part){.size = size, .hashing = hashing};
    buf_add_str(&p->path, path);
    sha256_begin(&p->hash);
    p->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bool ok = p->fd >= 0 || failed(p, "open", err);
    if (ok)
        p->done = p->saved = saved_bytes(p);
    ok = ok && check_room(p, err);
    if (ok && p->done == 0)
        ok = part_restart(p, err);
    else if (ok && hashing)
        ok = hash_saved(p, err);
    if (!ok)
        part_close(p);
    return ok;
}

bool part_restart(struct part *p, struct error *err)
{
    p->done = 0;
    sha256_begin(&p->hash);
    if (ftruncate(p->fd, 0) != 0 || ftruncate(p->fd, (off_t)(p->size + TRAILER)) != 0)
        return failed(p, "make room for", err);
    p->saved = 0;
    return true;
}

bool part_add(struct part *p, struct sv bytes, struct error *err)
{
    if (bytes.len > p->size - p->done)
        return error_set(err, E_NETWORK, "the hub sends more than the %llu bytes that it announced",
                         (unsigned long long)p->size);
    if (!write_at(p, bytes, p->done, err))
        return false;
    if (p->hashing)
        sha256_add(&p->hash, bytes);
    p->done += bytes.len;
    return p->done - p->saved < SAVE_EVERY || part_save(p, err);
}

bool part_save(struct part *p, struct error *err)
{
    char trailer[TRAILER];
    for (unsigned i = 0; i < TRAILER; i++)
        trailer[i] = (char)(p->done >> (8 * i));
    p->saved = p->done;
    return write_at(p, sv_make(trailer, TRAILER), p->size, err);
}

bool part_finish(struct part *p, const char *target, struct error *err)
{
    bool ok = (ftruncate(p->fd, (off_t)p->size) == 0 && fdatasync(p->fd) == 0 &&
               rename(buf_cstr(&p->path), target) == 0) ||
              failed(p, "finish", err);
    part_close(p);
    return ok;
}

void part_close(struct part *p)
{
    if (p->fd >= 0)
        close(p->fd);
    p->fd = -1;
    sha256_done(&p->hash);
    buf_done(&p->path);
}

void part_drop(struct part *p)
{
    if (p->fd >= 0)
        unlink(buf_cstr(&p->path));
    part_close(p);
}
