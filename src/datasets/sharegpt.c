/* Data set "sharegpt": the first question of each recorded conversation, with the length of its answer (DATASETS 5).
 * The file is one JSON array of {"conversations": [{"from": ..., "value": ...}, ...]}; it is read in one pass and only
 * views of the used texts are kept.  Filter F of the specification drops what is too short or too long. */
#include "base/alloc.h"
#include "base/file.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/position.h"
#include "datasets/hub_files.h"
#include "datasets/media.h"
#include "datasets/parallel.h"
#include "json/scan.h"
#include "json/writer.h"

#include <stdlib.h>

enum { BATCH = 256, MIN_TOKENS = 4, MAX_PROMPT = 1024, MAX_TOTAL = 2048 };

struct entry {
    struct sv prompt; /* raw JSON strings */
    struct sv answer;
    struct sv image; /* raw JSON string, ptr NULL: none */
    struct sv video;
};

struct entries {
    struct entry *items;
    size_t count;
    size_t cap;
    size_t short_ones; /* fewer than two turns */
    const char *name;
    struct sv text;
};

struct counted {
    struct buf prompt;
    struct buf answer;
    struct token_ids ids;
    uint32_t prompt_len;
    uint32_t answer_len;
    bool ok;
    struct error err;
};

struct sharegpt {
    const struct dataset_context *context;
    struct workload *workload;
    struct entries entries;
    size_t *order;
    size_t first; /* place in order that work[0] is for */
    struct counted *work;
    struct buf json;
    struct buf media;
    size_t accepted;
    size_t few_prompt, few_answer, long_prompt, long_total; /* dropped by filter F */
};

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* `raw` with its quotes, as js_scan_skip gives it. */
static struct sv unquoted(struct sv raw)
{
    return sv_make(raw.ptr + 1, raw.len - 2);
}

/* The value of one turn; the scanner stands before the turn. */
static bool read_turn(struct entries *e, struct js_scan *s, struct sv *value, struct error *err)
{
    struct sv key;
    struct sv raw;
    bool first = true;
    size_t start = js_scan_offset(s);
    if (js_scan_peek(s) != JS_OBJECT)
        return position_error(e->name, e->text, js_scan_offset(s), err,
                              "a turn of a conversation must be an object");
    js_scan_object(s);
    *value = (struct sv){0};
    while (js_scan_member(s, &first, &key)) {
        enum js_type type = js_scan_peek(s);
        size_t at = js_scan_offset(s);
        if (!js_scan_skip(s, &raw))
            break;
        if (!js_key_is(key, SV_LIT("value")))
            continue;
        if (type != JS_STRING)
            return position_error(e->name, e->text, at, err, "'value' must be a string");
        *value = unquoted(raw);
    }
    if (s->bad)
        return position_malformed(e->name, e->text, js_scan_offset(s), err);
    if (value->ptr == NULL)
        return position_error(e->name, e->text, start, err, "a turn has no 'value'");
    return true;
}

static bool read_turns(struct entries *e, struct js_scan *s, struct entry *entry, size_t *turns,
                       struct error *err)
{
    bool first = true;
    *turns = 0;
    if (js_scan_peek(s) != JS_ARRAY)
        return position_error(e->name, e->text, js_scan_offset(s), err,
                              "'conversations' must be a list");
    js_scan_array(s);
    while (js_scan_element(s, &first)) {
        struct sv *value = *turns == 0 ? &entry->prompt : &entry->answer;
        bool ok = *turns < 2 ? read_turn(e, s, value, err) : js_scan_skip(s, NULL);
        if (!ok && *turns < 2)
            return false;
        if (!ok)
            break;
        (*turns)++;
    }
    return !s->bad || position_malformed(e->name, e->text, js_scan_offset(s), err);
}

