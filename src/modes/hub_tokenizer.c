/* The files of a tokenizer in the hub's cache, downloaded where they are missing: the main one in the order of
 * HUB_AND_TOKENIZERS 1, then what its loader reads beside it, at the same commit, so that all belong together. */
#include "modes/hub_tokenizer.h"

#include <string.h>

#include "base/file.h"

struct search {
    struct hub_context *hub;
    const struct hub_tokenizer_request *request;
    const char *main; /* name of the main file */
    bool was_cached;
    struct buf path; /* of the main file */
};

static struct hub_file file_of(const struct search *s, const char *revision, const char *name)
{
    return (struct hub_file){HUB_MODEL, s->request->id, revision, name};
}

static bool find_cached_main(struct search *s)
{
    const char *name;
    for (size_t i = 0; (name = tokenizer_main_file(i)) != NULL; i++) {
        struct hub_file file = file_of(s, NULL, name);
        if (hub_find_cached(s->hub, &file, &s->path)) {
            s->main = name;
            s->was_cached = true;
            return true;
        }
    }
    return false;
}

static enum hub_outcome fetch_main(struct search *s, struct error *err)
{
    struct error first = {0};
    const char *name;
    for (size_t i = 0; (name = tokenizer_main_file(i)) != NULL; i++) {
        struct hub_file file = file_of(s, NULL, name);
        enum hub_outcome outcome = hub_fetch_file(s->hub, &file, &s->path, err);
        if (outcome == HUB_OK)
            s->main = name;
        if (outcome != HUB_ABSENT)
            return outcome;
        if (i == 0)
            first = *err;
    }
    *err = first;
    error_context(err, "the hub has no tokenizer of this name in a form that is understood");
    return HUB_ABSENT;
}

/* snapshots/COMMIT/NAME, where the name of a main file has no '/'. */
static struct sv commit_of(struct buf *path)
{
    struct sv rest = buf_sv(path);
    while (rest.len > 0 && rest.ptr[rest.len - 1] != '/')
        rest.len--;
    rest.len -= rest.len > 0;
    size_t end = rest.len;
    while (rest.len > 0 && rest.ptr[rest.len - 1] != '/')
        rest.len--;
    return sv_make(rest.ptr + rest.len, end - rest.len);
}

static bool is_settled(const struct search *s, const char *commit, const char *name)
{
    struct hub_file file = file_of(s, commit, name);
    struct buf path = {0};
    bool is = hub_find_cached(s->hub, &file, &path) || hub_known_absent(s->hub, &file);
    buf_done(&path);
    return is;
}

static enum hub_outcome fetch_side(struct search *s, const char *commit, const char *name,
                                   struct error *err)
{
    struct hub_file file = file_of(s, commit, name);
    struct buf path = {0};
    enum hub_outcome outcome = hub_fetch_file(s->hub, &file, &path, err);
    buf_done(&path);
    return outcome == HUB_ABSENT ? HUB_OK : outcome;
}

/* What another program has put into the cache counts as complete once it has the configuration: it is not asked for
 * again and again what may be missing on purpose. */
static enum hub_outcome fetch_sides(struct search *s, struct error *err)
{
    char commit[128];
    const char *name;
    struct sv known = commit_of(&s->path);
    if (known.len == 0 || known.len >= sizeof(commit))
        return HUB_OK;
    memcpy(commit, known.ptr, known.len);
    commit[known.len] = '\0';
    if (s->was_cached && (s->hub->offline || is_settled(s, commit, "tokenizer_config.json")))
        return HUB_OK;
    for (size_t i = 0; (name = tokenizer_side_file(s->main, i)) != NULL; i++) {
        enum hub_outcome outcome = fetch_side(s, commit, name, err);
        if (outcome != HUB_OK)
            return outcome;
    }
    return HUB_OK;
}

static void tell(const struct hub_context *hub, const struct error *err)
{
    struct error told = *err;
    error_context(&told,
                  "warning: the tokenizer is used as it lies in the cache, without files that "
                  "may belong to it");
    if (hub->notice != NULL)
        hub->notice(hub->user, told.message);
}

static enum hub_outcome prepare(struct search *s, struct error *err)
{
    enum hub_outcome outcome = find_cached_main(s) ? HUB_OK : fetch_main(s, err);
    if (outcome != HUB_OK)
        return outcome;
    outcome = fetch_sides(s, err);
    if (outcome != HUB_OK && outcome != HUB_INTERRUPTED && s->was_cached) {
        tell(s->hub, err);
        outcome = HUB_OK;
    }
    return outcome;
}

static bool may_be_on_hub(const struct hub_tokenizer_request *request)
{
    return hub_is_id(request->id) && !file_exists(request->id) &&
           (request->named || strchr(request->id, '/') != NULL);
}

static struct tokenizer *load_from_hub(struct search *s, bool *missing, struct error *err)
{
    enum hub_outcome outcome = prepare(s, err);
    *missing = outcome != HUB_OK && outcome != HUB_INTERRUPTED;
    if (outcome != HUB_OK)
        return NULL;
    s->path.len -= strlen(s->main) + 1;
    return tokenizer_load_folder(buf_cstr(&s->path), s->request->id, s->request->use, err);
}

struct tokenizer *hub_tokenizer_find(struct hub_context *hub,
                                     const struct hub_tokenizer_request *request, bool *missing,
                                     struct error *err)
{
    struct search s = {.hub = hub, .request = request};
    struct error local;
    struct error hub_error;
    struct tokenizer *t = tokenizer_resolve(request->id, request->use, missing, err);
    if (t != NULL || !*missing || !may_be_on_hub(request))
        return t;
    t = load_from_hub(&s, missing, &hub_error);
    buf_done(&s.path);
    local = *err;
    if (t == NULL && *missing)
        error_set(err, hub_error.code, "%s; %s", local.message, hub_error.message);
    else if (t == NULL)
        *err = hub_error;
    return t;
}
