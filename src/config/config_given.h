/* config_given.h - what the flags that were given say about each other, before their values are checked together.
 * Use: config_check_given at the end of config_parse.  Threads: no state.  Errors: struct error, code E_CONFIG. */
#ifndef VB_CONFIG_CONFIG_GIVEN_H
#define VB_CONFIG_CONFIG_GIVEN_H

#include "config/config.h"
#include "config/options.h"

/* Refuses what contradicts itself; warns of what has no effect beside the rest. */
bool config_check_given(struct config *config, const struct option_parser *parser,
                        struct error *err);

#endif
