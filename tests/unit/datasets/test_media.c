/* Images of noise and their sizes; pictures read and written as Pillow does; messages with parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/file.h"
#include "dataset_fixture.h"
#include "datasets/format/jpeg.h"
#include "datasets/format/png.h"
#include "datasets/media.h"
#include "datasets/mm_items.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_noise_gives_the_bytes_of_pillow(void **state)
{
    static const struct {
        uint64_t seed;
        uint32_t height;
        uint32_t width;
    } cases[] = {{0, 16, 24}, {42, 64, 48}};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        size_t bytes = (size_t)cases[i].height * cases[i].width * 3;
        uint8_t *pixels = mem_alloc(bytes);
        char path[256];
        struct pcg64 g;
        struct buf want = {0};
        struct buf got = {0};
        struct error err;
        pcg64_seed(&g, cases[i].seed);
        pcg64_bytes(&g, pixels, bytes);
        snprintf(path, sizeof(path), TEST_DATA "/datasets/noise_%d_%dx%d.jpg", (int)cases[i].seed,
                 (int)cases[i].height, (int)cases[i].width);
        assert_true(file_read(path, &want, &err));
        assert_true(jpeg_encode(pixels, cases[i].width, cases[i].height, &got, &err));
        assert_int_equal(got.len, want.len);
        assert_memory_equal(got.ptr, want.ptr, want.len);
        free(pixels);
        buf_done(&want);
        buf_done(&got);
    }
}

static void test_pictures_are_rewritten_as_pillow_does(void **state)
{
    static const char *const modes[] = {"rgb", "gray", "palette", "rgba", "bit"};
    (void)state;
    for (size_t i = 0; i < COUNT(modes); i++) {
        char path[256];
        struct buf in = {0};
        struct buf want = {0};
        struct buf got = {0};
        struct pixels a = {0};
        struct pixels b = {0};
        struct error err;
        snprintf(path, sizeof(path), TEST_DATA "/datasets/picture_%s.png", modes[i]);
        assert_true(file_read(path, &in, &err));
        snprintf(path, sizeof(path), TEST_DATA "/datasets/picture_%s.out.png", modes[i]);
        assert_true(file_read(path, &want, &err));
        assert_true(png_decode(buf_sv(&in), &a, &err));
        assert_true(png_decode(buf_sv(&want), &b, &err));
        assert_int_equal(a.width, 12);
        assert_int_equal(a.height, 7);
        assert_memory_equal(a.rgb, b.rgb, 12 * 7 * 3);
        assert_true(png_encode(&a, &got, &err));
        free(b.rgb);
        assert_true(png_decode(buf_sv(&got), &b, &err));
        assert_memory_equal(a.rgb, b.rgb, 12 * 7 * 3);
        /* The rows' filters are Pillow's; how they are packed is zlib's business. */
        assert_memory_equal(got.ptr, want.ptr, 33);
        free(a.rgb);
        free(b.rgb);
        buf_done(&in);
        buf_done(&want);
        buf_done(&got);
    }
}

static void test_every_cut_of_a_picture_is_refused(void **state)
{
    struct buf in = {0};
    struct error err;
    (void)state;
    assert_true(file_read(TEST_DATA "/datasets/picture_rgb.png", &in, &err));
    for (size_t len = 0; len + 12 < in.len; len++) {
        struct pixels p = {0};
        assert_false(png_decode(sv_make(in.ptr, len), &p, &err));
        assert_null(p.rgb);
    }
    buf_done(&in);
}

static struct config mm_config(const char *buckets, const char *limits)
{
    return (struct config){.mm_buckets = buckets, .mm_limits = limits, .mm_base_items = 2};
}

static void test_sizes_are_read_as_python_reads_a_dict(void **state)
{
    static const char *const good[] = {
        "{(256,256,1):0.5,(720,1280,1):0.5}",
        " { ( 256 , 256 , 1 ) : 1 , (720, 1280, 1): 1, (720, 1280, 16): 0.0 } ",
        "{\"(256, 256, 1)\": 2e0, '(720, 1280, 1)': 2.0,}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        struct config config = mm_config(good[i], "{\"image\": 3, \"video\": 0}");
        struct mm_items items;
        struct error err;
        assert_true(mm_items_parse(&items, &config, &err));
        assert_int_equal(items.bucket_count, 2);
        assert_int_equal(items.buckets[1].height, 720);
        assert_int_equal(items.buckets[1].width, 1280);
        assert_true(items.weights[0] == 0.5 && items.weights[1] == 0.5);
        assert_int_equal(items.low, 2);
        assert_int_equal(items.high, 2);
    }
}

