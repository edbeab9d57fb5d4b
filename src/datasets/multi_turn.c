/* Conversations: made of random tokens, each turn a run through the vocabulary, with shares common to all or to a
 * conversation; or taken from a ShareGPT file, pairs of what a human said and what was answered. */
#include "datasets/multi_turn.h"

#include "base/alloc.h"
#include "base/file.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/position.h"
#include "datasets/hf.h"
#include "datasets/hub_files.h"
#include "datasets/length_target.h"
#include "datasets/random_source.h"
#include "json/scan.h"

#include <math.h>
#include <stdlib.h>

struct builder {
    const struct dataset_context *context;
    const struct config *config;
    struct multi_turn_data *data;
    struct random_source source;
    struct length_target lt;
    struct length_fit fit;
    struct token_ids ids; /* scratch */
    struct buf literal;
};

static void add_turn(struct builder *b, struct sv text, size_t user_len, size_t output_len)
{
    struct multi_turn_data *data = b->data;
    MEM_GROW(data->turns, data->turn_count, data->turn_cap);
    data->turns[data->turn_count++] = (struct turn){
        .text = arena_copy(&data->arena, dataset_literal(text, &b->literal)),
        .user_len = (uint32_t)user_len,
        .output_len = (uint32_t)output_len,
    };
}

/* ---- random ------------------------------------------------------------------------------------------------------- */

static uint32_t pad(void *user)
{
    struct builder *b = user;
    return random_pad(&b->source);
}

/* A text of `target` tokens that begins as a run from `start`; appended. */
static bool add_run(struct builder *b, uint64_t start, size_t target, struct buf *out,
                    struct error *err)
{
    if (target == 0)
        return true;
    length_fit_reset(&b->fit, target);
    random_run(&b->source, start % b->source.allowed_count, target, &b->fit.ids);
    if (!length_fit_start(&b->lt, &b->fit, err) ||
        (!b->fit.finished && !length_fit_go_on(&b->lt, &b->fit, err)))
        return false;
    buf_add(out, buf_sv(&b->fit.text));
    return true;
}

static bool count_tokens(struct builder *b, struct sv text, bool special, size_t *count,
                         struct error *err)
{
    b->ids.count = 0;
    if (!tokenizer_encode(b->context->tokenizer, text, special, &b->ids, err))
        return false;
    *count = b->ids.count;
    return true;
}

/* Lengths of the parts of a message. */
struct shares {
    size_t first; /* whole message, first turn and later ones */
    size_t later;
    size_t global;
    size_t conversation;
};

static bool make_shares(struct builder *b, struct shares *s, struct error *err)
{
    const struct config_multi_turn *mt = &b->config->multi_turn;
    uint64_t later = mt->turn_input_len > 0 ? mt->turn_input_len : b->config->random_input_len;
    s->first = random_real_len(&b->source, b->config->random_input_len);
    s->later = random_real_len(&b->source, later);
    s->global = (size_t)floor((double)s->first * mt->global_ratio);
    s->conversation = (size_t)floor((double)s->first * mt->conversation_ratio);
    if (s->first == 0 || s->later == 0)
        return error_set(err, E_CONFIG,
                         "a message of no tokens cannot be made; raise --random-input-len or "
                         "--per-turn-input-len");
    if (s->later <= s->global + s->conversation)
        return error_set(err, E_CONFIG,
                         "--per-turn-input-len: %zu tokens leave nothing beside the shared %zu",
                         s->later, s->global + s->conversation);
    return true;
}

/* Texts that several messages have in common. */
struct shared_texts {
    struct buf prefix; /* --random-prefix-len */
    struct buf global;
    struct buf conversation;
    struct buf message;
};

