/* part.h - a file while it is downloaded: blobs/ETAG.sync.part, as long as the file will be and eight bytes more, which
 * say (little-endian) how many bytes from the start are there.  Rust's library has the same form, so either goes on where
 * the other one stopped.
 * Use: part_open; part_add as bytes come; part_save now and then and before a pause; part_finish, or part_close, which
 * keeps what is there.
 * Threads: one owner, who holds the lock of the blob.  Errors: struct error, code E_IO. */
#ifndef VB_HUB_PART_H
#define VB_HUB_PART_H

#include "base/buf.h"
#include "base/error.h"
#include "net/sha256.h"

#include <stdint.h>

struct part {
    struct buf path;
    int fd;
    uint64_t size; /* of the whole file */
    uint64_t done; /* bytes that are there */
    uint64_t saved;
    bool hashing;
    struct sha256 hash; /* of the bytes that are there, when `hashing` */
};

/* Goes on with a part that is there and of the right size, else begins one.  `hashing` reads what is there. */
bool part_open(struct part *p, const char *path, uint64_t size, bool hashing, struct error *err);
/* Refuses bytes beyond the size. */
bool part_add(struct part *p, struct sv bytes, struct error *err);
bool part_save(struct part *p, struct error *err);
/* From the first byte again. */
bool part_restart(struct part *p, struct error *err);
/* Cuts the file to its size, brings it to disk and renames it; all bytes must be there.  The part is closed. */
bool part_finish(struct part *p, const char *target, struct error *err);
void part_close(struct part *p);
/* Closes and removes. */
void part_drop(struct part *p);

#endif
