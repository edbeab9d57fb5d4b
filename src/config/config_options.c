/* The option table of `serve` and the conversions that the common kinds of options.h do not cover. */
#include "base/num.h"
#include "config/config.h"
#include "config/config_given.h"
#include "config/config_modes_priv.h"
#include "config/options_priv.h"
#include "config/sources.h"
#include "json/tree.h"

#include <math.h>

static void pairs_add(struct config_pairs *pairs, struct sv key, struct sv value,
                      struct arena *arena)
{
    if (pairs->count == pairs->cap) {
        size_t cap = pairs->cap < 8 ? 8 : pairs->cap * 2;
        struct config_pair *items = arena_array(arena, cap, sizeof(*items));
        if (pairs->count > 0) {
            memcpy(items, pairs->items, pairs->count * sizeof(*items));
        }
        pairs->items = items;
        pairs->cap = cap;
    }
    pairs->items[pairs->count++] = (struct config_pair){.key = key, .value = value};
}

/* Of a word that is no KEY=VALUE: "Authorization: Bearer ..." must not show its secret, so nothing behind the name is
 * named, and of a word without a name only the beginning. */
static size_t name_shown(struct sv text)
{
    enum { NO_SECRET = 6 };
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ':' || text.ptr[i] == ' ')
            return i;
    }
    return text.len < NO_SECRET ? text.len : NO_SECRET;
}

/* KEY=VALUE at the first '=', both sides trimmed.  `secret`: the value is never shown. */
static bool split_pair(const struct option_call *call, bool secret, struct sv *key,
                       struct sv *value, struct error *err)
{
    struct sv text = arena_copy(call->arena, sv_from(call->value));
    size_t equals = sv_find(text, '=');
    if (equals == text.len && secret && call->nth > 1) {
        /* Most likely the key behind an unquoted "Bearer": nothing of it is said. */
        return error_set(err, E_USAGE,
                         "word %zu has no '='; put quotes around a value with blanks, e.g. --%s "
                         "'%s'",
                         call->nth, call->row->name, call->row->example);
    }
    if (equals == text.len) {
        size_t shown = secret ? name_shown(text) : text.len;
        return error_set(err, E_USAGE, "'%.*s%s' has no '='; write KEY=VALUE, e.g. --%s %s",
                         (int)shown, call->value, shown < text.len ? "..." : "", call->row->name,
                         call->row->example);
    }
    *key = sv_trim(sv_make(text.ptr, equals));
    *value = sv_trim(sv_skip(text, equals + 1));
    if (key->len == 0) {
        return error_set(err, E_USAGE,
                         "there is nothing before the '='; write KEY=VALUE, e.g. "
                         "--%s %s",
                         call->row->name, call->row->example);
    }
    return true;
}

/* A token of RFC 9110 5.6.2. */
static bool is_token(struct sv text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool alnum = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        if (!alnum && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL)) {
            return false;
        }
    }
    return text.len > 0;
}

/* Headers that say how the request is sent, or which one it is, stay the program's. */
static void warn_own_header(struct config *config, struct sv key)
{
    static const char *const own[] = {"content-length", "transfer-encoding", "connection",
                                      "x-request-id"};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (sv_eq_nocase(key, sv_from(own[i]))) {
            config_warn(config,
                        "--header: '" SV_FMT "' is left out: the program writes it itself%s",
                        SV_ARG(key), i == 3 ? "; --request-id-prefix chooses how ids begin" : "");
            return;
        }
    }
}

