/* config.h - the validated settings of one invocation of `serve`.
 * Use: config_init, config_parse (its table is options.def), config_check, which applies the rules across fields and
 * fills in derived values; afterwards everybody only reads it.
 * Strings live in config->arena.  Threads: read-only after config_check.  Errors: struct error, code E_USAGE (a flag by
 * itself) or E_CONFIG (flags that do not go together). */
#ifndef VB_CONFIG_CONFIG_H
#define VB_CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/sv.h"

#include <stdint.h>

/* One KEY=VALUE or NAME:NUMBER item of a multi-value flag. */
struct config_pair {
    struct sv key;
    struct sv value;
};

struct config_pairs {
    struct config_pair *items;
    size_t count;
    size_t cap;
};

/* Items of a multi-value flag. */
struct config_names {
    const char **items;
    size_t count;
    size_t cap;
};

/* Metrics that can be selected, in the fixed order of output. */
enum metric_id {
    METRIC_TTFT,
    METRIC_TPOT,
    METRIC_ITL,
    METRIC_E2EL,
    METRIC_CLIENT_QUEUE_TIME,
    METRIC_E2EL_INCLUDING_CLIENT_QUEUE,
    METRIC_COUNT,
};

enum ramp_up { RAMP_UP_NONE, RAMP_UP_LINEAR, RAMP_UP_EXPONENTIAL };

enum { CONFIG_MAX_PERCENTILES = 64 };

/* A comma list of numbers. */
struct config_numbers {
    double *items;
    size_t count;
};

/* --fail-if: the run has failed when `key OP limit` is true. */
enum gate_op { GATE_GT, GATE_GE, GATE_LT, GATE_LE, GATE_EQ, GATE_NE };

struct config_gate {
    const char *text; /* as given */
    struct sv key;
    enum gate_op op;
    double limit;
};

struct config_gates {
    struct config_gate *items;
    size_t count;
    size_t cap;
};

struct config_max_failures {
    bool given;
    bool percent; /* of the requests sent */
    double limit;
};

struct config_multi_turn {
    bool on;
    uint64_t num_turns;
    uint64_t min_turns; /* after config_check both bounds are set, but for sharegpt's 0: no limit */
    uint64_t max_turns;
    uint64_t concurrency; /* 0: --max-concurrency, else all conversations */
    uint64_t delay_ms;
    double global_ratio;
    double conversation_ratio;
    uint64_t turn_input_len; /* 0: --random-input-len */
};

#define CONFIG_PROFILE_DURATION_NS (UINT64_C(5) * 1000000000)

struct config_goodput {
    bool given[METRIC_COUNT]; /* only TTFT, TPOT and E2EL can be */
    double limit_ms[METRIC_COUNT];
    bool any;
};

struct config {
    struct arena arena;

    /* server */
    const char *backend;  /* a name of the backend table; default "openai" */
    const char *base_url; /* NULL: http://host:port */
    const char *host;     /* default "127.0.0.1" */
    int port;             /* default 8000 */
    bool address_given;   /* --host, --port or --base-url was */
    const char *endpoint; /* NULL: the backend's own */
    struct config_pairs headers;
    bool insecure;
    bool no_proxy;
    const char *unix_socket;          /* NULL: TCP */
    const char *ca_file;              /* NULL: the system's trust store */
    const char *cert_file;            /* client certificate; NULL none */
    const char *key_file;             /* NULL: in cert_file */
    const char *model;                /* NULL: first of /v1/models; filled in by discovery */
    const char *served_model_name;    /* NULL: model */
    struct config_names lora_modules; /* adapters; each request uses one as its model */
    bool lora_round_robin;            /* in turn, not at random */
    const char *api_key;              /* OPENAI_API_KEY, NULL when unset or empty; never printed */

    /* request body */
    const char *extra_body; /* JSON object text as given, NULL when none */
    bool has_logprobs;
    int64_t logprobs;
    bool ignore_eos;               /* after config_check: also when forced on (CLI 3, rule 13) */
    const char *request_id_prefix; /* NULL until config_check makes "bench-<8 hex>-" */
    /* Sampling flags that were given, in the order they go on the wire; JSON numbers as text. */
    struct config_pairs sampling;
    bool plain_openai; /* leave out every key that is not OpenAI's own */

    /* tokenizer */
    const char *tokenizer; /* NULL: the model id */
    const char *tokenizer_mode;
    bool skip_tokenizer_init;

