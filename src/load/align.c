/* Prompt alignment.  Each prompt is repaired on its own; a few threads share the list, since every step waits for the
 * server. */
#include "load/align.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "json/tree.h"
#include "json/writer.h"

enum { PROBES = 10, ROUNDS = 20, THREADS = 16 };

struct id_list {
    uint32_t *items;
    size_t count;
    size_t cap;
};

struct aligner {
    const struct server *server;
    const char *model;
    struct workload *workload;
    char **repaired; /* new JSON text of each prompt, NULL: unchanged */
    _Atomic size_t next;
    _Atomic size_t left_over;
};

static void id_push(struct id_list *ids, uint32_t id)
{
    MEM_GROW(ids->items, ids->count, ids->cap);
    ids->items[ids->count++] = id;
}

static void begin_body(struct js_writer *w, struct buf *body, const char *model)
{
    js_writer_init(w, body);
    js_begin_object(w);
    js_key(w, "model");
    js_cstring(w, model);
}

static bool read_ids(struct sv reply, struct id_list *ids, struct error *err)
{
    struct arena arena = {0};
    const struct js_value *tree = js_parse(&arena, reply, "the reply of /tokenize", err);
    const struct js_value *tokens = js_get(tree, "tokens");
    bool ok = tree != NULL && tokens != NULL && tokens->type == JS_ARRAY;
    if (tree != NULL && !ok)
        error_set(err, E_SERVER, "the reply of /tokenize holds no 'tokens'");
    ids->count = 0;
    for (const struct js_value *v = ok ? tokens->first : NULL; ok && v != NULL; v = v->next) {
        int64_t id;
        ok = js_as_i64(v, &id) && id >= 0 && id <= UINT32_MAX;
        if (ok)
            id_push(ids, (uint32_t)id);
        else
            error_set(err, E_SERVER, "the reply of /tokenize holds a token that is no id");
    }
    arena_done(&arena);
    return ok;
}

