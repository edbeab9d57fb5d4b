/* The option table is walked, so that a new flag takes part without being named here; what a callback took apart is added
 * by hand.  The hash is FNV-1a, 64 bits: it only has to tell a few files apart. */
#include "config/fingerprint.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/num.h"
#include "config/options.h"

static bool is_left_out(const char *name)
{
    static const char *const names[] = {
        "save-result",  "append-result", "result-dir",        "result-filename",
        "disable-tqdm", "dry-run",       "save-workload",     "resume",
        "num-runs",     "compare-junit", "compare-markdown",  "request-id-prefix",
        "config",       "save-config",   "dump-config",       "ready-check-timeout-sec",
        "label",        "plot-timeline", "plot-dataset-stats"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

static void add_double(struct buf *out, double value)
{
    char text[NUM_TEXT_MAX];
    num_format_double(text, value);
    buf_add_fmt(out, "%s,", text);
}

static void add_row(struct buf *out, const struct config *config, const struct option_row *row)
{
    const char *field = (const char *)config + row->offset;
    /* The embedded mock server is on another port every time. */
    if (config->mock && (strcmp(row->name, "host") == 0 || strcmp(row->name, "port") == 0))
        return;
    buf_add_fmt(out, "%s=", row->name);
    switch (row->kind) {
    case OPTION_SWITCH:
    case OPTION_SWITCH_OFF:
        buf_add_fmt(out, "%d", *(const bool *)field);
        break;
    case OPTION_INT:
        buf_add_fmt(out, "%d", *(const int *)(const void *)field);
        break;
    case OPTION_UINT:
        buf_add_fmt(out, "%u", *(const unsigned *)(const void *)field);
        break;
    case OPTION_U64:
    case OPTION_DURATION_S:
    case OPTION_DURATION_MS:
        buf_add_fmt(out, "%llu", (unsigned long long)*(const uint64_t *)(const void *)field);
        break;
    case OPTION_I64:
        buf_add_fmt(out, "%lld", (long long)*(const int64_t *)(const void *)field);
        break;
    case OPTION_DOUBLE:
        add_double(out, *(const double *)(const void *)field);
        break;
    case OPTION_STRING:
    case OPTION_CHOICE: {
        const char *text = *(const char *const *)(const void *)field;
        buf_add_str(out, text != NULL ? text : "\1");
        break;
    }
    case OPTION_CALLBACK:
    case OPTION_KIND_COUNT:
        break;
    }
    buf_add_char(out, '\n');
}

static void add_pairs(struct buf *out, const struct config_pairs *pairs, bool values)
{
    for (size_t i = 0; i < pairs->count; i++) {
        buf_add(out, pairs->items[i].key);
        buf_add_char(out, '=');
        if (values)
            buf_add(out, pairs->items[i].value);
        buf_add_char(out, '\n');
    }
}

static void add_callbacks(struct buf *out, const struct config *config)
{
    add_pairs(out, &config->headers, false);
    add_pairs(out, &config->metadata, true);
    add_pairs(out, &config->sampling, true);
    for (size_t i = 0; i < config->lora_modules.count; i++)
        buf_add_fmt(out, "lora %s\n", config->lora_modules.items[i]);
    buf_add_fmt(out, "%d %d %lld %d\n", config->lora_round_robin, config->has_logprobs,
                (long long)config->logprobs, (int)config->ramp_up_strategy);
    add_double(out, config->random_range_ratio_input);
    add_double(out, config->random_range_ratio_output);
    for (size_t i = 0; i < config->percentile_count; i++)
        add_double(out, config->percentiles[i]);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        buf_add_fmt(out, "%d", config->metric_selected[i]);
        if (config->goodput.given[i])
            add_double(out, config->goodput.limit_ms[i]);
    }
}

void config_fingerprint(const struct config *config, char out[FINGERPRINT_LEN + 1])
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    struct buf text = {0};
    for (size_t i = 0; i < count; i++)
        if (!is_left_out(rows[i].name) && (rows[i].flags & OPTION_NO_EFFECT) == 0)
            add_row(&text, config, &rows[i]);
    add_callbacks(&text, config);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < text.len; i++)
        hash = (hash ^ (unsigned char)text.ptr[i]) * UINT64_C(0x100000001b3);
    buf_done(&text);
    snprintf(out, FINGERPRINT_LEN + 1, "%016llx", (unsigned long long)hash);
}
