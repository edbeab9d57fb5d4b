/* Which command a command line names, and the frame of the help. */
#include "cli/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { WORDS_MAX = 8 };

static bool find(const char *line, enum command_id *command, int *first, struct error *err)
{
    char text[200];
    char *argv[WORDS_MAX] = {text};
    int argc = 1;
    size_t len = strlen(line);
    assert_true(len < sizeof(text));
    memcpy(text, line, len + 1);
    for (char *at = text; *at != '\0'; at++) {
        if (*at == ' ') {
            *at = '\0';
            assert_true(argc < WORDS_MAX);
            argv[argc++] = at + 1;
        }
    }
    *err = (struct error){0};
    return command_find(argc, argv, command, first, err);
}

static void test_ways_into_serve(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum command_id command;
        int first;
    } cases[] = {
        {"vllm-bench", COMMAND_NONE, 1},
        {"vllm-bench --model x", COMMAND_SERVE, 1},
        {"vllm-bench --help", COMMAND_SERVE, 1},
        {"vllm-bench serve --model x", COMMAND_SERVE, 2},
        {"vllm-bench bench serve --model x", COMMAND_SERVE, 3},
        {"vllm-bench mock-server --port 1", COMMAND_MOCK_SERVER, 2},
        {"vllm-bench compare a b", COMMAND_COMPARE, 2},
        {"vllm-bench tokenize", COMMAND_TOKENIZE, 2},
        {"vllm-bench doctor --port 1", COMMAND_DOCTOR, 2},
        {"vllm-bench generate man", COMMAND_GENERATE, 2},
        {"vllm-bench help traffic", COMMAND_HELP, 2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum command_id command;
        int first;
        struct error err;
        assert_true(find(cases[i].line, &command, &first, &err));
        assert_int_equal(command, cases[i].command);
        assert_int_equal(first, cases[i].first);
    }
}

static void test_other_words_are_refused_with_a_sentence(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"vllm-bench serv", "unknown command 'serv'; did you mean 'serve'?"},
        {"vllm-bench mock-sever", "unknown command 'mock-sever'; did you mean 'mock-server'?"},
        {"vllm-bench frobnicate",
         "unknown command 'frobnicate'; there are serve, compare, mock-server, tokenize, doctor "
         "and help"},
        {"vllm-bench mm-processor",
         "the command 'mm-processor' is not supported by this version of vllm-bench"},
        {"vllm-bench bench", "the command 'bench' needs 'serve' behind it"},
        {"vllm-bench bench latency", "unknown command 'bench latency'; there are serve, "
                                     "compare, mock-server, tokenize, doctor and help"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum command_id command;
        int first;
        struct error err;
        assert_false(find(cases[i].line, &command, &first, &err));
        assert_int_equal(err.code, E_USAGE);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void test_help_names_commands_groups_and_unknown_topics(void **state)
{
    (void)state;
    struct buf out = {0};
    struct error err;
    command_help_short(&out, 80);
    assert_non_null(strstr(buf_cstr(&out), "--max-concurrency"));
    assert_non_null(strstr(buf_cstr(&out), "Examples:"));
    assert_null(strstr(buf_cstr(&out), "--steady-state-threshold"));
    buf_reset(&out);
    command_help_full(&out, 80);
    assert_non_null(strstr(buf_cstr(&out), "--steady-state-threshold"));
    assert_non_null(strstr(buf_cstr(&out), "--multi-turn"));
    buf_reset(&out);
    assert_true(command_help_topic(&out, 80, "sampling", &err));
    assert_non_null(strstr(buf_cstr(&out), "--top-p"));
    assert_null(strstr(buf_cstr(&out), "--model"));
    buf_reset(&out);
    assert_false(command_help_topic(&out, 80, "quux", &err));
    assert_non_null(strstr(err.message, "'quux'"));
    assert_non_null(strstr(err.message, "traffic"));
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways_into_serve),
        cmocka_unit_test(test_other_words_are_refused_with_a_sentence),
        cmocka_unit_test(test_help_names_commands_groups_and_unknown_topics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
