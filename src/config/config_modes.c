/* Lists of points, gates and what goes together among the flags of the modes. */
#include "config/config_modes_priv.h"

#include <math.h>

#include "base/num.h"

enum { LIST_MAX = 1000 };

/* ---- single flags ------------------------------------------------------------------------------------------------ */

typedef bool item_check_fn(double value);

/* A comma list of numbers into the struct config_numbers at the row's offset; the last flag wins. */
static bool set_list(const struct option_call *call, item_check_fn *good, const char *what,
                     struct error *err)
{
    struct config_numbers *list = (void *)((char *)call->target + call->row->offset);
    double *items = arena_array(call->arena, LIST_MAX, sizeof(*items));
    size_t count = 0;
    struct sv rest = sv_from(call->value);
    struct sv part;
    while (sv_split(&rest, ',', &part)) {
        part = sv_trim(part);
        if (count == LIST_MAX)
            return error_set(err, E_USAGE, "more than %d values were given", LIST_MAX);
        if (!num_parse_double(part, &items[count]) || !good(items[count]))
            return error_set(err, E_USAGE, "'" SV_FMT "' in '%s' is not %s; e.g. --%s %s",
                             SV_ARG(part), call->value, what, call->row->name, call->row->example);
        count++;
    }
    list->items = items;
    list->count = count;
    return true;
}

static bool is_concurrency(double value)
{
    return value >= 1 && value <= 1e8 && value == floor(value);
}

static bool is_rate(double value)
{
    return value > 0;
}

static bool is_percentile(double value)
{
    return value >= 0 && value <= 100;
}

bool set_concurrency_list(const struct option_call *call, struct error *err)
{
    return set_list(call, is_concurrency, "a whole number from 1 on", err);
}

bool set_rate_list(const struct option_call *call, struct error *err)
{
    return set_list(call, is_rate, "a number above 0 (or inf)", err);
}

bool set_percentile_list(const struct option_call *call, struct error *err)
{
    return set_list(call, is_percentile, "a number from 0 to 100", err);
}

bool set_compare_file(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct config_names *names = &config->compare;
    if (call->value[0] == '\0')
        return error_set(err, E_USAGE, "a file name is empty");
    if (names->count == names->cap) {
        size_t cap = names->cap < 8 ? 8 : names->cap * 2;
        const char **items = arena_array(call->arena, cap, sizeof(*items));
        if (names->count > 0)
            memcpy(items, names->items, names->count * sizeof(*items));
        names->items = items;
        names->cap = cap;
    }
    names->items[names->count++] = arena_strdup(call->arena, call->value);
    return true;
}

/* "5%" or "5" is 0.05. */
bool set_share(const struct option_call *call, struct error *err)
{
    double *share = (void *)((char *)call->target + call->row->offset);
    struct sv text = sv_trim(sv_from(call->value));
    if (sv_ends(text, SV_LIT("%")))
        text.len--;
    if (!num_parse_double(text, share) || !(*share >= 0) || !isfinite(*share))
        return error_set(err, E_USAGE, "'%s' is not a percentage from 0 on; e.g. --%s %s",
                         call->value, call->row->name, call->row->example);
    *share /= 100.0;
    return true;
}

bool set_max_failures(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct sv text = sv_trim(sv_from(call->value));
    struct config_max_failures limit = {.given = true};
    limit.percent = sv_ends(text, SV_LIT("%"));
    text.len -= limit.percent;
    if (!num_parse_double(text, &limit.limit) || !(limit.limit >= 0) || !isfinite(limit.limit) ||
        (!limit.percent && limit.limit != floor(limit.limit)) ||
        (limit.percent && limit.limit > 100))
        return error_set(err, E_USAGE,
                         "'%s' is neither a whole number of requests nor a percentage; e.g. "
                         "--max-failures 0 or --max-failures 1%%",
                         call->value);
    config->max_failures = limit;
    return true;
}

/* KEY OP NUMBER, blanks allowed: "p99_ttft_ms>500". */
static bool parse_gate(struct sv text, struct config_gate *gate)
{
    static const struct {
        const char *text;
        enum gate_op op;
    } ops[] = {{">=", GATE_GE}, {"<=", GATE_LE}, {"==", GATE_EQ},
               {"!=", GATE_NE}, {">", GATE_GT},  {"<", GATE_LT}};
    size_t at = 0;
    while (at < text.len && strchr("<>=!", text.ptr[at]) == NULL)
        at++;
    struct sv rest = sv_skip(text, at);
    for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
        if (!sv_starts(rest, sv_from(ops[i].text)))
            continue;
        gate->key = sv_trim(sv_make(text.ptr, at));
        gate->op = ops[i].op;
        return gate->key.len > 0 &&
               num_parse_double(sv_trim(sv_skip(rest, strlen(ops[i].text))), &gate->limit) &&
               !isnan(gate->limit);
    }
    return false;
}

