/* file.h - whole files in and out.
 * Writing is atomic: a temporary file in the same folder, flushed, then renamed over the target.  Links are followed;
 * devices and pipes are written in place.
 * Threads: safe.  Errors: struct error, code E_IO, path in the message. */
#ifndef VB_BASE_FILE_H
#define VB_BASE_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* Reads all of a regular file or pipe into *out (appended). */
bool file_read(const char *path, struct buf *out, struct error *err);
bool file_write_atomic(const char *path, struct sv content, struct error *err);
/* All bytes to an open file or pipe, however many calls it takes; false with errno set. */
bool file_write_all(int fd, struct sv content);

/* Never an existing file, nor through a link; for its owner alone.  A failure leaves nothing. */
bool file_write_new(const char *path, struct sv content, struct error *err);

/* The same as file_write_atomic in pieces: after a begin that succeeded, any number of adds, then end, which tells of
 * failures in between too and puts the file in its place only without any. */
struct file_out {
    const char *path; /* the caller's */
    char *target;     /* NULL: written in place */
    struct buf temporary;
    int fd;
    int reason; /* errno of the first failure, 0 without */
};
bool file_out_begin(struct file_out *out, const char *path, struct error *err);
void file_out_add(struct file_out *out, struct sv content);
bool file_out_end(struct file_out *out, struct error *err);

/* Appends one record: a newline first when the file is not empty, then the content; created when missing.
 * One write call under an exclusive lock, so records of several programs never mix; what does not fit is taken back. */
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
