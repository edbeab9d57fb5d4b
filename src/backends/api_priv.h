/* api_priv.h - what the files of the single APIs give to the table.
 * Use: only table.c.  Threads: pure functions.  Errors: see backend.h. */
#ifndef VB_BACKENDS_API_PRIV_H
#define VB_BACKENDS_API_PRIV_H

#include "backends/backend.h"

bool completions_body_parts(const struct config *config, const char *model, struct body_template *t,
                            struct error *err);
enum scan_result completions_scan(struct sv name, struct sv data, struct reply_event *event);

bool chat_body_parts(const struct config *config, const char *model, struct body_template *t,
                     struct error *err);
enum scan_result chat_scan(struct sv name, struct sv data, struct reply_event *event);

#endif
