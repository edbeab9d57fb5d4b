/* DATASETS 5 and 11: what the Rust tool downloads when no path is given. */
#include "datasets/hub_files.h"

#include "datasets/dataset_priv.h"
#include "hub/datasets_server.h"

static bool has_hub(const struct dataset_context *context, struct error *err)
{
    return context->hub != NULL || error_set(err, E_CONFIG, "--dataset-path is needed");
}

static bool settle(enum hub_outcome outcome, struct error *err)
{
    if (outcome == HUB_OK || outcome == HUB_INTERRUPTED)
        return outcome == HUB_OK;
    return error_context(err, "without --dataset-path the data are downloaded");
}

bool hub_files_sharegpt(const struct dataset_context *context, struct buf *path, struct error *err)
{
    static const struct hub_file file = {
        .kind = HUB_DATASET,
        .id = "anon8231489123/ShareGPT_Vicuna_unfiltered",
        .name = "ShareGPT_V3_unfiltered_cleaned_split.json",
    };
    if (!has_hub(context, err) || !settle(hub_fetch_file(context->hub, &file, path, err), err))
        return false;
    dataset_notice(context, "Data set: %s", buf_cstr(path));
    return true;
}

bool hub_files_speed_bench(const struct dataset_context *context, const char *subset,
                           struct buf *path, struct error *err)
{
    struct buf name = {0};
    struct datasets_rows rows = {
        .id = "nvidia/SPEED-Bench",
        .config = subset,
        .split = "test",
    };
    if (!has_hub(context, err))
        return false;
    buf_add_fmt(&name, "speed-bench-%s.json", subset);
    rows.cache_name = buf_cstr(&name);
    bool ok = settle(datasets_rows_fetch(context->hub, &rows, path, err), err);
    buf_done(&name);
    if (ok)
        dataset_notice(context, "Data set: %s", buf_cstr(path));
    return ok;
}
