/* See jpeg.h.  The library ends a fault by calling back; a jump leads out of it. */
#include "datasets/format/jpeg.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* The library's header needs stdio before it. */
#include <jpeglib.h>

#include <jerror.h>

enum { QUALITY = 75 }; /* Pillow's default */
enum { PIXELS_MAX = 64 * 1024 * 1024, MARKER_MAX = 65533 };

struct fault {
    struct jpeg_error_mgr base; /* first: the library knows this part */
    jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

static void on_fault(j_common_ptr info)
{
    struct fault *fault = (struct fault *)info->err;
    info->err->format_message(info, fault->message);
    longjmp(fault->back, 1);
}

static void on_message(j_common_ptr info)
{
    (void)info;
}

/* The library would go on with gray for what is missing of a file. */
static void on_warning(j_common_ptr info, int level)
{
    const struct jpeg_decompress_struct *d = (const struct jpeg_decompress_struct *)info;
    if (level < 0 && info->is_decompressor && info->err->msg_code == JWRN_JPEG_EOF &&
        (d->output_height == 0 || d->output_scanline < d->output_height))
        on_fault(info);
}

static void write_rows(struct jpeg_compress_struct *info, const uint8_t *rgb)
{
    size_t stride = (size_t)info->image_width * 3;
    while (info->next_scanline < info->image_height) {
        /* The library only reads the row. */
        union {
            const uint8_t *read;
            JSAMPROW row;
        } at = {.read = rgb + info->next_scanline * stride};
        jpeg_write_scanlines(info, &at.row, 1);
    }
}

/* *bytes belongs to the caller even when this fails. */
static bool compress(const struct pixels *in, struct sv comment, unsigned char **bytes,
                     unsigned long *length, struct error *err)
{
    struct jpeg_compress_struct info;
    struct fault fault;
    info.err = jpeg_std_error(&fault.base);
    fault.base.error_exit = on_fault;
    fault.base.output_message = on_message;
    if (setjmp(fault.back) != 0) {
        jpeg_destroy_compress(&info);
        return error_set(err, E_LIMIT, "cannot make a JPEG image: %s", fault.message);
    }
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, bytes, length);
    info.image_width = in->width;
    info.image_height = in->height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, QUALITY, TRUE);
    jpeg_start_compress(&info, TRUE);
    if (comment.len > 0 && comment.len <= MARKER_MAX)
        jpeg_write_marker(&info, JPEG_COM, (const JOCTET *)comment.ptr, (unsigned)comment.len);
    write_rows(&info, in->rgb);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return true;
}

bool jpeg_encode_comment(const struct pixels *pixels, struct sv comment, struct buf *out,
                         struct error *err)
{
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    bool ok = compress(pixels, comment, &bytes, &length, err);
    if (ok)
        buf_add(out, sv_make((const char *)bytes, length));
    free(bytes);
    return ok;
}

bool jpeg_encode(const uint8_t *rgb, uint32_t width, uint32_t height, struct buf *out,
                 struct error *err)
{
    /* Only read. */
    union {
        const uint8_t *read;
        uint8_t *rgb;
    } at = {.read = rgb};
    struct pixels pixels = {.rgb = at.rgb, .width = width, .height = height};
    return jpeg_encode_comment(&pixels, (struct sv){0}, out, err);
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

static void read_rows(struct jpeg_decompress_struct *info, struct pixels *out)
{
    size_t stride = (size_t)info->output_width * 3;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = out->rgb + info->output_scanline * stride;
        jpeg_read_scanlines(info, &row, 1);
    }
}

/* a * b / 255, rounded, as Pillow does it. */
static unsigned share(unsigned a, unsigned b)
{
    unsigned t = a * b + 128;
    return ((t >> 8) + t) >> 8;
}

/* Four inks a pixel, which Adobe's programs store inverted; as Pillow's cmyk2rgb. */
static void read_inks(struct jpeg_decompress_struct *info, struct pixels *out, uint8_t *inks)
{
    bool inverted = info->saw_Adobe_marker;
    uint8_t *rgb = out->rgb;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = inks;
        jpeg_read_scanlines(info, &row, 1);
        for (size_t x = 0; x < out->width; x++, rgb += 3) {
            const uint8_t *ink = inks + x * 4;
            unsigned light = inverted ? ink[3] : 255u - ink[3];
            for (unsigned k = 0; k < 3; k++)
                rgb[k] = (uint8_t)(light - share(inverted ? 255u - ink[k] : ink[k], light));
        }
    }
}

static void keep_comment(const struct jpeg_decompress_struct *info, struct buf *comment)
{
    for (const struct jpeg_marker_struct *m = info->marker_list; m != NULL; m = m->next) {
        if (m->marker != JPEG_COM)
            continue;
        buf_reset(comment);
        buf_add(comment, sv_make((const char *)m->data, m->data_length));
    }
}

/* *out and *inks belong to the caller even when this fails. */
static bool decompress(struct sv bytes, struct pixels *out, uint8_t **inks, struct buf *comment,
                       struct error *err)
{
    struct jpeg_decompress_struct info;
    struct fault fault;
    info.err = jpeg_std_error(&fault.base);
    fault.base.error_exit = on_fault;
    fault.base.output_message = on_message;
    fault.base.emit_message = on_warning;
    if (setjmp(fault.back) != 0) {
        jpeg_destroy_decompress(&info);
        return error_set(err, E_PARSE, "malformed JPEG image: %s", fault.message);
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, (const unsigned char *)bytes.ptr, bytes.len);
    if (comment != NULL)
        jpeg_save_markers(&info, JPEG_COM, 0xFFFF);
    jpeg_read_header(&info, TRUE);
    if ((uint64_t)info.image_width * info.image_height > PIXELS_MAX) {
        jpeg_destroy_decompress(&info);
        return error_set(err, E_LIMIT, "a JPEG image of more than %d pixels", PIXELS_MAX);
    }
    bool cmyk = info.num_components == 4;
    info.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&info);
    out->width = info.output_width;
    out->height = info.output_height;
    out->rgb = mem_array((size_t)out->width * out->height, 3);
    *inks = cmyk ? mem_array(out->width, 4) : NULL;
    if (cmyk)
        read_inks(&info, out, *inks);
    else
        read_rows(&info, out);
    if (comment != NULL)
        keep_comment(&info, comment);
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return true;
}

bool jpeg_decode_comment(struct sv bytes, struct pixels *out, struct buf *comment,
                         struct error *err)
{
    /* Memory, not registers, across the jump. */
    struct made {
        struct pixels pixels;
        uint8_t *inks;
    } *made = mem_new(struct made);
    bool ok = decompress(bytes, &made->pixels, &made->inks, comment, err);
    if (ok)
        *out = made->pixels;
    else
        free(made->pixels.rgb);
    free(made->inks);
    free(made);
    return ok;
}

bool jpeg_decode(struct sv bytes, struct pixels *out, struct error *err)
{
    *out = (struct pixels){0};
    return jpeg_decode_comment(bytes, out, NULL, err);
}
