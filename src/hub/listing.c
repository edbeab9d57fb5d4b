/* The files of a repository: from the hub, or, offline, what the cache has of the revision. */
#include "hub/answers.h"
#include "hub/hub_priv.h"

#include "base/alloc.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FOLDERS_DEEP = 32 };

static enum hub_outcome ask(struct hub_context *hub, const struct hub_file *repo, const char *what,
                            struct hub_names *names, struct error *err)
{
    struct buf url = {0};
    struct hub_reply reply = {0};
    size_t left_out = 0;
    buf_add_fmt(&url, "%s/api/%s/%s/revision/", hub->endpoint,
                repo->kind == HUB_DATASET ? "datasets" : "models", repo->id);
    hub_add_escaped(&url, sv_from(hub_revision(repo->revision)), false);
    struct hub_request request = {.url = buf_cstr(&url), .wait = HUB_WAIT_JSON};
    enum hub_outcome outcome = hub_send_patiently(hub, &request, &reply, err);
    if (outcome == HUB_OK)
        outcome = hub_judge(hub, &reply, what, err);
    if (outcome == HUB_OK && !hub_parse_listing(buf_sv(&reply.body), names, &left_out, err)) {
        error_context(err, "%s", what);
        outcome = HUB_FAILED;
    }
    if (left_out > 0)
        hub_notice(hub, "warning: %zu files of '%s' have names that cannot be used", left_out,
                   repo->id);
    hub_reply_done(&reply);
    buf_done(&url);
    return outcome;
}

/* Adds the files below `folder`, whose path from the snapshot is `inside`. */
static void walk(struct buf *folder, struct buf *inside, unsigned depth, struct hub_names *names,
                 size_t *cap)
{
    DIR *dir = depth < FOLDERS_DEEP ? opendir(buf_cstr(folder)) : NULL;
    size_t folder_len = folder->len;
    size_t inside_len = inside->len;
    struct dirent *entry;
    struct stat info;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        buf_add_fmt(folder, "/%s", entry->d_name);
        buf_add_fmt(inside, "%s%s", inside_len > 0 ? "/" : "", entry->d_name);
        if (stat(buf_cstr(folder), &info) == 0 && S_ISDIR(info.st_mode)) {
            walk(folder, inside, depth + 1, names, cap);
        } else if (stat(buf_cstr(folder), &info) == 0 && S_ISREG(info.st_mode)) {
            MEM_GROW(names->items, names->count, *cap);
            names->items[names->count++] = arena_copy(&names->arena, buf_sv(inside));
        }
        folder->len = folder_len;
        inside->len = inside_len;
    }
    if (dir != NULL)
        closedir(dir);
}

static enum hub_outcome list_cached(const struct hub_context *hub, const struct hub_file *repo,
                                    const char *what, struct hub_names *names, struct error *err)
{
    struct buf folder = {0};
    struct buf inside = {0};
    struct hub_names found = {0};
    char commit[HUB_COMMIT_MAX + 1];
    size_t cap = 0;
    if (hub_cached_commit(hub, repo->kind, repo->id, repo->revision, commit)) {
        hub_add_repo_folder(hub, repo->kind, repo->id, &folder);
        buf_add_fmt(&folder, "/snapshots/%s", commit);
        walk(&folder, &inside, 0, &found, &cap);
    }
    if (found.count > 0) {
        struct sv *kept = arena_array(&found.arena, found.count, sizeof(*kept));
        memcpy(kept, found.items, found.count * sizeof(*kept));
        free(found.items);
        found.items = kept;
        hub_names_sort(&found);
    }
    buf_done(&folder);
    buf_done(&inside);
    *names = found;
    return found.count > 0 ? HUB_OK : hub_refuse_offline(what, err);
}

enum hub_outcome hub_list_files(struct hub_context *hub, enum hub_kind kind, const char *id,
                                const char *revision, struct hub_names *names, struct error *err)
{
    struct hub_file repo = {kind, id, revision, "any"};
    struct buf what = {0};
    *names = (struct hub_names){0};
    if (!hub_check_file(&repo, err))
        return HUB_FAILED;
    buf_add_fmt(&what, "list of files of the %s '%s' (revision '%s')",
                kind == HUB_DATASET ? "data set" : "model", id, hub_revision(revision));
    enum hub_outcome outcome = hub->offline ? list_cached(hub, &repo, buf_cstr(&what), names, err)
                                            : ask(hub, &repo, buf_cstr(&what), names, err);
    buf_done(&what);
    return outcome;
}
