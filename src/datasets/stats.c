/* See stats.h.  Sharing is measured on the prompts themselves: sorted, each is compared with the one before it, and the
 * common beginnings add up to exactly what an ideal prefix cache would not have to compute (the prompts' bytes less the
 * size of their trie).  Prompts that are ids by rule are compared id by id and never written out. */
#include "datasets/stats.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdlib.h>

enum { BARS = 10, BAR_WIDTH = 40 };

/* ---- order and common beginnings ---------------------------------------------------------------------------------- */

static bool is_ids(const struct prompt *p)
{
    return p->kind == PROMPT_IDS || p->kind == PROMPT_ID_RUN || p->kind == PROMPT_ID_CHUNKS;
}

/* Ids that two prompts of the same rule have in common at their beginning without looking at them. */
static size_t common_by_rule(const struct workload *w, const struct prompt *a,
                             const struct prompt *b)
{
    size_t common = 0;
    if (a->kind != b->kind)
        return 0;
    if (a->kind == PROMPT_ID_RUN) {
        common = a->prefix_len < b->prefix_len ? a->prefix_len : b->prefix_len;
        if (a->prefix_len == b->prefix_len && a->run_start == b->run_start)
            common += a->run_len < b->run_len ? a->run_len : b->run_len;
        return common;
    }
    if (a->kind != PROMPT_ID_CHUNKS)
        return 0;
    size_t least = a->id_count < b->id_count ? a->id_count : b->id_count;
    for (size_t i = 0; common + w->chunk_size <= least && a->hashes[i] == b->hashes[i]; i++)
        common += w->chunk_size;
    return common;
}

/* Length of the common beginning in ids, and the order, of two id prompts. */
static size_t compare_ids(const struct workload *w, const struct prompt *a, const struct prompt *b,
                          int *order)
{
    struct id_walk walks[2];
    struct id_stretch s[2] = {{0}};
    size_t used[2] = {0, 0};
    size_t common = common_by_rule(w, a, b);
    id_walk_from(&walks[0], w, a, common);
    id_walk_from(&walks[1], w, b, common);
    for (;; common++) {
        bool more[2];
        uint32_t id[2] = {0, 0};
        for (size_t k = 0; k < 2; k++) {
            more[k] = used[k] < s[k].count;
            if (!more[k]) {
                more[k] = id_walk_next(&walks[k], &s[k]);
                used[k] = 0;
            }
            if (more[k])
                id[k] = s[k].ids != NULL ? s[k].ids[used[k]] : s[k].first + (uint32_t)used[k];
            used[k]++;
        }
        if (!more[0] || !more[1] || id[0] != id[1]) {
            *order = !more[0] ? (more[1] ? -1 : 0) : !more[1] || id[0] > id[1] ? 1 : -1;
            return common;
        }
    }
}

static size_t compare_texts(struct sv a, struct sv b, int *order)
{
    size_t least = a.len < b.len ? a.len : b.len;
    size_t common = 0;
    for (size_t step = 4096; common + step <= least;) {
        if (memcmp(a.ptr + common, b.ptr + common, step) != 0)
            break;
        common += step;
    }
    while (common < least && a.ptr[common] == b.ptr[common])
        common++;
    if (common < least)
        *order = (unsigned char)a.ptr[common] < (unsigned char)b.ptr[common] ? -1 : 1;
    else
        *order = a.len == b.len ? 0 : a.len < b.len ? -1 : 1;
    return common;
}

static size_t compare(const struct workload *w, const struct request *a, const struct request *b,
                      int *order)
{
    bool ids = is_ids(&a->prompt);
    *order = 0;
    if (ids != is_ids(&b->prompt)) {
        *order = ids ? -1 : 1;
        return 0;
    }
    return ids ? compare_ids(w, &a->prompt, &b->prompt, order)
               : compare_texts(a->prompt.json, b->prompt.json, order);
}

static int by_prompt(const void *a, const void *b, void *user)
{
    int order;
    compare(user, *(const struct request *const *)a, *(const struct request *const *)b, &order);
    return order;
}

static size_t units(const struct request *r)
{
    const struct prompt *p = &r->prompt;
    if (!is_ids(p))
        return p->json.len;
    return p->kind == PROMPT_ID_RUN ? (size_t)p->prefix_len + p->run_len : p->id_count;
}