static bool random_turn(struct builder *b, const struct shares *s, struct shared_texts *t,
                        size_t number, bool first, struct error *err)
{
    size_t whole = first ? s->first : s->later;
    uint64_t start = (uint64_t)pcg64_integers(&b->source.g, 0, b->source.vocab_size) + number;
    bool joined = b->data->no_history || (first && t->prefix.len > 0);
    size_t length;
    buf_reset(&t->message);
    if (joined)
        buf_add(&t->message, buf_sv(&t->prefix));
    buf_add(&t->message, buf_sv(&t->global));
    buf_add(&t->message, buf_sv(&t->conversation));
    if (!add_run(b, start, whole - s->global - s->conversation, &t->message, err))
        return false;
    length = b->fit.ids.count;
    if (joined && !count_tokens(b, buf_sv(&t->message), false, &length, err))
        return false;
    add_turn(b, buf_sv(&t->message), length, b->config->random_output_len);
    return true;
}

static bool random_conversations(struct builder *b, const struct shares *s, struct shared_texts *t,
                                 struct error *err)
{
    const struct config_multi_turn *mt = &b->config->multi_turn;
    struct multi_turn_data *data = b->data;
    size_t number = 0;
    for (size_t i = 0; i < data->count; i++, number = i * mt->max_turns) {
        struct conversation *c = &data->conversations[i];
        c->first = data->turn_count;
        c->count = (size_t)pcg64_integers(&b->source.g, (int64_t)mt->min_turns,
                                          (int64_t)mt->max_turns + 1);
        buf_reset(&t->conversation);
        uint64_t start = (uint64_t)pcg64_integers(&b->source.g, 0, b->source.vocab_size) + number;
        if (s->conversation > 0 && !add_run(b, start, s->conversation, &t->conversation, err))
            return false;
        for (size_t k = 0; k < c->count; k++)
            if (!random_turn(b, s, t, number + k, k == 0, err))
                return false;
    }
    return true;
}

static bool build_random(struct builder *b, struct error *err)
{
    const struct config *config = b->config;
    struct multi_turn_data *data = b->data;
    struct shares s;
    struct shared_texts t = {0};
    if (!random_source_init(&b->source, b->context, "random", BAR_NAMED, &data->arena, err) ||
        !make_shares(b, &s, err))
        return false;
    length_target_init(&b->lt, b->context->tokenizer, false);
    b->lt.pad = pad;
    b->lt.user = b;
    data->no_history =
        config->multi_turn.global_ratio > 0.0 || config->multi_turn.conversation_ratio > 0.0;
    data->count = config->num_prompts;
    data->conversations = arena_array(&data->arena, data->count, sizeof(*data->conversations));
    uint64_t prefix_start = (uint64_t)pcg64_integers(&b->source.g, 0, b->source.vocab_size);
    uint64_t global_start = (uint64_t)pcg64_integers(&b->source.g, 0, b->source.vocab_size);
    bool ok = add_run(b, prefix_start, config->random_prefix_len, &t.prefix, err) &&
              add_run(b, global_start, s.global, &t.global, err) &&
              random_conversations(b, &s, &t, err);
    buf_done(&t.prefix);
    buf_done(&t.global);
    buf_done(&t.conversation);
    buf_done(&t.message);
    return ok;
}

/* ---- ShareGPT ----------------------------------------------------------------------------------------------------- */

struct said {
    struct sv from; /* raw JSON strings without quotes */
    struct sv value;
};

struct recorded {
    struct said *said;
    size_t said_count, said_cap;
    struct conversation *entries; /* ranges of said */
    size_t count, cap;
};

static struct sv unquoted(struct sv raw)
{
    return raw.len >= 2 && raw.ptr[0] == '"' ? sv_make(raw.ptr + 1, raw.len - 2) : sv_make("", 0);
}

static void read_said(struct js_scan *s, struct recorded *r)
{
    struct sv key;
    struct sv raw;
    bool first = true;
    MEM_GROW(r->said, r->said_count, r->said_cap);
    struct said *said = &r->said[r->said_count++];
    *said = (struct said){0};
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        if (!js_scan_skip(s, &raw))
            return;
        if (js_key_is(key, SV_LIT("from")))
            said->from = unquoted(raw);
        if (js_key_is(key, SV_LIT("value")))
            said->value = unquoted(raw);
    }
}

