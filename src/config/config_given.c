/* Flags that are of no use beside the others.  They are said, not refused: scripts for Python's tool carry flags of one
 * data set along with another.  What cannot be meant at all is refused. */
#include "config/config_given.h"

#include <math.h>
#include <string.h>

static bool given(const struct option_parser *p, const char *name)
{
    return option_given(p, name) > 0;
}

static bool is_one_of(const char *words, const char *name)
{
    struct sv rest = sv_from(words);
    struct sv word;
    while (sv_split(&rest, ' ', &word)) {
        if (sv_eq(word, sv_from(name))) {
            return true;
        }
    }
    return false;
}

/* The data sets that the flags of a group are for; NULL: the group is not one of a data set. */
static const char *datasets_of(const char *group)
{
    static const struct {
        const char *group, *datasets;
    } list[] = {
        {"random", "random random-mm random-rerank"},
        {"random-mm", "random-mm"},
        {"random-rerank", "random-rerank"},
        {"custom", "custom custom_audio custom_image custom_mm"},
        {"sharegpt", "sharegpt burstgpt"},
        {"sonnet", "sonnet"},
        {"prefix_repetition", "prefix_repetition prefix-repetition"},
        {"timed_trace", "timed_trace workload"},
        {"spec_bench", "spec_bench"},
        {"speed_bench", "speed_bench speed-bench"},
        {"hf", "hf"},
    };
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        if (strcmp(list[i].group, group) == 0) {
            return list[i].datasets;
        }
    }
    return NULL;
}

/* Flags of other data sets, in one sentence. */
static void warn_other_datasets(struct config *config, const struct option_parser *p)
{
    struct buf names = {0};
    size_t count = 0;
    for (size_t i = 0; i < p->row_count; i++) {
        const struct option_row *row = &p->rows[i];
        const char *datasets = datasets_of(row->group);
        /* These are refused elsewhere, with their reasons. */
        bool refused =
            is_one_of("self-timed no-self-timed prompt-token-ids random-batch-size", row->name);
        if (p->given[i] > 0 && datasets != NULL && !refused &&
            !is_one_of(datasets, config->dataset_name)) {
            buf_add_fmt(&names, "%s--%s", count++ > 0 ? ", " : "", row->name);
        }
    }
    if (count > 0) {
        config_warn(config, "%s %s no effect with --dataset-name %s", buf_cstr(&names),
                    count > 1 ? "have" : "has", config->dataset_name);
    }
    buf_done(&names);
}

static bool is_https(const struct config *config)
{
    return config->base_url != NULL && strncmp(config->base_url, "https:", 6) == 0;
}

static void warn_without_effect(struct config *config, const struct option_parser *p)
{
    bool paced = isfinite(config->request_rate) || config->ramp_up_strategy != RAMP_UP_NONE ||
                 given(p, "sweep-request-rate");
    bool plain = !is_https(config);
    const struct {
        const char *flag;
        bool idle;
        const char *reason;
    } rules[] = {
        {"burstiness", !paced, "without a finite --request-rate or a ramp"},
        {"host", config->base_url != NULL, "beside --base-url"},
        {"port", config->base_url != NULL, "beside --base-url"},
        {"served-model-name", config->model == NULL, "without --model"},
        {"lora-assignment", config->lora_modules.count == 0, "without --lora-modules"},
        {"tokenizer", config->skip_tokenizer_init, "beside --skip-tokenizer-init"},
        {"steady-state-threshold", config->no_steady_state, "beside --no-steady-state"},
        {"steady-state-min-window", config->no_steady_state, "beside --no-steady-state"},
        {"ignore-eos", config->plain_openai, "beside --plain-openai, which leaves that key out"},
        {"insecure", plain, "on a server that is not https"},
        {"cacert", plain, "on a server that is not https"},
        {"cert", plain, "on a server that is not https"},
        {"save-result", config->dry_run, "beside --dry-run, which measures nothing"},
        {"append-result", config->dry_run, "beside --dry-run, which measures nothing"},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        if (rules[i].idle && given(p, rules[i].flag)) {
            config_warn(config, "--%s has no effect %s", rules[i].flag, rules[i].reason);
        }
    }
}

/* --plain-openai leaves out what OpenAI's own API does not know: flags that the user gave are not lost unsaid. */
static void warn_plain_openai(struct config *config, const struct option_parser *p)
{
    static const char *const flags[] = {"top-k", "min-p", "repetition-penalty"};
    struct buf names = {0};
    size_t count = 0;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]) && config->plain_openai; i++) {
        if (given(p, flags[i])) {
            buf_add_fmt(&names, "%s--%s", count++ > 0 ? ", " : "", flags[i]);
        }
    }
    if (count > 0) {
        config_warn(config,
                    "%s %s no effect beside --plain-openai, which sends only OpenAI's own keys",
                    buf_cstr(&names), count > 1 ? "have" : "has");
    }
    buf_done(&names);
}

bool config_check_given(struct config *config, const struct option_parser *p, struct error *err)
{
    if (config->key_file != NULL && config->cert_file == NULL) {
        return error_set(err, E_CONFIG,
                         "--key: '%s' is of no use without --cert; it is the key of that "
                         "certificate",
                         config->key_file);
    }
    if (config->mock && config->unix_socket != NULL) {
        return error_set(err, E_CONFIG,
                         "--unix-socket: '%s' does not go with --mock, which measures a server of "
                         "its own",
                         config->unix_socket);
    }
    if (config->insecure && config->ca_file != NULL) {
        return error_set(err, E_CONFIG,
                         "--cacert: '%s' does not go with --insecure, which checks no certificate",
                         config->ca_file);
    }
    warn_other_datasets(config, p);
    warn_without_effect(config, p);
    warn_plain_openai(config, p);
    return true;
}
