/* A server with a prefix cache would find the prompts of the first run again in the second.  So each run has a seed of its
 * own, counted up from --seed, unless --reset-prefix-cache empties the cache before each. */
#include "modes/repeat.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "modes/points.h"
#include "output/multi_run.h"
#include "output/notes.h"
#include "output/table.h"

static const char *kept(struct points *p, struct buf *text)
{
    const char *copy = arena_copy(&p->arena, buf_sv(text)).ptr;
    buf_reset(text);
    return copy;
}

/* What is not the same for all runs stands in the results, among the metadata. */
static void mark(struct points *p, struct point *point, size_t run, uint64_t seed)
{
    struct config_pairs *pairs = &point->config.metadata;
    struct config_pair *items = arena_array(&p->arena, pairs->count + 2, sizeof(*items));
    if (pairs->count > 0)
        memcpy(items, pairs->items, pairs->count * sizeof(*items));
    items[pairs->count++] = (struct config_pair){SV_LIT("run"), arena_fmt(&p->arena, "%zu", run)};
    items[pairs->count++] = (struct config_pair){
        SV_LIT("seed"), arena_fmt(&p->arena, "%llu", (unsigned long long)seed)};
    pairs->items = items;
    pairs->cap = pairs->count;
    point->config.seed = seed;
}

static void add_runs(struct points *p)
{
    struct buf text = {0};
    size_t runs = (size_t)p->base->num_runs;
    for (size_t i = 0; i < runs; i++) {
        struct point *point = points_add(p);
        if (i == 0) {
            if (!p->base->dry_run)
                multi_run_heading(runs, &text);
        }
        multi_run_banner(i + 1, runs, &text);
        point->banner = kept(p, &text);
        buf_add_fmt(&text, "run %zu", i + 1);
        point->label = kept(p, &text);
        mark(p, point, i + 1, p->base->seed + (p->base->reset_prefix_cache ? 0 : i));
        buf_add_fmt(&text, "-run%zu", i + 1);
        points_suffix(p, point, buf_cstr(&text));
        buf_reset(&text);
    }
    buf_done(&text);
}

static void show(struct points *p)
{
    const struct js_value **results = mem_array(p->count, sizeof(*results));
    const char **files = mem_array(p->count, sizeof(*files));
    char date[16];
    struct buf text = {0};
    struct error err;
    size_t measured = 0;
    for (size_t i = 0; i < p->count; i++) {
        results[i] = p->items[i].interrupted ? NULL : p->items[i].result;
        files[i] = p->items[i].path;
        measured += results[i] != NULL;
    }
    points_date(p, date);
    struct multi_run m = {results, files, p->count, p->stopped, date};
    if (measured > 0) {
        multi_run_json(&m, &text);
        points_save(p, "-runs.json", buf_sv(&text));
        buf_reset(&text);
        multi_run_csv(&m, &text);
        points_save(p, "-runs.csv", buf_sv(&text));
        buf_reset(&text);
        multi_run_table(&m, &text);
        if (!table_write(stdout, buf_sv(&text), &err))
            points_note_error(p, &err);
    }
    buf_done(&text);
    free(results);
    free(files);
}

bool repeat_run(struct session *session, struct error *err)
{
    struct points p;
    points_init(&p, session, NULL);
    p.date = time(NULL);
    p.parts = true;
    add_runs(&p);
    points_run(&p);
    show(&p);
    return points_finish(&p, err);
}
