/* See points.h. */
#include "modes/points.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "config/fingerprint.h"
#include "modes/gates.h"
#include "modes/interrupt.h"
#include "modes/run.h"
#include "output/console.h"
#include "output/notes.h"
#include "output/result.h"
#include "report/plots.h"

static const char *const HASH_KEY = "settings_hash";

/* ---- one run ----------------------------------------------------------------------------------------------------- */

/* The object without single requests: what summaries and gates look at. */
static bool keep_report(struct points *p, struct point *point, const struct run_report *report,
                        struct error *err)
{
    struct config plain = *report->config;
    struct run_report summary = *report;
    struct buf json = {0};
    plain.save_detailed = false;
    summary.config = &plain;
    result_json(&summary, &json);
    bool ok = points_keep(p, point, buf_sv(&json), err);
    buf_done(&json);
    return ok;
}

/* The file is written before anything is printed: a reader of stdout that goes away loses nothing. */
static bool show_results(struct points *p, struct point *point, const struct run_report *report,
                         struct error *err)
{
    char *path = NULL;
    struct error print_error;
    bool saved = result_save(report, &path, err);
    bool printed = console_print(report, stdout, &print_error);
    if (path != NULL) {
        note(stderr, "Result saved to %s", path);
        point->path = arena_strdup(&p->arena, path);
    }
    free(path);
    points_plot(p, point, report, NULL);
    if (saved && !printed)
        *err = print_error;
    return saved && printed;
}

static bool finish_run(struct points *p, struct point *point, const struct run *run,
                       struct error *err)
{
    struct run_report report;
    struct error gate;
    run_report(run, &report);
    if (p->date != 0)
        report.date = p->date;
    point->interrupted = report.interrupted;
    bool shown = show_results(p, point, &report, err);
    bool met = keep_report(p, point, &report, &gate);
    if (!shown || report.interrupted)
        return shown && run_judge(run, err);
    if (!met) {
        *err = gate;
        return false;
    }
    return run_judge(run, err);
}

static bool measure_run(struct points *p, struct point *point, struct error *err)
{
    struct run *run = mem_new(struct run);
    run_init(run, p->session, &point->config);
    bool ok = run_build(run, err);
    if (ok && point->config.dry_run) {
        run_print_dry(run);
        ok = run_save_workload(run, err);
    } else if (ok && interrupt_seen())
        ok = error_set(err, E_INTERRUPTED, "interrupted before the benchmark began");
    else
        ok = ok && run_measure(run, err) && finish_run(p, point, run, err);
    run_done(run);
    free(run);
    return ok;
}

