/* config_modes_priv.h - settings of the modes: values of their flags and the rules across them; inside this room only.
 * Use: the set_ functions stand in options.def; config_check_modes is one step of config_check.
 * Threads: as config.h.  Errors: E_USAGE of a single flag, E_CONFIG of several. */
#ifndef VB_CONFIG_CONFIG_MODES_PRIV_H
#define VB_CONFIG_CONFIG_MODES_PRIV_H

#include "config/config.h"
#include "config/options.h"

bool set_concurrency_list(const struct option_call *call, struct error *err);
bool set_rate_list(const struct option_call *call, struct error *err);
bool set_percentile_list(const struct option_call *call, struct error *err);
bool set_compare_file(const struct option_call *call, struct error *err);
bool set_share(const struct option_call *call, struct error *err);
bool set_max_failures(const struct option_call *call, struct error *err);
bool set_fail_if(const struct option_call *call, struct error *err);

bool config_check_compare(struct config *config, struct error *err);
bool config_check_modes(struct config *config, struct error *err);

#endif