static void read_conversation(struct js_scan *s, struct recorded *r)
{
    struct sv key;
    bool first = true;
    struct conversation entry = {.first = r->said_count};
    js_scan_object(s);
    while (js_scan_member(s, &first, &key)) {
        bool first_said = true;
        if (!js_key_is(key, SV_LIT("conversations")) || js_scan_peek(s) != JS_ARRAY) {
            js_scan_skip(s, NULL);
            continue;
        }
        js_scan_array(s);
        while (js_scan_element(s, &first_said))
            read_said(s, r);
    }
    entry.count = r->said_count - entry.first;
    MEM_GROW(r->entries, r->count, r->cap);
    r->entries[r->count++] = entry;
}

static bool read_recorded(struct recorded *r, const char *path, struct sv text, struct error *err)
{
    struct js_scan s;
    bool first = true;
    js_scan_init(&s, text);
    if (js_scan_peek(&s) != JS_ARRAY)
        return position_error(path, text, js_scan_offset(&s), err,
                              "a JSON list of conversations is expected");
    js_scan_array(&s);
    while (js_scan_element(&s, &first))
        read_conversation(&s, r);
    return js_scan_end(&s) || position_malformed(path, text, js_scan_offset(&s), err);
}

/* Pairs of one recorded conversation; fewer than two are taken back. */
static bool take_recorded(struct builder *b, const struct recorded *r, const struct conversation *e,
                          struct conversation *out, struct error *err)
{
    const struct config *config = b->config;
    struct multi_turn_data *data = b->data;
    struct buf text = {0};
    bool hf = strcmp(config->dataset_name, "hf") == 0;
    int64_t fixed = hf ? config->hf_output_len : config->sharegpt_output_len;
    bool ok = true;
    *out = (struct conversation){.first = data->turn_count};
    for (size_t i = 0; ok && e->count >= 4 && i + 1 < e->count;) {
        const struct said *said = &r->said[e->first + i];
        if (!sv_eq(said[0].from, SV_LIT("human")) || said[0].value.len == 0) {
            i++;
            continue;
        }
        if (config->multi_turn.max_turns > 0 && out->count == config->multi_turn.max_turns)
            break;
        size_t user_len = 0;
        size_t output_len = 0;
        buf_reset(&text);
        js_unescape(said[1].value, &text);
        if (fixed > 0)
            output_len = (size_t)fixed;
        else
            ok = count_tokens(b, buf_sv(&text), true, &output_len, err);
        buf_reset(&text);
        js_unescape(said[0].value, &text);
        ok = ok && count_tokens(b, buf_sv(&text), true, &user_len, err);
        if (ok)
            add_turn(b, buf_sv(&text), user_len, output_len > 0 ? output_len : 1);
        out->count += ok;
        i += 2;
    }
    if (out->count < 2) {
        data->turn_count = out->first;
        out->count = 0;
    }
    buf_done(&text);
    return ok;
}

/* Conversations are used again from the first one on. */
static void oversample(struct builder *b)
{
    struct multi_turn_data *data = b->data;
    size_t own = data->count;
    if (b->config->no_oversample || own == 0)
        return;
    for (; data->count < b->config->num_prompts; data->count++)
        data->conversations[data->count] = data->conversations[data->count % own];
}

static bool take_all(struct builder *b, const struct recorded *r, bool in_order, struct error *err)
{
    struct multi_turn_data *data = b->data;
    size_t *order = in_order ? NULL : dataset_order(b->context, r->count);
    bool ok = true;
    data->conversations =
        arena_array(&data->arena, b->config->num_prompts + 1, sizeof(*data->conversations));
    for (size_t i = 0; ok && i < r->count && data->count < b->config->num_prompts; i++) {
        struct conversation *c = &data->conversations[data->count];
        ok = take_recorded(b, r, &r->entries[in_order ? i : order[i]], c, err);
        data->count += ok && c->count > 0;
    }
    free(order);
    return ok;
}

