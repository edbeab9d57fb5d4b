/* Rules that concern more than one flag, and the values that follow from them.  Order: CLI.md of the specification,
 * section 3, so that the first complaint is the one that users of the peers know. */
#include "base/num.h"
#include "config/config.h"
#include "config/config_modes_priv.h"
#include "config/options_priv.h"
#include "json/tree.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

static bool is(const char *text, const char *name)
{
    return strcmp(text, name) == 0;
}

/* Backends that generate text and take sampling parameters. */
static bool is_generative(const char *backend)
{
    return is(backend, "openai") || is(backend, "vllm") || is(backend, "openai-chat") ||
           is(backend, "openai-responses");
}

/* Backends that read prompts without generating. */
static bool is_pooling(const char *backend)
{
    return strstr(backend, "embeddings") != NULL || is(backend, "vllm-pooling") ||
           is(backend, "vllm-rerank");
}

/* Backends whose API has a place for a prompt of token ids. */
static bool takes_ids(const char *backend)
{
    return is(backend, "openai") || is(backend, "vllm") || is(backend, "openai-embeddings") ||
           is(backend, "vllm-pooling");
}

static bool has_control(const char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f) {
            return true;
        }
    }
    return false;
}

/* Texts that go into a request's head or into an address: not empty, one line. */
static bool check_texts(const struct config *config, struct error *err)
{
    const struct {
        const char *flag;
        const char *value;
        bool may_be_empty;
    } texts[] = {
        {"--base-url", config->base_url, false},
        {"--host", config->host, false},
        {"--endpoint", config->endpoint, true},
        {"--model", config->model, false},
        {"--served-model-name", config->served_model_name, false},
        {"--tokenizer", config->tokenizer, false},
        {"--dataset-path", config->dataset_path, false},
        {"--request-id-prefix", config->request_id_prefix, true},
        {"--result-filename", config->result_filename, false},
        {"the environment variable OPENAI_API_KEY", config->api_key, true},
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].value == NULL) {
            continue;
        }
        if (texts[i].value[0] == '\0' && !texts[i].may_be_empty) {
            return error_set(err, E_CONFIG,
                             "%s: the value is empty; leave the flag out or give one",
                             texts[i].flag);
        }
        if (has_control(texts[i].value)) {
            return error_set(err, E_CONFIG,
                             "%s: the value holds a control character (a line break, perhaps)",
                             texts[i].flag);
        }
    }
    return true;
}

/* A positive number; NaN is none. */
static bool check_positive(const char *flag, double value, struct error *err)
{
    if (value > 0) {
        return true;
    }
    char text[NUM_TEXT_MAX];
    num_format_short(text, value);
    return error_set(err, E_CONFIG, "%s: '%s' must be above 0", flag, text);
}

static bool check_traffic(const struct config *config, struct error *err)
{
    if (!check_positive("--burstiness", config->burstiness, err)) {
        return false;
    }
    bool all_rows = strncmp(config->dataset_name, "custom", 6) == 0 ||
                    strncmp(config->dataset_name, "sp", 2) == 0; /* spec_bench, speed_bench */
    if (config->num_prompts == 0 && !all_rows) {
        return error_set(err, E_CONFIG, "--num-prompts: '0' leaves nothing to send");
    }
    return check_positive("--request-rate", config->request_rate, err);
}

static bool check_ramp_up(const struct config *config, struct error *err)
{
    bool start_given = !isnan(config->ramp_up_start_rps);
    bool end_given = !isnan(config->ramp_up_end_rps);
    if (config->ramp_up_strategy == RAMP_UP_NONE) {
        if (start_given || end_given) {
            return error_set(err, E_CONFIG, "%s: needs --ramp-up-strategy; linear or exponential",
                             start_given ? "--ramp-up-start-rps" : "--ramp-up-end-rps");
        }
        return true;
    }
    if (!start_given || !end_given) {
        return error_set(err, E_CONFIG,
                         "--ramp-up-strategy: needs --ramp-up-start-rps and --ramp-up-end-rps; "
                         "--ramp-up-%s-rps is missing",
                         start_given ? "end" : "start");
    }
    if (isfinite(config->request_rate)) {
        char rate[NUM_TEXT_MAX];
        num_format_short(rate, config->request_rate);
        return error_set(err, E_CONFIG,
                         "--ramp-up-strategy: does not go with --request-rate '%s'; the ramp sets "
                         "the rate",
                         rate);
    }
    if (!check_positive("--ramp-up-start-rps", config->ramp_up_start_rps, err) ||
        !check_positive("--ramp-up-end-rps", config->ramp_up_end_rps, err)) {
        return false;
    }
    char start[NUM_TEXT_MAX];
    char end[NUM_TEXT_MAX];
    num_format_short(start, config->ramp_up_start_rps);
    num_format_short(end, config->ramp_up_end_rps);
    if (!isfinite(config->ramp_up_end_rps)) {
        return error_set(err, E_CONFIG, "--ramp-up-end-rps: '%s' must be finite", end);
    }
    if (config->ramp_up_start_rps > config->ramp_up_end_rps) {
        return error_set(
            err, E_CONFIG,
            "--ramp-up-start-rps: '%s' is above --ramp-up-end-rps '%s'; a ramp goes up", start,
            end);
    }
    return true;
}

