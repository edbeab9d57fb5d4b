/* error.h - what went wrong, as a value the caller owns.
 * Use: a function that can fail in cold code takes `struct error *err` last and returns bool; false means *err is
 * filled.  `return error_set(err, E_PARSE, "line %zu: ...", n);` fails in one line; error_context prefixes on the way
 * up.  Messages: lower case, no full stop, the subject in single quotes, a hint after "; ".
 * Threads: a value belongs to one thread.  Hot code does not use this: it returns small enums. */
#ifndef VB_BASE_ERROR_H
#define VB_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

/* name, exit status of the program when it ends with this error, title */
#define ERROR_CODES(X)                                                                             \
    X(E_NONE, 0, "no error")                                                                       \
    X(E_USAGE, 2, "usage error")                                                                   \
    X(E_CONFIG, 2, "configuration error")                                                          \
    X(E_IO, 1, "input/output error")                                                               \
    X(E_PARSE, 1, "malformed input")                                                               \
    X(E_NETWORK, 1, "network error")                                                               \
    X(E_SERVER, 1, "server error")                                                                 \
    X(E_LIMIT, 1, "limit reached")                                                                 \
    X(E_UNSUPPORTED, 1, "not supported")                                                           \
    X(E_RESULT, 1, "benchmark failed")                                                             \
    X(E_GATE, 3, "gate not met")                                                                   \
    X(E_INTERRUPTED, 130, "interrupted")

enum error_code {
#define ERROR_ENUM(name, status, title) name,
    ERROR_CODES(ERROR_ENUM)
#undef ERROR_ENUM
        E_COUNT
};

struct error {
    enum error_code code;
    int sys; /* errno, 0 when no system call failed */
    char message[1000];
};

/* Fill *err; always returns false.  A message that does not fit is cut and ends in "...". */
bool error_set(struct error *err, enum error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As error_set, with ": " and the text of errno `sys` appended. */
bool error_sys(struct error *err, enum error_code code, int sys, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Put "prefix: " before the message; always returns false. */
bool error_context(struct error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Exit status and title of a code. */
int error_exit_status(enum error_code code);
const char *error_title(enum error_code code);

#endif
