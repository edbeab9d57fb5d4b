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

/* Converts one word (NULL for a switch) as `option_parse` does; `name` is how the message calls the row. */
bool option_apply(const struct option_parser *p, const struct option_row *row, struct sv name,
                  const char *value, struct error *err);

/* Adds a word to how the row was given; a row of one value keeps the last. */
void option_record(const struct option_parser *p, const struct option_row *row, const char *word);

/* `a` with the members of `b` put into it, deeply; lists are joined; anything else is replaced.  Text in the arena;
 * false when one is no JSON. */
bool option_json_merge(struct arena *arena, struct sv a, struct sv b, struct sv *out,
                       struct error *err);

/* The beginning of a JSON text for a message: up to the first key, since a value may be a secret. */
struct sv option_json_shown(struct arena *arena, struct sv text);

/* {"key":{"key":value}} of "key.key" and the word after the flag, read as Python's parser reads it. */
struct sv option_json_nest(struct arena *arena, struct sv path, const char *word);

#endif