static bool read_entry(struct entries *e, struct js_scan *s, struct error *err)
{
    struct entry entry = {0};
    struct sv key;
    struct sv raw;
    bool first = true;
    size_t turns = 0;
    if (js_scan_peek(s) != JS_OBJECT)
        return s->bad ? position_malformed(e->name, e->text, js_scan_offset(s), err)
                      : position_error(e->name, e->text, js_scan_offset(s), err,
                                       "an entry must be an object with 'conversations'");
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        if (js_key_is(key, SV_LIT("conversations"))) {
            if (!read_turns(e, s, &entry, &turns, err))
                return false;
            continue;
        }
        enum js_type type = js_scan_peek(s);
        if (!js_scan_skip(s, &raw))
            break;
        if (type == JS_STRING && js_key_is(key, SV_LIT("image")))
            entry.image = unquoted(raw);
        if (type == JS_STRING && js_key_is(key, SV_LIT("video")))
            entry.video = unquoted(raw);
    }
    if (s->bad)
        return position_malformed(e->name, e->text, js_scan_offset(s), err);
    if (turns < 2) {
        e->short_ones++;
        return true;
    }
    MEM_GROW(e->items, e->count, e->cap);
    e->items[e->count++] = entry;
    return true;
}

static bool read_entries(struct entries *e, struct error *err)
{
    struct js_scan s;
    bool first = true;
    if (!position_check_text(e->name, &e->text, err))
        return false;
    js_scan_init(&s, e->text);
    if (js_scan_peek(&s) != JS_ARRAY)
        return position_error(e->name, e->text, js_scan_offset(&s), err,
                              "a JSON list of conversations is expected");
    js_scan_array(&s);
    while (js_scan_element(&s, &first))
        if (!read_entry(e, &s, err))
            return false;
    if (!js_scan_end(&s))
        return position_malformed(e->name, e->text, js_scan_offset(&s), err);
    if (e->count == 0)
        return error_set(err, E_PARSE,
                         "'%s' has no conversation of at least two turns (%zu shorter ones)",
                         e->name, e->short_ones);
    return true;
}

/* ---- requests ----------------------------------------------------------------------------------------------------- */

static bool count_tokens(const struct sharegpt *s, struct counted *work, struct sv text,
                         uint32_t *count)
{
    work->ids.count = 0;
    if (!tokenizer_encode(s->context->tokenizer, text, true, &work->ids, &work->err))
        return false;
    *count = (uint32_t)work->ids.count;
    return true;
}

static void count_entry(void *user, size_t index)
{
    struct sharegpt *s = user;
    struct counted *work = &s->work[index];
    const struct entry *entry = &s->entries.items[s->order[s->first + index]];
    int64_t fixed = s->context->config->sharegpt_output_len;
    buf_reset(&work->prompt);
    buf_reset(&work->answer);
    work->answer_len = (uint32_t)fixed;
    work->ok = js_unescape(entry->prompt, &work->prompt) &&
               count_tokens(s, work, buf_sv(&work->prompt), &work->prompt_len);
    if (work->ok && fixed < 0)
        work->ok = js_unescape(entry->answer, &work->answer) &&
                   count_tokens(s, work, buf_sv(&work->answer), &work->answer_len);
}

static bool passes(struct sharegpt *s, const struct counted *work)
{
    bool forced = s->context->config->sharegpt_output_len >= 0;
    size_t *dropped = work->prompt_len < MIN_TOKENS                     ? &s->few_prompt
                      : !forced && work->answer_len < MIN_TOKENS        ? &s->few_answer
                      : work->prompt_len > MAX_PROMPT                   ? &s->long_prompt
                      : work->prompt_len + work->answer_len > MAX_TOTAL ? &s->long_total
                                                                        : NULL;
    if (dropped != NULL)
        ++*dropped;
    return dropped == NULL;
}

