/* From argv to an exit status: finds the command, runs it, says on stderr what went wrong. */
#include "cli/cli.h"

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/generate.h"
#include "config/config.h"
#include "config/dump.h"
#include "config/options.h"
#include "mock/mock.h"
#include "modes/doctor.h"
#include "modes/serve.h"
#include "modes/tokenize.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A closed standard stream would let the next file or socket take its number and receive our output. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            _exit(1);
        }
    }
}

/* A peer or a pager that goes away is an error of one write, not the end of the run. */
static void ignore_sigpipe(void)
{
    struct sigaction action = {.sa_handler = SIG_IGN};
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}

static int report(const struct error *err)
{
    fprintf(stderr, "vllm-bench: error: %s\n", err->message);
    if (err->code == E_USAGE || err->code == E_CONFIG) {
        fprintf(stderr, "see 'vllm-bench --help', or '--help=WORD' for the flags about WORD\n");
    }
    return error_exit_status(err->code);
}

/* The reader of stdout has gone: nobody is there to complain to. */
static bool stdout_abandoned(void)
{
    struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR) != 0;
}

/* Whether all that was printed arrived: a full disk must not look like success. */
static int finish(int status)
{
    bool failed = fflush(stdout) != 0 || ferror(stdout) != 0;
    if (failed && !stdout_abandoned()) {
        fprintf(stderr, "vllm-bench: error: cannot write to standard output\n");
        return status != 0 ? status : 1;
    }
    return status;
}

static int print_text(struct buf *text)
{
    fwrite(text->ptr, 1, text->len, stdout);
    buf_done(text);
    return 0;
}

static int print_topic(const char *topic)
{
    struct buf text = {0};
    struct error err;
    if (!command_help_topic(&text, option_help_width(), topic, &err)) {
        buf_done(&text);
        return report(&err);
    }
    return print_text(&text);
}

static int print_help(enum option_help help, const char *topic)
{
    struct buf text = {0};
    if (help == OPTION_HELP_TOPIC) {
        return print_topic(topic);
    }
    if (help == OPTION_HELP_SHORT) {
        command_help_short(&text, option_help_width());
    } else {
        command_help_full(&text, option_help_width());
    }
    return print_text(&text);
}

static int print_doctor_help(void)
{
    struct buf text = {0};
    command_help_doctor(&text, option_help_width());
    return print_text(&text);
}

static int print_compare_help(void)
{
    struct buf text = {0};
    command_help_compare(&text, option_help_width());
    return print_text(&text);
}

/* A command that has a table of its own prints its own help. */
static int help_of_command(const char *name)
{
    struct error err = {0};
    char word[16];
    char flag[] = "--help";
    snprintf(word, sizeof(word), "%s", name);
    char *words[] = {word, flag, NULL};
    if (strcmp(name, "mock-server") == 0) {
        return mock_main(2, words);
    }
    return tokenize_run(1, words + 1, &err) ? 0 : report(&err);
}

/* A command, a group of flags or a word; "" is everything. */
static int help_about(const char *topic)
{
    if (strcmp(topic, "mock-server") == 0 || strcmp(topic, "tokenize") == 0) {
        return help_of_command(topic);
    }
    if (strcmp(topic, "compare") == 0) {
        return print_compare_help();
    }
    if (strcmp(topic, "doctor") == 0) {
        return print_doctor_help();
    }
    bool all = topic[0] == '\0' || strcmp(topic, "serve") == 0 || strcmp(topic, "bench") == 0;
    return print_help(all ? OPTION_HELP_FULL : OPTION_HELP_TOPIC, topic);
}

/* --save-config and --dump-config.  True when the run goes on. */
static bool write_settings(const struct config_snapshot *snapshot, int *status)
{
    const struct config *config = snapshot->after;
    struct error err = {0};
    *status = 0;
    if (config->save_config != NULL && !config_save(snapshot, config->save_config, &err)) {
        error_context(&err, "--save-config");
        *status = report(&err);
        return false;
    }
    if (!config->dump_config) {
        return true;
    }
    struct buf text = {0};
    config_dump(snapshot, &text);
    print_text(&text);
    return false;
}

