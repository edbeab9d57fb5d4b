/* generate.h - texts made from the option table of `serve`: the man page and the completions of three shells.
 * Use: command_generate with "man", "bash", "zsh" or "fish"; the build installs what it writes.
 * Threads: no state.  Errors: struct error, code E_USAGE, for another word. */
#ifndef VB_CLI_GENERATE_H
#define VB_CLI_GENERATE_H

#include "base/buf.h"
#include "base/error.h"

bool command_generate(const char *what, struct buf *out, struct error *err);

/* The parts. */
void generate_man(struct buf *out);
void generate_bash(struct buf *out);
void generate_zsh(struct buf *out);
void generate_fish(struct buf *out);

#endif