static bool accept(struct sharegpt *s, const struct entry *entry, const struct counted *work,
                   struct error *err)
{
    struct request *r = &s->workload->requests[s->accepted++];
    buf_reset(&s->media);
    if (entry->image.ptr != NULL || entry->video.ptr != NULL) {
        bool image = entry->image.ptr != NULL;
        struct buf path = {0};
        bool ok =
            js_unescape(image ? entry->image : entry->video, &path) &&
            media_add_part(image ? MEDIA_IMAGE : MEDIA_VIDEO, buf_sv(&path), false, &s->media, err);
        buf_done(&path);
        if (!ok)
            return false;
    }
    media_set_prompt(s->context->config, s->workload, r, buf_sv(&work->prompt), buf_sv(&s->media),
                     &s->json);
    r->prompt_len = work->prompt_len;
    r->output_len = work->answer_len;
    return true;
}

static bool add_requests(struct sharegpt *s, struct error *err)
{
    size_t wanted = s->context->config->num_prompts;
    size_t total = s->entries.count;
    for (s->first = 0; s->first < total && s->accepted < wanted; s->first += BATCH) {
        size_t n = total - s->first < BATCH ? total - s->first : BATCH;
        /* Not many more than are wanted, as nearly all pass; no more when every one is a question to the server. */
        size_t limit = wanted - s->accepted;
        if (!tokenizer_is_remote(s->context->tokenizer))
            limit = limit * 2 + 8;
        n = n < limit ? n : limit;
        parallel_for(n, parallel_tokenizing(s->context->tokenizer, n), count_entry, s);
        for (size_t i = 0; i < n && s->accepted < wanted; i++) {
            if (!s->work[i].ok) {
                *err = s->work[i].err;
                return false;
            }
            if (passes(s, &s->work[i]) &&
                !accept(s, &s->entries.items[s->order[s->first + i]], &s->work[i], err))
                return false;
        }
        if (n < BATCH)
            s->first -= BATCH - n;
    }
    return true;
}

static bool build(struct sharegpt *s, struct error *err)
{
    size_t total = s->entries.count;
    uint64_t wanted = s->context->config->num_prompts;
    s->order = dataset_order(s->context, total);
    s->work = mem_array(BATCH, sizeof(*s->work));
    dataset_requests_new(s->workload, wanted < total ? (size_t)wanted : total);
    bool ok = add_requests(s, err);
    s->workload->count = s->accepted;
    for (size_t i = 0; i < BATCH; i++) {
        buf_done(&s->work[i].prompt);
        buf_done(&s->work[i].answer);
        token_ids_done(&s->work[i].ids);
    }
    free(s->work);
    free(s->order);
    buf_done(&s->json);
    buf_done(&s->media);
    if (ok && s->accepted == 0)
        return error_set(err, E_PARSE,
                         "'%s': no conversation is usable; of %zu, %zu have a prompt below %d "
                         "tokens, %zu an answer below %d, %zu a prompt above %d, %zu more than %d "
                         "in all",
                         s->entries.name, total, s->few_prompt, MIN_TOKENS, s->few_answer,
                         MIN_TOKENS, s->long_prompt, MAX_PROMPT, s->long_total, MAX_TOTAL);
    return ok;
}

bool sharegpt_build(const struct dataset_context *context, struct workload *workload,
                    struct error *err)
{
    const char *path = context->config->dataset_path;
    struct file_map map = {0};
    struct buf found = {0};
    struct sharegpt s = {.context = context, .workload = workload};
    if (context->tokenizer == NULL)
        return error_set(err, E_CONFIG, "data set 'sharegpt' needs a tokenizer; give --tokenizer");
    bool ok = path != NULL || hub_files_sharegpt(context, &found, err);
    path = path != NULL || !ok ? path : buf_cstr(&found);
    ok = ok && file_map_open(path, &map, err);
    if (ok) {
        s.entries.name = path;
        s.entries.text = map.view;
        ok = read_entries(&s.entries, err) && build(&s, err);
    }
    free(s.entries.items);
    file_map_close(&map);
    buf_done(&found);
    return ok || error_context(err, "data set 'sharegpt'");
}
