/* See mm_items.h.  Rules and order of draws: DATASETS 7.1 to 7.4. */
#include "datasets/mm_items.h"

#include "base/arena.h"
#include "base/num.h"
#include "datasets/format/jpeg.h"
#include "datasets/format/video.h"
#include "json/tree.h"

#include <math.h>

#define FLAG "--random-mm-bucket-config"

/* Of an item, all its frames: 3 bytes each wait in memory until they are compressed. */
enum { MAX_PIXELS = 500000000 };

struct reader {
    struct sv text;
    size_t at;
};

static void blanks(struct reader *r)
{
    while (r->at < r->text.len && (unsigned char)r->text.ptr[r->at] <= ' ')
        r->at++;
}

static bool take(struct reader *r, char c)
{
    blanks(r);
    if (r->at == r->text.len || r->text.ptr[r->at] != c)
        return false;
    r->at++;
    return true;
}

/* A number's text: digits, sign, point, exponent. */
static struct sv number(struct reader *r)
{
    blanks(r);
    size_t start = r->at;
    while (r->at < r->text.len && strchr("0123456789+-.eE_", r->text.ptr[r->at]) != NULL &&
           r->text.ptr[r->at] != '\0')
        r->at++;
    return sv_make(r->text.ptr + start, r->at - start);
}

static bool syntax(const struct reader *r, const char *wanted, struct error *err)
{
    return error_set(err, E_CONFIG,
                     FLAG ": character %zu: %s is expected; write '{(height, width, frames): "
                          "weight, ...}'",
                     r->at + 1, wanted);
}

/* (H, W, T), perhaps in quotes. */
static bool read_key(struct reader *r, struct mm_bucket *bucket, struct error *err)
{
    uint64_t sides[3];
    char quote = take(r, '"') ? '"' : take(r, '\'') ? '\'' : '\0';
    if (!take(r, '('))
        return syntax(r, "'('", err);
    for (size_t i = 0; i < 3; i++) {
        if (!num_parse_u64(number(r), &sides[i]))
            return syntax(r, "a whole number", err);
        if (sides[i] == 0 || sides[i] > JPEG_MAX_SIDE)
            return error_set(err, E_CONFIG, FLAG ": '%llu': sizes are from 1 to %d",
                             (unsigned long long)sides[i], JPEG_MAX_SIDE);
        if (i < 2 && !take(r, ','))
            return syntax(r, "',' and three numbers", err);
    }
    take(r, ',');
    if (!take(r, ')'))
        return syntax(r, "')' after three numbers", err);
    if (quote != '\0' && !take(r, quote))
        return syntax(r, "the closing quote", err);
    if (sides[0] * sides[1] * sides[2] > MAX_PIXELS)
        return error_set(err, E_CONFIG, FLAG ": (%llu, %llu, %llu) is more than %d million pixels",
                         (unsigned long long)sides[0], (unsigned long long)sides[1],
                         (unsigned long long)sides[2], MAX_PIXELS / 1000000);
    *bucket = (struct mm_bucket){(uint32_t)sides[0], (uint32_t)sides[1], (uint32_t)sides[2]};
    return true;
}

static bool add_bucket(struct mm_items *items, struct mm_bucket bucket, double weight,
                       struct error *err)
{
    size_t i = 0;
    while (i < items->bucket_count && memcmp(&items->buckets[i], &bucket, sizeof(bucket)) != 0)
        i++;
    if (i == MM_MAX_BUCKETS)
        return error_set(err, E_CONFIG, FLAG ": more than %d sizes", MM_MAX_BUCKETS);
    items->buckets[i] = bucket; /* given again: the later weight holds, as in a dict */
    items->weights[i] = weight;
    items->bucket_count += i == items->bucket_count;
    return true;
}

static bool read_buckets(struct mm_items *items, struct reader *r, struct error *err)
{
    if (!take(r, '{'))
        return syntax(r, "'{'", err);
    while (!take(r, '}')) {
        struct mm_bucket bucket;
        double weight;
        if (!read_key(r, &bucket, err))
            return false;
        if (!take(r, ':'))
            return syntax(r, "':'", err);
        if (!num_parse_double(number(r), &weight) || !isfinite(weight))
            return syntax(r, "a weight", err);
        if (weight < 0.0)
            return error_set(err, E_CONFIG, FLAG ": a weight is negative");
        if (!add_bucket(items, bucket, weight, err))
            return false;
        if (!take(r, ',') && (blanks(r), r->at < r->text.len) && r->text.ptr[r->at] != '}')
            return syntax(r, "',' or '}'", err);
        if (r->at == r->text.len)
            return syntax(r, "'}'", err);
    }
    blanks(r);
    return r->at == r->text.len || syntax(r, "nothing more", err);
}

