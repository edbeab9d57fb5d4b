/* Data set "timed_trace": arrival times, lengths and shared prefixes of a recorded trace (DATASETS 12, FORMATS 1).
 * JSON lines with four fields whose names can be set (Mooncake, Bailian and their like), or CSV as Azure and BurstGPT
 * publish it, told apart by the header.  Prompts are ids drawn chunk by chunk from the chunks' hashes, which is a rule:
 * only the hashes are kept.  CSV has no hashes; there each row's hashes are its own. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/num.h"
#include "datasets/dataset_priv.h"
#include "datasets/format/csv.h"
#include "datasets/format/jsonl.h"
#include "datasets/parallel.h"
#include "datasets/trace_time.h"
#include "json/scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LENGTH_MAX = 100 * 1000 * 1000 };

struct trace {
    const struct dataset_context *context;
    struct workload *workload;
    const char *name; /* of the file */
    struct request *requests;
    size_t count;
    size_t cap;
    uint64_t *hashes; /* of the current line */
    size_t hash_count;
    size_t hash_cap;
    size_t without_hashes;
    size_t shortened;
};

/* The fields of one line, raw; ptr NULL: absent. */
struct line {
    struct sv timestamp;
    struct sv input;
    struct sv output;
    struct sv hashes;
};

static size_t wanted(const struct trace *t)
{
    return t->context->config->num_prompts;
}

/* Seconds become a due time; before the start is at once. */
static bool due_time(double seconds, uint64_t *due_ns)
{
    if (!isfinite(seconds) || seconds > 1e9)
        return false;
    *due_ns = seconds <= 0.0 ? 0 : (uint64_t)(seconds * 1e9 + 0.5);
    return true;
}

static void add_request(struct trace *t, uint64_t due_ns, uint32_t input, uint32_t output)
{
    size_t chunk = t->context->config->trace_chunk_size;
    size_t covered = t->hash_count < input / chunk + 1 ? t->hash_count * chunk : input;
    MEM_GROW(t->requests, t->count, t->cap);
    struct request *r = &t->requests[t->count++];
    *r = (struct request){.due_offset_ns = due_ns, .output_len = output};
    r->prompt_len = covered < input ? (uint32_t)covered : input;
    size_t used = (r->prompt_len + chunk - 1) / chunk;
    uint64_t *copy = arena_array(&t->workload->arena, used, sizeof(*copy));
    if (used > 0)
        memcpy(copy, t->hashes, used * sizeof(*copy));
    r->prompt =
        (struct prompt){.kind = PROMPT_ID_CHUNKS, .hashes = copy, .id_count = r->prompt_len};
    t->without_hashes += t->hash_count == 0 && input > 0;
    t->shortened += t->hash_count > 0 && r->prompt_len < input;
}

/* ---- JSON lines --------------------------------------------------------------------------------------------------- */

static bool missing(const struct jsonl *j, const char *flag, const char *label, struct error *err)
{
    struct buf keys = {0};
    struct js_scan s;
    struct sv key;
    bool first = true;
    js_scan_init(&s, j->line);
    js_scan_object(&s);
    while (js_scan_member(&s, &first, &key) && js_scan_skip(&s, NULL))
        buf_add_fmt(&keys, "%s" SV_FMT, keys.len > 0 ? ", " : "", SV_ARG(key));
    jsonl_error(j, err, "has no '%s'; its keys are: %s; --timed-trace-label-%s names the right one",
                label, buf_cstr(&keys), flag);
    buf_done(&keys);
    return false;
}

static bool read_line(const struct config *config, const struct jsonl *j, struct line *line,
                      struct error *err)
{
    struct js_scan s;
    struct sv key;
    struct sv raw;
    bool first = true;
    *line = (struct line){0};
    js_scan_init(&s, j->line);
    enum js_type type = js_scan_peek(&s);
    if (type != JS_OBJECT && type != JS_BAD)
        return jsonl_error(j, err, "holds no object");
    js_scan_object(&s);
    while (js_scan_member(&s, &first, &key)) {
        if (!js_scan_skip(&s, &raw))
            break;
        if (js_key_is(key, sv_from(config->trace_timestamp)))
            line->timestamp = raw;
        if (js_key_is(key, sv_from(config->trace_input_length)))
            line->input = raw;
        if (js_key_is(key, sv_from(config->trace_output_length)))
            line->output = raw;
        if (js_key_is(key, sv_from(config->trace_hash_ids)))
            line->hashes = raw;
    }
    if (!js_scan_end(&s))
        return jsonl_malformed(j, js_scan_offset(&s), err);
    if (line->timestamp.ptr == NULL)
        return missing(j, "timestamp", config->trace_timestamp, err);
    if (line->input.ptr == NULL)
        return missing(j, "input-length", config->trace_input_length, err);
    if (line->output.ptr == NULL)
        return missing(j, "output-length", config->trace_output_length, err);
    return true;
}

