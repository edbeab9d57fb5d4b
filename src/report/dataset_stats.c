/* Four panels as in Python's picture: histograms of 30 bins (histogram.h) of prompt, output and total tokens, and the
 * stacked tokens of each request.  Sizes are chosen so that the texts can still be read at a third of the size. */
#include "report/dataset_stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/num.h"
#include "report/canvas.h"
#include "report/histogram.h"
#include "report/ticks.h"

enum { WIDTH = 2100, HEIGHT = 1500 };

#define INK    0x1f2328u
#define FAINT  0x57606au
#define GRID   0xe3e6eau
#define AXIS   0x8c959fu
#define BLUE   0x4682b4u /* matplotlib's steelblue, coral, mediumseagreen, as in Python's picture */
#define CORAL  0xff7f50u
#define GREEN  0x3cb371u
#define OPAQUE 0.85

static const struct text_style HEAD = {34, true, INK, TEXT_LEFT, false};
static const struct text_style NOTE = {24, false, FAINT, TEXT_LEFT, false};
static const struct text_style TITLE = {28, true, INK, TEXT_LEFT, false};
static const struct text_style SMALL = {22, false, FAINT, TEXT_LEFT, false};
static const struct text_style TICK_X = {22, false, INK, TEXT_CENTRE, false};
static const struct text_style TICK_Y = {22, false, INK, TEXT_RIGHT, false};
static const struct text_style NAME_X = {24, false, INK, TEXT_CENTRE, false};
static const struct text_style NAME_Y = {24, false, INK, TEXT_CENTRE, true};
static const struct text_style EMPTY = {26, false, FAINT, TEXT_CENTRE, false};

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

void dataset_stats_make(const struct run_report *report, struct dataset_stats *s)
{
    *s = (struct dataset_stats){.pooling = report->pooling};
    s->prompt = mem_array(report->count + 1, sizeof(*s->prompt));
    s->output = mem_array(report->count + 1, sizeof(*s->output));
    s->total = mem_array(report->count + 1, sizeof(*s->total));
    for (size_t i = 0; i < report->count; i++) {
        const struct record *r = &report->records[i];
        if (!r->sent)
            continue;
        s->prompt[s->count] = record_input_tokens(r);
        s->output[s->count] = report->pooling ? 0 : record_output_tokens(r, report->has_tokenizer);
        s->total[s->count] = s->prompt[s->count] + s->output[s->count];
        s->unfinished += record_unfinished(r);
        s->failed += !record_ok(r) && !record_unfinished(r);
        s->count++;
    }
    s->guessed = report->pooling ? 0 : report->summary->output_from_fallback;
}

void dataset_stats_done(struct dataset_stats *s)
{
    free(s->prompt);
    free(s->output);
    free(s->total);
    *s = (struct dataset_stats){0};
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* "min 24   mean 28.0   median 28   max 36" */
static void describe(const uint64_t *values, size_t count, char out[200])
{
    uint64_t *sorted = mem_array(count, sizeof(*sorted));
    char median[NUM_TEXT_MAX];
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = values[i];
        sum += (double)values[i];
    }
    qsort(sorted, count, sizeof(*sorted), compare);
    num_format_short(median, ((double)sorted[(count - 1) / 2] + (double)sorted[count / 2]) / 2);
    snprintf(out, 200, "min %llu   mean %.1f   median %s   max %llu", (unsigned long long)sorted[0],
             sum / (double)count, median, (unsigned long long)sorted[count - 1]);
    free(sorted);
}

/* ---- panels ------------------------------------------------------------------------------------------------------- */

struct panel {
    struct box box; /* of the axes */
    double x0, x1;  /* what lies at its left and right side */
    double top;     /* what lies at its upper side; 0 at the lower one */
};

static double to_x(const struct panel *p, double value)
{
    return p->box.x0 + (value - p->x0) / (p->x1 - p->x0) * (p->box.x1 - p->box.x0);
}

static double to_y(const struct panel *p, double value)
{
    return p->box.y1 - value / p->top * (p->box.y1 - p->box.y0);
}

/* Column 0 or 1, row 0 or 1. */
static struct box place(int column, int row)
{
    double x = 150 + column * 1040;
    double y = 225 + row * 660;
    return (struct box){x, y, x + 870, y + 450};
}

static void draw_ticks(struct canvas *c, const struct panel *p)
{
    char text[NUM_TEXT_MAX];
    double step = ticks_step(p->top, 6);
    for (double v = 0; v <= p->top; v += step) {
        double y = to_y(p, v);
        canvas_rect(c, (struct box){p->box.x0, y - 1, p->box.x1, y + 1}, GRID, 1.0);
        ticks_text(v, step, text);
        canvas_text(c, p->box.x0 - 16, y + 11, &TICK_Y, text);
    }
    step = ticks_step(p->x1 - p->x0, 7);
    for (double v = ceil(p->x0 / step) * step; v <= p->x1; v += step) {
        double x = to_x(p, v);
        canvas_rect(c, (struct box){x - 1, p->box.y0, x + 1, p->box.y1}, GRID, 1.0);
        ticks_text(v, step, text);
        canvas_text(c, x, p->box.y1 + 42, &TICK_X, text);
    }
}

struct panel_texts {
    const char *title, *line, *x, *y;
};

static void draw_texts(struct canvas *c, const struct panel *p, const struct panel_texts *t)
{
    double middle_x = (p->box.x0 + p->box.x1) / 2;
    double middle_y = (p->box.y0 + p->box.y1) / 2;
    canvas_text(c, p->box.x0, p->box.y0 - 58, &TITLE, t->title);
    canvas_text(c, p->box.x0, p->box.y0 - 18, &SMALL, t->line);
    canvas_text(c, middle_x, p->box.y1 + 90, &NAME_X, t->x);
    canvas_text(c, p->box.x0 - 110, middle_y, &NAME_Y, t->y);
}

