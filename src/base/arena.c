/* Chunked bump allocation.  Chunks are 64 KiB, doubling to 4 MiB, so that small phases stay small. */
#include "base/arena.h"

#include "base/alloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_MIN = 64 * 1024, CHUNK_MAX = 4 * 1024 * 1024 };

struct arena_chunk {
    struct arena_chunk *older;
    size_t bytes;
};

static void add_chunk(struct arena *a, size_t need)
{
    size_t bytes = a->chunks != NULL ? a->chunks->bytes * 2 : CHUNK_MIN;
    if (bytes > CHUNK_MAX)
        bytes = CHUNK_MAX;
    if (need > bytes - sizeof(struct arena_chunk) - 16)
        bytes = need + sizeof(struct arena_chunk) + 16;
    struct arena_chunk *chunk = mem_alloc(bytes);
    chunk->older = a->chunks;
    chunk->bytes = bytes <= CHUNK_MAX ? bytes : CHUNK_MAX;
    a->chunks = chunk;
    a->next = (char *)(chunk + 1);
    a->left = bytes - sizeof(struct arena_chunk);
}

static char *take(struct arena *a, size_t bytes, size_t align)
{
    size_t pad = (size_t)(-(uintptr_t)a->next & (align - 1));
    if (bytes > SIZE_MAX / 2)
        mem_exhausted(bytes); /* sums below could overflow */
    if (a->next == NULL || pad + bytes > a->left) {
        add_chunk(a, bytes);
        pad = (size_t)(-(uintptr_t)a->next & (align - 1));
    }
    char *ptr = a->next + pad;
    a->next += pad + bytes;
    a->left -= pad + bytes;
    a->total_bytes += bytes;
    return ptr;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
    return take(a, bytes, 16);
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        mem_exhausted(SIZE_MAX);
    void *ptr = take(a, bytes, 16);
    memset(ptr, 0, bytes);
    return ptr;
}

struct sv arena_copy(struct arena *a, struct sv text)
{
    char *ptr = take(a, text.len + 1, 1);
    if (text.len > 0)
        memcpy(ptr, text.ptr, text.len);
    ptr[text.len] = '\0';
    return sv_make(ptr, text.len);
}

char *arena_strdup(struct arena *a, const char *text)
{
    size_t len = strlen(text);
    char *ptr = take(a, len + 1, 1);
    memcpy(ptr, text, len + 1);
    return ptr;
}

struct sv arena_fmt(struct arena *a, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    int wanted = vsnprintf(NULL, 0, format, args);
    size_t len = wanted > 0 ? (size_t)wanted : 0;
    char *ptr = take(a, len + 1, 1);
    vsnprintf(ptr, len + 1, format, again);
    va_end(again);
    va_end(args);
    return sv_make(ptr, len);
}

void arena_done(struct arena *a)
{
    for (struct arena_chunk *chunk = a->chunks; chunk != NULL;) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    *a = (struct arena){0};
}
