/* The variables of the environment, read as Python's library reads them (huggingface_hub 2.4, constants.py). */
#include "hub/hub_priv.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"

#include <arpa/inet.h>
#include <stdlib.h>

enum { CONNECT_S = 10, STALL_S = 60, TOKEN_MAX = 4096 };

/* The first of the variables that is set and not empty; NULL: none. */
static const char *variable(const char *const *names)
{
    for (; *names != NULL; names++) {
        const char *value = getenv(*names);
        if (value != NULL && sv_trim(sv_from(value)).len > 0)
            return value;
    }
    return NULL;
}

#define VARIABLE(...) variable((const char *const[]){__VA_ARGS__, NULL})

static bool is_true(const char *value)
{
    static const struct sv words[] = {{"1", 1}, {"on", 2}, {"yes", 3}, {"true", 4}};
    for (size_t i = 0; value != NULL && i < sizeof(words) / sizeof(words[0]); i++)
        if (sv_eq_nocase(sv_from(value), words[i]))
            return true;
    return false;
}

static unsigned seconds(const char *value, unsigned otherwise)
{
    uint64_t number;
    if (value == NULL || !num_parse_u64(sv_trim(sv_from(value)), &number) || number == 0)
        return otherwise;
    return number < 3600 ? (unsigned)number : 3600;
}

static struct sv without_slashes(struct sv text)
{
    while (text.len > 1 && text.ptr[text.len - 1] == '/')
        text.len--;
    return text;
}

/* "~" in front is the user's folder. */
static const char *folder(struct arena *arena, const char *path)
{
    const char *home = getenv("HOME");
    struct sv rest = without_slashes(sv_from(path));
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
        return arena_fmt(arena, "%s" SV_FMT, home != NULL ? home : "", SV_ARG(sv_skip(rest, 1)))
            .ptr;
    return arena_copy(arena, rest).ptr;
}

static const char *below(struct arena *arena, const char *root, const char *name)
{
    return arena_fmt(arena, "%s/%s", root, name).ptr;
}

static const char *user_cache(struct arena *arena)
{
    const char *given = VARIABLE("XDG_CACHE_HOME");
    return folder(arena, given != NULL ? given : "~/.cache");
}

static const char *hub_home(struct arena *arena)
{
    const char *given = VARIABLE("HF_HOME");
    return given != NULL ? folder(arena, given) : below(arena, user_cache(arena), "huggingface");
}

static const char *token_of(struct arena *arena, const char *home)
{
    const char *given = VARIABLE("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN");
    const char *path = VARIABLE("HF_TOKEN_PATH");
    struct buf text = {0};
    struct error ignored;
    const char *token = NULL;
    if (is_true(getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")))
        return NULL;
    if (given != NULL)
        return arena_copy(arena, sv_trim(sv_from(given))).ptr;
    path = path != NULL ? folder(arena, path) : below(arena, home, "token");
    if (file_exists(path) && !file_is_dir(path) && file_read(path, &text, &ignored)) {
        struct sv word = sv_trim(buf_sv(&text));
        if (word.len > 0 && word.len <= TOKEN_MAX)
            token = arena_copy(arena, word).ptr;
    }
    buf_done(&text);
    return token;
}

/* An address or this machine: has no names below it. */
static bool is_numeric(struct sv host)
{
    char text[64];
    unsigned char address[16];
    if (sv_starts(host, SV_LIT("[")) || sv_eq_nocase(host, SV_LIT("localhost")))
        return true;
    if (host.len >= sizeof(text))
        return false;
    memcpy(text, host.ptr, host.len);
    text[host.len] = '\0';
    return inet_pton(AF_INET, text, address) == 1;
}

/* Python's data set library asks "datasets-server." before the name of the hub's host. */
static const char *datasets_server_of(struct arena *arena, const char *endpoint)
{
    const char *given = VARIABLE("HF_DATASETS_SERVER");
    const char *mark = strstr(endpoint, "://");
    if (given != NULL)
        return arena_copy(arena, without_slashes(sv_trim(sv_from(given)))).ptr;
    if (mark == NULL)
        return endpoint;
    struct sv host = sv_from(mark + 3);
    host.len = strcspn(host.ptr, "/?#");
    struct sv name = host;
    if (!sv_starts(name, SV_LIT("[")))
        name.len = sv_find(name, ':');
    if (is_numeric(name) || sv_find(host, '@') < host.len)
        return endpoint;
    return arena_fmt(arena, "%.*sdatasets-server.%s", (int)(mark + 3 - endpoint), endpoint,
                     mark + 3)
        .ptr;
}

void hub_init(struct hub_context *hub)
{
    *hub = (struct hub_context){0};
    struct arena *arena = &hub->arena;
    const char *endpoint = VARIABLE("HF_ENDPOINT");
    const char *cache = VARIABLE("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE");
    const char *home = hub_home(arena);
    hub->endpoint =
        arena_copy(arena, without_slashes(
                              sv_trim(sv_from(endpoint != NULL ? endpoint : HUB_PUBLIC_ENDPOINT))))
            .ptr;
    hub->datasets_server = datasets_server_of(arena, hub->endpoint);
    hub->token = token_of(arena, home);
    hub->cache = cache != NULL ? folder(arena, cache) : below(arena, home, "hub");
    hub->own_cache = below(arena, user_cache(arena), "vllm-bench");
    hub->offline = is_true(VARIABLE("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
    hub->ca_file = VARIABLE("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE");
    hub->state = mem_new(struct hub_state);
    hub->state->connect_s = seconds(getenv("HF_HUB_ETAG_TIMEOUT"), CONNECT_S);
    hub->state->stall_s = seconds(getenv("HF_HUB_DOWNLOAD_TIMEOUT"), STALL_S);
}

bool hub_is_public(const struct hub_context *hub)
{
    return strcmp(hub->endpoint, HUB_PUBLIC_ENDPOINT) == 0;
}

void hub_done(struct hub_context *hub)
{
    if (hub->state != NULL) {
        hub_transport_done(hub);
        buf_done(&hub->state->dead_origin);
        free(hub->state);
    }
    arena_done(&hub->arena);
    *hub = (struct hub_context){0};
}
