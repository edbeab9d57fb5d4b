/* One record for each of twelve latency statistics: what was measured, with which settings, and the rest of the result
 * beside it.  The arrays of single requests stay out: they are large and repeated in every record. */
#include "output/pytorch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "config/options.h"
#include "json/scan.h"
#include "json/writer.h"
#include "output/report_priv.h"

static const char *const METRICS[] = {"median_ttft_ms", "mean_ttft_ms", "std_ttft_ms",
                                      "p99_ttft_ms",    "mean_tpot_ms", "median_tpot_ms",
                                      "std_tpot_ms",    "p99_tpot_ms",  "median_itl_ms",
                                      "mean_itl_ms",    "std_itl_ms",   "p99_itl_ms"};
static const char *const LEFT_OUT[] = {
    "ttfts", "itls", "generated_texts", "errors", "server_queue_times", "server_ttfts"};
enum {
    METRIC_NAMES = sizeof(METRICS) / sizeof(METRICS[0]),
    LEFT_OUT_NAMES = sizeof(LEFT_OUT) / sizeof(LEFT_OUT[0]),
};

bool pytorch_wanted(void)
{
    const char *value = getenv("SAVE_TO_PYTORCH_BENCHMARK_FORMAT");
    return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static bool is_one_of(struct sv key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (sv_eq(key, sv_from(names[i])))
            return true;
    return false;
}

/* ---- settings -------------------------------------------------------------------------------------------------- */

static struct sv find_pair(const struct config_pairs *pairs, const char *key)
{
    for (size_t i = pairs->count; i-- > 0;)
        if (sv_eq(pairs->items[i].key, sv_from(key)))
            return pairs->items[i].value;
    return sv_make(NULL, 0);
}

/* A text of the command line; what lies between "//" and "@" of an address is a name and a password. */
static void write_text(struct js_writer *w, const struct run_report *report, const char *text)
{
    if (text == NULL) {
        js_null(w);
        return;
    }
    struct buf shown = {0};
    const char *host = strstr(text, "://");
    size_t end = host != NULL ? 3 + strcspn(host + 3, "/") : 0;
    const char *at = host != NULL ? memrchr(host, '@', end) : NULL;
    if (at != NULL) {
        buf_add_fmt(&shown, "%.*s***", (int)(host + 3 - text), text);
        text = at;
    }
    report_redact(report, sv_from(text), &shown);
    js_string(w, buf_sv(&shown));
    buf_done(&shown);
}

static void write_headers(struct js_writer *w, const struct config *config)
{
    js_begin_object(w);
    for (size_t i = 0; i < config->headers.count; i++) {
        js_key_sv(w, config->headers.items[i].key);
        js_cstring(w, "***");
    }
    js_end_object(w);
}

static void write_metadata(struct js_writer *w, const struct config *config)
{
    struct buf item = {0};
    js_begin_array(w);
    for (size_t i = 0; i < config->metadata.count; i++) {
        buf_reset(&item);
        buf_add_fmt(&item, SV_FMT "=" SV_FMT, SV_ARG(config->metadata.items[i].key),
                    SV_ARG(config->metadata.items[i].value));
        js_string(w, buf_sv(&item));
    }
    js_end_array(w);
    buf_done(&item);
}

static void write_goodput(struct js_writer *w, const struct config *config)
{
    char limit[NUM_TEXT_MAX];
    struct buf item = {0};
    js_begin_array(w);
    for (enum metric_id metric = 0; metric < METRIC_COUNT; metric++) {
        if (!config->goodput.given[metric])
            continue;
        buf_reset(&item);
        num_format_short(limit, config->goodput.limit_ms[metric]);
        buf_add_fmt(&item, "%s:%s", config_metric_name(metric), limit);
        js_string(w, buf_sv(&item));
    }
    js_end_array(w);
    buf_done(&item);
}

static void write_metric_names(struct js_writer *w, const struct config *config)
{
    struct buf names = {0};
    for (enum metric_id metric = 0; metric < METRIC_COUNT; metric++)
        if (config->metric_selected[metric])
            buf_add_fmt(&names, "%s%s", names.len > 0 ? "," : "", config_metric_name(metric));
    js_string(w, buf_sv(&names));
    buf_done(&names);
}

static void write_percentiles(struct js_writer *w, const struct config *config)
{
    struct buf names = {0};
    for (size_t i = 0; i < config->percentile_count; i++) {
        char p[NUM_TEXT_MAX];
        num_format_short(p, config->percentiles[i]);
        buf_add_fmt(&names, "%s%s", i > 0 ? "," : "", p);
    }
    js_string(w, buf_sv(&names));
    buf_done(&names);
}

static void write_ramp_up(struct js_writer *w, const struct config *config)
{
    js_cstring(w, config->ramp_up_strategy == RAMP_UP_NONE     ? NULL
                  : config->ramp_up_strategy == RAMP_UP_LINEAR ? "linear"
                                                               : "exponential");
}

static void write_logprobs(struct js_writer *w, const struct config *config)
{
    if (config->has_logprobs)
        js_int(w, config->logprobs);
    else
        js_null(w);
}

static void write_loras(struct js_writer *w, const struct config *config)
{
    js_begin_array(w);
    for (size_t i = 0; i < config->lora_modules.count; i++)
        js_cstring(w, config->lora_modules.items[i]);
    js_end_array(w);
}

static void write_lora_assignment(struct js_writer *w, const struct config *config)
{
    js_cstring(w, config->lora_round_robin ? "round-robin" : "random");
}

static void write_range_ratio(struct js_writer *w, const struct config *config)
{
    js_double(w, config->random_range_ratio_input);
}

/* Flags whose value is not one plain field. */
static const struct {
    const char *name;
    void (*write)(struct js_writer *w, const struct config *config);
} SPECIAL[] = {
    {"header", write_headers},
    {"metadata", write_metadata},
    {"goodput", write_goodput},
    {"percentile_metrics", write_metric_names},
    {"metric_percentiles", write_percentiles},
    {"ramp_up_strategy", write_ramp_up},
    {"logprobs", write_logprobs},
    {"lora_modules", write_loras},
    {"lora_assignment", write_lora_assignment},
    {"random_range_ratio", write_range_ratio},
};

static void write_special(struct js_writer *w, const struct config *config, const char *name)
{
    for (size_t i = 0; i < sizeof(SPECIAL) / sizeof(SPECIAL[0]); i++) {
        if (strcmp(SPECIAL[i].name, name) == 0) {
            SPECIAL[i].write(w, config);
            return;
        }
    }
    struct sv sampling = find_pair(&config->sampling, name);
    if (sampling.len > 0)
        js_raw(w, sampling);
    else
        js_null(w);
}

static void write_value(struct js_writer *w, const struct run_report *report,
                        const struct option_row *row, const char *name)
{
    const void *field = (const char *)report->config + row->offset;
    switch (row->kind) {
    case OPTION_SWITCH:
    case OPTION_SWITCH_OFF:
        js_bool(w, *(const bool *)field == (row->kind == OPTION_SWITCH));
        break;
    case OPTION_INT:
        js_int(w, *(const int *)field);
        break;
    case OPTION_UINT:
        js_uint(w, *(const unsigned *)field);
        break;
    case OPTION_U64:
        js_uint(w, *(const uint64_t *)field);
        break;
    case OPTION_I64:
        js_int(w, *(const int64_t *)field);
        break;
    case OPTION_DOUBLE:
        js_double(w, *(const double *)field);
        break;
    case OPTION_DURATION_S:
        js_double(w, (double)*(const uint64_t *)field / 1e9);
        break;
    case OPTION_DURATION_MS:
        js_double(w, (double)*(const uint64_t *)field / 1e6);
        break;
    case OPTION_STRING:
    case OPTION_CHOICE:
        write_text(w, report, *(const char *const *)field);
        break;
    case OPTION_CALLBACK:
    case OPTION_KIND_COUNT:
        write_special(w, report->config, name);
        break;
    }
}

static void write_args(struct js_writer *w, const struct run_report *report)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    struct buf name = {0};
    js_begin_object(w);
    for (size_t i = 0; i < count; i++) {
        if ((rows[i].flags & OPTION_NO_EFFECT) != 0)
            continue;
        buf_reset(&name);
        buf_add_str(&name, rows[i].name);
        for (size_t k = 0; k < name.len; k++)
            if (name.ptr[k] == '-')
                name.ptr[k] = '_';
        js_key_sv(w, buf_sv(&name));
        write_value(w, report, &rows[i], buf_cstr(&name));
    }
    buf_done(&name);
    /* The size of the server's engine is known from --metadata alone. */
    struct sv parallel = find_pair(&report->config->metadata, "tensor_parallel_size");
    if (parallel.len > 0) {
        js_key(w, "tensor_parallel_size");
        js_string(w, parallel);
    }
    js_end_object(w);
}