/* 512 and 512.0 */
static bool parse_length(struct sv text, uint32_t *length)
{
    double number;
    if (!num_parse_double(text, &number) || number < 0.0 || number > LENGTH_MAX ||
        floor(number) != number)
        return false;
    *length = (uint32_t)number;
    return true;
}

static bool parse_hash(struct sv text, uint64_t *hash)
{
    int64_t negative;
    if (num_parse_u64(text, hash))
        return true;
    if (!num_parse_i64(text, &negative))
        return false;
    *hash = (uint64_t)negative;
    return true;
}

static bool read_hashes(struct trace *t, const struct jsonl *j, struct sv raw, struct error *err)
{
    struct js_scan s;
    struct sv number;
    bool first = true;
    t->hash_count = 0;
    if (raw.ptr == NULL || sv_eq(raw, SV_LIT("null")))
        return true;
    js_scan_init(&s, raw);
    if (js_scan_peek(&s) != JS_ARRAY)
        return jsonl_error(j, err, "'%s' is no list", t->context->config->trace_hash_ids);
    js_scan_array(&s);
    while (js_scan_element(&s, &first)) {
        MEM_GROW(t->hashes, t->hash_count, t->hash_cap);
        if (js_scan_peek(&s) != JS_NUMBER || !js_scan_number(&s, &number) ||
            !parse_hash(number, &t->hashes[t->hash_count]))
            return jsonl_error(j, err, "'%s' holds something that is no 64-bit whole number",
                               t->context->config->trace_hash_ids);
        t->hash_count++;
    }
    return true;
}

static bool add_line(struct trace *t, const struct jsonl *j, struct error *err)
{
    const struct config *config = t->context->config;
    struct line line;
    double time;
    uint64_t due_ns;
    uint32_t input;
    uint32_t output;
    if (!read_line(config, j, &line, err))
        return false;
    if (!num_parse_double(line.timestamp, &time) ||
        !due_time(time * config->trace_sec_multiplier, &due_ns))
        return jsonl_error(j, err, "'%s' is " SV_FMT ", not a time in seconds%s",
                           config->trace_timestamp, SV_ARG(line.timestamp),
                           "; --timed-trace-sec-multiplier gives its unit");
    if (!parse_length(line.input, &input))
        return jsonl_error(j, err, "'%s' is " SV_FMT ", not a whole number from 0 on",
                           config->trace_input_length, SV_ARG(line.input));
    if (!parse_length(line.output, &output))
        return jsonl_error(j, err, "'%s' is " SV_FMT ", not a whole number from 0 on",
                           config->trace_output_length, SV_ARG(line.output));
    if (!read_hashes(t, j, line.hashes, err))
        return false;
    add_request(t, due_ns, input, output);
    return true;
}

static bool read_lines(struct trace *t, struct sv text, struct error *err)
{
    struct jsonl j;
    enum jsonl_result result = JSONL_LINE;
    if (!jsonl_init(&j, t->name, text, err))
        return false;
    while (t->count < wanted(t) && (result = jsonl_next(&j, err)) == JSONL_LINE)
        if (!add_line(t, &j, err))
            return false;
    return result != JSONL_FAILED;
}

/* ---- CSV ---------------------------------------------------------------------------------------------------------- */

struct columns {
    size_t time;
    size_t input;
    size_t output;
    bool dated; /* Azure: the time is a date */
};

static bool find_columns(const struct csv *c, struct columns *columns)
{
    columns->dated = csv_find(c, "TIMESTAMP", &columns->time);
    if (columns->dated)
        return csv_find(c, "ContextTokens", &columns->input) &&
               csv_find(c, "GeneratedTokens", &columns->output);
    return csv_find(c, "Timestamp", &columns->time) &&
           csv_find(c, "Request tokens", &columns->input) &&
           csv_find(c, "Response tokens", &columns->output);
}

static struct sv field(const struct csv *c, size_t index)
{
    return index < c->count ? sv_trim(c->fields[index]) : SV_LIT("");
}

/* Hashes that no other row has: the row's number in the upper half, a chunk's in the lower. */
static void own_hashes(struct trace *t, uint32_t input)
{
    size_t chunk = t->context->config->trace_chunk_size;
    size_t count = (input + chunk - 1) / chunk;
    t->hash_count = 0;
    for (size_t i = 0; i < count; i++) {
        MEM_GROW(t->hashes, t->hash_count, t->hash_cap);
        t->hashes[t->hash_count++] = ((uint64_t)t->count + 1) << 32 | i;
    }
}