    /* data set */
    const char *dataset_name; /* canonical name; default "random" */
    const char *dataset_path;
    uint64_t num_prompts;
    uint64_t seed;
    bool no_oversample;
    bool disable_shuffle;
    bool skip_chat_template;
    const char *chat_template_kwargs; /* text of a JSON object; NULL: none */
    bool prompt_token_ids;
    uint64_t max_model_len; /* 0: none */
    int64_t
        input_len; /* --input-len and --output-len, -1: not given; config_check puts them into the */
    int64_t output_len; /* data sets' own lengths: nobody else reads these two */
    uint64_t random_input_len;
    uint64_t random_output_len;
    uint64_t random_prefix_len;
    double random_range_ratio_input;
    double random_range_ratio_output;
    double random_cache_hit_fraction;
    double random_cache_ratio;
    int64_t custom_output_len; /* -1: per line */
    bool custom_client_side_data;
    uint64_t random_batch_size;
    bool no_reranker;
    bool multimodal_chat; /* --enable-multimodal-chat */
    uint64_t mm_base_items;
    double mm_items_ratio;
    const char *mm_limits;       /* JSON object */
    const char *mm_buckets;      /* Python's dict syntax */
    int64_t sharegpt_output_len; /* -1: the length of the recorded answer */
    uint64_t sonnet_input_len;
    uint64_t sonnet_output_len;
    uint64_t sonnet_prefix_len;
    uint64_t prefix_repetition_prefix_len;
    uint64_t prefix_repetition_suffix_len;
    uint64_t prefix_repetition_num_prefixes;
    uint64_t prefix_repetition_output_len;
    uint64_t spec_bench_output_len;
    const char *spec_bench_category; /* NULL: all */
    const char *speed_bench_subset;
    const char *speed_bench_category; /* NULL: all */
    uint64_t speed_bench_output_len;
    uint64_t speed_bench_max_input_len; /* 0: no limit */
    bool no_stream;                     /* hf: all rows are read and shuffled as a whole */
    const char *hf_subset;              /* NULL: the data set's own choice, as of the next two */
    const char *hf_split;
    const char *hf_name;   /* hub name of what --dataset-path holds; NULL: the path is the name */
    int64_t hf_output_len; /* -1: the data set's own */
    const char *hf_text_column; /* NULL: found by its name */
    double blazedit_min_distance;
    double blazedit_max_distance;
    double asr_min_audio_len_s;
    double asr_max_audio_len_s;  /* HUGE_VAL: no limit */
    const char *bfcl_categories; /* names separated by commas; NULL: Python's three */
    uint64_t trace_chunk_size;
    double trace_sec_multiplier;
    const char *trace_timestamp; /* keys of a line of the trace */
    const char *trace_input_length;
    const char *trace_output_length;
    const char *trace_hash_ids;
    bool self_timed_given;     /* --self-timed or --no-self-timed was */
    bool self_timed;           /* after config_check: due times come from the data set */
    const char *save_workload; /* NULL: not saved */

    /* traffic */
    double request_rate;      /* HUGE_VAL: no pacing */
    double burstiness;        /* HUGE_VAL: constant spacing */
    uint64_t max_concurrency; /* 0: none given */
    enum ramp_up ramp_up_strategy;
    double ramp_up_start_rps; /* both NaN when not given */
    double ramp_up_end_rps;
    uint64_t num_warmups;
    bool warmup_fresh_prompts;
    double probe_request_rate;      /* 0: no probes */
    uint64_t ready_check_timeout_s; /* 0: no ready check */
    bool disable_tqdm;
    bool dry_run;
    bool profile;
    unsigned client_threads;     /* 0: chosen from cores and concurrency */
    uint64_t request_timeout_ns; /* default 6 hours */
    bool mock;                   /* start the embedded mock server for this run */
    uint64_t duration_ns; /* --duration: requests are sent until then; 0: --num-prompts decides */
    uint64_t grace_ns;    /* then for what is in flight */
    uint64_t profile_batch_threshold; /* 0: profile from the start */
    uint64_t profile_duration_ns;

    /* modes */
    uint64_t num_runs;
    struct config_numbers sweep_max_concurrency; /* whole numbers */
    struct config_numbers sweep_request_rate;
    struct config_numbers sweep_percentiles;
    uint64_t sweep_num_prompts_factor; /* 0: --num-prompts */
    bool reset_prefix_cache;
    bool resume;
    struct config_multi_turn multi_turn;
    struct config_names compare;
    double compare_threshold;     /* share; NaN: no gate */
    const char *compare_markdown; /* file; NULL none */
    const char *compare_junit;
    struct config_max_failures max_failures;
    struct config_gates fail_if;

    /* steady state */
    bool no_steady_state;
    double steady_state_threshold;    /* 0.95 */
    double steady_state_min_window_s; /* negative: default */

    /* output */
    bool save_result;
    bool save_detailed;
    bool append_result;
    const char *result_dir;
    const char *result_filename;
    bool result_name_made; /* result_filename is an automatic name: a file that is there stays */
    const char *label;
    struct config_pairs metadata;
    bool metric_selected[METRIC_COUNT];
    double percentiles[CONFIG_MAX_PERCENTILES];
    size_t percentile_count;
    struct config_goodput goodput;
    bool plot_timeline;
    double itl_thresholds_ms[2]; /* colours of the timeline; the first below the second */
    bool plot_dataset_stats;

    /* files of settings */
    const char *config_file; /* --config; NULL: none */
    const char *save_config; /* NULL: not saved */
    bool dump_config;

    /* Sentences for stderr that checking produced (repeated flags, flags without effect ...). */
    const char **warnings;
    size_t warning_count;
    size_t warning_cap;
};

struct option_parser;
struct option_row;

/* The options of `serve`: a table for options.h whose target is a struct config. */
const struct option_row *config_options(size_t *count);
/* Parses the words after the command into a config that config_init has filled; *parser then says whether help or the
 * version was asked for (look at that first). */
bool config_parse(struct config *config, int argc, char **argv, struct option_parser *parser,
                  struct error *err);

/* Defaults of every field. */
void config_init(struct config *config);
void config_done(struct config *config);

/* Rules across fields, in the order of CLI.md section 3; fills derived values. */
bool config_check(struct config *config, struct error *err);

void config_warn(struct config *config, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The short name of a metric as used in flags and keys: "ttft", "client_queue_time" ... */
const char *config_metric_name(enum metric_id metric);

#endif
