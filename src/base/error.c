/* Error values: formatting, prefixing, exit statuses. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    int status;
    const char *title;
} codes[E_COUNT] = {
#define ERROR_ROW(name, status, title) [name] = {status, title},
    ERROR_CODES(ERROR_ROW)
#undef ERROR_ROW
};

static void mark_cut(struct error *err, int wanted)
{
    if (wanted >= 0 && (size_t)wanted >= sizeof(err->message))
        memcpy(err->message + sizeof(err->message) - 4, "...", 4);
}

__attribute__((format(printf, 2, 0))) static void format_message(struct error *err,
                                                                 const char *format, va_list args)
{
    mark_cut(err, vsnprintf(err->message, sizeof(err->message), format, args));
}

bool error_set(struct error *err, enum error_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->code = code;
    err->sys = 0;
    format_message(err, format, args);
    va_end(args);
    return false;
}

bool error_sys(struct error *err, enum error_code code, int sys, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    err->code = code;
    err->sys = sys;
    format_message(err, format, args);
    va_end(args);

    char reason[128];
    const char *text = strerror_r(sys, reason, sizeof(reason));
    size_t used = strlen(err->message);
    int wanted = snprintf(err->message + used, sizeof(err->message) - used, ": %s", text);
    mark_cut(err, wanted + (int)used);
    return false;
}

bool error_context(struct error *err, const char *format, ...)
{
    struct error old = *err;
    va_list args;
    va_start(args, format);
    format_message(err, format, args);
    va_end(args);
    size_t used = strlen(err->message);
    int wanted = snprintf(err->message + used, sizeof(err->message) - used, ": %s", old.message);
    mark_cut(err, wanted + (int)used);
    return false;
}

int error_exit_status(enum error_code code)
{
    return code < E_COUNT ? codes[code].status : 1;
}

const char *error_title(enum error_code code)
{
    return code < E_COUNT ? codes[code].title : "unknown error";
}