/* The header's value is never shown: it may be a key. */
static bool set_header(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct sv key = {0};
    struct sv value = {0};
    if (!split_pair(call, true, &key, &value, err)) {
        return false;
    }
    if (!is_token(key) && call->nth > 1) {
        return error_set(err, E_USAGE,
                         "what stands before the '=' of word %zu cannot be a header's name; put "
                         "quotes around a value with blanks",
                         call->nth);
    }
    if (!is_token(key)) {
        return error_set(err, E_USAGE,
                         "'%.*s...' cannot be a header's name; letters, digits and '-' can",
                         (int)name_shown(key), key.ptr);
    }
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f) {
            return error_set(err, E_USAGE,
                             "the value of '" SV_FMT "' holds a control character; a header is one "
                             "line of text",
                             SV_ARG(key));
        }
    }
    warn_own_header(config, key);
    pairs_add(&config->headers, key, value, call->arena);
    return true;
}

static bool set_metadata(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct sv key = {0};
    struct sv value = {0};
    if (!split_pair(call, false, &key, &value, err)) {
        return false;
    }
    pairs_add(&config->metadata, key, value, call->arena);
    return true;
}

static bool set_lora_module(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct config_names *names = &config->lora_modules;
    struct sv name = sv_trim(sv_from(call->value));
    if (name.len == 0) {
        return error_set(err, E_USAGE, "an adapter's name is blank; e.g. --lora-modules %s",
                         call->row->example);
    }
    if (names->count == names->cap) {
        size_t cap = names->cap < 8 ? 8 : names->cap * 2;
        const char **items = arena_array(call->arena, cap, sizeof(*items));
        if (names->count > 0) {
            memcpy(items, names->items, names->count * sizeof(*items));
        }
        names->items = items;
        names->cap = cap;
    }
    names->items[names->count++] = arena_copy(call->arena, name).ptr;
    return true;
}

static bool set_lora_assignment(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    config->lora_round_robin = strcmp(call->value, "round-robin") == 0;
    if (config->lora_round_robin || strcmp(call->value, "random") == 0) {
        return true;
    }
    return error_set(err, E_USAGE, "'%s' is not one of random, round-robin", call->value);
}

static bool set_logprobs(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    int64_t value;
    if (!num_parse_i64(sv_from(call->value), &value) || value < 0) {
        return error_set(err, E_USAGE, "'%s' is not a whole number from 0 on; e.g. --logprobs 5",
                         call->value);
    }
    config->has_logprobs = true;
    config->logprobs = value;
    return true;
}

/* The wire order of CLI.md 3, rule 7. */
static const char *const sampling_order[] = {"top_p",
                                             "top_k",
                                             "min_p",
                                             "temperature",
                                             "frequency_penalty",
                                             "presence_penalty",
                                             "repetition_penalty"};

static size_t sampling_rank(struct sv key)
{
    size_t i = 0;
    size_t n = sizeof(sampling_order) / sizeof(sampling_order[0]);
    while (i < n && !sv_eq(sv_from(sampling_order[i]), key)) {
        i++;
    }
    return i;
}

/* Puts or replaces key's number, keeping the wire order. */
static void put_sampling(const struct option_call *call, struct sv number)
{
    struct config *config = call->target;
    struct config_pairs *pairs = &config->sampling;
    struct sv key = arena_copy(call->arena, sv_from(call->row->name));
    char *name = arena_strdup(call->arena, key.ptr);
    for (size_t i = 0; i < key.len; i++) {
        name[i] = name[i] == '-' ? '_' : name[i];
    }
    key = sv_from(name);
    for (size_t i = 0; i < pairs->count; i++) {
        if (sv_eq(pairs->items[i].key, key)) {
            pairs->items[i].value = number;
            return;
        }
    }
    pairs_add(pairs, key, number, call->arena);
    for (size_t i = pairs->count - 1; i > 0; i--) {
        struct config_pair *here = &pairs->items[i];
        if (sampling_rank(here[-1].key) <= sampling_rank(here->key)) {
            break;
        }
        struct config_pair other = here[-1];
        here[-1] = *here;
        *here = other;
    }
}