bool set_fail_if(const struct option_call *call, struct error *err)
{
    struct config *config = call->target;
    struct config_gates *gates = &config->fail_if;
    struct config_gate gate = {.text = arena_strdup(call->arena, call->value)};
    if (!parse_gate(sv_from(gate.text), &gate))
        return error_set(err, E_USAGE,
                         "'%s' is not KEY OPERATOR NUMBER with one of > >= < <= == !=; e.g. "
                         "--fail-if 'p99_ttft_ms>500'",
                         call->value);
    if (gates->count == gates->cap) {
        size_t cap = gates->cap < 8 ? 8 : gates->cap * 2;
        struct config_gate *items = arena_array(call->arena, cap, sizeof(*items));
        if (gates->count > 0)
            memcpy(items, gates->items, gates->count * sizeof(*items));
        gates->items = items;
        gates->cap = cap;
    }
    gates->items[gates->count++] = gate;
    return true;
}

/* ---- several flags ----------------------------------------------------------------------------------------------- */

static bool is(const char *text, const char *name)
{
    return strcmp(text, name) == 0;
}

static bool check_profile(const struct config *config, struct error *err)
{
    if (config->profile_batch_threshold > 0 && !config->profile)
        return error_set(err, E_CONFIG, "--profile-batch-threshold: needs --profile");
    if (config->profile_duration_ns != CONFIG_PROFILE_DURATION_NS &&
        config->profile_batch_threshold == 0)
        return error_set(err, E_CONFIG, "--profile-duration: needs --profile-batch-threshold");
    return true;
}

static bool check_multi_turn_data(const struct config *config, struct error *err)
{
    double shared = config->multi_turn.global_ratio + config->multi_turn.conversation_ratio;
    bool random = is(config->dataset_name, "random");
    if (!random && !is(config->dataset_name, "sharegpt") && !is(config->dataset_name, "hf"))
        return error_set(err, E_CONFIG,
                         "--multi-turn: does not go with --dataset-name %s; use random, sharegpt "
                         "or hf",
                         config->dataset_name);
    if (shared > 0 && !random)
        return error_set(err, E_CONFIG,
                         "--multi-turn-prefix-%s-ratio: goes with --dataset-name random only",
                         config->multi_turn.global_ratio > 0 ? "global" : "conversation");
    if (shared >= 1)
        return error_set(err, E_CONFIG,
                         "--multi-turn-prefix-global-ratio and "
                         "--multi-turn-prefix-conversation-ratio: together they must be below 1");
    if (!random && config->multi_turn.max_turns == 1)
        return error_set(
            err, E_CONFIG,
            "--multi-turn-max-turns: '1' leaves no conversation; with sharegpt and hf it "
            "is 0 (no limit) or 2 and more");
    return true;
}

/* CLI.md 3, rules 13, 22, 30; ORCHESTRATION 12. */
static bool check_multi_turn(struct config *config, struct error *err)
{
    struct config_multi_turn *mt = &config->multi_turn;
    if (!mt->on)
        return true;
    if (!is(config->backend, "openai-chat"))
        return error_set(err, E_CONFIG,
                         "--multi-turn: does not go with --backend '%s'; use openai-chat",
                         config->backend);
    if (!check_multi_turn_data(config, err))
        return false;
    if (is(config->dataset_name, "random")) {
        if (mt->max_turns == 0)
            mt->max_turns = mt->num_turns;
        if (mt->min_turns == 0)
            mt->min_turns = mt->max_turns < mt->num_turns ? mt->max_turns : mt->num_turns;
        if (mt->min_turns > mt->max_turns)
            return error_set(err, E_CONFIG,
                             "--multi-turn-min-turns: '%llu' is above the most turns, %llu",
                             (unsigned long long)mt->min_turns, (unsigned long long)mt->max_turns);
    }
    if (isfinite(config->request_rate) || config->ramp_up_strategy != RAMP_UP_NONE)
        config_warn(config, "--multi-turn: the request rate has no effect; all conversations start "
                            "together within --multi-turn-concurrency");
    if (config->sweep_request_rate.count > 0 || config->num_runs > 1)
        config_warn(config, "--multi-turn: %s is ignored",
                    config->num_runs > 1 ? "--num-runs" : "--sweep-request-rate");
    if (config->num_warmups > 0)
        config_warn(config, "--multi-turn: --num-warmups is ignored");
    if (config->goodput.any)
        config_warn(config, "--multi-turn: --goodput has no effect");
    if (config->save_detailed)
        config_warn(config, "--multi-turn: --save-detailed has no effect");
    return true;
}

