/* sources.h - where settings come from beside the command line: the file of --config and the environment.
 * Use: config_parse calls config_read_sources once the command line has been parsed.  Precedence: command line, file,
 * environment, default.
 * Threads: reads the environment; before any thread.  Errors: struct error (E_USAGE) with file and line, or the
 * variable. */
#ifndef VB_CONFIG_SOURCES_H
#define VB_CONFIG_SOURCES_H

#include "config/config.h"
#include "config/options.h"

/* Variables of the environment that are named like flags begin with this: VLLM_BENCH_NUM_PROMPTS=10. */
#define CONFIG_ENV_PREFIX "VLLM_BENCH_"

bool config_read_sources(struct config *config, struct option_parser *parser, struct error *err);

#endif
