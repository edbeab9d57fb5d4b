/* file.h - whole files in and out.
 * Writing is atomic: a temporary file in the same folder, flushed, then renamed over the target.
 * Threads: safe.  Errors: struct error, code E_IO, path in the message. */
#ifndef VB_BASE_FILE_H
#define VB_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* Reads all of a regular file or pipe into *out (appended). */
bool file_read(const char *path, struct buf *out, struct error *err);
bool file_write_atomic(const char *path, struct sv content, struct error *err);
/* Appends one record: a newline first when the file is not empty, then the content; created when missing.
 * One write call under an exclusive lock, so records of several programs never mix. */
bool file_append_record(const char *path, struct sv content, struct error *err);
/* Makes the folder and its parents; an existing folder is fine, an existing file is an error. */
bool file_make_dirs(const char *path, struct error *err);
bool file_exists(const char *path);
bool file_is_dir(const char *path);

/* A file mapped read-only; view.len is its size.  Empty files give an empty view. */
struct file_map {
    struct sv view;
    void *base;
};
bool file_map_open(const char *path, struct file_map *map, struct error *err);
void file_map_close(struct file_map *map);

#endif