static int serve_checked(struct config *config, const struct option_parser *parser)
{
    struct error err = {0};
    struct config_snapshot snapshot = {.before = *config, .after = config, .parser = parser};
    int status;
    if (!config_check(config, &err)) {
        return report(&err);
    }
    for (size_t i = 0; i < config->warning_count; i++) {
        fprintf(stderr, "warning: %s\n", config->warnings[i]);
    }
    config->warning_count = 0; /* said; what comes later is the mode's to say */
    if (!write_settings(&snapshot, &status)) {
        return status;
    }
    return serve_run(config, &err) ? 0 : report(&err);
}

static int serve(int argc, char **argv)
{
    struct config config;
    struct option_parser parser;
    struct error err = {0};
    int status;
    config_init(&config);
    if (!config_parse(&config, argc, argv, &parser, &err)) {
        status = report(&err);
    } else if (parser.help != OPTION_HELP_NONE) {
        status = parser.help == OPTION_HELP_TOPIC ? help_about(parser.help_topic)
                                                  : print_help(parser.help, NULL);
    } else if (parser.version) {
        printf("vllm-bench %s\n", VB_VERSION);
        status = 0;
    } else {
        status = serve_checked(&config, &parser);
    }
    config_done(&config);
    return status;
}

/* `compare A B` is `serve --compare A B`. */
static int compare(int argc, char **argv)
{
    bool help = argc > 0 && (strcmp(argv[0], "-h") == 0 || strcmp(argv[0], "--help") == 0);
    if (help) {
        return print_compare_help();
    }
    char **words = mem_array((size_t)argc + 2, sizeof(char *));
    char flag[] = "--compare";
    words[0] = flag;
    for (int i = 0; i < argc; i++) {
        words[i + 1] = argv[i];
    }
    int status = serve(argc + 1, words);
    free(words);
    return status;
}

/* The flags of `serve`, so that it looks at what a run with them would meet. */
static int doctor(int argc, char **argv)
{
    struct config config;
    struct option_parser parser;
    struct error err = {0};
    unsigned failures = 0;
    int status = 0;
    config_init(&config);
    if (!config_parse(&config, argc, argv, &parser, &err)) {
        status = report(&err);
    } else if (parser.help != OPTION_HELP_NONE) {
        status = print_doctor_help();
    } else if (parser.version) {
        printf("vllm-bench %s\n", VB_VERSION);
    } else if (!config_check(&config, &err)) {
        status = report(&err);
    } else {
        doctor_run(&config, &failures);
        status = failures > 0 ? 1 : 0;
    }
    config_done(&config);
    return status;
}

/* Hidden: the build makes the man page and the completions with it. */
static int generate(int argc, char **argv)
{
    struct buf text = {0};
    struct error err = {0};
    struct command_flags others[] = {
        {.name = "mock-server"}, {.name = "tokenize", .takes_files = true}, {.name = NULL}};
    others[0].rows = mock_option_rows(&others[0].count);
    others[1].rows = tokenize_option_rows(&others[1].count);
    if (!command_generate(argc == 1 ? argv[0] : "", others, &text, &err)) {
        buf_done(&text);
        return report(&err);
    }
    return print_text(&text);
}

static int no_words(void)
{
    struct buf text = {0};
    command_help_short(&text, option_help_width());
    fwrite(text.ptr, 1, text.len, stderr);
    buf_done(&text);
    return error_exit_status(E_USAGE);
}

int cli_main(int argc, char **argv)
{
    enum command_id command;
    int first;
    struct error err = {0};
    open_standard_streams();
    ignore_sigpipe();
    if (!command_find(argc, argv, &command, &first, &err)) {
        return report(&err);
    }
    switch (command) {
    case COMMAND_SERVE:
        return finish(serve(argc - first, argv + first));
    case COMMAND_COMPARE:
        return finish(compare(argc - first, argv + first));
    case COMMAND_MOCK_SERVER:
        return finish(mock_main(argc - first + 1, argv + first - 1));
    case COMMAND_TOKENIZE:
        return finish(tokenize_run(argc - first, argv + first, &err) ? 0 : report(&err));
    case COMMAND_DOCTOR:
        return finish(doctor(argc - first, argv + first));
    case COMMAND_GENERATE:
        return finish(generate(argc - first, argv + first));
    case COMMAND_HELP:
        return finish(help_about(argc > first ? argv[first] : ""));
    case COMMAND_NONE:
        break;
    }
    return no_words();
}