void points_plot(struct points *p, const struct point *point, const struct run_report *report,
                 const struct timeline_talks *talks)
{
    struct plots_place place = {point->path, point->suffix};
    struct plot_outcome outcomes[PLOT_COUNT];
    struct run_report named = *report;
    named.config = &point->config;
    plots_write(&named, talks, &place, outcomes);
    for (enum plot plot = 0; plot < PLOT_COUNT; plot++) {
        const struct plot_outcome *outcome = &outcomes[plot];
        if (outcome->written)
            note(stderr, "%s saved to %s", plot_name(plot), outcome->path);
        else if (outcome->wanted)
            note(stderr, "warning: %s not saved: %s", plot_name(plot),
                 session_redacted(p->session, outcome->error.message));
    }
    plots_done(outcomes);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

void points_init(struct points *p, struct session *session, points_measure_fn *measure)
{
    *p = (struct points){
        .session = session,
        .base = session->config,
        .measure = measure != NULL ? measure : measure_run,
    };
}

struct point *points_add(struct points *p)
{
    MEM_GROW(p->items, p->count, p->cap);
    struct point *point = &p->items[p->count++];
    *point = (struct point){.config = *p->base};
    return point;
}

/* The file name that a run with these settings gets, without its folder. */
static void base_name(struct points *p, const struct config *config, struct buf *out)
{
    struct config named = *config;
    struct run_report report = {.config = &named, .model_id = named.model, .date = p->date};
    named.result_dir = NULL;
    result_path(&report, out);
}

/* "x.json" and "-run1" are "x-run1.json". */
static void add_suffixed(struct buf *out, struct sv name, struct sv suffix, bool keep_extension)
{
    size_t dot = name.len;
    while (dot > 0 && name.ptr[dot - 1] != '.' && name.ptr[dot - 1] != '/')
        dot--;
    if (dot < 2 || name.ptr[dot - 1] == '/' || name.ptr[dot - 2] == '/')
        dot = name.len + 1;
    buf_add(out, sv_make(name.ptr, dot - 1));
    buf_add(out, suffix);
    if (keep_extension)
        buf_add(out, sv_skip(name, dot - 1));
}

void points_suffix(struct points *p, struct point *point, const char *suffix)
{
    struct buf name = {0};
    struct buf full = {0};
    if (point->config.append_result) {
        point->suffix = arena_strdup(&p->arena, suffix);
        return;
    }
    base_name(p, &point->config, &name);
    add_suffixed(&full, buf_sv(&name), sv_from(suffix), true);
    point->config.result_name_made = result_name_is_automatic(&point->config);
    point->config.result_filename = arena_copy(&p->arena, buf_sv(&full)).ptr;
    buf_done(&name);
    buf_done(&full);
}

/* Path of a file about all of them: the base's name, with `suffix` for the end of it. */
static const char *summary_path(struct points *p, const char *suffix, bool *claimed)
{
    struct run_report report = {.config = p->base, .model_id = p->base->model, .date = p->date};
    struct buf name = {0};
    struct buf full = {0};
    result_path(&report, &name);
    add_suffixed(&full, buf_sv(&name), sv_from(suffix), false);
    *claimed = result_name_is_automatic(p->base) &&
               result_claim_name(&full, strrchr(suffix, '.'), &p->summary_number);
    const char *path = arena_copy(&p->arena, buf_sv(&full)).ptr;
    buf_done(&name);
    buf_done(&full);
    return path;
}

void points_date(const struct points *p, char out[16])
{
    struct tm local = {0};
    time_t date = p->date;
    localtime_r(&date, &local);
    strftime(out, 16, "%Y%m%d-%H%M%S", &local);
}

/* Interrupted, then what failed altogether, then gates, then runs without a completed request. */
static int gravity(enum error_code code)
{
    return code == E_INTERRUPTED ? 4 : code == E_RESULT ? 1 : code == E_GATE ? 2 : 3;
}

void points_note_error(struct points *p, const struct error *err)
{
    if (!p->failed || gravity(err->code) > gravity(p->gravest.code))
        p->gravest = *err;
    p->failed = true;
    p->stopped = p->stopped || gravity(err->code) > 2;
}

bool points_keep(struct points *p, struct point *point, struct sv json, struct error *err)
{
    point->result = js_parse(&p->arena, json, "the result", err);
    return point->result != NULL &&
           (point->interrupted || gates_check(&point->config, point->result, point->label, err));
}

bool points_write(struct points *p, struct point *point, const struct run_report *report,
                  struct sv json, struct error *err)
{
    const struct config *config = &point->config;
    struct run_report named = *report;
    struct buf path = {0};
    if (!config->save_result && !config->append_result)
        return true;
    named.config = config;
    result_path(&named, &path);
    size_t slash = path.len;
    while (slash > 0 && path.ptr[slash - 1] != '/')
        slash--;
    const char *folder = arena_copy(&p->arena, sv_make(path.ptr, slash)).ptr;
    bool ok = slash <= 1 || file_make_dirs(folder, err);
    bool claimed = ok && result_claim(config, &path);
    const char *file = arena_copy(&p->arena, buf_sv(&path)).ptr;
    buf_done(&path);
    ok = ok && (config->append_result ? file_append_record(file, json, err)
                                      : file_write_atomic(file, json, err));
    if (!ok)
        result_save_elsewhere(report->date, ".json", json, err);
    if (claimed && !ok)
        unlink(file);
    point->path = ok ? file : NULL;
    return ok;
}

void points_save(struct points *p, const char *suffix, struct sv content)
{
    struct error err;
    if (!p->base->save_result && !p->base->append_result)
        return;
    bool claimed;
    const char *path = summary_path(p, suffix, &claimed);
    if (file_write_atomic(path, content, &err)) {
        note(stderr, "Summary saved to %s", path);
        return;
    }
    if (claimed)
        unlink(path);
    result_save_elsewhere(p->date, suffix, content, &err);
    note(stderr, "warning: %s", err.message); /* of several errors only one is told in the end */
    points_note_error(p, &err);
}

/* ---- points that are there already ------------------------------------------------------------------------------- */

/* The mark that a later --resume finds the point by; it lies among the metadata. */
static void add_hash(struct points *p, struct point *point)
{
    struct config_pairs *pairs = &point->config.metadata;
    char hash[FINGERPRINT_LEN + 1];
    config_fingerprint(&point->config, hash);
    struct config_pair *items = arena_array(&p->arena, pairs->count + 1, sizeof(*items));
    if (pairs->count > 0)
        memcpy(items, pairs->items, pairs->count * sizeof(*items));
    items[pairs->count] =
        (struct config_pair){sv_from(HASH_KEY), arena_copy(&p->arena, sv_from(hash))};
    pairs->items = items;
    pairs->cap = ++pairs->count;
}

static bool is_whole(const struct js_value *result)
{
    bool interrupted = false;
    double completed = 0.0;
    js_as_bool(js_get(result, "interrupted"), &interrupted);
    return !interrupted && js_as_double(js_get(result, "completed"), &completed) && completed > 0;
}

/* Whether one object in the text has the hash; files of many lines hold one object a line. */
static bool find_hash(struct points *p, struct point *point, struct sv text, struct sv hash)
{
    struct sv line;
    struct error err;
    bool found = false;
    if (memmem(text.ptr, text.len, hash.ptr, hash.len) == NULL)
        return false;
    while (sv_split(&text, '\n', &line)) {
        if (memmem(line.ptr, line.len, hash.ptr, hash.len) == NULL)
            continue;
        const struct js_value *tree = js_parse(&p->arena, line, "a result", &err);
        struct sv value;
        if (tree == NULL || !js_as_sv(js_get(tree, HASH_KEY), &value) || !sv_eq(value, hash) ||
            !is_whole(tree))
            continue;
        point->result = tree;
        found = true;
    }
    return found;
}

static bool look_into(struct points *p, struct point *point, const char *path, struct sv hash)
{
    struct buf text = {0};
    struct error err;
    bool found = file_read(path, &text, &err) && find_hash(p, point, buf_sv(&text), hash);
    buf_done(&text);
    if (found) {
        point->path = arena_strdup(&p->arena, path);
        point->reused = true;
    }
    return found;
}

/* All result files of the folder: automatic names differ by their date. */
static bool find_measured(struct points *p, struct point *point)
{
    struct buf path = {0};
    struct sv hash = point->config.metadata.items[point->config.metadata.count - 1].value;
    struct run_report report = {.config = &point->config, .model_id = p->base->model};
    result_path(&report, &path);
    while (path.len > 0 && path.ptr[path.len - 1] != '/')
        path.len--;
    size_t folder = path.len;
    DIR *dir = opendir(folder > 0 ? buf_cstr(&path) : ".");
    bool found = false;
    const struct dirent *entry;
    while (!found && dir != NULL && (entry = readdir(dir)) != NULL) {
        if (!sv_ends(sv_from(entry->d_name), SV_LIT(".json")))
            continue;
        path.len = folder;
        buf_add_str(&path, entry->d_name);
        found = look_into(p, point, buf_cstr(&path), hash);
    }
    if (dir != NULL)
        closedir(dir);
    buf_done(&path);
    return found;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

/* Every result before this one is thrown away by the server. */
static bool reset_cache(struct points *p, struct error *err)
{
    if (!session_resolve(p->session, err))
        return false;
    if (server_command(&p->session->server, "/reset_prefix_cache", err)) {
        note(stderr, "Prefix cache reset");
        return true;
    }
    return error_context(err, "--reset-prefix-cache (vLLM has this call when it was started with "
                              "VLLM_SERVER_DEV_MODE=1)");
}

static void print_banner(const struct point *point)
{
    if (point->banner != NULL) {
        fputs(point->banner, stdout);
        fflush(stdout);
    }
}

static void run_point(struct points *p, struct point *point)
{
    struct error err;
    print_banner(point);
    if (p->parts)
        add_hash(p, point);
    if (p->base->resume && !point->config.dry_run && find_measured(p, point)) {
        printf("Measured before: %s\n", point->path);
        fflush(stdout);
        if (!gates_check(&point->config, point->result, point->label, &err))
            points_note_error(p, &err);
    } else if ((p->base->reset_prefix_cache && p->parts && !point->config.dry_run &&
                !reset_cache(p, &err)) ||
               !p->measure(p, point, &err)) {
        points_note_error(p, &err);
        if (p->parts && !p->stopped)
            note(stderr, "warning: %s: %s", point->label,
                 session_redacted(p->session, err.message));
    }
    if (point->banner != NULL) {
        putchar('\n');
        fflush(stdout);
    }
}

void points_run(struct points *p)
{
    if (p->parts)
        interrupt_watch();
    for (size_t i = 0; i < p->count && !p->stopped; i++) {
        run_point(p, &p->items[i]);
        if (p->parts && interrupt_seen() && !p->stopped && i + 1 < p->count) {
            struct error err;
            error_set(&err, E_INTERRUPTED, "interrupted: %zu of %zu runs were made", i + 1,
                      p->count);
            points_note_error(p, &err);
        }
    }
    if (p->parts)
        interrupt_end();
}

bool points_finish(struct points *p, struct error *err)
{
    bool ok = !p->failed;
    if (!ok)
        *err = p->gravest;
    arena_done(&p->arena);
    free(p->items);
    *p = (struct points){0};
    return ok;
}
