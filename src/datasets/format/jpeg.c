/* See jpeg.h.  The library ends a fault by calling back; a jump leads out of it. */
#include "datasets/format/jpeg.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* The library's header needs stdio before it. */
#include <jpeglib.h>

enum { QUALITY = 75 }; /* Pillow's default */

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
static bool compress(const uint8_t *rgb, uint32_t width, uint32_t height, unsigned char **bytes,
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
    info.image_width = width;
    info.image_height = height;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, QUALITY, TRUE);
    jpeg_start_compress(&info, TRUE);
    write_rows(&info, rgb);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return true;
}

bool jpeg_encode(const uint8_t *rgb, uint32_t width, uint32_t height, struct buf *out,
                 struct error *err)
{
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    bool ok = compress(rgb, width, height, &bytes, &length, err);
    if (ok)
        buf_add(out, sv_make((const char *)bytes, length));
    free(bytes);
    return ok;
}

static void read_rows(struct jpeg_decompress_struct *info, struct pixels *out)
{
    size_t stride = (size_t)info->output_width * 3;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = out->rgb + info->output_scanline * stride;
        jpeg_read_scanlines(info, &row, 1);
    }
}

bool jpeg_decode(struct sv bytes, struct pixels *out, struct error *err)
{
    struct jpeg_decompress_struct info;
    struct fault fault;
    info.err = jpeg_std_error(&fault.base);
    fault.base.error_exit = on_fault;
    fault.base.output_message = on_message;
    *out = (struct pixels){0};
    if (setjmp(fault.back) != 0) {
        jpeg_destroy_decompress(&info);
        free(out->rgb);
        *out = (struct pixels){0};
        return error_set(err, E_PARSE, "malformed JPEG image: %s", fault.message);
    }
    jpeg_create_decompress(&info);
    jpeg_mem_src(&info, (const unsigned char *)bytes.ptr, bytes.len);
    jpeg_read_header(&info, TRUE);
    info.out_color_space = JCS_RGB;
    jpeg_start_decompress(&info);
    out->width = info.output_width;
    out->height = info.output_height;
    out->rgb = mem_array((size_t)out->width * out->height, 3);
    read_rows(&info, out);
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    return true;
}
