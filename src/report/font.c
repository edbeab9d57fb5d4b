/* Every letter is a string of points of two hexadecimal digits, x and y; the line is at y = 4.  '/' lifts the pen, '('
 * makes a curve: the next point is where the curve bends to, the one after it where it ends (a quadratic Bezier curve).
 *
 * Example: "0e04/0b3b" is a stroke from (0, 10) down to (0, 0) and one across from (0, 7) to (3, 7). */
#include "report/font.h"

struct glyph {
    double width;
    const char *path;
};

enum { CURVE_STEPS = 8, BASE_LINE = 4 };

/* clang-format off */
static const struct glyph GLYPHS[128] = {
    [' '] = {2, ""},
    ['!'] = {0, "0e08/0404"},
    ['%'] = {8, "2e(4e4c(4a2a(0a0c(0e2e/68(8886(8464(4446(4868/7e14"},
    ['('] = {2, "2f(0d09(0523"},
    [')'] = {2, "0f(2d29(2503"},
    ['+'] = {6, "0969/3c36"},
    [','] = {1, "1402"},
    ['-'] = {4, "0848"},
    ['.'] = {0, "0404"},
    ['/'] = {5, "035f"},
    ['0'] = {6, "3e(6e6b67(6434(04070b(0e3e"},
    ['1'] = {6, "1b4e44"},
    ['2'] = {6, "0b(0e3e(6e6b(680464"},
    ['3'] = {6, "0c(0e3e(6e6c(6929/29(6966(6434(0406"},
    ['4'] = {6, "4e0767/4e44"},
    ['5'] = {6, "6e0e0a3a(6a67(6434(0406"},
    ['6'] = {6, "5e(0d07(0434(6467(6a3a(0a07"},
    ['7'] = {6, "0e6e24"},
    ['8'] = {6, "3e(6e6c(6939(090c(0e3e/39(6966(6434(0406(0939"},
    ['9'] = {6, "14(656b(6e3e(0e0b(0838(686b"},
    [':'] = {0, "0505/0a0a"},
    ['='] = {6, "0767/0b6b"},
    ['A'] = {8, "044e84/1777"},
    ['B'] = {6, "040e3e(6e6c(6939/0939(6966(643404"},
    ['C'] = {7, "7c(6e4e(0e0a08(0444(6476"},
    ['D'] = {7, "040e3e(7e7a78(743404"},
    ['E'] = {6, "6e0e0464/0959"},
    ['F'] = {6, "6e0e04/0959"},
    ['G'] = {7, "7c(6e4e(0e0a08(0444(747848"},
    ['H'] = {7, "040e/747e/0979"},
    ['I'] = {0, "0e04"},
    ['J'] = {5, "5e57(5434(0406"},
    ['K'] = {7, "0e04/7e08/2a74"},
    ['L'] = {6, "0e0464"},
    ['M'] = {8, "040e478e84"},
    ['N'] = {7, "040e747e"},
    ['O'] = {8, "4e(8e8a88(8444(04080a(0e4e"},
    ['P'] = {6, "040e3e(6e6b(683808"},
    ['Q'] = {8, "4e(8e8a88(8444(04080a(0e4e/5783"},
    ['R'] = {6, "040e3e(6e6b(683808/3864"},
    ['S'] = {6, "6c(6e3e(0e0b(0939(6966(6434(0406"},
    ['T'] = {8, "0e8e/4e44"},
    ['U'] = {6, "0e07(0434(64676e"},
    ['V'] = {8, "0e448e"},
    ['W'] = {10, "0e245c84ae"},
    ['X'] = {7, "0e74/7e04"},
    ['Y'] = {8, "0e488e/4844"},
    ['Z'] = {7, "0e7e0474"},
    ['a'] = {5, "0a(1b3b(5b5954/5838(0806(0424(4455"},
    ['b'] = {6, "0e04/08(0b3b(6b6867(6434(0407"},
    ['c'] = {5, "5a(4b3b(0b0807(0434(4455"},
    ['d'] = {6, "6e64/68(6b3b(0b0807(0434(6467"},
    ['e'] = {6, "0868(6b3b(0b0807(0434(5465"},
    ['f'] = {4, "4e(1e1b14/0b3b"},
    ['g'] = {6, "6b63(6030(1001/68(6b3b(0b0807(0434(6467"},
    ['h'] = {6, "0e04/08(0b3b(6b6864"},
    ['i'] = {0, "0b04/0e0e"},
    ['j'] = {2, "2b22(2000/2e2e"},
    ['k'] = {5, "0e04/5b07/2954"},
    ['l'] = {0, "0e04"},
    ['m'] = {10, "0b04/08(0b3b(5b5854/58(5b8b(aba8a4"},
    ['n'] = {6, "0b04/08(0b3b(6b6864"},
    ['o'] = {6, "3b(6b6867(6434(040708(0b3b"},
    ['p'] = {6, "0b00/08(0b3b(6b6867(6434(0407"},
    ['q'] = {6, "6b60/68(6b3b(0b0807(0434(6467"},
    ['r'] = {4, "0b04/08(0b4b"},
    ['s'] = {5, "5a(4b3b(0b09(0828(5856(5434(1405"},
    ['t'] = {4, "1d16(1444/0b4b"},
    ['u'] = {6, "0b07(0434(6467/6b64"},
    ['v'] = {6, "0b346b"},
    ['w'] = {8, "0b244a648b"},
    ['x'] = {6, "0b64/6b04"},
    ['y'] = {6, "0b34/6b10"},
    ['z'] = {5, "0b5b0454"},
};
/* clang-format on */

static const struct glyph UNKNOWN = {5, "040e5e5404"};

struct point {
    double x, y;
};

static double digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static struct point point_at(const char *path)
{
    return (struct point){digit(path[0]), digit(path[1]) - BASE_LINE};
}

/* One piece of a curve after the other; `t` from 0 to 1. */
static struct point on_curve(struct point a, struct point bend, struct point b, double t)
{
    double u = 1.0 - t;
    return (struct point){u * u * a.x + 2 * u * t * bend.x + t * t * b.x,
                          u * u * a.y + 2 * u * t * bend.y + t * t * b.y};
}

struct pen {
    struct segment *segments;
    size_t count;
    struct point at;
};

static void line_to(struct pen *pen, struct point to)
{
    if (pen->count < GLYPH_SEGMENTS)
        pen->segments[pen->count++] = (struct segment){pen->at.x, pen->at.y, to.x, to.y};
    pen->at = to;
}

static void curve_to(struct pen *pen, struct point bend, struct point to)
{
    struct point from = pen->at;
    for (int i = 1; i <= CURVE_STEPS; i++)
        line_to(pen, on_curve(from, bend, to, (double)i / CURVE_STEPS));
}

size_t font_glyph(char letter, struct segment *segments, double *width)
{
    unsigned char code = (unsigned char)letter;
    const struct glyph *glyph = code < 128 && GLYPHS[code].path != NULL ? &GLYPHS[code] : &UNKNOWN;
    struct pen pen = {.segments = segments};
    bool down = false;
    for (const char *p = glyph->path; *p != '\0';) {
        if (*p == '/') {
            down = false;
            p++;
        } else if (*p == '(') {
            curve_to(&pen, point_at(p + 1), point_at(p + 3));
            p += 5;
        } else {
            if (down)
                line_to(&pen, point_at(p));
            pen.at = point_at(p);
            down = true;
            p += 2;
        }
    }
    *width = glyph->width;
    return pen.count;
}
