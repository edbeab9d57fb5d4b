/* See hf_source.h.  Of a repository the files of `main` are taken as Python does; where these hold no table (a data set
 * that is made by a script), its Parquet form from the datasets server. */
#include "datasets/hf_source.h"

#include "base/alloc.h"
#include "base/file.h"
#include "hub/datasets_server.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MAX_DEPTH = 16, MAX_NAMES = 1000000 };

/* ---- a folder ----------------------------------------------------------------------------------------------------- */

struct listing {
    struct hf_source *source;
    size_t cap;
    struct buf path; /* of the folder that is being read */
    size_t root;     /* bytes of the data set's own folder in it, with '/' */
};

static int by_bytes(const void *a, const void *b)
{
    const struct sv *x = a;
    const struct sv *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->ptr, y->ptr, n);
    return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool list_folder(struct listing *l, int depth, struct error *err);

static bool list_entry(struct listing *l, const char *name, int depth, struct error *err)
{
    struct stat info;
    struct hf_source *source = l->source;
    size_t before = l->path.len;
    bool ok = true;
    buf_add_str(&l->path, name);
    if (stat(buf_cstr(&l->path), &info) == 0 && S_ISDIR(info.st_mode) && depth < MAX_DEPTH) {
        buf_add_char(&l->path, '/');
        ok = list_folder(l, depth + 1, err);
    } else if (S_ISREG(info.st_mode)) {
        if (source->count == MAX_NAMES)
            return error_set(err, E_LIMIT, "'%s' holds more than %d files", source->path,
                             MAX_NAMES);
        MEM_GROW(source->names, source->count, l->cap);
        source->names[source->count++] =
            arena_copy(&source->arena, sv_skip(buf_sv(&l->path), l->root));
    }
    l->path.len = before;
    return ok;
}