static bool check_extra_body(struct config *config, struct error *err)
{
    if (config->extra_body == NULL) {
        return true;
    }
    struct error why;
    const struct js_value *tree =
        js_parse(&config->arena, sv_from(config->extra_body), "the value", &why);
    if (tree == NULL) {
        struct sv shown = option_json_shown(&config->arena, sv_from(config->extra_body));
        return error_set(err, E_CONFIG, "--extra-body: '" SV_FMT "' is not JSON: %s", SV_ARG(shown),
                         why.message);
    }
    if (tree->type != JS_OBJECT) {
        return error_set(err, E_CONFIG,
                         "--extra-body: '" SV_FMT
                         "' is not a JSON object; write '{\"key\": value}'",
                         SV_ARG(option_json_shown(&config->arena, sv_from(config->extra_body))));
    }
    return true;
}

static bool check_sampling(struct config *config, struct error *err)
{
    bool generative = is_generative(config->backend);
    bool temperature = false;
    for (size_t i = 0; i < config->sampling.count; i++) {
        struct sv key = config->sampling.items[i].key;
        temperature = temperature || sv_eq(key, SV_LIT("temperature"));
        if (!generative) {
            return error_set(err, E_CONFIG,
                             "'" SV_FMT "' does not go with --backend '%s'; only OpenAI-compatible "
                             "backends that generate text take sampling parameters",
                             SV_ARG(key), config->backend);
        }
    }
    if (!is_pooling(config->backend) && !temperature) {
        config_warn(config, "vllm bench serve no longer sets temperature==0 (greedy) in requests "
                            "by default. The default will be determined on the server side and "
                            "can be model/API specific. For the old behavior, include "
                            "--temperature=0.");
    }
    return true;
}

static bool check_lora(const struct config *config, struct error *err)
{
    if (config->lora_modules.count > 0 && is_pooling(config->backend)) {
        return error_set(err, E_CONFIG,
                         "--lora-modules: does not go with --backend '%s'; only backends that "
                         "generate text use adapters",
                         config->backend);
    }
    return true;
}

/* Data sets that read no file, and those that cannot do without one. */
static bool check_dataset_path(const struct config *config, struct error *err)
{
    static const char *const makers[] = {"random", "random-mm", "random-rerank",
                                         "prefix_repetition", "prefix-repetition"};
    static const char *const readers[] = {"burstgpt",   "custom_image", "custom_mm", "custom_audio",
                                          "spec_bench", "timed_trace",  "workload"};
    const char *name = config->dataset_name;
    for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
        if (is(name, makers[i]) && config->dataset_path != NULL) {
            return error_set(err, E_CONFIG,
                             "--dataset-path: '%s' does not go with --dataset-name %s, which reads "
                             "no file",
                             config->dataset_path, name);
        }
    }
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        if (is(name, readers[i]) && config->dataset_path == NULL) {
            return error_set(err, E_CONFIG, "--dataset-name %s: needs --dataset-path; a local file",
                             name);
        }
    }
    if (is(name, "hf") && config->dataset_path == NULL) {
        return error_set(err, E_CONFIG,
                         "--dataset-name hf: needs --dataset-path; a hub name such as "
                         "philschmid/mt-bench, a folder or a file");
    }
    if (is(name, "custom") && config->dataset_path == NULL) {
        return error_set(err, E_CONFIG,
                         "--dataset-name custom: needs --dataset-path; a .jsonl file with one "
                         "{\"prompt\": ...} a line");
    }
    bool jsonl = strncmp(name, "custom", 6) == 0;
    if (jsonl && !sv_ends(sv_from(config->dataset_path), SV_LIT(".jsonl"))) {
        return error_set(err, E_CONFIG,
                         "--dataset-path: '%s' must end in .jsonl for --dataset-name %s",
                         config->dataset_path, name);
    }
    return true;
}