/* Pillow says "image file is truncated"; only the mark of the end, two bytes, may be missing. */
static void test_every_cut_of_a_photo_is_refused(void **state)
{
    struct buf in = {0};
    struct pixels pixels = {0};
    struct error err;
    (void)state;
    assert_true(file_read(TEST_DATA "/datasets/noise_0_16x24.jpg", &in, &err));
    for (size_t n = 0; n + 2 < in.len; n++)
        assert_false(jpeg_decode(sv_make(in.ptr, n), &pixels, &err));
    assert_true(jpeg_decode(buf_sv(&in), &pixels, &err));
    free(pixels.rgb);
    buf_done(&in);
}

static void test_bad_sizes_and_limits_are_named(void **state)
{
    static const char *const bad[][3] = {
        {"", "{}", "'{' is expected"},
        {"[(1,1,1)]", "{}", "'{' is expected"},
        {"{(256,256):1}", "{}", "three numbers"},
        {"{(256,256,1,1):1}", "{}", "')' after three numbers"},
        {"{(256,256,1) 1}", "{}", "':' is expected"},
        {"{(256,256,1):x}", "{}", "a weight is expected"},
        {"{(256,256,1):-1}", "{}", "negative"},
        {"{(256,256,1):0}", "{\"image\":1}", "no size has a weight"},
        {"{}", "{}", "no size has a weight"},
        {"{(0,256,1):1}", "{}", "from 1 to"},
        {"{(256,256,0):1}", "{}", "from 1 to"},
        {"{(256,256,1):1", "{}", "'}' is expected"},
        {"{(256,256,1):1} x", "{}", "nothing more"},
        {"{(256,256,1):1}", "{}", "no limit for 'image'"},
        {"{(256,256,1):1}", "{\"image\":-1}", "whole number"},
        {"{(256,256,1):1}", "3", "no JSON object"},
        {"{(256,256,1):1}", "{\"image\":1}", "at least 2 items"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct config config = mm_config(bad[i][0], bad[i][1]);
        struct mm_items items;
        struct error err;
        assert_false(mm_items_parse(&items, &config, &err));
        if (strstr(err.message, bad[i][2]) == NULL)
            fail_msg("%s: %s", bad[i][0], err.message);
    }
}

static void load(struct fixture *f, const char *dataset)
{
    fixture_init(f, dataset);
    f->tokenizer = tokenizer_load(TEST_DATA "/tok-mini", &f->err);
    assert_non_null(f->tokenizer);
    f->config.num_prompts = 2;
    f->config.mm_base_items = 1;
    f->config.mm_buckets = "{(16, 24, 1): 1.0}";
    f->config.mm_limits = "{\"image\": 3, \"video\": 0}";
}

/* The messages made by the data set are what the backend makes of text and media. */
static void test_multimodal_chat_makes_the_same_request(void **state)
{
    struct fixture *a = mem_new(struct fixture);
    struct fixture *b = mem_new(struct fixture);
    (void)state;
    load(a, "random-mm");
    load(b, "random-mm");
    b->config.multimodal_chat = true;
    assert_true(fixture_build(a));
    assert_true(fixture_build(b));
    for (size_t i = 0; i < 2; i++) {
        struct request *r = &a->workload.requests[i];
        struct buf want = {0};
        assert_true(sv_starts(r->media, SV_LIT("{\"type\":\"image_url\",\"image_url\":{\"url\":"
                                               "\"data:image/jpeg;base64,/9j/")));
        buf_add_str(&want, "[{\"role\":\"user\",\"content\":[{\"text\":");
        buf_add(&want, r->prompt.json);
        buf_add_str(&want, ",\"type\":\"text\"},");
        buf_add(&want, r->media);
        buf_add_str(&want, "]}]");
        assert_int_equal(b->workload.requests[i].prompt.kind, PROMPT_MESSAGES);
        assert_true(sv_eq(b->workload.requests[i].prompt.json, buf_sv(&want)));
        assert_int_equal(b->workload.requests[i].media.len, 0);
        buf_done(&want);
    }
    fixture_done(a);
    fixture_done(b);
    free(a);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise_gives_the_bytes_of_pillow),
        cmocka_unit_test(test_pictures_are_rewritten_as_pillow_does),
        cmocka_unit_test(test_every_cut_of_a_picture_is_refused),
        cmocka_unit_test(test_sizes_are_read_as_python_reads_a_dict),
        cmocka_unit_test(test_every_cut_of_a_photo_is_refused),
        cmocka_unit_test(test_bad_sizes_and_limits_are_named),
        cmocka_unit_test(test_multimodal_chat_makes_the_same_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