/* Written as Python's json writes the float. */
static bool set_sampling(const struct option_call *call, struct error *err)
{
    double value;
    if (!num_parse_double(sv_from(call->value), &value) || !isfinite(value)) {
        return error_set(err, E_USAGE, "'%s' is not a number that JSON can carry; e.g. --%s %s",
                         call->value, call->row->name, call->row->example);
    }
    char text[NUM_TEXT_MAX];
    size_t len = num_format_double(text, value);
    put_sampling(call, arena_copy(call->arena, sv_make(text, len)));
    return true;
}

static bool set_sampling_int(const struct option_call *call, struct error *err)
{
    int64_t value;
    if (!num_parse_i64(sv_from(call->value), &value)) {
        return error_set(err, E_USAGE, "'%s' is not a whole number; e.g. --%s %s", call->value,
                         call->row->name, call->row->example);
    }
    put_sampling(call, arena_fmt(call->arena, "%lld", (long long)value));
    return true;
}

/* As Python's **kwargs: an object, or null for none. */
static bool set_template_kwargs(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct error why;
    const struct js_value *tree = js_parse(call->arena, sv_from(call->value), "the value", &why);
    struct sv shown = option_json_shown(call->arena, sv_from(call->value));
    if (tree == NULL) {
        return error_set(err, E_USAGE, "'" SV_FMT "' is not JSON: %s", SV_ARG(shown), why.message);
    }
    if (tree->type != JS_OBJECT && tree->type != JS_NULL) {
        return error_set(err, E_USAGE, "'" SV_FMT "' is no JSON object", SV_ARG(shown));
    }
    config->chat_template_kwargs =
        tree->type == JS_OBJECT ? arena_strdup(call->arena, call->value) : NULL;
    return true;
}

/* One ratio; `which` is "" or " of the input" ... for the message. */
static bool check_ratio(const struct option_call *call, double ratio, const char *which,
                        struct error *err)
{
    if (ratio >= 0 && ratio < 1) {
        return true;
    }
    const char *note = ratio == 1 ? "; it is no longer a lower bound of [L*R, L] with 1 for fixed "
                                    "lengths: fixed lengths are --random-range-ratio 0"
                                  : "";
    return error_set(err, E_USAGE, "'%s': the ratio%s must be at least 0 and below 1%s",
                     call->value, which, note);
}

static bool set_range_ratio(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct sv text = sv_trim(sv_from(call->value));
    double input;
    double output;
    if (num_parse_double(text, &input)) {
        output = input;
        if (!check_ratio(call, input, "", err)) {
            return false;
        }
    } else {
        struct error why;
        const struct js_value *tree = js_parse(call->arena, text, "the value", &why);
        if (tree == NULL) {
            return error_set(err, E_USAGE,
                             "'%s' is neither a number nor JSON; e.g. 0.3 or "
                             "'{\"input\": 0.3, \"output\": 0.1}'",
                             call->value);
        }
        if (tree->type != JS_OBJECT) {
            return error_set(err, E_USAGE, "'%s' is neither a number nor a JSON object",
                             call->value);
        }
        const char *missing = !js_as_double(js_get(tree, "input"), &input)     ? "input"
                              : !js_as_double(js_get(tree, "output"), &output) ? "output"
                                                                               : NULL;
        if (missing != NULL) {
            return error_set(err, E_USAGE, "'%s' needs the key '%s' with a number", call->value,
                             missing);
        }
        if (!check_ratio(call, input, " 'input'", err) ||
            !check_ratio(call, output, " 'output'", err)) {
            return false;
        }
    }
    config->random_range_ratio_input = input;
    config->random_range_ratio_output = output;
    return true;
}

static bool set_ramp_up(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    if (strcmp(call->value, "linear") == 0) {
        config->ramp_up_strategy = RAMP_UP_LINEAR;
    } else if (strcmp(call->value, "exponential") == 0) {
        config->ramp_up_strategy = RAMP_UP_EXPONENTIAL;
    } else {
        struct sv near = option_near("linear exponential", sv_from(call->value));
        return error_set(err, E_USAGE, "'%s' is not one of linear, exponential%s" SV_FMT "%s",
                         call->value, near.len > 0 ? "; did you mean '" : "", SV_ARG(near),
                         near.len > 0 ? "'?" : "");
    }
    return true;
}