/* ---- records --------------------------------------------------------------------------------------------------- */

static void write_benchmark(struct js_writer *w, const struct run_report *report)
{
    const struct config *config = report->config;
    struct sv mode = find_pair(&config->metadata, "compilation_config.mode");
    struct sv level = find_pair(&config->metadata, "optimization_level");
    bool eager =
        config->result_filename != NULL && strstr(config->result_filename, "eager") != NULL;
    js_begin_object(w);
    js_key(w, "name");
    js_cstring(w, "vLLM benchmark");
    js_key(w, "extra_info");
    js_begin_object(w);
    js_key(w, "args");
    write_args(w, report);
    js_key(w, "compilation_config.mode");
    js_string(w, mode);
    js_key(w, "optimization_level");
    js_string(w, level);
    js_key(w, "use_compile");
    js_bool(w, !eager && !sv_eq(mode, SV_LIT("0")));
    js_end_object(w);
    js_end_object(w);
}

static void write_rest(struct js_writer *w, struct sv result)
{
    struct js_scan s;
    struct sv key, value;
    struct buf plain = {0};
    bool first = true;
    js_scan_init(&s, result);
    js_begin_object(w);
    bool ok = js_scan_object(&s);
    while (ok && js_scan_member(&s, &first, &key) && js_scan_skip(&s, &value)) {
        if (is_one_of(key, METRICS, METRIC_NAMES) || is_one_of(key, LEFT_OUT, LEFT_OUT_NAMES))
            continue;
        buf_reset(&plain);
        js_unescape(key, &plain);
        js_key_sv(w, buf_sv(&plain));
        js_raw(w, value);
    }
    js_end_object(w);
    buf_done(&plain);
}

