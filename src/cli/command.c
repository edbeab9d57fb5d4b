/* The commands by name, those that are still to come, and the frame of the help around the option tables. */
#include "cli/command.h"

#include "config/config.h"
#include "config/options.h"

static const char *const known = "serve bench compare mock-server tokenize doctor help";
static const char *const later = "mm-processor";

const struct command_info *command_list(void)
{
    static const struct command_info list[] = {
        {"serve", "Measure a server"},
        {"bench", "The same, spelt bench serve"},
        {"compare", "Set result files side by side"},
        {"mock-server", "Be a server to try things on"},
        {"tokenize", "Tokens of texts, texts of tokens"},
        {"doctor", "Check a server and this machine before measuring"},
        {"help", "Help about a command, a group of flags or a word"},
        {NULL, NULL},
    };
    return list;
}

static bool is_in(const char *names, struct sv word)
{
    struct sv rest = sv_from(names);
    struct sv name;
    while (sv_split(&rest, ' ', &name)) {
        if (sv_eq(name, word)) {
            return true;
        }
    }
    return false;
}

static bool fail_command(const char *before, const char *word, struct error *err)
{
    if (is_in(later, sv_from(word))) {
        return error_set(err, E_USAGE,
                         "the command '%s%s' is not supported by this version of vllm-bench",
                         before, word);
    }
    if (strcmp(word, "frontend") == 0) {
        return error_set(err, E_USAGE,
                         "'frontend' is a server, and this program measures servers: it stands for "
                         "VLLM_USE_RUST_BENCH alone, not for VLLM_USE_RUST_FRONTEND");
    }
    struct sv near = option_near(known, sv_from(word));
    if (near.len > 0 && before[0] == '\0') {
        return error_set(err, E_USAGE, "unknown command '%s'; did you mean '" SV_FMT "'?", word,
                         SV_ARG(near));
    }
    return error_set(
        err, E_USAGE,
        "unknown command '%s%s'; there are serve, compare, mock-server, tokenize, doctor and help",
        before, word);
}

bool command_find(int argc, char **argv, enum command_id *command, int *first, struct error *err)
{
    *first = 1;
    if (argc < 2) {
        *command = COMMAND_NONE;
        return true;
    }
    const char *word = argv[1];
    if (word[0] == '-') {
        *command = COMMAND_SERVE; /* flags alone, as the standalone Rust tool takes them */
        return true;
    }
    *first = 2;
    if (strcmp(word, "bench") == 0) {
        if (argc < 3 || argv[2][0] == '-') {
            return error_set(err, E_USAGE, "the command 'bench' needs 'serve' behind it");
        }
        *first = 3;
        *command = COMMAND_SERVE;
        return strcmp(argv[2], "serve") == 0 || fail_command("bench ", argv[2], err);
    }
    if (strcmp(word, "serve") == 0) {
        *command = COMMAND_SERVE;
    } else if (strcmp(word, "compare") == 0) {
        *command = COMMAND_COMPARE;
    } else if (strcmp(word, "mock-server") == 0 || strcmp(word, "mock_server") == 0) {
        *command = COMMAND_MOCK_SERVER;
    } else if (strcmp(word, "tokenize") == 0) {
        *command = COMMAND_TOKENIZE;
    } else if (strcmp(word, "doctor") == 0) {
        *command = COMMAND_DOCTOR;
    } else if (strcmp(word, "generate") == 0) {
        *command = COMMAND_GENERATE;
    } else if (strcmp(word, "help") == 0) {
        *command = COMMAND_HELP;
    } else {
        return fail_command("", word, err);
    }
    return true;
}

static void usage(struct buf *out)
{
    buf_add_str(out,
                "usage: vllm-bench [serve] [FLAG ...]        measure a server\n"
                "       vllm-bench compare FILE FILE ...     set result files side by side\n"
                "       vllm-bench mock-server [FLAG ...]    be a server to try things on\n"
                "       vllm-bench tokenize [FLAG ...]       tokens of texts, texts of tokens\n"
                "       vllm-bench doctor [FLAG ...]         checks a server and this machine\n"
                "       vllm-bench help [COMMAND|GROUP|WORD]\n");
}

void command_help_short(struct buf *out, unsigned width)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    usage(out);
    buf_add_str(out, "\nThe flags most used:\n");
    option_help_short(out, rows, count, width);
    buf_add_str(out, "\nExamples:\n"
                     "  vllm-bench --mock --num-prompts 100 --max-concurrency 8\n"
                     "  vllm-bench serve --base-url http://127.0.0.1:8000 --num-prompts 200 \\\n"
                     "      --max-concurrency 32 --random-input-len 512 --save-result\n"
                     "\n"
                     "--help lists all flags; --help=traffic a group; --help=WORD what has it.\n");
}

void command_help_full(struct buf *out, unsigned width)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    usage(out);
    buf_add_str(out, "\nDashes and underscores in names are alike; --name VALUE and --name=VALUE.\n"
                     "A default stands in [brackets].\n");
    option_help_full(out, rows, count, width);
    buf_add_str(out, "\nhelp:\n"
                     "  -h                the flags most used, with examples\n"
                     "  --help            this text; --help=GROUP, --help=WORD: a part of it\n"
                     "  --version         the version\n"
                     "\n"
                     "Environment: OPENAI_API_KEY is sent as a bearer token; a flag may stand in\n"
                     "VLLM_BENCH_NAME, as VLLM_BENCH_NUM_PROMPTS=200.\n"
                     "Exit status: 0 done, 1 failed or no request completed, 2 usage, 3 a gate is\n"
                     "not met, 130 interrupted.\n");
}

void command_help_doctor(struct buf *out, unsigned width)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    buf_add_str(out,
                "usage: vllm-bench doctor [FLAG ...]\n\n"
                "Looks at the way to the server, at what the server answers, and at this machine;\n"
                "says what to mend. It takes the flags of serve and judges by them: give those of\n"
                "the run that is to come. Nothing is changed; one short request is sent.\n"
                "Exit status: 0 nothing failed, 1 something did, 2 usage.\n");
    option_help_topic(out, rows, count, width, "server");
}

void command_help_compare(struct buf *out, unsigned width)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    buf_add_str(out, "usage: vllm-bench compare FILE FILE ... [FLAG ...]\n\n"
                     "Sets result files side by side; no server is asked.  The first file is what\n"
                     "the others are held against.  The same as vllm-bench --compare FILE FILE.\n"
                     "Exit status: 0 done, 1 a file cannot be read, 2 usage, 3 worse than\n"
                     "--compare-threshold.\n");
    option_help_topic(out, rows, count, width, "compare");
}

bool command_help_topic(struct buf *out, unsigned width, const char *topic, struct error *err)
{
    size_t count;
    const struct option_row *rows = config_options(&count);
    if (option_help_topic(out, rows, count, width, topic)) {
        return true;
    }
    struct buf groups = {0};
    const char *last = "";
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rows[i].group, last) != 0) {
            last = rows[i].group;
            if (!is_in(buf_cstr(&groups), sv_from(last))) {
                buf_add_fmt(&groups, "%s%s", groups.len > 0 ? " " : "", last);
            }
        }
    }
    error_set(err, E_USAGE, "--help: no flag has '%s' in its name or text; groups are %s", topic,
              buf_cstr(&groups));
    buf_done(&groups);
    return false;
}
