/* Names as Python's Path.with_suffix makes them: what stands behind the last dot of the file's name is replaced, unless
 * the name begins or ends with that dot. */
#include "report/plots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "output/result.h"
#include "report/dataset_stats.h"

static const char *const ENDINGS[PLOT_COUNT] = {".timeline.html", ".dataset_stats.png"};

const char *plot_name(enum plot plot)
{
    return plot == PLOT_TIMELINE ? "Timeline" : "Data set statistics";
}

static size_t folder_len(const struct buf *path)
{
    size_t len = path->len;
    while (len > 0 && path->ptr[len - 1] != '/')
        len--;
    return len;
}

static void cut_ending(struct buf *path)
{
    size_t name = folder_len(path);
    for (size_t dot = path->len; dot > name + 1; dot--) {
        if (path->ptr[dot - 1] != '.')
            continue;
        if (dot < path->len)
            path->len = dot - 1;
        return;
    }
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

static void set_paths(const struct buf *stem, struct plot_outcome *outcomes)
{
    for (enum plot plot = 0; plot < PLOT_COUNT; plot++) {
        struct buf path = {0};
        if (!outcomes[plot].wanted)
            continue;
        free(outcomes[plot].path);
        buf_add(&path, buf_sv(stem));
        buf_add_str(&path, ENDINGS[plot]);
        outcomes[plot].path = buf_take(&path);
    }
}

/* Makes an empty file under every name; false, and none left, when one was there. */
static bool claim_all(const struct plot_outcome *outcomes, bool claimed[PLOT_COUNT])
{
    bool taken = false;
    for (enum plot plot = 0; plot < PLOT_COUNT && !taken; plot++) {
        claimed[plot] = false;
        if (!outcomes[plot].wanted)
            continue;
        int fd = open(outcomes[plot].path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
        claimed[plot] = fd >= 0;
        taken = fd < 0 && errno == EEXIST;
        if (fd >= 0)
            close(fd);
    }
    for (enum plot plot = 0; plot < PLOT_COUNT && taken; plot++)
        if (claimed[plot])
            unlink(outcomes[plot].path);
    return !taken;
}

static void find_free(struct buf *stem, struct plot_outcome *outcomes, bool claimed[PLOT_COUNT])
{
    size_t len = stem->len;
    set_paths(stem, outcomes);
    for (unsigned n = 2; !claim_all(outcomes, claimed); n++) {
        memset(claimed, 0, PLOT_COUNT * sizeof(*claimed));
        stem->len = len;
        buf_add_fmt(stem, "-%u", n);
        set_paths(stem, outcomes);
    }
}

static bool make_folder(const struct buf *path, struct error *err)
{
    struct buf folder = {0};
    buf_add(&folder, sv_make(path->ptr, folder_len(path)));
    bool ok = folder.len <= 1 || file_make_dirs(buf_cstr(&folder), err);
    buf_done(&folder);
    return ok;
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

static bool draw(enum plot plot, const struct run_report *report,
                 const struct timeline_talks *talks, struct buf *out, struct error *err)
{
    bool ok = true;
    if (plot == PLOT_TIMELINE) {
        struct timeline t;
        timeline_make(report, talks, TIMELINE_ROWS, TIMELINE_NUMBERS, &t);
        timeline_page(&t, out);
        timeline_done(&t);
    } else {
        struct dataset_stats s;
        dataset_stats_make(report, &s);
        ok = dataset_stats_png(&s, out, err);
        dataset_stats_done(&s);
    }
    return ok;
}

static bool was_sent(const struct run_report *report)
{
    for (size_t i = 0; i < report->count; i++)
        if (report->records[i].sent)
            return true;
    return false;
}

static void write_all(const struct run_report *report, const struct timeline_talks *talks,
                      struct plot_outcome *outcomes)
{
    bool sent = was_sent(report);
    for (enum plot plot = 0; plot < PLOT_COUNT; plot++) {
        struct plot_outcome *outcome = &outcomes[plot];
        struct buf content = {0};
        if (!outcome->wanted)
            continue;
        if (!sent) {
            error_set(&outcome->error, E_RESULT, "there is nothing to draw: no request was sent");
            continue;
        }
        outcome->written = draw(plot, report, talks, &content, &outcome->error) &&
                           file_write_atomic(outcome->path, buf_sv(&content), &outcome->error);
        buf_done(&content);
    }
}

void plots_write(const struct run_report *report, const struct timeline_talks *talks,
                 const struct plots_place *place, struct plot_outcome outcomes[PLOT_COUNT])
{
    const struct config *config = report->config;
    bool automatic = place->saved == NULL && result_name_is_automatic(config);
    bool claimed[PLOT_COUNT] = {false};
    struct buf stem = {0};
    struct error err;
    memset(outcomes, 0, PLOT_COUNT * sizeof(*outcomes));
    outcomes[PLOT_TIMELINE].wanted = config->plot_timeline;
    outcomes[PLOT_DATASET_STATS].wanted = config->plot_dataset_stats;
    if (!config->plot_timeline && !config->plot_dataset_stats)
        return;
    if (place->saved != NULL)
        buf_add_str(&stem, place->saved);
    else
        result_path(report, &stem);
    cut_ending(&stem);
    if (place->suffix != NULL)
        buf_add_str(&stem, place->suffix);
    set_paths(&stem, outcomes);
    if (make_folder(&stem, &err)) {
        if (automatic)
            find_free(&stem, outcomes, claimed);
        write_all(report, talks, outcomes);
    } else {
        outcomes[PLOT_TIMELINE].error = outcomes[PLOT_DATASET_STATS].error = err;
    }
    for (enum plot plot = 0; plot < PLOT_COUNT; plot++)
        if (claimed[plot] && !outcomes[plot].written)
            unlink(outcomes[plot].path);
    buf_done(&stem);
}

void plots_done(struct plot_outcome outcomes[PLOT_COUNT])
{
    for (enum plot plot = 0; plot < PLOT_COUNT; plot++) {
        free(outcomes[plot].path);
        outcomes[plot].path = NULL;
    }
}
