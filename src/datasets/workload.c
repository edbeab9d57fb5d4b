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

/* A stretch of a prompt's ids: in memory, or counted up from `first` when `ids` is NULL. */
struct stretch {
    const uint32_t *ids;
    uint32_t first; /* of a counted stretch */
    size_t count;
};

/* Yields the stretch that starts at index `at` of the prompt. */
static struct stretch stretch_at(const struct workload *w, const struct prompt *p, size_t at)
{
    if (p->kind == PROMPT_IDS)
        return (struct stretch){p->ids + at, 0, p->id_count - at};
    if (at < p->prefix_len)
        return (struct stretch){w->prefix_ids + at, 0, p->prefix_len - at};
    size_t done = at - p->prefix_len;
    size_t start = (size_t)((p->run_start + done) % w->allowed_count);
    size_t count = p->run_len - done;
    if (count > w->allowed_count - start)
        count = w->allowed_count - start;
    if (w->allowed == NULL)
        return (struct stretch){NULL, (uint32_t)start, count};
    return (struct stretch){w->allowed + start, 0, count};
}

static bool is_text(const struct prompt *p)
{
    return p->kind == PROMPT_JSON || p->kind == PROMPT_MESSAGES;
}

static size_t id_total(const struct prompt *p)
{
    return p->kind == PROMPT_IDS ? p->id_count : (size_t)p->prefix_len + p->run_len;
}

uint32_t workload_prompt_measure(const struct workload *w, const struct prompt *p)
{
    if (is_text(p))
        return (uint32_t)p->json.len;
    size_t total = id_total(p);
    size_t bytes = total > 0 ? total + 1 : 2; /* brackets and commas */
    for (size_t at = 0; at < total;) {
        struct stretch s = stretch_at(w, p, at);
        for (size_t i = 0; i < s.count; i++)
            bytes += digits_of(s.ids != NULL ? s.ids[i] : s.first + (uint32_t)i);
        at += s.count;
    }
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
    for (size_t done = 0; done < total;) {
        struct stretch s = stretch_at(w, p, done);
        for (size_t i = 0; i < s.count; i++) {
            at = put_number(at, s.ids != NULL ? s.ids[i] : s.first + (uint32_t)i);
            *at++ = ',';
        }
        done += s.count;
    }
    if (total > 0)
        at--; /* the last comma */
    *at++ = ']';
    out->len += (size_t)(at - start);
}
