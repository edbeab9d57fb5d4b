/* cli.h - the command line: finds the command, parses its options, runs its mode, reports errors.
 * Use: cli_main from main only.  Threads: call once, before any thread.  Errors: printed; the result is the exit
 * status (0 done, 1 failed, 2 usage, 3 gate not met, 130 interrupted). */
#ifndef VB_CLI_CLI_H
#define VB_CLI_CLI_H

int cli_main(int argc, char **argv);

#endif
