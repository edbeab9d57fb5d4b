/* bpe_room.h - one block of zeroed memory for tables that are filled as a whole and live as long as their tokenizer.
 * Single pages would cost more than what is written to them: where the system can, whole 2 MB of the block are one page and
 * the rest comes at once.
 * Use: room_open with the sum of room_size over all tables; room_take for each; room_close.
 * Threads: one.  Errors: none (out of memory ends the program). */
#ifndef VB_TOKENIZER_BPE_ROOM_H
#define VB_TOKENIZER_BPE_ROOM_H

#include <stddef.h>

enum { ROOM_ALIGN = 64 };

struct room {
    char *memory;
    size_t used;
    size_t bytes;
};

static inline size_t room_size(size_t count, size_t size)
{
    return (count * size + ROOM_ALIGN - 1) & ~(size_t)(ROOM_ALIGN - 1);
}

void room_open(struct room *room, size_t bytes);
/* Zeroed, aligned to ROOM_ALIGN; what was opened must suffice. */
void *room_take(struct room *room, size_t count, size_t size);
/* Also for a room that was never opened, or is closed already. */
void room_close(struct room *room);

#endif
