/* A room begins where a huge page can; its last part is too small for one. */
#include "tokenizer/bpe_room.h"

#include "base/alloc.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)

static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) & ~(page - 1);
}

void room_open(struct room *room, size_t bytes)
{
    size_t size = whole_pages(bytes + 1); /* not nothing */
    size_t spare = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *mapped =
        mmap(NULL, size + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
        mem_exhausted(bytes);
    size_t skip = spare > 0 ? -(uintptr_t)mapped & (HUGE_PAGE - 1) : 0;
    if (skip > 0)
        munmap(mapped, skip);
    if (spare > skip)
        munmap(mapped + skip + size, spare - skip);
    *room = (struct room){.memory = mapped + skip, .bytes = size};
    /* Advice: a system that does not take it gives single pages when they are used, as usual. */
#ifdef MADV_HUGEPAGE
    if (size >= HUGE_PAGE)
        (void)madvise(room->memory, size & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
    (void)madvise(room->memory, size, MADV_POPULATE_WRITE);
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
    if (room->memory != NULL)
        munmap(room->memory, room->bytes);
    *room = (struct room){0};
}