/* Unknown names select nothing, as in Python; here with a warning. */
static bool set_percentile_metrics(const struct option_call *call, struct error *err)
{
    (void)err;
    struct config *config = call->target;
    memset(config->metric_selected, 0, sizeof(config->metric_selected));
    struct sv rest = sv_from(call->value);
    struct sv part;
    while (sv_split(&rest, ',', &part)) {
        part = sv_trim(part);
        size_t metric = 0;
        while (metric < METRIC_COUNT &&
               !sv_eq(part, sv_from(config_metric_name((enum metric_id)metric)))) {
            metric++;
        }
        if (metric < METRIC_COUNT) {
            config->metric_selected[metric] = true;
        } else if (part.len > 0) {
            config_warn(config,
                        "--percentile-metrics: '" SV_FMT "' is no metric and is left out; metrics "
                        "are ttft, tpot, itl, e2el, client_queue_time and "
                        "e2el_including_client_queue",
                        SV_ARG(part));
        }
    }
    return true;
}

/* Whether a percentile before has the same label, and so the same key of the result. */
static bool is_listed(const double *list, size_t count, double value)
{
    char label[NUM_TEXT_MAX];
    char other[NUM_TEXT_MAX];
    num_format_short(label, value);
    for (size_t i = 0; i < count; i++) {
        num_format_short(other, list[i]);
        if (strcmp(label, other) == 0) {
            return true;
        }
    }
    return false;
}

static bool set_percentiles(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct sv rest = sv_from(call->value);
    struct sv part;
    double list[CONFIG_MAX_PERCENTILES];
    size_t count = 0;
    bool repeated = false;
    while (sv_split(&rest, ',', &part)) {
        part = sv_trim(part);
        if (count == CONFIG_MAX_PERCENTILES) {
            return error_set(err, E_USAGE, "more than %d percentiles were asked for",
                             CONFIG_MAX_PERCENTILES);
        }
        if (!num_parse_double(part, &list[count]) || isnan(list[count])) {
            return error_set(err, E_USAGE,
                             "'" SV_FMT "' is not a number; e.g. --metric-percentiles 50,95,99.9",
                             SV_ARG(part));
        }
        if (list[count] < 0 || list[count] > 100) {
            return error_set(err, E_USAGE,
                             "'" SV_FMT "' is out of range; a percentile is from 0 to 100",
                             SV_ARG(part));
        }
        if (is_listed(list, count, list[count])) {
            repeated = true;
            continue;
        }
        count++;
    }
    if (repeated) {
        config_warn(config,
                    "--metric-percentiles: '%s' names a percentile twice; it is reported "
                    "once",
                    call->value);
    }
    memcpy(config->percentiles, list, count * sizeof(list[0]));
    config->percentile_count = count;
    return true;
}

static bool set_itl_thresholds(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct sv rest = sv_from(call->value);
    struct sv part;
    double limits[2];
    size_t count = 0;
    for (; sv_split(&rest, ',', &part); count++) {
        double limit;
        if (!num_parse_double(sv_trim(part), &limit) || !isfinite(limit) || limit <= 0) {
            return error_set(err, E_USAGE,
                             "'" SV_FMT "' is not a number of milliseconds above 0; two are "
                             "needed, e.g. --timeline-itl-thresholds 25,50",
                             SV_ARG(sv_trim(part)));
        }
        if (count < 2) {
            limits[count] = limit;
        }
    }
    if (count != 2) {
        return error_set(err, E_USAGE,
                         "'%s' holds %zu number%s; two are needed, e.g. "
                         "--timeline-itl-thresholds 25,50",
                         call->value, count, count == 1 ? "" : "s");
    }
    if (limits[0] >= limits[1]) {
        return error_set(err, E_USAGE, "'%s': the first limit must be below the second",
                         call->value);
    }
    memcpy(config->itl_thresholds_ms, limits, sizeof(limits));
    return true;
}

