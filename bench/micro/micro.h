/* micro.h - measures small operations against a floor over the same data.
 * Use: a table of struct micro_case, ended by a NULL name; micro_run prints one line a case.
 * A case's function performs `rounds` rounds of `ops` operations each.  Threads: one.  Errors: none. */
#ifndef VB_BENCH_MICRO_H
#define VB_BENCH_MICRO_H

#include <stddef.h>
#include <stdint.h>

/* Returns anything that depends on the work, so that the compiler keeps it. */
typedef uint64_t micro_fn(void *context, size_t rounds);

struct micro_case {
    const char *name;
    const char *floor_name;
    size_t ops;   /* operations in one round */
    size_t bytes; /* of input in one round; 0: no sense in a rate */
    micro_fn *run;
    micro_fn *floor;
    void *context;
};

/* Cases of the files in this folder; the contexts live to the program's end. */
const struct micro_case *micro_stream_cases(void);
const struct micro_case *micro_number_cases(void);
const struct micro_case *micro_tokenizer_cases(void);

/* Keeps a value and everything reachable from it alive. */
static inline void micro_keep(const void *value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

#endif
