/* Defaults, warnings and names of the settings.  The rules are config_check.c, the flags config_options.c. */
#include "config/config.h"

#include "base/alloc.h"
#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

void config_init(struct config *config)
{
    *config = (struct config){
        .backend = "openai",
        .host = "127.0.0.1",
        .port = 8000,
        .tokenizer_mode = "auto",
        .dataset_name = "random",
        .num_prompts = 1000,
        .input_len = -1,
        .output_len = -1,
        .random_input_len = 1024,
        .random_output_len = 128,
        .custom_output_len = 256,
        .random_batch_size = 1,
        .mm_base_items = 1,
        .mm_limits = "{\"image\":255,\"video\":1}",
        .mm_buckets = "{(256,256,1):0.5,(720,1280,1):0.5}",
        .sharegpt_output_len = -1,
        .sonnet_input_len = 550,
        .sonnet_output_len = 150,
        .sonnet_prefix_len = 200,
        .prefix_repetition_prefix_len = 256,
        .prefix_repetition_suffix_len = 256,
        .prefix_repetition_num_prefixes = 10,
        .prefix_repetition_output_len = 128,
        .spec_bench_output_len = 256,
        .speed_bench_subset = "qualitative",
        .speed_bench_output_len = 4096,
        .hf_output_len = -1,
        .blazedit_max_distance = 1.0,
        .asr_max_audio_len_s = HUGE_VAL,
        .trace_chunk_size = 16,
        .trace_sec_multiplier = 1.0,
        .trace_timestamp = "timestamp",
        .trace_input_length = "input_length",
        .trace_output_length = "output_length",
        .trace_hash_ids = "hash_ids",
        .self_timed = true,
        .request_rate = HUGE_VAL,
        .burstiness = 1.0,
        .ramp_up_start_rps = (double)NAN,
        .ramp_up_end_rps = (double)NAN,
        .request_timeout_ns = UINT64_C(6) * 3600 * 1000000000,
        .grace_ns = UINT64_C(30) * 1000000000,
        .profile_duration_ns = CONFIG_PROFILE_DURATION_NS,
        .num_runs = 1,
        .multi_turn = {.num_turns = 3},
        .compare_threshold = (double)NAN,
        .steady_state_threshold = 0.95,
        .steady_state_min_window_s = -1.0,
        .metric_selected =
            {[METRIC_TTFT] = true, [METRIC_TPOT] = true, [METRIC_ITL] = true, [METRIC_E2EL] = true},
        .percentiles = {99.0},
        .itl_thresholds_ms = {25.0, 50.0},
        .percentile_count = 1,
    };
}

void config_done(struct config *config)
{
    arena_done(&config->arena);
    free(config->warnings);
    *config = (struct config){0};
}

void config_warn(struct config *config, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct buf text = {0};
    buf_add_vfmt(&text, format, args);
    va_end(args);
    MEM_GROW(config->warnings, config->warning_count, config->warning_cap);
    config->warnings[config->warning_count++] = arena_copy(&config->arena, buf_sv(&text)).ptr;
    buf_done(&text);
}

const char *config_metric_name(enum metric_id metric)
{
    static const char *const names[METRIC_COUNT] = {
        [METRIC_TTFT] = "ttft",
        [METRIC_TPOT] = "tpot",
        [METRIC_ITL] = "itl",
        [METRIC_E2EL] = "e2el",
        [METRIC_CLIENT_QUEUE_TIME] = "client_queue_time",
        [METRIC_E2EL_INCLUDING_CLIENT_QUEUE] = "e2el_including_client_queue",
    };
    return names[metric];
}
