/* A server likes to repeat a key that it refuses.  What the user keeps secret is known from the options, so it is looked
 * for by its exact text. */
#include "config/secrets.h"

#include <string.h>

/* Secrets shorter than this are words like "1" or "on", whose replacement would only spoil messages.  A text's end is
 * taken for the beginning of a secret from TAIL_MIN bytes on. */
enum { SECRET_MIN = 4, TAIL_MIN = 6, SECRETS_MAX = 64 };

static size_t add_secret(struct sv *list, size_t n, struct sv secret)
{
    if (secret.len >= SECRET_MIN && n < SECRETS_MAX)
        list[n++] = secret;
    return n;
}

/* The API key, every header value, and what follows the first blank of one ("Bearer KEY"). */
static size_t list_secrets(const struct config *config, struct sv list[SECRETS_MAX])
{
    size_t n = add_secret(list, 0, sv_from(config->api_key));
    for (size_t i = 0; i < config->headers.count; i++) {
        struct sv value = config->headers.items[i].value;
        n = add_secret(list, n, value);
        const char *blank = value.len > 0 ? memchr(value.ptr, ' ', value.len) : NULL;
        if (blank != NULL)
            n = add_secret(list, n, sv_skip(value, (size_t)(blank - value.ptr) + 1));
    }
    return n;
}

/* Length of the longest secret that the text begins with, 0 for none. */
static size_t secret_here(const struct sv *secrets, size_t n, struct sv text)
{
    size_t hit = 0;
    for (size_t i = 0; i < n; i++) {
        if (secrets[i].len > hit && sv_starts(text, secrets[i]))
            hit = secrets[i].len;
    }
    return hit;
}

/* The text is nothing but the beginning of a secret. */
static bool is_beginning(const struct sv *secrets, size_t n, struct sv text)
{
    for (size_t i = 0; i < n; i++) {
        if (text.len >= TAIL_MIN && sv_starts(secrets[i], text))
            return true;
    }
    return false;
}

void config_redact(const struct config *config, struct sv text, struct buf *out)
{
    struct sv secrets[SECRETS_MAX];
    size_t n = list_secrets(config, secrets);
    struct sv dots = sv_ends(text, SV_LIT("...")) ? SV_LIT("...") : SV_LIT("");
    while (text.len > 0) {
        size_t hit = secret_here(secrets, n, text);
        if (hit == 0 && is_beginning(secrets, n, sv_make(text.ptr, text.len - dots.len))) {
            buf_add_str(out, "***");
            buf_add(out, dots);
            return;
        }
        if (hit > 0)
            buf_add_str(out, "***");
        else
            buf_add_char(out, text.ptr[0]);
        text = sv_skip(text, hit > 0 ? hit : 1);
        if (text.len < dots.len)
            dots = SV_LIT("");
    }
}

void config_redact_error(const struct config *config, struct error *err)
{
    struct buf text = {0};
    config_redact(config, sv_from(err->message), &text);
    size_t len = text.len < sizeof(err->message) ? text.len : sizeof(err->message) - 1;
    if (len > 0)
        memcpy(err->message, text.ptr, len);
    err->message[len] = '\0';
    buf_done(&text);
}
