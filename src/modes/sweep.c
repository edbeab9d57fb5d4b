/* See sweep.h.  Saving is the points' own; the percentiles that only the table needs are added to those of the points, as
 * the Rust tool does. */
#include "modes/sweep.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "output/notes.h"
#include "output/table.h"

static const struct config_numbers *values_of(const struct config *config, enum sweep_kind kind)
{
    return kind == SWEEP_RATE ? &config->sweep_request_rate : &config->sweep_max_concurrency;
}

static void add_percentile(struct config *config, double p)
{
    for (size_t i = 0; i < config->percentile_count; i++)
        if (config->percentiles[i] == p)
            return;
    if (config->percentile_count < CONFIG_MAX_PERCENTILES)
        config->percentiles[config->percentile_count++] = p;
}

static void set_point(struct config *config, enum sweep_kind kind, double value)
{
    const struct config_numbers *more = &config->sweep_percentiles;
    for (size_t i = 0; i < more->count; i++)
        add_percentile(config, more->items[i]);
    add_percentile(config, 90.0);
    if (kind == SWEEP_RATE) {
        config->request_rate = value;
        return;
    }
    config->max_concurrency = (uint64_t)value;
    config->multi_turn.concurrency = kind == SWEEP_MULTI_TURN ? (uint64_t)value : 0;
    if (config->sweep_num_prompts_factor > 0)
        config->num_prompts = config->max_concurrency * config->sweep_num_prompts_factor;
}

static const char *kept(struct points *p, struct buf *text)
{
    const char *copy = arena_copy(&p->arena, buf_sv(text)).ptr;
    buf_reset(text);
    return copy;
}

static void add_points(struct points *p, enum sweep_kind kind)
{
    const struct config_numbers *values = values_of(p->base, kind);
    struct buf text = {0};
    for (size_t i = 0; i < values->count; i++) {
        struct point *point = points_add(p);
        set_point(&point->config, kind, values->items[i]);
        if (i == 0)
            sweep_heading(kind, values->items, values->count, &text);
        sweep_banner(kind, values->items[i], i + 1, values->count, &text);
        point->banner = kept(p, &text);
        sweep_label(kind, values->items[i], &text);
        point->label = kept(p, &text);
        if (p->base->result_filename == NULL)
            continue; /* the automatic name has the value */
        buf_add_char(&text, '-');
        for (const char *c = point->label; *c != '\0'; c++)
            if (*c != '=')
                buf_add_char(&text, *c);
        points_suffix(p, point, buf_cstr(&text));
        buf_reset(&text);
    }
    buf_done(&text);
}

static void write_all(struct points *p, const struct sweep_report *report)
{
    struct buf text = {0};
    struct error err;
    if (!p->base->dry_run) {
        sweep_json(report, &text);
        points_save(p, "-sweep.json", buf_sv(&text));
        buf_reset(&text);
        sweep_csv(report, &text);
        points_save(p, "-sweep.csv", buf_sv(&text));
        buf_reset(&text);
    }
    sweep_table(report, &text);
    if (!table_write(stdout, buf_sv(&text), &err))
        points_note_error(p, &err);
    buf_done(&text);
}

static void show(struct points *p, enum sweep_kind kind)
{
    const struct js_value **results = mem_array(p->count, sizeof(*results));
    const char **files = mem_array(p->count, sizeof(*files));
    bool *reused = mem_array(p->count, sizeof(*reused));
    char date[16];
    for (size_t i = 0; i < p->count; i++) {
        results[i] = p->items[i].result;
        files[i] = p->items[i].path;
        reused[i] = p->items[i].reused;
    }
    points_date(p, date);
    struct sweep_report report = {
        .kind = kind,
        .values = values_of(p->base, kind)->items,
        .results = results,
        .files = files,
        .reused = reused,
        .count = p->count,
        .percentiles = p->base->sweep_percentiles.items,
        .percentile_count = p->base->sweep_percentiles.count,
        .interrupted = p->stopped,
        .date = date,
    };
    write_all(p, &report);
    free(results);
    free(files);
    free(reused);
}

bool sweep_run(struct session *session, enum sweep_kind kind, points_measure_fn *measure,
               struct error *err)
{
    struct points p;
    points_init(&p, session, measure);
    p.date = time(NULL);
    p.parts = true;
    add_points(&p, kind);
    points_run(&p);
    show(&p, kind);
    return points_finish(&p, err);
}
