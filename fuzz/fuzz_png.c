/* PNG: any bytes give a picture or a message; what was read can be written, and reads back the same. */
#include "datasets/format/png.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pixels first = {0};
    struct pixels second = {0};
    struct buf out = {0};
    struct error err = {0};
    if (!png_decode(sv_make((const char *)data, size), &first, &err))
        return first.rgb != NULL ? abort(), 0 : 0;
    size_t bytes = (size_t)first.width * first.height * 3;
    if (!png_encode(&first, &out, &err) || !png_decode(buf_sv(&out), &second, &err) ||
        second.width != first.width || memcmp(first.rgb, second.rgb, bytes) != 0)
        abort();
    free(first.rgb);
    free(second.rgb);
    buf_done(&out);
    return 0;
}
