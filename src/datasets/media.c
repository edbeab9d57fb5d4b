/* See media.h.  Part shapes: DATASETS 7.5 and 7.6. */
#include "datasets/media.h"

#include "base/base64.h"
#include "base/file.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/image.h"
#include "json/writer.h"

#include <stdlib.h>

static bool is_address(struct sv source)
{
    return sv_starts(source, SV_LIT("http://")) || sv_starts(source, SV_LIT("https://")) ||
           sv_starts(source, SV_LIT("file://")) || sv_starts(source, SV_LIT("data:"));
}

/* Images are decoded and go out as PNG, as Python sends them. */
static bool add_image_url(struct sv bytes, struct buf *url, struct error *err)
{
    struct pixels pixels = {0};
    struct buf png = {0};
    bool ok = image_decode(bytes, &pixels, NULL, err) && png_encode(&pixels, &png, err);
    if (ok) {
        buf_add_str(url, "data:image/png;base64,");
        base64_add(url, buf_sv(&png));
    }
    free(pixels.rgb);
    buf_done(&png);
    return ok;
}

static bool add_data_url(enum media_kind kind, struct sv path, struct buf *url, struct error *err)
{
    struct buf name = {0};
    struct buf bytes = {0};
    if (sv_starts(path, SV_LIT("file://")))
        path = sv_skip(path, 7);
    buf_add(&name, path);
    bool ok = file_read(buf_cstr(&name), &bytes, err);
    if (ok && kind == MEDIA_IMAGE) {
        ok = add_image_url(buf_sv(&bytes), url, err) || error_context(err, "'%s'", name.ptr);
    } else if (ok) {
        buf_add_str(url, "data:video/mp4;base64,");
        base64_add(url, buf_sv(&bytes));
    }
    buf_done(&name);
    buf_done(&bytes);
    return ok;
}

bool media_add_part(enum media_kind kind, struct sv source, bool embed, struct buf *out,
                    struct error *err)
{
    const char *type = kind == MEDIA_IMAGE ? "image_url" : "video_url";
    struct buf url = {0};
    bool fetched = sv_starts(source, SV_LIT("http"));
    if (embed && fetched && is_address(source))
        return error_set(err, E_UNSUPPORTED,
                         "'" SV_FMT "': files behind web addresses are not fetched on this side; "
                         "leave --custom-ensure-client-side-data out or name local files",
                         SV_ARG(source));
    if (embed && !sv_starts(source, SV_LIT("data:"))) {
        if (!add_data_url(kind, source, &url, err)) {
            buf_done(&url);
            return false;
        }
    } else {
        if (!is_address(source))
            buf_add_str(&url, "file://");
        buf_add(&url, source);
    }
    if (out->len > 0)
        buf_add_char(out, ',');
    struct js_writer w;
    js_writer_init(&w, out);
    js_begin_object(&w);
    js_key(&w, "type");
    js_cstring(&w, type);
    js_key(&w, type);
    js_begin_object(&w);
    js_key(&w, "url");
    js_string(&w, buf_sv(&url));
    js_end_object(&w);
    js_end_object(&w);
    buf_done(&url);
    return true;
}

void media_set_prompt_json(const struct config *config, struct workload *workload,
                           struct request *request, struct sv literal, struct sv media,
                           struct buf *tmp)
{
    if (!config->multimodal_chat) {
        request->prompt = dataset_json_prompt(workload, literal);
        request->media = media.len > 0 ? arena_copy(&workload->arena, media) : (struct sv){0};
        return;
    }
    buf_reset(tmp);
    buf_add_str(tmp, "[{\"role\":\"user\",\"content\":[{\"text\":");
    buf_add(tmp, literal);
    buf_add_str(tmp, ",\"type\":\"text\"}");
    if (media.len > 0)
        buf_add_char(tmp, ',');
    buf_add(tmp, media);
    buf_add_str(tmp, "]}]");
    request->prompt = dataset_json_prompt(workload, buf_sv(tmp));
    request->prompt.kind = PROMPT_MESSAGES;
}

void media_set_prompt(const struct config *config, struct workload *workload,
                      struct request *request, struct sv text, struct sv media, struct buf *tmp)
{
    struct buf literal = {0};
    struct js_writer w;
    js_writer_init(&w, &literal);
    js_string(&w, text);
    media_set_prompt_json(config, workload, request, buf_sv(&literal), media, tmp);
    buf_done(&literal);
}