static bool is_video(struct mm_bucket bucket)
{
    return bucket.frames > 1;
}

/* Drops what has no weight; the sum becomes 1.  False when nothing is left. */
static bool normalize(struct mm_bucket *buckets, double *weights, size_t *count)
{
    double sum = 0.0;
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        if (weights[i] <= 0.0)
            continue;
        sum += weights[i];
        buckets[kept] = buckets[i];
        weights[kept++] = weights[i];
    }
    for (size_t i = 0; i < kept; i++)
        weights[i] /= sum;
    *count = kept;
    return kept > 0;
}

static bool has_kind(const struct mm_items *items, bool video)
{
    for (size_t i = 0; i < items->bucket_count; i++)
        if (is_video(items->buckets[i]) == video)
            return true;
    return false;
}

static bool read_limit(const struct js_value *tree, const char *kind, bool needed, uint64_t *limit,
                       struct error *err)
{
    const struct js_value *value = js_get(tree, kind);
    int64_t number = 0;
    *limit = 0;
    if (value == NULL)
        return !needed ||
               error_set(err, E_CONFIG,
                         "--random-mm-limit-mm-per-prompt: no limit for '%s', of which " FLAG
                         " has sizes",
                         kind);
    if (!js_as_i64(value, &number) || number < 0 || number > 1000000)
        return error_set(err, E_CONFIG,
                         "--random-mm-limit-mm-per-prompt: '%s' must be a whole number from 0 on",
                         kind);
    *limit = (uint64_t)number;
    return true;
}

static bool read_limits(struct mm_items *items, const char *text, struct error *err)
{
    struct arena arena = {0};
    struct error why;
    const struct js_value *tree = js_parse(&arena, sv_from(text), "the value", &why);
    bool ok = tree != NULL && tree->type == JS_OBJECT;
    if (!ok)
        error_set(err, E_CONFIG,
                  "--random-mm-limit-mm-per-prompt: '%s' is no JSON object; write '{\"image\": 3, "
                  "\"video\": 0}'",
                  text);
    ok = ok && read_limit(tree, "image", has_kind(items, false), &items->limit_images, err) &&
         read_limit(tree, "video", has_kind(items, true), &items->limit_videos, err);
    arena_done(&arena);
    return ok;
}

bool mm_items_parse(struct mm_items *items, const struct config *config, struct error *err)
{
    struct reader r = {sv_from(config->mm_buckets), 0};
    *items = (struct mm_items){0};
    if (!read_buckets(items, &r, err) || !read_limits(items, config->mm_limits, err))
        return false;
    if (!normalize(items->buckets, items->weights, &items->bucket_count))
        return error_set(err, E_CONFIG, FLAG ": no size has a weight above 0");
    double base = (double)config->mm_base_items;
    uint64_t limits = (has_kind(items, false) ? items->limit_images : 0) +
                      (has_kind(items, true) ? items->limit_videos : 0);
    double low = floor(base * (1.0 - config->mm_items_ratio));
    double high = ceil(base * (1.0 + config->mm_items_ratio));
    items->low = low > 0.0 ? (int64_t)low : 0;
    items->high = high < (double)limits ? (int64_t)high : (int64_t)limits;
    if (items->low > items->high)
        return error_set(err, E_CONFIG,
                         "--random-mm-base-items-per-request: at least %lld items are wanted, but "
                         "--random-mm-limit-mm-per-prompt allows %lld",
                         (long long)items->low, (long long)items->high);
    return !has_kind(items, true) || video_check(err) || error_context(err, FLAG);
}

void mm_items_begin(const struct mm_items *items, struct pcg64 *g, struct mm_state *state)
{
    *state = (struct mm_state){.bucket_count = items->bucket_count};
    memcpy(state->buckets, items->buckets, sizeof(state->buckets));
    memcpy(state->weights, items->weights, sizeof(state->weights));
    state->wanted = (uint64_t)pcg64_integers(g, items->low, items->high + 1);
}

bool mm_items_draw(const struct mm_items *items, struct pcg64 *g, struct mm_state *state,
                   struct mm_bucket *bucket)
{
    while (state->images + state->videos < state->wanted) {
        *bucket = state->buckets[pcg64_choice(g, state->weights, state->bucket_count)];
        bool video = is_video(*bucket);
        uint64_t *have = video ? &state->videos : &state->images;
        if (*have < (video ? items->limit_videos : items->limit_images)) {
            ++*have;
            return true;
        }
        for (size_t i = 0; i < state->bucket_count; i++)
            if (is_video(state->buckets[i]) == video)
                state->weights[i] = 0.0;
        if (!normalize(state->buckets, state->weights, &state->bucket_count))
            return false;
    }
    return false;
}
