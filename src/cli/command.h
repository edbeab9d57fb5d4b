/* command.h - which command a command line names, and the texts of help.
 * Use: command_find on the whole argv; then hand the words from *first on to the command.
 * Threads: no state.  Errors: struct error, code E_USAGE. */
#ifndef VB_CLI_COMMAND_H
#define VB_CLI_COMMAND_H

#include "base/buf.h"
#include "base/error.h"

enum command_id {
    COMMAND_SERVE,
    COMMAND_COMPARE, /* serve, with --compare before the words */
    COMMAND_MOCK_SERVER,
    COMMAND_TOKENIZE,
    COMMAND_DOCTOR,
    COMMAND_GENERATE, /* hidden: man page, completions */
    COMMAND_HELP,
    COMMAND_NONE, /* no words at all */
};

/* The commands that help and completions name; ends with a NULL name. */
struct command_info {
    const char *name;
    const char *help; /* a sentence without its full stop */
};
const struct command_info *command_list(void);

/* *first: index of the first word after the command. */
bool command_find(int argc, char **argv, enum command_id *command, int *first, struct error *err);

/* Help of `serve`: the flags most used with examples; all flags; those of a group or with a word (false and a message
 * when there are none). */
void command_help_short(struct buf *out, unsigned width);
void command_help_full(struct buf *out, unsigned width);
void command_help_doctor(struct buf *out, unsigned width);
void command_help_compare(struct buf *out, unsigned width);
bool command_help_topic(struct buf *out, unsigned width, const char *topic, struct error *err);

#endif