static void write_record(struct js_writer *w, const struct run_report *report, const char *metric,
                         struct sv value, struct sv result)
{
    js_begin_object(w);
    js_key(w, "benchmark");
    write_benchmark(w, report);
    js_key(w, "model");
    js_begin_object(w);
    js_key(w, "name");
    js_cstring(w, report->model_id);
    js_end_object(w);
    js_key(w, "metric");
    js_begin_object(w);
    js_key(w, "name");
    js_cstring(w, metric);
    js_key(w, "benchmark_values");
    js_begin_array(w);
    js_raw(w, value);
    js_end_array(w);
    js_key(w, "extra_info");
    write_rest(w, result);
    js_end_object(w);
    js_end_object(w);
}

/* The value of a top-level key; empty when it is not there. */
static struct sv member(struct sv result, const char *name)
{
    struct js_scan s;
    struct sv key, value;
    bool first = true;
    js_scan_init(&s, result);
    if (!js_scan_object(&s))
        return sv_make(NULL, 0);
    while (js_scan_member(&s, &first, &key) && js_scan_skip(&s, &value))
        if (sv_eq(key, sv_from(name)))
            return value;
    return sv_make(NULL, 0);
}

void pytorch_json(const struct run_report *report, struct sv result, struct buf *out)
{
    struct js_writer w;
    size_t from = out->len;
    bool any = false;
    js_writer_init(&w, out);
    js_begin_array(&w);
    for (size_t i = 0; i < METRIC_NAMES; i++) {
        struct sv value = member(result, METRICS[i]);
        if (value.len == 0)
            continue;
        any = true;
        write_record(&w, report, METRICS[i], value, result);
    }
    js_end_array(&w);
    if (!any)
        out->len = from;
}

/* As Python's os.path.splitext: the last dot of the name, unless only dots stand before it. */
static size_t stem_len(const char *path)
{
    const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
    const char *begin = name + strspn(name, ".");
    const char *dot = strrchr(begin, '.');
    return dot != NULL ? (size_t)(dot - path) : strlen(path);
}

bool pytorch_save(const struct run_report *report, const char *path, struct sv result,
                  struct error *err)
{
    struct buf json = {0};
    struct buf name = {0};
    bool ok = true;
    pytorch_json(report, result, &json);
    if (json.len > 0) {
        buf_add(&name, sv_make(path, stem_len(path)));
        buf_add_str(&name, ".pytorch.json");
        ok = file_write_atomic(buf_cstr(&name), buf_sv(&json), err);
    }
    buf_done(&name);
    buf_done(&json);
    return ok;
}
