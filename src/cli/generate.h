/* generate.h - texts made from the option tables: the man page and the completions of three shells.
 * Use: command_generate with "man", "bash", "zsh" or "fish" and the tables of the commands that have flags of their own;
 * the build installs what it writes.
 * Threads: no state.  Errors: struct error, code E_USAGE, for another word. */
#ifndef VB_CLI_GENERATE_H
#define VB_CLI_GENERATE_H

#include "base/buf.h"
#include "base/error.h"
#include "config/options.h"

/* A command beside `serve` with its flags; a list ends with a NULL name. */
struct command_flags {
    const char *name;
    const struct option_row *rows;
    size_t count;
    bool takes_files; /* words that are no flags are names of files */
};

bool command_generate(const char *what, const struct command_flags *others, struct buf *out,
                      struct error *err);

/* The parts. */
void generate_man(const struct command_flags *others, struct buf *out);
void generate_bash(const struct command_flags *others, struct buf *out);
void generate_zsh(const struct command_flags *others, struct buf *out);
void generate_fish(const struct command_flags *others, struct buf *out);

#endif
