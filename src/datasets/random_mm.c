/* Data set "random-mm": random text and images of noise (DATASETS 7).
 * Text as in "random".  For each request, after its text: how many items, then by turns the size of an item and its
 * pixels, all from the same stream; the images are compressed on all cores.  Pixels wait in text_item.data as
 * width, height, bytes. */
#include "base/base64.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/jpeg.h"
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

/* Before each image's pixels in text_item.data. */
struct image_head {
    uint32_t width;
    uint32_t height;
};

static void items_drawn(void *user, size_t index, struct text_item *item)
{
    struct mm_build *b = user;
    struct pcg64 *g = &b->plan.source.g;
    struct mm_state state;
    struct mm_bucket bucket;
    (void)index;
    mm_items_begin(&b->items, g, &state);
    while (mm_items_draw(&b->items, g, &state, &bucket)) {
        struct image_head head = {bucket.width, bucket.height};
        size_t bytes = (size_t)head.width * head.height * 3;
        buf_add(&item->data, sv_make((const char *)&head, sizeof(head)));
        pcg64_bytes(g, (uint8_t *)buf_reserve(&item->data, bytes), bytes);
        item->data.len += bytes;
    }
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
        struct image_head head;
        memcpy(&head, rest.ptr, sizeof(head));
        rest = sv_skip(rest, sizeof(head));
        buf_reset(&item->tmp);
        if (!jpeg_encode((const uint8_t *)rest.ptr, head.width, head.height, &item->tmp, err))
            return false;
        rest = sv_skip(rest, (size_t)head.width * head.height * 3);
        if (!first)
            buf_add_char(&item->out, ',');
        buf_add_str(&item->out,
                    "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:image/jpeg;base64,");
        base64_add(&item->out, buf_sv(&item->tmp));
        buf_add_str(&item->out, "\"}}");
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
        size_t bytes = (size_t)items->buckets[i].height * items->buckets[i].width * 3;
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
