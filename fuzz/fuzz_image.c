/* Pictures of any kind: any bytes give a picture or a message. */
#include "datasets/format/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf out = {0};
    struct error err = {0};
    image_add_jpeg_url(sv_make((const char *)data, size), &out, &err);
    buf_done(&out);
    return 0;
}
