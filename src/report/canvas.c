/* Edges are smooth because a pixel takes as much of a colour as the shape covers of it: for rectangles that is a product
 * of two lengths, for the strokes of letters it follows from the distance of the pixel's centre to the nearest one. */
#include "report/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "datasets/format/png.h"
#include "report/font.h"

enum { CHANNELS = 3, CAPITAL = 10 /* units of font.h */ };

struct canvas *canvas_new(int width, int height)
{
    struct canvas *c = mem_new(struct canvas);
    size_t bytes = (size_t)width * (size_t)height * CHANNELS;
    *c = (struct canvas){width, height, mem_alloc(bytes)};
    memset(c->rgb, 0xff, bytes);
    return c;
}

void canvas_free(struct canvas *c)
{
    if (c == NULL)
        return;
    free(c->rgb);
    free(c);
}

static void blend(struct canvas *c, int x, int y, uint32_t colour, double cover)
{
    if (x < 0 || y < 0 || x >= c->width || y >= c->height || cover <= 0.0)
        return;
    uint8_t *pixel = c->rgb + ((size_t)y * (size_t)c->width + (size_t)x) * CHANNELS;
    for (int i = 0; i < CHANNELS; i++) {
        double paint = (double)(colour >> (16 - 8 * i) & 0xff);
        pixel[i] = (uint8_t)lround(pixel[i] + (paint - pixel[i]) * (cover < 1.0 ? cover : 1.0));
    }
}

/* How much of pixel i lies between from and to. */
static double covered(int i, double from, double to)
{
    double a = from > i ? from : i;
    double b = to < i + 1 ? to : i + 1;
    return b > a ? b - a : 0.0;
}

/* The first and last pixel of a range that lie in the picture, so that no loop is long. */
static int first_pixel(double from)
{
    return from > 0.0 ? (int)from : 0;
}

static int end_pixel(double to, int size)
{
    return to < size ? (int)ceil(to) : size;
}

void canvas_rect(struct canvas *c, struct box box, uint32_t colour, double opacity)
{
    int x_end = end_pixel(box.x1, c->width);
    int y_end = end_pixel(box.y1, c->height);
    for (int y = first_pixel(box.y0); y < y_end; y++) {
        double rows = covered(y, box.y0, box.y1) * opacity;
        for (int x = first_pixel(box.x0); x < x_end; x++)
            blend(c, x, y, colour, rows * covered(x, box.x0, box.x1));
    }
}

void canvas_frame(struct canvas *c, struct box box, double width, uint32_t colour)
{
    double half = width / 2;
    struct box out = {box.x0 - half, box.y0 - half, box.x1 + half, box.y1 + half};
    struct box in = {box.x0 + half, box.y0 + half, box.x1 - half, box.y1 - half};
    canvas_rect(c, (struct box){out.x0, out.y0, out.x1, in.y0}, colour, 1.0);
    canvas_rect(c, (struct box){out.x0, in.y1, out.x1, out.y1}, colour, 1.0);
    canvas_rect(c, (struct box){out.x0, in.y0, in.x0, in.y1}, colour, 1.0);
    canvas_rect(c, (struct box){in.x1, in.y0, out.x1, in.y1}, colour, 1.0);
}

/* ---- text --------------------------------------------------------------------------------------------------------- */

static double distance(const struct segment *s, double x, double y)
{
    double dx = s->x1 - s->x0;
    double dy = s->y1 - s->y0;
    double length = dx * dx + dy * dy;
    double t = length > 0.0 ? ((x - s->x0) * dx + (y - s->y0) * dy) / length : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    return hypot(x - s->x0 - t * dx, y - s->y0 - t * dy);
}

struct spot {
    double x, y;   /* of the letter's lower left corner */
    double unit;   /* pixels */
    double radius; /* of a stroke, pixels */
};

/* Strokes from units of the letter to pixels of the picture; returns the box that holds them. */
static struct box place(struct segment *segments, size_t count, const struct spot *at, bool upright)
{
    struct box box = {HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (size_t i = 0; i < count; i++) {
        struct segment s = segments[i];
        double u = at->unit;
        segments[i] = upright ? (struct segment){at->x - s.y0 * u, at->y - s.x0 * u,
                                                 at->x - s.y1 * u, at->y - s.x1 * u}
                              : (struct segment){at->x + s.x0 * u, at->y - s.y0 * u,
                                                 at->x + s.x1 * u, at->y - s.y1 * u};
        s = segments[i];
        box.x0 = fmin(box.x0, fmin(s.x0, s.x1));
        box.y0 = fmin(box.y0, fmin(s.y0, s.y1));
        box.x1 = fmax(box.x1, fmax(s.x0, s.x1));
        box.y1 = fmax(box.y1, fmax(s.y0, s.y1));
    }
    double margin = at->radius + 1.0;
    return (struct box){box.x0 - margin, box.y0 - margin, box.x1 + margin, box.y1 + margin};
}

static double draw_glyph(struct canvas *c, const struct spot *at, const struct text_style *style,
                         char letter)
{
    struct segment segments[GLYPH_SEGMENTS];
    double width;
    size_t count = font_glyph(letter, segments, &width);
    if (count == 0)
        return width;
    struct box box = place(segments, count, at, style->upright);
    int x_end = end_pixel(box.x1, c->width);
    int y_end = end_pixel(box.y1, c->height);
    for (int y = first_pixel(box.y0); y < y_end; y++) {
        for (int x = first_pixel(box.x0); x < x_end; x++) {
            double near = HUGE_VAL;
            for (size_t i = 0; i < count; i++)
                near = fmin(near, distance(&segments[i], x + 0.5, y + 0.5));
            blend(c, x, y, style->colour, at->radius + 0.5 - near);
        }
    }
    return width;
}

double canvas_text_width(const struct text_style *style, const char *text)
{
    struct segment segments[GLYPH_SEGMENTS];
    double units = 0.0;
    for (const char *p = text; *p != '\0'; p++) {
        double width;
        font_glyph(*p, segments, &width);
        units += width + GLYPH_GAP;
    }
    return units > 0.0 ? (units - GLYPH_GAP) * style->size / CAPITAL : 0.0;
}

void canvas_text(struct canvas *c, double x, double y, const struct text_style *style,
                 const char *text)
{
    double back = style->align == TEXT_LEFT ? 0.0 : canvas_text_width(style, text);
    if (style->align == TEXT_CENTRE)
        back /= 2;
    struct spot at = {.unit = style->size / CAPITAL};
    at.radius = at.unit * (style->bold ? 0.85 : 0.58);
    at.x = style->upright ? x : x - back;
    at.y = style->upright ? y + back : y;
    for (const char *p = text; *p != '\0'; p++) {
        double step = (draw_glyph(c, &at, style, *p) + GLYPH_GAP) * at.unit;
        if (style->upright)
            at.y -= step;
        else
            at.x += step;
    }
}

bool canvas_png(const struct canvas *c, struct buf *out, struct error *err)
{
    const struct pixels pixels = {c->rgb, (uint32_t)c->width, (uint32_t)c->height};
    return png_encode(&pixels, out, err);
}
