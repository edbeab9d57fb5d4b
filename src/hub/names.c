/* Which names are let into URLs and paths, and how messages about them are put. */
#include "hub/hub_priv.h"

#include <stdio.h>

enum { PATH_BYTES_MAX = 1000, ID_BYTES_MAX = 200, SENTENCE_MAX = 1200 };

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool hub_is_id(const char *id)
{
    size_t slashes = 0;
    size_t len = strlen(id);
    if (len == 0 || len > ID_BYTES_MAX || strchr("./", id[0]) != NULL || id[len - 1] == '/')
        return false;
    for (const char *c = id; *c != '\0'; c++) {
        slashes += *c == '/';
        if (!is_word(*c) && strchr("-_./", *c) == NULL)
            return false;
    }
    /* "--" stands for '/' in the cache's folders. */
    return slashes <= 1 && strstr(id, "..") == NULL && strstr(id, "--") == NULL;
}

void hub_add_escaped(struct buf *out, struct sv text, bool keep_slash)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (is_word(c) || (c != '\0' && strchr("-_.~", c) != NULL) || (keep_slash && c == '/'))
            buf_add_char(out, c);
        else
            buf_add_fmt(out, "%%%02X", (unsigned)(unsigned char)c);
    }
}

bool hub_is_path(struct sv path)
{
    struct sv rest = path;
    struct sv part;
    if (path.len == 0 || path.len > PATH_BYTES_MAX)
        return false;
    for (size_t i = 0; i < path.len; i++)
        if ((unsigned char)path.ptr[i] < ' ' || path.ptr[i] == 0x7f)
            return false;
    while (sv_split(&rest, '/', &part))
        if (part.len == 0 || sv_eq(part, SV_LIT(".")) || sv_eq(part, SV_LIT("..")))
            return false;
    return true;
}

const char *hub_revision(const char *revision)
{
    return revision != NULL ? revision : "main";
}

bool hub_check_file(const struct hub_file *file, struct error *err)
{
    const char *revision = hub_revision(file->revision);
    if (!hub_is_id(file->id))
        return error_set(err, E_CONFIG,
                         "'%s' is no name of a repository; ORG/NAME of letters, digits, '-', '_' "
                         "and '.' is expected",
                         file->id);
    if (!hub_is_path(sv_from(revision)))
        return error_set(err, E_CONFIG, "'%s' is no name of a revision", revision);
    if (!hub_is_path(sv_from(file->name)))
        return error_set(err, E_PARSE, "'%s' is no path of a file in a repository", file->name);
    return true;
}

enum hub_outcome hub_refuse_offline(const char *what, struct error *err)
{
    error_set(err, E_NETWORK,
              "%s is not in the local cache and HF_HUB_OFFLINE is set, so the hub is not asked",
              what);
    return HUB_OFFLINE;
}

void hub_notice(const struct hub_context *hub, const char *format, ...)
{
    char sentence[SENTENCE_MAX];
    va_list args;
    if (hub->notice == NULL)
        return;
    va_start(args, format);
    int n = vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    if (n > 0)
        hub->notice(hub->user, sentence);
}
