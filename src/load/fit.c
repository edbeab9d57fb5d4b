/* Each rule looks at every request, since data sets mix kinds. */
#include "load/fit.h"

#include "json/scan.h"

static bool takes_media(const struct body_template *body)
{
    return body_has(body, PART_MEDIA) || body_has(body, PART_MEDIA_FIRST) ||
           body_has(body, PART_INPUT) || body_has(body, PART_INPUT_CLIP);
}

/* The API has one place for a picture. */
static bool takes_one(const struct body_template *body)
{
    return body_has(body, PART_INPUT) || body_has(body, PART_INPUT_CLIP);
}

static bool holds_several(struct sv media)
{
    struct js_scan s;
    js_scan_init(&s, media);
    return media.len > 0 && js_scan_skip(&s, NULL) && !js_scan_end(&s);
}

static bool request_fits(const struct backend *backend, const struct body_template *body,
                         const struct request *r, size_t i, struct error *err)
{
    if (backend->needs_file && r->file == NULL)
        return error_set(err, E_CONFIG,
                         "--backend %s: request %zu of the data set has no recording to send; "
                         "take one with sound, e.g. --dataset-name custom_audio",
                         backend->name, i);
    if (r->file != NULL && !backend->needs_file)
        return error_set(err, E_CONFIG,
                         "--backend %s: request %zu of the data set is a recording, which only "
                         "openai-audio sends; for chat give --enable-multimodal-chat",
                         backend->name, i);
    if (r->media.len > 0 && !takes_media(body))
        return error_set(err, E_CONFIG,
                         "--backend %s: request %zu of the data set has pictures or sound, which "
                         "this backend cannot send; e.g. openai-chat can",
                         backend->name, i);
    if (takes_one(body) && holds_several(r->media))
        return error_set(err, E_CONFIG,
                         "--backend %s: request %zu of the data set has several pictures, and this "
                         "API takes one",
                         backend->name, i);
    return true;
}

bool load_fits(const struct backend *backend, const struct body_template *body,
               const struct workload *workload, const char **warning, struct error *err)
{
    *warning = NULL;
    for (size_t i = 0; i < workload->count; i++) {
        const struct request *r = &workload->requests[i];
        if (!request_fits(backend, body, r, i, err))
            return false;
        if (backend->ranks && r->prompt.first_bytes == 0 && !body->has_fixed_inputs)
            *warning = "a rerank request without documents: the data set gives single prompts, "
                       "which are sent as queries (documents may come from --extra-body)";
    }
    return true;
}