static bool set_goodput(const struct option_call *call, struct error *err)
{
    static const enum metric_id allowed[] = {METRIC_TTFT, METRIC_TPOT, METRIC_E2EL};
    struct config *config = call->target;
    struct sv text = sv_from(call->value);
    size_t colon = sv_find(text, ':');
    if (colon == text.len) {
        return error_set(err, E_USAGE, "'%s' has no ':'; write NAME:MILLISECONDS, e.g. ttft:200",
                         call->value);
    }
    struct sv name = sv_trim(sv_make(text.ptr, colon));
    struct sv number = sv_trim(sv_skip(text, colon + 1));
    size_t i = 0;
    while (i < 3 && !sv_eq(name, sv_from(config_metric_name(allowed[i])))) {
        i++;
    }
    if (i == 3) {
        return error_set(err, E_USAGE, "'" SV_FMT "' in '%s' is not one of ttft, tpot, e2el",
                         SV_ARG(name), call->value);
    }
    double limit;
    if (!num_parse_double(number, &limit) || isnan(limit)) {
        return error_set(err, E_USAGE, "'" SV_FMT "' in '%s' is not a number of milliseconds",
                         SV_ARG(number), call->value);
    }
    if (limit < 0) {
        return error_set(err, E_USAGE, "'%s': a limit cannot be negative", call->value);
    }
    config->goodput.given[allowed[i]] = true;
    config->goodput.limit_ms[allowed[i]] = limit;
    config->goodput.any = true;
    return true;
}

/* clang-format off */
#define ROW(name_, kind_, field_, flags_, group_, value_, default_, help_)                         \
    .name = (name_), .kind = OPTION_##kind_, .flags = (flags_), .group = (group_),                 \
    .value = (value_), .default_text = (default_), .help = (help_),                                \
    .offset = offsetof(struct config, field_)
#define VALUE(name_, kind_, field_, flags_, group_, value_, default_, help_)                       \
    {ROW(name_, kind_, field_, flags_, group_, value_, default_, help_)},
#define VALUE_X(name_, kind_, field_, flags_, group_, value_, default_, help_, ...)                \
    {ROW(name_, kind_, field_, flags_, group_, value_, default_, help_), __VA_ARGS__},
#define SWITCH(name_, field_, flags_, group_, help_)                                               \
    {ROW(name_, SWITCH, field_, flags_, group_, NULL, NULL, help_)},
#define SWITCH_X(name_, field_, flags_, group_, help_, ...)                                        \
    {ROW(name_, SWITCH, field_, flags_, group_, NULL, NULL, help_), __VA_ARGS__},

static const struct option_row rows[] = {
#include "config/options.def"
};
/* clang-format on */

const struct option_row *config_options(size_t *count)
{
    *count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}

static void take_warning(void *target, const char *sentence)
{
    config_warn(target, "%s", sentence);
}

bool config_parse(struct config *config, int argc, char **argv, struct option_parser *parser,
                  struct error *err)
{
    *parser = (struct option_parser){
        .command = "vllm-bench serve",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
        .target = config,
        .arena = &config->arena,
        .warn = take_warning,
    };
    if (!option_parse(parser, argc, argv, err)) {
        return false;
    }
    if (parser->help != OPTION_HELP_NONE || parser->version) {
        return true;
    }
    if (!config_read_sources(config, parser, err)) {
        return false;
    }
    config->address_given = option_given(parser, "host") > 0 || option_given(parser, "port") > 0 ||
                            option_given(parser, "base-url") > 0;
    config->self_timed_given =
        option_given(parser, "self-timed") > 0 || option_given(parser, "no-self-timed") > 0;
    return config_check_given(config, parser, err);
}
