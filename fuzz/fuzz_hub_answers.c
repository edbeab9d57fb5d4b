/* JSON answers of the hub and of the datasets server: the first byte says which kind of answer the rest is.  Names that
 * come out must stay inside the repository, rows must be JSON again. */
#include "hub/answers.h"
#include "hub/hub_priv.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_names(struct hub_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        if (!hub_is_path(names->items[i]) || names->items[i].ptr[names->items[i].len] != '\0')
            abort();
    hub_names_done(names);
}

static void check_info(struct sv text)
{
    struct datasets_info info;
    struct error err;
    struct sv config;
    struct sv split;
    if (hub_parse_info(text, &info, &err) &&
        datasets_info_choose(&info, NULL, NULL, &config, &split, &err) &&
        !datasets_info_choose(&info, config.ptr, split.ptr, &config, &split, &err) &&
        memchr(config.ptr, '\0', config.len) == NULL && memchr(split.ptr, '\0', split.len) == NULL)
        abort();
    datasets_info_done(&info);
}

static void check_rows(struct sv text)
{
    struct hub_rows_page page;
    struct buf out = {0};
    struct error err;
    buf_add_str(&out, "[0");
    if (hub_parse_rows(text, 50, &out, &page, &err)) {
        buf_add_char(&out, ']');
        if (page.count > 50 || !js_is_complete(buf_sv(&out)))
            abort();
    }
    buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hub_names names;
    struct error err;
    size_t left_out;
    if (size == 0)
        return 0;
    struct sv text = sv_make((const char *)data + 1, size - 1);
    switch (data[0] % 4) {
    case 0:
        if (hub_parse_listing(text, &names, &left_out, &err))
            check_names(&names);
        break;
    case 1:
        check_info(text);
        break;
    case 2:
        if (hub_parse_parquet(text, "default", "train", &names, &err))
            check_names(&names);
        break;
    default:
        check_rows(text);
        break;
    }
    return 0;
}