/* `prompt` is JSON text. */
static bool tokenize(const struct aligner *a, struct sv prompt, struct id_list *ids,
                     struct error *err)
{
    struct buf body = {0}, reply = {0};
    struct js_writer w;
    begin_body(&w, &body, a->model);
    js_key(&w, "prompt");
    js_raw(&w, prompt);
    js_key(&w, "add_special_tokens");
    js_bool(&w, false);
    js_end_object(&w);
    bool ok = server_post((void *)(uintptr_t)a->server, "/tokenize", buf_sv(&body), &reply, err) &&
              read_ids(buf_sv(&reply), ids, err);
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

/* Replaces *prompt (JSON text) by the text of the ids. */
static bool detokenize(const struct aligner *a, const struct id_list *ids, struct buf *prompt,
                       struct error *err)
{
    struct buf body = {0}, reply = {0};
    struct js_writer w;
    begin_body(&w, &body, a->model);
    js_key(&w, "tokens");
    js_begin_array(&w);
    for (size_t i = 0; i < ids->count; i++)
        js_uint(&w, ids->items[i]);
    js_end_array(&w);
    js_end_object(&w);
    bool ok = server_post((void *)(uintptr_t)a->server, "/detokenize", buf_sv(&body), &reply, err);
    struct arena arena = {0};
    struct sv text;
    if (ok) {
        const struct js_value *tree =
            js_parse(&arena, buf_sv(&reply), "the reply of /detokenize", err);
        ok = tree != NULL &&
             (js_as_sv(js_get(tree, "prompt"), &text) ||
              error_set(err, E_SERVER, "the reply of /detokenize holds no 'prompt'"));
    }
    if (ok) {
        buf_reset(prompt);
        js_writer_init(&w, prompt);
        js_string(&w, text);
    }
    arena_done(&arena);
    buf_done(&body);
    buf_done(&reply);
    return ok;
}

/* Cuts the ids to `want`, or pads them by going round their own ids. */
static void fit(struct id_list *ids, size_t want)
{
    size_t own = ids->count;
    if (ids->count > want)
        ids->count = want;
    for (size_t i = 0; own > 0 && ids->count < want; i++)
        id_push(ids, ids->items[i % own]);
}

/* True when the server counts the prompt as `target`.  *prompt becomes that text or, where there is none, of the texts that
 * were tried the one whose count is nearest: a token that is not one again when it is read keeps some from getting there. */
static bool repair(const struct aligner *a, size_t target, struct buf *prompt)
{
    struct id_list ids = {0};
    struct buf nearest = {0};
    struct error err;
    size_t want = target;
    int64_t last_surplus = 0;
    int64_t least = INT64_MAX;
    bool right = false;
    for (int round = 0; round < ROUNDS; round++) {
        if (!tokenize(a, buf_sv(prompt), &ids, &err))
            break;
        right = ids.count == target;
        if (right || ids.count == 0)
            break;
        int64_t surplus = (int64_t)ids.count - (int64_t)target;
        if (llabs(surplus) < least) {
            least = llabs(surplus);
            buf_reset(&nearest);
            buf_add(&nearest, buf_sv(prompt));
        }
        if (round > 0 && surplus == last_surplus && surplus > 0 && (size_t)surplus < want)
            want -= (size_t)surplus;
        last_surplus = surplus;
        fit(&ids, want);
        if (!detokenize(a, &ids, prompt, &err))
            break;
    }
    if (!right && least < INT64_MAX) {
        buf_reset(prompt);
        buf_add(prompt, buf_sv(&nearest));
    }
    free(ids.items);
    buf_done(&nearest);
    return right;
}

static void *repair_some(void *arg)
{
    struct aligner *a = arg;
    struct buf prompt = {0};
    for (;;) {
        size_t i = atomic_fetch_add(&a->next, 1);
        if (i >= a->workload->count)
            break;
        const struct request *r = &a->workload->requests[i];
        buf_reset(&prompt);
        buf_add(&prompt, r->prompt.json);
        if (!repair(a, r->prompt_len, &prompt))
            atomic_fetch_add(&a->left_over, 1);
        if (!sv_eq(buf_sv(&prompt), r->prompt.json))
            a->repaired[i] = mem_strndup(prompt.ptr, prompt.len);
    }
    buf_done(&prompt);
    return NULL;
}

static void repair_all(struct aligner *a, struct align_report *report)
{
    struct workload *w = a->workload;
    a->repaired = mem_array(w->count, sizeof(*a->repaired));
    pthread_t threads[THREADS];
    unsigned started = 0;
    while (started < THREADS && started < w->count &&
           pthread_create(&threads[started], NULL, repair_some, a) == 0)
        started++;
    if (started == 0)
        repair_some(a);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < w->count; i++) {
        if (a->repaired[i] == NULL)
            continue;
        struct prompt *p = &w->requests[i].prompt;
        p->json = arena_copy(&w->arena, sv_from(a->repaired[i]));
        p->json_bytes = (uint32_t)p->json.len;
        report->repaired++;
        free(a->repaired[i]);
    }
    free(a->repaired);
    report->left_over = atomic_load(&a->left_over);
}

void align_prompts(const struct server *server, const char *model, struct workload *workload,
                   struct align_report *report)
{
    *report = (struct align_report){0};
    struct aligner a = {.server = server, .model = model, .workload = workload};
    struct id_list ids = {0};
    for (size_t i = 0; i < workload->count && i < PROBES; i++) {
        struct error err;
        const struct request *r = &workload->requests[i];
        if (r->prompt.kind != PROMPT_JSON)
            break;
        if (!tokenize(&a, r->prompt.json, &ids, &err)) {
            snprintf(report->problem, sizeof(report->problem), "%s", err.message);
            break;
        }
        report->available = true;
        report->probed++;
        report->mismatched += ids.count != r->prompt_len;
    }
    free(ids.items);
    if (report->mismatched > 0)
        repair_all(&a, report);
}
