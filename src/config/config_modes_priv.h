/* config_modes_priv.h - settings of the modes: values of their flags and the rules across them; inside this room only.
 * Use: the set_ functions stand in options.def; config_check_modes is one step of config_check.
 * Threads: as config.h.  Errors: E_USAGE of a single flag, E_CONFIG of several. */
#ifndef VB_CONFIG_CONFIG_MODES_PRIV_H
#define VB_CONFIG_CONFIG_MODES_PRIV_H

#include "config/config.h"
#include "config/options.h"

option_set_fn set_concurrency_list, set_rate_list, set_percentile_list, set_compare_file, set_share,
    set_max_failures, set_fail_if;

bool config_check_modes(struct config *config, struct error *err);

#endif