/* CLI.md 3, rules 15, 17, 18, 20. */
static bool check_dataset_backend(const struct config *config, struct error *err)
{
    const char *name = config->dataset_name;
    bool rerank = is(name, "random-rerank");
    if (is(name, "random-mm") && !is(config->backend, "openai-chat") &&
        !is(config->backend, "openai-audio")) {
        return error_set(err, E_CONFIG,
                         "--dataset-name random-mm: does not go with --backend '%s'; use "
                         "openai-chat",
                         config->backend);
    }
    if (config->random_batch_size > 1 && !rerank && !is_pooling(config->backend)) {
        return error_set(err, E_CONFIG,
                         "--random-batch-size: does not go with --backend '%s'; only pooling "
                         "backends take several inputs in a request",
                         config->backend);
    }
    if (rerank && !is_pooling(config->backend)) {
        return error_set(err, E_CONFIG,
                         "--dataset-name random-rerank: does not go with --backend '%s'; use a "
                         "pooling backend, e.g. vllm-rerank",
                         config->backend);
    }
    if (rerank && config->no_reranker &&
        (config->num_prompts < 2 || config->random_batch_size < 2)) {
        return error_set(err, E_CONFIG,
                         "--no-reranker: needs --num-prompts and --random-batch-size of at least "
                         "2; the query takes one place in each");
    }
    if (strncmp(name, "prefix", 6) == 0 &&
        config->prefix_repetition_num_prefixes > config->num_prompts) {
        return error_set(err, E_CONFIG,
                         "--prefix-repetition-num-prefixes: %llu prefixes are more than the "
                         "%llu prompts",
                         (unsigned long long)config->prefix_repetition_num_prefixes,
                         (unsigned long long)config->num_prompts);
    }
    return true;
}

/* CLI.md 3, rule 25. */
static bool check_self_timed(struct config *config, struct error *err)
{
    bool trace = is(config->dataset_name, "timed_trace");
    if (trace && !is(config->backend, "openai") && !is(config->backend, "vllm")) {
        return error_set(err, E_CONFIG,
                         "--dataset-name timed_trace: does not go with --backend '%s'; use openai "
                         "or vllm",
                         config->backend);
    }
    if (!trace && !is(config->dataset_name, "workload")) {
        if (config->self_timed_given) {
            return error_set(err, E_CONFIG,
                             "--%s: does not go with --dataset-name %s; only timed_trace and "
                             "workload have times of their own",
                             config->self_timed ? "self-timed" : "no-self-timed",
                             config->dataset_name);
        }
        config->self_timed = false;
        return true;
    }
    config->ignore_eos = config->ignore_eos || trace;
    const char *flag = !config->self_timed                        ? NULL
                       : isfinite(config->request_rate)           ? "--request-rate"
                       : config->burstiness != 1.0                ? "--burstiness"
                       : config->ramp_up_strategy != RAMP_UP_NONE ? "--ramp-up-strategy"
                                                                  : NULL;
    if (flag != NULL) {
        return error_set(err, E_CONFIG,
                         "%s: does not go with --dataset-name %s, which has times of its own; "
                         "--no-self-timed lets the rate decide",
                         flag, config->dataset_name);
    }
    return true;
}

static bool check_dataset(struct config *config, struct error *err)
{
    bool random = is(config->dataset_name, "random");
    if ((random || is(config->dataset_name, "random-mm")) && is_generative(config->backend) &&
        !config->multi_turn.on) {
        config->ignore_eos = true;
    }
    if (!check_dataset_path(config, err) || !check_dataset_backend(config, err) ||
        !check_self_timed(config, err)) {
        return false;
    }
    if (config->prompt_token_ids && !random) {
        return error_set(err, E_CONFIG,
                         "--prompt-token-ids: does not go with --dataset-name %s; only with random",
                         config->dataset_name);
    }
    if (config->prompt_token_ids && !takes_ids(config->backend)) {
        return error_set(err, E_CONFIG,
                         "--prompt-token-ids: does not go with --backend '%s', which takes text; "
                         "openai, vllm, openai-embeddings and vllm-pooling take ids",
                         config->backend);
    }
    bool cache = config->random_cache_hit_fraction > 0 && config->random_cache_ratio > 0;
    if (random && cache && !config->prompt_token_ids) {
        return error_set(err, E_CONFIG,
                         "--random-cache-hit-fraction: needs --prompt-token-ids when "
                         "--random-cache-ratio is above 0, too");
    }
    return true;
}

