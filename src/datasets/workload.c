/* Ids are written two digits at a time from a table: a run of 100,000 ids is made anew for every request that sends it,
 * so this is on the send path. */
#include "datasets/workload.h"

#include "json/writer.h"

static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

void workload_done(struct workload *w)
{
    arena_done(&w->arena);
    *w = (struct workload){0};
}

static unsigned digits_of(uint32_t v)
{
    unsigned n = 1;
    for (; v >= 100; v /= 100)
        n += 2;
    return v >= 10 ? n + 1 : n;
}

static char *put_number(char *at, uint32_t v)
{
    unsigned n = digits_of(v);
    char *end = at + n;
    char *to = end;
    for (; v >= 100; v /= 100) {
        to -= 2;
        memcpy(to, digit_pairs + (size_t)(v % 100) * 2, 2);
    }
    if (v >= 10)
        memcpy(at, digit_pairs + (size_t)v * 2, 2);
    else
        *at = (char)('0' + v);
    return end;
}

static size_t id_total(const struct prompt *p)
{
    return p->kind == PROMPT_ID_RUN ? (size_t)p->prefix_len + p->run_len : p->id_count;
}

void id_walk_from(struct id_walk *walk, const struct workload *w, const struct prompt *p, size_t at)
{
    walk->workload = w;
    walk->prompt = p;
    walk->at = at;
    walk->chunk_left = 0;
}

static struct id_stretch run_stretch(const struct workload *w, const struct prompt *p, size_t at)
{
    if (at < p->prefix_len)
        return (struct id_stretch){w->prefix_ids + at, 0, p->prefix_len - at};
    size_t done = at - p->prefix_len;
    size_t start = (size_t)((p->run_start + done) % w->allowed_count);
    size_t count = p->run_len - done;
    if (count > w->allowed_count - start)
        count = w->allowed_count - start;
    if (w->allowed == NULL)
        return (struct id_stretch){NULL, (uint32_t)start, count};
    return (struct id_stretch){w->allowed + start, 0, count};
}

/* The generator of a chunk is seeded with its hash and its length, so that a chunk is the same in every prompt, run and
 * machine (DATASETS 12). */
static struct id_stretch chunk_stretch(struct id_walk *walk)
{
    const struct workload *w = walk->workload;
    const struct prompt *p = walk->prompt;
    if (walk->chunk_left == 0) {
        size_t left = p->id_count - walk->at;
        uint64_t size = left < w->chunk_size ? left : w->chunk_size;
        uint64_t hash = p->hashes[walk->at / w->chunk_size];
        pcg64_seed(&walk->g, (hash * UINT64_C(0x9E3779B97F4A7C15)) ^ size);
        walk->chunk_left = size;
    }
    size_t n = sizeof(walk->drawn) / sizeof(walk->drawn[0]);
    n = walk->chunk_left < n ? walk->chunk_left : n;
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)pcg64_integers(&walk->g, 0, (int64_t)w->allowed_count);
        walk->drawn[i] = w->allowed != NULL ? w->allowed[k] : (uint32_t)k;
    }
    walk->chunk_left -= n;
    return (struct id_stretch){walk->drawn, 0, n};
}

bool id_walk_next(struct id_walk *walk, struct id_stretch *stretch)
{
    const struct prompt *p = walk->prompt;
    if (walk->at >= id_total(p))
        return false;
    if (p->kind == PROMPT_ID_CHUNKS)
        *stretch = chunk_stretch(walk);
    else if (p->kind == PROMPT_ID_RUN)
        *stretch = run_stretch(walk->workload, p, walk->at);
    else
        *stretch = (struct id_stretch){p->ids + walk->at, 0, p->id_count - walk->at};
    walk->at += stretch->count;
    return true;
}

static bool is_text(const struct prompt *p)
{
    return p->kind == PROMPT_JSON || p->kind == PROMPT_MESSAGES;
}

uint32_t workload_prompt_measure(const struct workload *w, const struct prompt *p)
{
    if (is_text(p))
        return (uint32_t)p->json.len;
    size_t total = id_total(p);
    size_t bytes = total > 0 ? total + 1 : 2; /* brackets and commas */
    struct id_walk walk;
    struct id_stretch s;
    id_walk_from(&walk, w, p, 0);
    while (id_walk_next(&walk, &s))
        for (size_t i = 0; i < s.count; i++)
            bytes += digits_of(s.ids != NULL ? s.ids[i] : s.first + (uint32_t)i);
    return (uint32_t)bytes;
}

struct prompt workload_list_prompt(struct workload *w, const struct sv *texts, size_t count,
                                   struct buf *tmp)
{
    struct prompt p = {.kind = PROMPT_JSON};
    struct js_writer writer;
    buf_reset(tmp);
    js_writer_init(&writer, tmp);
    js_begin_array(&writer);
    for (size_t i = 0; i < count; i++) {
        js_string(&writer, texts[i]);
        if (i == 0)
            p.first_bytes = (uint32_t)tmp->len - 1; /* without the bracket */
    }
    js_end_array(&writer);
    p.json = arena_copy(&w->arena, buf_sv(tmp));
    p.json_bytes = (uint32_t)p.json.len;
    return p;
}

void workload_prompt_write(const struct workload *w, const struct prompt *p, struct buf *out)
{
    if (is_text(p)) {
        buf_add(out, p->json);
        return;
    }
    char *start = buf_reserve(out, (size_t)p->json_bytes + 1);
    char *at = start;
    size_t total = id_total(p);
    *at++ = '[';
    struct id_walk walk;
    struct id_stretch s;
    id_walk_from(&walk, w, p, 0);
    while (id_walk_next(&walk, &s)) {
        for (size_t i = 0; i < s.count; i++) {
            at = put_number(at, s.ids != NULL ? s.ids[i] : s.first + (uint32_t)i);
            *at++ = ',';
        }
    }
    if (total > 0)
        at--; /* the last comma */
    *at++ = ']';
    out->len += (size_t)(at - start);
}
