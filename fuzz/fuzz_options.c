/* Command lines: the words of the input, one a line, go through the whole path of `serve`'s options and rules.  Whatever
 * they are, the answer is a config that keeps its promises or one sentence. */
#include "config/config.h"
#include "config/options.h"

#include <stdlib.h>

enum { FUZZ_WORDS_MAX = 64 };

static void check(const struct config *config)
{
    if (!(config->request_rate > 0) || !(config->burstiness > 0) || config->num_prompts == 0 ||
        config->percentile_count > CONFIG_MAX_PERCENTILES || config->request_id_prefix == NULL) {
        abort();
    }
    for (size_t i = 0; i < config->headers.count; i++) {
        struct sv value = config->headers.items[i].value;
        if (config->headers.items[i].key.len == 0 || sv_find(value, '\n') < value.len ||
            sv_find(value, '\r') < value.len) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[FUZZ_WORDS_MAX];
    int argc = 0;
    struct config config;
    struct option_parser parser;
    struct error err = {0};
    config_init(&config);
    struct sv rest = arena_copy(&config.arena, sv_make((const char *)data, size));
    struct sv word;
    while (argc < FUZZ_WORDS_MAX && sv_split(&rest, '\n', &word)) {
        argv[argc++] = arena_strdup(&config.arena, arena_copy(&config.arena, word).ptr);
    }
    if (!config_parse(&config, argc, argv, &parser, &err)) {
        if (err.message[0] == '\0') {
            abort();
        }
    } else if (parser.help == OPTION_HELP_TOPIC) {
        size_t count;
        struct buf out = {0};
        const struct option_row *rows = config_options(&count);
        option_help_topic(&out, rows, count, 80, parser.help_topic);
        buf_done(&out);
    } else if (config_check(&config, &err)) {
        check(&config);
    }
    config_done(&config);
    return 0;
}
