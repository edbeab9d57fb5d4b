/* The mapping is larger than the room by less than one huge page, so that the room can begin with one. */
#include "tokenizer/bpe_room.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

void room_open(struct room *room, size_t bytes)
{
    size_t spare = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    size_t mapped_bytes = bytes + spare + ROOM_ALIGN; /* not nothing */
    char *mapped =
        mmap(NULL, mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        mem_exhausted(bytes);
    size_t skip = spare > 0 ? -(uintptr_t)mapped & (HUGE_PAGE - 1) : 0;
    *room = (struct room){mapped, mapped_bytes, mapped + skip, 0, bytes};
    /* Advice: whoever does not take it gives single pages when they are used, as usual. */
    size_t huge = bytes & ~(HUGE_PAGE - 1);
#ifdef MADV_HUGEPAGE
    if (huge > 0)
        (void)madvise(room->memory, huge, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
    if (bytes > huge)
        (void)madvise(room->memory + huge, bytes - huge, MADV_POPULATE_WRITE);
#endif
}

void *room_take(struct room *room, size_t count, size_t size)
{
    char *at = room->memory + room->used;
    room->used += room_size(count, size);
    assert(room->used <= room->bytes);
    return at;
}

void room_close(struct room *room)
{
    if (room->mapped != NULL)
        munmap(room->mapped, room->mapped_bytes);
    *room = (struct room){0};
}
