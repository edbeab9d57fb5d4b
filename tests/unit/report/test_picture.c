/* The canvas and the PNG file made of it; numbers and panels of the data set's statistics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "datasets/format/png.h"
#include "fixture.h"
#include "report/canvas.h"
#include "report/dataset_stats.h"
#include "report/font.h"

static uint32_t pixel(const struct canvas *c, int x, int y)
{
    const uint8_t *p = c->rgb + ((size_t)y * (size_t)c->width + (size_t)x) * 3;
    return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static void test_a_rectangle_covers_what_it_says(void **state)
{
    (void)state;
    struct canvas *c = canvas_new(10, 6);
    canvas_rect(c, (struct box){2, 1, 4.5, 3}, 0x000000, 1.0);
    assert_int_equal(pixel(c, 1, 1), 0xffffff);
    assert_int_equal(pixel(c, 2, 1), 0);
    assert_int_equal(pixel(c, 3, 2), 0);
    assert_int_equal(pixel(c, 4, 2), 0x808080); /* half of it: 255 / 2, rounded up */
    assert_int_equal(pixel(c, 5, 2), 0xffffff);
    assert_int_equal(pixel(c, 2, 3), 0xffffff);
    canvas_rect(c, (struct box){-50, 5, 500, 900}, 0xff0000, 0.2); /* 255 * 0.8 = 204 */
    assert_int_equal(pixel(c, 0, 5), 0xffcccc);
    assert_int_equal(pixel(c, 9, 5), 0xffcccc);
    assert_int_equal(pixel(c, 9, 4), 0xffffff);
    canvas_free(c);
}

/* An 'I' of 20 pixels: a stroke from the line up, 1.16 * 2 pixels wide. */
static void test_a_letter_stands_on_its_line(void **state)
{
    (void)state;
    static const struct text_style left = {20, false, 0, TEXT_LEFT, false};
    static const struct text_style right = {20, false, 0, TEXT_RIGHT, false};
    static const struct text_style upright = {20, false, 0, TEXT_LEFT, true};
    struct canvas *c = canvas_new(60, 60);
    canvas_text(c, 10.5, 40, &left, "I");
    assert_int_equal(pixel(c, 10, 30), 0);
    assert_int_equal(pixel(c, 10, 22), 0);
    assert_int_equal(pixel(c, 10, 16), 0xffffff);
    assert_int_equal(pixel(c, 10, 44), 0xffffff);
    assert_int_equal(pixel(c, 13, 30), 0xffffff);
    canvas_text(c, 50.5, 40, &right, "LI"); /* 6 and 0 wide, 2 between: 16 pixels */
    assert_true(canvas_text_width(&right, "LI") == 16.0);
    assert_int_equal(pixel(c, 50, 30), 0);
    assert_int_equal(pixel(c, 34, 30), 0);
    canvas_text(c, 30, 58.5, &upright, "I");
    assert_int_equal(pixel(c, 20, 58), 0);
    assert_int_equal(pixel(c, 35, 58), 0xffffff);
    canvas_free(c);
}

static void test_the_alphabet_has_what_the_picture_says(void **state)
{
    (void)state;
    struct segment unknown[GLYPH_SEGMENTS];
    struct segment segments[GLYPH_SEGMENTS];
    double width;
    size_t box = font_glyph('\x01', unknown, &width);
    for (int c = 'A'; c <= 'z'; c++) {
        size_t count = font_glyph((char)c, segments, &width);
        bool letter = c <= 'Z' || c >= 'a';
        bool same = count == box && memcmp(segments, unknown, count * sizeof(*unknown)) == 0;
        assert_true(count < GLYPH_SEGMENTS && same == !letter);
        for (size_t i = 0; i < count; i++)
            assert_true(segments[i].x0 >= 0 && segments[i].x1 <= 10 && segments[i].y1 <= 11 &&
                        segments[i].y0 >= -4);
    }
}

static uint32_t big(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void test_the_file_holds_the_pixels(void **state)
{
    (void)state;
    struct canvas *c = canvas_new(7, 3);
    struct buf png = {0};
    struct pixels back;
    struct error err;
    canvas_rect(c, (struct box){1, 1, 5, 3}, 0x123456, 1.0);
    assert_true(canvas_png(c, &png, &err));
    assert_true(png_decode(buf_sv(&png), &back, &err));
    assert_int_equal(back.width, 7);
    assert_int_equal(back.height, 3);
    assert_memory_equal(back.rgb, c->rgb, 7 * 3 * 3);
    free(back.rgb);
    buf_done(&png);
    canvas_free(c);
}

static void test_numbers_are_those_of_the_result(void **state)
{
    (void)state;
    struct fixture *f = mem_new(struct fixture);
    struct dataset_stats s;
    struct buf png = {0};
    struct error err;
    fixture_begin(f);
    dataset_stats_make(&f->report, &s);
    assert_int_equal(s.count, 3);
    assert_int_equal(s.failed, 2);
    assert_int_equal(s.prompt[0], 27); /* the server's count */
    assert_int_equal(s.prompt[1], 30);
    assert_int_equal(s.output[0], 6);
    assert_int_equal(s.output[2], 0); /* failed */
    assert_int_equal(s.total[0], 33);
    assert_true(dataset_stats_png(&s, &png, &err));
    assert_int_equal(big((const unsigned char *)png.ptr + 16), 2100);
    assert_int_equal(big((const unsigned char *)png.ptr + 20), 1500);
    dataset_stats_done(&s);
    f->records[1].sent = false;
    f->report.pooling = true;
    dataset_stats_make(&f->report, &s);
    assert_int_equal(s.count, 2);
    assert_int_equal(s.output[0], 0);
    assert_true(dataset_stats_png(&s, &png, &err));
    dataset_stats_done(&s);
    f->report.count = 0;
    dataset_stats_make(&f->report, &s);
    assert_true(dataset_stats_png(&s, &png, &err));
    dataset_stats_done(&s);
    buf_done(&png);
    fixture_end(f);
    free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rectangle_covers_what_it_says),
        cmocka_unit_test(test_a_letter_stands_on_its_line),
        cmocka_unit_test(test_the_alphabet_has_what_the_picture_says),
        cmocka_unit_test(test_the_file_holds_the_pixels),
        cmocka_unit_test(test_numbers_are_those_of_the_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
