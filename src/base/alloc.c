/* Heap memory or death: a tool that is out of memory cannot measure anything any more. */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mem_exhausted(size_t bytes)
{
    fprintf(stderr, "vllm-bench: out of memory (%zu bytes wanted)\n", bytes);
    _Exit(70);
}

void *mem_alloc(size_t bytes)
{
    void *ptr = malloc(bytes > 0 ? bytes : 1);
    if (ptr == NULL)
        mem_exhausted(bytes);
    return ptr;
}

void *mem_array(size_t count, size_t size)
{
    void *ptr = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (ptr == NULL)
        mem_exhausted(count);
    return ptr;
}

void *mem_resize(void *ptr, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes))
        mem_exhausted(count);
    void *moved = realloc(ptr, bytes > 0 ? bytes : 1);
    if (moved == NULL)
        mem_exhausted(bytes);
    return moved;
}

char *mem_strndup(const char *text, size_t len)
{
    char *copy = mem_alloc(len + 1);
    if (len > 0)
        memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *mem_strdup(const char *text)
{
    return text != NULL ? mem_strndup(text, strlen(text)) : NULL;
}

void mem_free_ptr(void *address_of_pointer)
{
    void **ptr = address_of_pointer;
    free(*ptr);
    *ptr = NULL;
}