static void draw_histogram(struct canvas *c, struct box box, const uint64_t *values, size_t count,
                           uint32_t colour, const char *what)
{
    struct histogram h;
    char title[80];
    char axis[80];
    char line[200];
    histogram_make(&h, values, count);
    double margin = (h.high - h.low) / 20;
    struct panel p = {box, h.low - margin, h.high + margin, (double)h.most * 1.06};
    snprintf(title, sizeof(title), "%s per request", what);
    snprintf(axis, sizeof(axis), "%s", what);
    describe(values, count, line);
    draw_texts(c, &p, &(struct panel_texts){title, line, axis, "Requests"});
    draw_ticks(c, &p);
    for (size_t i = 0; i < HISTOGRAM_BINS; i++) {
        double left = to_x(&p, histogram_edge(&h, i));
        double right = to_x(&p, histogram_edge(&h, i + 1));
        if (h.counts[i] == 0)
            continue;
        double top = to_y(&p, (double)h.counts[i]);
        canvas_rect(c, (struct box){left + 1, top, right - 1, box.y1}, colour, OPAQUE);
    }
    canvas_frame(c, box, 2, AXIS);
}

static void draw_legend(struct canvas *c, double right, double y)
{
    double x = right - canvas_text_width(&SMALL, "Output");
    canvas_text(c, x, y, &SMALL, "Output");
    canvas_rect(c, (struct box){x - 36, y - 24, x - 10, y + 2}, CORAL, OPAQUE);
    x -= 70 + canvas_text_width(&SMALL, "Prompt");
    canvas_text(c, x, y, &SMALL, "Prompt");
    canvas_rect(c, (struct box){x - 36, y - 24, x - 10, y + 2}, BLUE, OPAQUE);
}

/* Where there are more requests than pixels, one bar stands for a group: the largest of it. */
static void draw_bars(struct canvas *c, struct box box, const struct dataset_stats *s)
{
    size_t room = (size_t)(box.x1 - box.x0) / 2;
    size_t group = s->count > room ? (s->count + room - 1) / room : 1;
    uint64_t most = 1;
    char axis[80] = "Request";
    for (size_t i = 0; i < s->count; i++)
        most = s->total[i] > most ? s->total[i] : most;
    struct panel p = {box, -0.5, (double)s->count - 0.5, (double)most * 1.06};
    if (group > 1)
        snprintf(axis, sizeof(axis), "Request (each bar: the largest of %zu)", group);
    draw_texts(c, &p, &(struct panel_texts){"Tokens of each request", "", axis, "Tokens"});
    draw_legend(c, box.x1, box.y0 - 18);
    draw_ticks(c, &p);
    double gap = group == 1 && s->count < room / 2 ? 0.1 : 0.0;
    for (size_t at = 0; at < s->count; at += group) {
        size_t best = at;
        size_t end = at + group < s->count ? at + group : s->count;
        for (size_t i = at; i < end; i++)
            best = s->total[i] > s->total[best] ? i : best;
        struct box bar = {to_x(&p, (double)at - 0.5 + gap), to_y(&p, (double)s->prompt[best]),
                          to_x(&p, (double)end - 0.5 - gap), box.y1};
        canvas_rect(c, bar, BLUE, OPAQUE);
        bar.y1 = bar.y0;
        bar.y0 = to_y(&p, (double)s->total[best]);
        canvas_rect(c, bar, CORAL, OPAQUE);
    }
    canvas_frame(c, box, 2, AXIS);
}

static void draw_nothing(struct canvas *c, struct box box, const char *title, const char *text)
{
    struct panel p = {.box = box};
    draw_texts(c, &p, &(struct panel_texts){title, "", "", ""});
    canvas_text(c, (box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2, &EMPTY, text);
    canvas_frame(c, box, 2, AXIS);
}

static void draw_head(struct canvas *c, const struct dataset_stats *s)
{
    struct buf line = {0};
    buf_add_fmt(&line, "Tokens of %zu request%s", s->count, s->count == 1 ? "" : "s");
    canvas_text(c, 150, 62, &HEAD, buf_cstr(&line));
    buf_reset(&line);
    if (s->failed > 0)
        buf_add_fmt(&line, "%zu failed%s.   ", s->failed,
                    s->pooling ? "" : ": their output counts 0");
    if (s->unfinished > 0)
        buf_add_fmt(&line, "%zu unfinished%s.   ", s->unfinished,
                    s->pooling ? "" : ": their output counts 0");
    if (s->guessed > 0)
        buf_add_fmt(&line, "%llu outputs were counted by nobody: they count 1.",
                    (unsigned long long)s->guessed);
    canvas_text(c, 150, 108, &NOTE, buf_cstr(&line));
    buf_done(&line);
}

bool dataset_stats_png(const struct dataset_stats *s, struct buf *out, struct error *err)
{
    struct canvas *c = canvas_new(WIDTH, HEIGHT);
    draw_head(c, s);
    if (s->count == 0) {
        draw_nothing(c, (struct box){150, 225, WIDTH - 60, HEIGHT - 120}, "", "nothing was sent");
    } else {
        draw_histogram(c, place(0, 0), s->prompt, s->count, BLUE, "Prompt tokens");
        if (s->pooling)
            draw_nothing(c, place(1, 0), "Output tokens per request", "no output: pooling");
        else
            draw_histogram(c, place(1, 0), s->output, s->count, CORAL, "Output tokens");
        draw_histogram(c, place(0, 1), s->total, s->count, GREEN, "Total tokens");
        draw_bars(c, place(1, 1), s);
    }
    bool ok = canvas_png(c, out, err);
    canvas_free(c);
    return ok;
}
