/* options_priv.h - what the parser, the conversions and the help of the option tables share.
 * Use: inside config only.  Threads: no state.  Errors: as options.h. */
#ifndef VB_CONFIG_OPTIONS_PRIV_H
#define VB_CONFIG_OPTIONS_PRIV_H

#include "config/options.h"

static inline bool option_is_switch(const struct option_row *row)
{
    return row->kind == OPTION_SWITCH || row->kind == OPTION_SWITCH_OFF;
}

/* '-' and '_' alike. */
bool option_names_alike(struct sv a, struct sv b);

/* Next of blank-separated names; false at the end. */
bool option_next_name(struct sv *rest, struct sv *name);

/* Converts the word and stores it in row's field of target; the message names the value but not the flag. */
bool option_store(const struct option_call *call, struct error *err);

/* The value says the same as the row's default. */
bool option_is_default(const struct option_row *row, const char *value);

#endif