static bool add_record(struct trace *t, const struct csv *c, const struct columns *columns,
                       int64_t *start_ns, struct error *err)
{
    struct sv time = field(c, columns->time);
    double seconds = 0.0;
    uint64_t due_ns;
    uint32_t input;
    uint32_t output;
    if (columns->dated) {
        int64_t ns;
        if (!trace_time_parse(time, &ns))
            return error_set(err, E_PARSE, "'%s': line %zu: '" SV_FMT "' is no date and time",
                             c->name, c->line, SV_ARG(time));
        *start_ns = t->count == 0 ? ns : *start_ns;
        seconds = (double)(ns - *start_ns) / 1e9;
    } else if (!num_parse_double(time, &seconds)) {
        seconds = (double)NAN;
    }
    if (!due_time(seconds * t->context->config->trace_sec_multiplier, &due_ns))
        return error_set(err, E_PARSE, "'%s': line %zu: '" SV_FMT "' is no time in seconds",
                         c->name, c->line, SV_ARG(time));
    if (!parse_length(field(c, columns->input), &input) ||
        !parse_length(field(c, columns->output), &output))
        return error_set(
            err, E_PARSE,
            "'%s': line %zu: '" SV_FMT "' or '" SV_FMT "' is no whole number from 0 on", c->name,
            c->line, SV_ARG(field(c, columns->input)), SV_ARG(field(c, columns->output)));
    own_hashes(t, input);
    add_request(t, due_ns, input, output);
    return true;
}

static bool read_records(struct trace *t, struct sv text, struct error *err)
{
    struct csv *c = mem_new(struct csv);
    struct columns columns;
    int64_t start_ns = 0;
    enum csv_result result = CSV_END;
    bool ok = csv_init(c, t->name, text, err);
    if (ok && csv_next(c, err) == CSV_RECORD) {
        if (!find_columns(c, &columns))
            ok = error_set(err, E_PARSE,
                           "'%s': line %zu: neither TIMESTAMP, ContextTokens, GeneratedTokens "
                           "(Azure) nor Timestamp, Request tokens, Response tokens (BurstGPT) are "
                           "the columns",
                           c->name, c->line);
        while (ok && t->count < wanted(t) && (result = csv_next(c, err)) == CSV_RECORD)
            ok = add_record(t, c, &columns, &start_ns, err);
    }
    ok = ok && result != CSV_FAILED;
    csv_done(c);
    free(c);
    return ok;
}

/* ---- all ---------------------------------------------------------------------------------------------------------- */

static void measure(void *user, size_t index)
{
    struct workload *w = user;
    struct prompt *p = &w->requests[index].prompt;
    p->json_bytes = workload_prompt_measure(w, p);
}

static bool make_requests(struct trace *t, struct sv text, struct error *err)
{
    struct workload *w = t->workload;
    struct sv start = sv_trim(sv_starts(text, SV_LIT("\xEF\xBB\xBF")) ? sv_skip(text, 3) : text);
    bool json = sv_starts(start, SV_LIT("{")) || sv_starts(start, SV_LIT("["));
    if (!(json ? read_lines(t, text, err) : read_records(t, text, err)))
        return false;
    if (t->count == 0)
        return error_set(err, E_PARSE, "'%s' has no rows", t->name);
    if (t->count < wanted(t))
        dataset_notice(t->context, "the trace has %zu requests of the %zu asked for", t->count,
                       wanted(t));
    if (t->without_hashes > 0)
        dataset_notice(t->context, "%zu of %zu requests have no '%s': their prompts are empty",
                       t->without_hashes, t->count, t->context->config->trace_hash_ids);
    if (t->shortened > 0)
        dataset_notice(t->context,
                       "%zu of %zu prompts are shorter than their input length, for they have too "
                       "few hashes; --timed-trace-chunk-hash-size gives the tokens of one",
                       t->shortened, t->count);
    dataset_requests_new(w, t->count);
    memcpy(w->requests, t->requests, t->count * sizeof(*t->requests));
    parallel_for(t->count, t->count < 64 ? 1 : parallel_threads(), measure, w);
    return true;
}

bool timed_trace_build(const struct dataset_context *context, struct workload *workload,
                       struct error *err)
{
    const struct config *config = context->config;
    struct file_map map = {0};
    struct trace t = {.context = context, .workload = workload, .name = config->dataset_path};
    bool ok = t.name != NULL || error_set(err, E_CONFIG, "--dataset-path is needed");
    ok = ok && dataset_allowed_ids(context, workload, err) && file_map_open(t.name, &map, err);
    workload->chunk_size = config->trace_chunk_size;
    ok = ok && make_requests(&t, map.view, err);
    free(t.requests);
    free(t.hashes);
    file_map_close(&map);
    return ok || error_context(err, "data set 'timed_trace'");
}