static bool check_steady_state(const struct config *config, struct error *err)
{
    char text[NUM_TEXT_MAX];
    if (!(config->steady_state_threshold > 0 && config->steady_state_threshold <= 1)) {
        num_format_short(text, config->steady_state_threshold);
        return error_set(err, E_CONFIG,
                         "--steady-state-threshold: '%s' must be above 0 and at most 1", text);
    }
    return true;
}

static bool check_server(const struct config *config, struct error *err)
{
    if (config->mock && config->address_given) {
        return error_set(err, E_CONFIG,
                         "--mock: does not go with --host, --port or --base-url; it measures a "
                         "server of its own");
    }
    if (config->endpoint != NULL && config->endpoint[0] != '\0' && config->endpoint[0] != '/') {
        return error_set(err, E_CONFIG, "--endpoint: '%s' must begin with '/'; e.g. '/%s'",
                         config->endpoint, config->endpoint);
    }
    return true;
}

/* Flags that are of no use as they stand. */
static void warn_idle(struct config *config)
{
    if (!is(config->tokenizer_mode, "auto")) {
        config_warn(config,
                    "--tokenizer-mode: '%s' has no effect: the tokenizer's own files decide",
                    config->tokenizer_mode);
    }
    if (!config->save_result && !config->append_result) {
        bool named =
            !config->plot_timeline && !config->plot_dataset_stats; /* plots take the name */
        const char *flag = config->save_detailed                      ? "--save-detailed"
                           : named && config->result_filename != NULL ? "--result-filename"
                           : named && config->result_dir != NULL      ? "--result-dir"
                           : config->metadata.count > 0               ? "--metadata"
                                                                      : NULL;
        if (flag != NULL) {
            config_warn(config,
                        "%s has no effect without --save-result or --append-result: no "
                        "result file is written",
                        flag);
        }
    }
}

static void apply_lengths(struct config *config)
{
    if (config->input_len >= 0) {
        config->random_input_len = (uint64_t)config->input_len;
        config->sonnet_input_len = (uint64_t)config->input_len;
    }
    if (config->output_len >= 0) {
        config->random_output_len = (uint64_t)config->output_len;
        config->custom_output_len = config->output_len;
        config->sharegpt_output_len = config->output_len;
        config->sonnet_output_len = (uint64_t)config->output_len;
        config->prefix_repetition_output_len = (uint64_t)config->output_len;
        config->spec_bench_output_len = (uint64_t)config->output_len;
        config->speed_bench_output_len = (uint64_t)config->output_len;
        config->hf_output_len = config->output_len;
    }
}

static bool make_request_id_prefix(struct config *config, struct error *err)
{
    if (config->request_id_prefix != NULL) {
        return true;
    }
    uint32_t id;
    ssize_t n;
    do {
        n = getrandom(&id, sizeof(id), 0);
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(id)) {
        return error_sys(err, E_IO, errno, "reading random bytes for the request ids");
    }
    config->request_id_prefix = arena_fmt(&config->arena, "bench-%08x-", id).ptr;
    return true;
}

bool config_check(struct config *config, struct error *err)
{
    if (config->compare.count > 0) {
        return config_check_compare(config, err); /* nothing is sent */
    }
    const char *key = getenv("OPENAI_API_KEY");
    if (config->api_key == NULL && key != NULL && key[0] != '\0') {
        config->api_key = arena_strdup(&config->arena, key);
    }
    apply_lengths(config);
    if (!check_texts(config, err) || !check_traffic(config, err) ||
        !check_extra_body(config, err) || !check_sampling(config, err) ||
        !check_ramp_up(config, err) || !check_dataset(config, err) || !check_lora(config, err) ||
        !check_steady_state(config, err) || !check_server(config, err) ||
        !config_check_modes(config, err)) {
        return false;
    }
    warn_idle(config);
    config->save_result = config->save_result || config->append_result;
    return make_request_id_prefix(config, err);
}