static void write_sharing(const struct workload *w, struct buf *out)
{
    const struct request **sorted = mem_array(w->count, sizeof(struct request *));
    size_t total = 0;
    size_t shared = 0;
    size_t same = 0;
    for (size_t i = 0; i < w->count; i++) {
        sorted[i] = &w->requests[i];
        total += units(sorted[i]);
    }
    union { /* qsort_r's argument is not const */
        const struct workload *read;
        void *user;
    } arg = {.read = w};
    qsort_r(sorted, w->count, sizeof(struct request *), by_prompt, arg.user);
    for (size_t i = 1; i < w->count; i++) {
        int order;
        shared += compare(w, sorted[i - 1], sorted[i], &order);
        same += order == 0;
    }
    free(sorted);
    buf_add_fmt(out, "  Shared beginnings: %.1f %% of the prompts (%zu of %zu %s), %zu repeated\n",
                total > 0 ? 100.0 * (double)shared / (double)total : 0.0, shared, total,
                is_ids(&w->requests[0].prompt) ? "ids" : "bytes", same);
}

/* ---- lengths ------------------------------------------------------------------------------------------------------ */

static void write_bars(const char *title, const uint32_t *lengths, size_t count, struct buf *out)
{
    uint32_t low = UINT32_MAX;
    uint32_t high = 0;
    size_t bars[BARS] = {0};
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        low = lengths[i] < low ? lengths[i] : low;
        high = lengths[i] > high ? lengths[i] : high;
    }
    uint64_t span = (uint64_t)high - low + 1;
    uint64_t width = (span + BARS - 1) / BARS;
    for (size_t i = 0; i < count; i++) {
        size_t bar = (size_t)((lengths[i] - low) / width);
        bars[bar]++;
        most = bars[bar] > most ? bars[bar] : most;
    }
    buf_add_fmt(out, "  %s lengths: %" PRIu32 " to %" PRIu32 " tokens\n", title, low, high);
    for (size_t bar = 0; bar * width < span; bar++) {
        uint64_t first = low + bar * width;
        uint64_t last = first + width - 1 < high ? first + width - 1 : high;
        size_t length = (bars[bar] * BAR_WIDTH + most - 1) / most;
        buf_add_fmt(out, "    %10" PRIu64 " - %-10" PRIu64 " %8zu  ", first, last, bars[bar]);
        for (size_t i = 0; i < length; i++)
            buf_add_char(out, '#');
        buf_add_char(out, '\n');
    }
}

static void write_sizes(const struct workload *w, struct buf *out)
{
    uint64_t wire = 0;
    uint64_t media = 0;
    uint64_t last_ns = 0;
    bool timed = false;
    for (size_t i = 0; i < w->count; i++) {
        const struct request *r = &w->requests[i];
        wire += r->prompt.json_bytes;
        media += r->media.len + (r->file != NULL ? r->file->bytes.len : 0);
        timed = timed || r->due_offset_ns != UINT64_MAX;
        if (r->due_offset_ns != UINT64_MAX && r->due_offset_ns > last_ns)
            last_ns = r->due_offset_ns;
    }
    buf_add_fmt(out, "  Prompts on the wire: %.1f MB", (double)wire / 1e6);
    if (media > 0)
        buf_add_fmt(out, ", media: %.1f MB", (double)media / 1e6);
    buf_add_fmt(out, "\n  Memory of the workload: %.1f MB\n", (double)w->arena.total_bytes / 1e6);
    if (timed)
        buf_add_fmt(out, "  Last request due after: %.3f s\n", (double)last_ns / 1e9);
}

void workload_stats_write(const struct workload *w, struct buf *out)
{
    if (w->count == 0)
        return;
    uint32_t *lengths = mem_array(w->count, sizeof(*lengths));
    for (size_t i = 0; i < w->count; i++)
        lengths[i] = w->requests[i].prompt_len;
    write_bars("Input", lengths, w->count, out);
    for (size_t i = 0; i < w->count; i++)
        lengths[i] = w->requests[i].output_len;
    write_bars("Output", lengths, w->count, out);
    free(lengths);
    write_sharing(w, out);
    write_sizes(w, out);
}
