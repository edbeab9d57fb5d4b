/* Data set "random-mm": random text, images and videos of noise (DATASETS 7).
 * Text as in "random".  For each request, after its text: how many items, then by turns the size of an item and its
 * pixels, all from the same stream; images and videos are compressed on all cores.  Pixels wait in text_item.data
 * behind their sizes. */
#include "base/base64.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/jpeg.h"
#include "datasets/format/video.h"
#include "datasets/media.h"
#include "datasets/mm_items.h"
#include "datasets/random_source.h"
#include "json/writer.h"

struct mm_build {
    struct random_plan plan; /* first: the user of random_plan_job */
    const struct dataset_context *context;
    struct workload *workload;
    struct mm_items items;
    struct buf tmp;
};

/* Pixels of an item, all its frames. */
static size_t pixel_bytes(struct mm_bucket bucket)
{
    return (size_t)bucket.height * bucket.width * 3 * bucket.frames;
}

static void items_drawn(void *user, size_t index, struct text_item *item)
{
    struct mm_build *b = user;
    struct pcg64 *g = &b->plan.source.g;
    struct mm_state state;
    struct mm_bucket bucket;
    (void)index;
    mm_items_begin(&b->items, g, &state);
    while (mm_items_draw(&b->items, g, &state, &bucket)) {
        size_t bytes = pixel_bytes(bucket);
        buf_add(&item->data, sv_make((const char *)&bucket, sizeof(bucket)));
        pcg64_bytes(g, (uint8_t *)buf_reserve(&item->data, bytes), bytes);
        item->data.len += bytes;
    }
}

/* One content part; `tmp` is scratch. */
static bool add_part(struct buf *out, struct buf *tmp, const uint8_t *pixels,
                     struct mm_bucket bucket, struct error *err)
{
    bool video = bucket.frames > 1;
    buf_reset(tmp);
    if (video ? !video_encode(pixels, bucket.width, bucket.height, bucket.frames, tmp, err)
              : !jpeg_encode(pixels, bucket.width, bucket.height, tmp, err))
        return false;
    buf_add_str(out,
                video ? "{\"type\":\"video_url\",\"video_url\":{\"url\":\"data:video/mp4;base64,"
                      : "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,");
    base64_add(out, buf_sv(tmp));
    buf_add_str(out, "\"}}");
    return true;
}

/* out: the prompt's JSON string, then the parts; data: afterwards the length of the first. */
static bool text_finish(void *user, size_t index, struct text_item *item, struct error *err)
{
    struct sv rest = buf_sv(&item->data);
    struct js_writer w;
    (void)user;
    (void)index;
    js_writer_init(&w, &item->out);
    js_string(&w, buf_sv(&item->fit.text));
    size_t literal = item->out.len;
    for (bool first = true; rest.len > 0; first = false) {
        struct mm_bucket bucket;
        memcpy(&bucket, rest.ptr, sizeof(bucket));
        rest = sv_skip(rest, sizeof(bucket));
        if (!first)
            buf_add_char(&item->out, ',');
        if (!add_part(&item->out, &item->tmp, (const uint8_t *)rest.ptr, bucket, err))
            return false;
        rest = sv_skip(rest, pixel_bytes(bucket));
    }
    buf_reset(&item->data);
    buf_add(&item->data, sv_make((const char *)&literal, sizeof(literal)));
    return true;
}

static void text_keep(void *user, size_t index, struct text_item *item)
{
    struct mm_build *b = user;
    struct request *r = &b->workload->requests[index];
    size_t literal;
    memcpy(&literal, item->data.ptr, sizeof(literal));
    struct sv out = buf_sv(&item->out);
    media_set_prompt_json(b->context->config, b->workload, r, sv_make(out.ptr, literal),
                          sv_skip(out, literal), &b->tmp);
    r->prompt_len = (uint32_t)item->fit.ids.count;
    r->output_len = (uint32_t)b->plan.params.out_lens[index];
}

/* Bytes of pixels of a request, at most. */
static size_t pixels_of(const struct mm_items *items)
{
    size_t most = 0;
    for (size_t i = 0; i < items->bucket_count; i++) {
        size_t bytes = pixel_bytes(items->buckets[i]);
        most = bytes > most ? bytes : most;
    }
    return most * (size_t)items->high;
}

static bool build(struct mm_build *b, struct error *err)
{
    const struct config *config = b->context->config;
    if (config->random_batch_size > 1)
        return error_set(err, E_CONFIG, "--random-batch-size must be 1");
    if (!mm_items_parse(&b->items, config, err) ||
        !random_plan_init(&b->plan, b->context, "random-mm", BAR_FLAGGED, config->random_prefix_len,
                          &b->workload->arena, err))
        return false;
    dataset_requests_new(b->workload, b->plan.params.count);
    struct text_job job = random_plan_job(&b->plan, b->context);
    job.drawn = items_drawn;
    job.finish = text_finish;
    job.keep = text_keep;
    job.extra_bytes = pixels_of(&b->items);
    if (!random_plan_fit_prefix(&b->plan, err) || !text_job_run(&job, err))
        return false;
    text_job_report(&job, "prompts");
    return true;
}

bool random_mm_build(const struct dataset_context *context, struct workload *workload,
                     struct error *err)
{
    struct mm_build b = {.context = context, .workload = workload};
    bool ok = build(&b, err);
    random_plan_done(&b.plan);
    buf_done(&b.tmp);
    return ok || error_context(err, "data set 'random-mm'");
}