static bool list_folder(struct listing *l, int depth, struct error *err)
{
    DIR *folder = opendir(buf_cstr(&l->path));
    bool ok = true;
    if (folder == NULL)
        return error_set(err, E_IO, "'%s' cannot be read", l->path.ptr);
    for (const struct dirent *entry; ok && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            ok = list_entry(l, entry->d_name, depth, err);
    closedir(folder);
    return ok;
}

static bool list_all(struct hf_source *source, struct error *err)
{
    struct listing l = {.source = source};
    buf_add_fmt(&l.path, "%s/", source->path);
    l.root = l.path.len;
    bool ok = list_folder(&l, 0, err);
    if (ok && source->count > 0)
        qsort(source->names, source->count, sizeof(*source->names), by_bytes);
    buf_done(&l.path);
    return ok;
}

/* ---- all places --------------------------------------------------------------------------------------------------- */

static bool list_hub(struct hf_source *source, struct error *err)
{
    struct hub_context *hub = source->context->hub;
    if (!hub_is_id(source->path) || hub == NULL)
        return error_set(err, E_CONFIG, "--dataset-path: '%s' is neither a file nor a folder%s",
                         source->path,
                         hub == NULL ? "" : ", and no name that a data set of the hub can have");
    if (hub_list_files(hub, HUB_DATASET, source->path, NULL, &source->listing, err) != HUB_OK)
        return error_context(err, "--dataset-path: '%s' is no file and no folder here; on the hub",
                             source->path);
    source->count = source->listing.count;
    source->names = mem_array(source->count + 1, sizeof(*source->names));
    for (size_t i = 0; i < source->count; i++)
        source->names[i] = source->listing.items[i];
    return true;
}

bool hf_source_open(const struct dataset_context *context, struct hf_source *source,
                    struct error *err)
{
    const char *path = context->config->dataset_path;
    *source = (struct hf_source){.context = context, .path = path, .place = HF_HUB};
    if (file_is_dir(path))
        source->place = HF_FOLDER;
    else if (file_exists(path))
        source->place = HF_FILE;
    bool ok = source->place == HF_FILE     ? true
              : source->place == HF_FOLDER ? list_all(source, err)
                                           : list_hub(source, err);
    if (!ok)
        hf_source_done(source);
    return ok;
}

void hf_source_done(struct hf_source *source)
{
    free(source->names);
    hub_names_done(&source->listing);
    arena_done(&source->arena);
    *source = (struct hf_source){0};
}

bool hf_source_has(const struct hf_source *source, struct sv name)
{
    return source->count > 0 &&
           bsearch(&name, source->names, source->count, sizeof(name), by_bytes) != NULL;
}

static bool fetch_hub(struct hf_source *source, const char *id, const char *revision,
                      struct sv name, struct buf *path, struct error *err)
{
    struct buf text = {0};
    buf_add(&text, name);
    struct hub_file file = {
        .kind = HUB_DATASET, .id = id, .revision = revision, .name = buf_cstr(&text)};
    bool ok = source->context->hub != NULL
                  ? hub_fetch_file(source->context->hub, &file, path, err) == HUB_OK
                  : error_set(err, E_CONFIG, "'%s' of '%s' is not here", file.name, id);
    buf_done(&text);
    return ok;
}

bool hf_source_fetch(struct hf_source *source, struct sv name, struct buf *path, struct error *err)
{
    if (source->place == HF_HUB)
        return fetch_hub(source, source->path, source->revision, name, path, err);
    buf_reset(path);
    buf_add_str(path, source->path);
    if (source->place == HF_FOLDER)
        buf_add_fmt(path, "/" SV_FMT, SV_ARG(name));
    buf_cstr(path);
    return true;
}

bool hf_source_fetch_of(struct hf_source *source, const char *id, struct sv name, struct buf *path,
                        struct error *err)
{
    if (source->place == HF_FOLDER && hf_source_has(source, name))
        return hf_source_fetch(source, name, path, err);
    return fetch_hub(source, id, NULL, name, path, err);
}

/* ---- the files of a split ----------------------------------------------------------------------------------------- */

static bool read_card(struct hf_source *source, struct hf_card *card, struct error *err)
{
    struct buf path = {0};
    struct buf text = {0};
    *card = (struct hf_card){0};
    bool ok = true;
    if (hf_source_has(source, SV_LIT("README.md")))
        ok = hf_source_fetch(source, SV_LIT("README.md"), &path, err) &&
             file_read(path.ptr, &text, err) &&
             (hf_card_parse(buf_sv(&text), card, err) || error_context(err, "'%s'", path.ptr));
    buf_done(&path);
    buf_done(&text);
    return ok;
}

/* "ORG/NAME" with a NAME.py is made by a script, which is not run. */
static bool has_script(const struct hf_source *source)
{
    const char *slash = strrchr(source->path, '/');
    struct buf name = {0};
    buf_add_fmt(&name, "%s.py", slash != NULL ? slash + 1 : source->path);
    bool has = hf_source_has(source, buf_sv(&name));
    buf_done(&name);
    return has;
}

/* `split_needed` does not matter here: the server's order of choice holds. */
static bool find_export(struct hf_source *source, const struct hf_wanted *wanted,
                        struct hf_files *files, struct error *err)
{
    struct hub_context *hub = source->context->hub;
    struct datasets_info info = {0};
    struct hub_names names = {0};
    struct sv config;
    struct sv split;
    if (datasets_info_get(hub, source->path, &info, err) != HUB_OK)
        return false;
    bool ok =
        datasets_info_choose(&info, wanted->config, wanted->split, &config, &split, err) &&
        datasets_parquet_list(hub, source->path, config.ptr, split.ptr, &names, err) == HUB_OK;
    if (ok && names.count == 0)
        ok = error_set(err, E_PARSE, "the datasets server has no Parquet files of it");
    if (ok) {
        *files = (struct hf_files){.count = names.count};
        files->names = arena_array(&files->arena, names.count, sizeof(*files->names));
        files->split = arena_copy(&files->arena, split);
        files->config = arena_copy(&files->arena, config);
        for (size_t i = 0; i < names.count; i++)
            files->names[i] = arena_copy(&files->arena, names.items[i]);
        source->revision = DATASETS_PARQUET_REVISION;
        source->has_features = true;
    }
    hub_names_done(&names);
    datasets_info_done(&info);
    return ok;
}

static bool find_in_listing(struct hf_source *source, const struct hf_wanted *wanted,
                            struct hf_files *files, struct error *err)
{
    struct hf_card card;
    if (!read_card(source, &card, err))
        return false;
    bool ok = hf_layout_find(source->path, source->names, source->count, &card, wanted, files, err);
    source->has_features = card.has_features;
    hf_card_done(&card);
    return ok;
}

static bool find_file(const struct hf_source *source, struct hf_files *files, struct error *err)
{
    struct sv name = sv_from(source->path);
    if (!hf_is_table(name))
        return error_set(err, E_CONFIG,
                         "--dataset-path: '%s' must end in .parquet, .json, .jsonl or .ndjson",
                         source->path);
    *files = (struct hf_files){.count = 1};
    files->names = arena_array(&files->arena, 1, sizeof(*files->names));
    files->names[0] = arena_copy(&files->arena, name);
    return true;
}

bool hf_source_find(struct hf_source *source, const struct hf_wanted *wanted,
                    struct hf_files *files, struct error *err)
{
    struct error second;
    if (source->place == HF_FILE)
        return find_file(source, files, err);
    bool hub = source->place == HF_HUB;
    if (hub && has_script(source))
        return find_export(source, wanted, files, err) ||
               error_context(err,
                             "'%s' is made by a script, which is not run, and its Parquet form",
                             source->path);
    if (find_in_listing(source, wanted, files, err))
        return true;
    if (!hub || err->code == E_CONFIG)
        return false;
    /* What the repository itself lacks is told when the server has nothing either. */
    return find_export(source, wanted, files, &second);
}
