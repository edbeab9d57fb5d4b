/* secrets.h - hides the API key and header values in texts that came from outside.
 * Use: config_redact before any such text is shown or saved; config_redact_error for a message on its way up.
 * Threads: pure functions.  Errors: none. */
#ifndef VB_CONFIG_SECRETS_H
#define VB_CONFIG_SECRETS_H

#include "base/buf.h"
#include "base/error.h"
#include "base/sv.h"
#include "config/config.h"

/* Appends the text with every secret in it replaced by "***"; so is the beginning of one at the end of a text that was
 * cut short. */
void config_redact(const struct config *config, struct sv text, struct buf *out);

/* The same for the message of an error, in place. */
void config_redact_error(const struct config *config, struct error *err);

#endif
