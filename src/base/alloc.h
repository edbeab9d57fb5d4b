/* alloc.h - memory from the heap that never fails: out of memory prints one line and ends with status 70.
 * Use: mem_new for one object, mem_array for many (zeroed), mem_grow to make an array larger; free() releases.
 * Threads: safe.  Errors: none returned; a size that overflows ends the program as out of memory does. */
#ifndef VB_BASE_ALLOC_H
#define VB_BASE_ALLOC_H

#include <stddef.h>

/* Ends the program as every function here does when there is no memory; `bytes` is what was wanted. */
void mem_exhausted(size_t bytes) __attribute__((noreturn));

void *mem_alloc(size_t bytes);              /* not zeroed */
void *mem_array(size_t count, size_t size); /* zeroed */
void *mem_resize(void *ptr, size_t count, size_t size);
char *mem_strdup(const char *text);              /* NULL gives NULL */
char *mem_strndup(const char *text, size_t len); /* NUL-terminated copy of len bytes */

#define mem_new(type) ((type *)mem_array(1, sizeof(type)))

/* Makes room for one more element: `array` of `count` used and `cap` allocated elements grows by half.
 * Example: MEM_GROW(list->items, list->count, list->cap); list->items[list->count++] = x; */
#define MEM_GROW(array, count, cap)                                                                \
    do {                                                                                           \
        if ((count) == (cap)) {                                                                    \
            (cap) = (cap) < 8 ? 8 : (cap) + (cap) / 2;                                             \
            (array) = mem_resize((array), (cap), sizeof(*(array)));                                \
        }                                                                                          \
    } while (0)

/* Scope clean-up: CLEANUP(file_close) FILE *f = ...; the function gets the variable's address. */
#define CLEANUP(function) __attribute__((cleanup(function)))

/* Moves ownership out of a variable that has a clean-up. */
#define TAKE(ptr)                                                                                  \
    __extension__({                                                                                \
        __typeof__(ptr) taken_ = (ptr);                                                            \
        (ptr) = NULL;                                                                              \
        taken_;                                                                                    \
    })

/* For CLEANUP on heap pointers: CLEANUP(mem_free_ptr) char *text = ...; */
void mem_free_ptr(void *address_of_pointer);

#endif