static bool build_sharegpt(struct builder *b, struct error *err)
{
    struct file_map map = {0};
    struct buf found = {0};
    struct recorded r = {0};
    const char *path = b->config->dataset_path;
    if (b->context->tokenizer == NULL)
        return error_set(err, E_CONFIG, "a tokenizer is needed; give --tokenizer");
    bool ok = path != NULL || hub_files_sharegpt(b->context, &found, err);
    path = path != NULL || !ok ? path : buf_cstr(&found);
    ok = ok && file_map_open(path, &map, err) && read_recorded(&r, path, map.view, err) &&
         take_all(b, &r, false, err);
    free(r.said);
    free(r.entries);
    file_map_close(&map);
    if (ok && b->data->count == 0)
        ok = error_set(err, E_PARSE, "'%s' has no conversation of at least two turns", path);
    buf_done(&found);
    if (ok)
        oversample(b);
    return ok;
}

/* Rows of a hub data set come shuffled already. */
static bool build_hf(struct builder *b, struct error *err)
{
    struct recorded r = {0};
    struct buf text = {0};
    const char *path = b->config->dataset_path;
    if (b->context->tokenizer == NULL)
        return error_set(err, E_CONFIG, "a tokenizer is needed; give --tokenizer");
    bool ok = hf_conversations(b->context, &text, err) &&
              read_recorded(&r, path, buf_sv(&text), err) && take_all(b, &r, true, err);
    if (ok && b->data->count == 0)
        ok = error_set(err, E_PARSE, "'%s' has no conversation of at least two turns", path);
    free(r.said);
    free(r.entries);
    buf_done(&text);
    if (ok)
        oversample(b);
    return ok;
}

/* ---- --max-model-len ---------------------------------------------------------------------------------------------- */

/* With history the longest beginning that fits; without it the turns that fit. */
static size_t fitting_turns(struct multi_turn_data *data, const struct conversation *c,
                            uint64_t limit)
{
    uint64_t before = 0;
    size_t kept = 0;
    for (size_t k = 0; k < c->count; k++) {
        struct turn turn = data->turns[c->first + k];
        uint64_t all = before + turn.user_len + turn.output_len;
        if (all <= limit)
            data->turns[c->first + kept++] = turn;
        else if (!data->no_history)
            break;
        before = data->no_history ? 0 : all;
    }
    return kept;
}

static bool filter(struct builder *b, struct error *err)
{
    struct multi_turn_data *data = b->data;
    uint64_t limit = b->config->max_model_len;
    size_t kept = 0;
    for (size_t i = 0; limit > 0 && i < data->count; i++) {
        struct conversation c = data->conversations[i];
        c.count = fitting_turns(data, &c, limit);
        if (c.count >= 2)
            data->conversations[kept++] = c;
    }
    if (limit > 0) {
        if (kept < data->count)
            dataset_notice(b->context,
                           "%zu of %zu conversations are left out: too long for --max-model-len",
                           data->count - kept, data->count);
        data->count = kept;
    }
    for (size_t i = 0; i < data->count; i++)
        if (data->conversations[i].count > data->most_turns)
            data->most_turns = data->conversations[i].count;
    return data->count > 0 ||
           error_set(err, E_CONFIG, "--max-model-len: '%llu' leaves no conversation of two turns",
                     (unsigned long long)limit);
}

bool multi_turn_build(const struct dataset_context *context, struct multi_turn_data *data,
                      struct error *err)
{
    struct builder b = {.context = context, .config = context->config, .data = data};
    *data = (struct multi_turn_data){0};
    const char *name = context->config->dataset_name;
    bool ok = (strcmp(name, "random") == 0 ? build_random(&b, err)
               : strcmp(name, "hf") == 0   ? build_hf(&b, err)
                                           : build_sharegpt(&b, err)) &&
              filter(&b, err);
    length_fit_done(&b.fit);
    token_ids_done(&b.ids);
    buf_done(&b.literal);
    return ok ||
           error_context(err, "conversations of data set '%s'", context->config->dataset_name);
}

void multi_turn_done(struct multi_turn_data *data)
{
    free(data->turns);
    arena_done(&data->arena);
    *data = (struct multi_turn_data){0};
}
