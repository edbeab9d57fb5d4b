/* arena.h - memory that is freed all at once, at the end of a phase.
 * Use: struct arena a = {0}; arena_alloc(&a, n); ... arena_done(&a).  Nothing is freed singly.
 * Pieces stay where they are until arena_done.  Threads: one owner.  Errors: none (see alloc.h). */
#ifndef VB_BASE_ARENA_H
#define VB_BASE_ARENA_H

#include "base/sv.h"

struct arena {
    struct arena_chunk *chunks; /* newest first */
    char *next;                 /* free space of the newest chunk */
    size_t left;                /* bytes of it */
    size_t total_bytes;         /* handed out so far */
};

/* 16-byte aligned, not zeroed. */
void *arena_alloc(struct arena *a, size_t bytes);
/* Zeroed array; ends the program when count * size overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);
/* Unaligned copy of text; the copy is followed by a NUL that is not counted. */
struct sv arena_copy(struct arena *a, struct sv text);
char *arena_strdup(struct arena *a, const char *text);
struct sv arena_fmt(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

void arena_done(struct arena *a);

#endif