/* Which of several modes rules: ORCHESTRATION 1. */
static bool check_sweep(struct config *config, struct error *err)
{
    bool concurrency = config->sweep_max_concurrency.count > 0;
    bool rate = config->sweep_request_rate.count > 0;
    if (concurrency && rate)
        config_warn(config, "--sweep-request-rate is ignored beside --sweep-max-concurrency");
    if ((concurrency || rate) && config->num_runs > 1)
        config_warn(config, "--num-runs is ignored in a sweep");
    if (rate && config->ramp_up_strategy != RAMP_UP_NONE)
        return error_set(err, E_CONFIG,
                         "--sweep-request-rate: does not go with --ramp-up-strategy");
    if (config->sweep_num_prompts_factor > 0 && !concurrency)
        config_warn(config, "--sweep-num-prompts-factor has no effect without "
                            "--sweep-max-concurrency");
    if ((concurrency || rate) && !config->multi_turn.on &&
        (is(config->dataset_name, "timed_trace") || is(config->dataset_name, "workload")) &&
        config->self_timed && (rate || config->sweep_num_prompts_factor > 0))
        return error_set(err, E_CONFIG,
                         "%s: does not go with --dataset-name %s, which has times of its own; "
                         "--no-self-timed lets the rate decide",
                         rate ? "--sweep-request-rate" : "--sweep-num-prompts-factor",
                         config->dataset_name);
    if (config->resume && !concurrency && !rate && config->num_runs < 2)
        return error_set(err, E_CONFIG, "--resume: goes with a sweep or --num-runs");
    if (config->resume)
        config->save_result = true;
    return true;
}

static bool check_duration(const struct config *config, struct error *err)
{
    if (config->duration_ns == 0)
        return true;
    if (config->multi_turn.on)
        return error_set(err, E_CONFIG, "--duration: does not go with --multi-turn");
    if (config->self_timed)
        return error_set(err, E_CONFIG,
                         "--duration: does not go with --dataset-name %s, which has times of its "
                         "own; --no-self-timed lets the rate decide",
                         config->dataset_name);
    if (config->max_concurrency == 0 && config->sweep_max_concurrency.count == 0 &&
        config->sweep_request_rate.count == 0 && isinf(config->request_rate) &&
        config->ramp_up_strategy == RAMP_UP_NONE)
        return error_set(err, E_CONFIG,
                         "--duration: needs --max-concurrency or --request-rate; without either "
                         "there is no end to what can be sent at once");
    return true;
}

bool config_check_compare(struct config *config, struct error *err)
{
    if (config->compare.count < 2)
        return error_set(err, E_CONFIG, "--compare: needs two files or more");
    return true;
}

/* Only what is made from a seed can be made anew. */
static bool check_warm_up(const struct config *config, struct error *err)
{
    bool made = strncmp(config->dataset_name, "random", 6) == 0 ||
                strncmp(config->dataset_name, "prefix", 6) == 0;
    if (config->warmup_fresh_prompts && !made)
        return error_set(err, E_CONFIG,
                         "--warmup-fresh-prompts: does not go with --dataset-name %s; only data "
                         "sets that make their prompts have others",
                         config->dataset_name);
    return true;
}

/* Flags of --compare by themselves. */
static bool check_no_compare(const struct config *config, struct error *err)
{
    const char *flag = !isnan(config->compare_threshold)  ? "--compare-threshold"
                       : config->compare_markdown != NULL ? "--compare-markdown"
                       : config->compare_junit != NULL    ? "--compare-junit"
                                                          : NULL;
    return flag == NULL || error_set(err, E_CONFIG, "%s: needs --compare", flag);
}

bool config_check_modes(struct config *config, struct error *err)
{
    return check_no_compare(config, err) && check_warm_up(config, err) &&
           check_profile(config, err) && check_multi_turn(config, err) &&
           check_sweep(config, err) && check_duration(config, err);
}
