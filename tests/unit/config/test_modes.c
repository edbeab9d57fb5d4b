/* Flags of the modes, the rules across them, and the fingerprint by which a point is found again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "config/fingerprint.h"
#include "config/options.h"

/* Words are separated by '|'.  False with the message in err. */
static bool make(struct config *config, const char *line, struct error *err)
{
    static char text[1000];
    char *words[40];
    int count = 0;
    struct option_parser parser;
    snprintf(text, sizeof(text), "%s", line);
    for (char *at = text; at != NULL && *at != '\0' && count < 40;) {
        char *bar = strchr(at, '|');
        words[count++] = at;
        if (bar != NULL)
            *bar++ = '\0';
        at = bar;
    }
    config_init(config);
    return config_parse(config, count, words, &parser, err) && config_check(config, err);
}

static void accept(struct config *config, const char *line)
{
    struct error err;
    if (!make(config, line, &err))
        fail_msg("%s: %s", line, err.message);
}

static void refuse(const char *line, const char *part)
{
    struct config config;
    struct error err;
    if (make(&config, line, &err))
        fail_msg("%s was accepted", line);
    if (strstr(err.message, part) == NULL)
        fail_msg("%s: '%s' is not in '%s'", line, part, err.message);
    config_done(&config);
}

static void test_lists_and_gates_are_read(void **state)
{
    (void)state;
    struct config c;
    accept(&c, "--sweep-max-concurrency|1, 8,32|--sweep-summary-percentiles|95,99.9");
    assert_int_equal(c.sweep_max_concurrency.count, 3);
    assert_true(c.sweep_max_concurrency.items[1] == 8.0 && c.sweep_percentiles.items[1] == 99.9);
    config_done(&c);
    accept(&c, "--sweep-request-rate|0.5,inf|--max-failures|2.5%|--fail-if|p99_ttft_ms > 500|"
               "failed!=0");
    assert_true(isinf(c.sweep_request_rate.items[1]));
    assert_true(c.max_failures.given && c.max_failures.percent && c.max_failures.limit == 2.5);
    assert_int_equal(c.fail_if.count, 2);
    assert_true(sv_eq(c.fail_if.items[0].key, SV_LIT("p99_ttft_ms")));
    assert_int_equal(c.fail_if.items[0].op, GATE_GT);
    assert_true(c.fail_if.items[0].limit == 500.0);
    assert_int_equal(c.fail_if.items[1].op, GATE_NE);
    config_done(&c);
    accept(&c, "--compare|a|b|c|--compare-threshold|5%");
    assert_int_equal(c.compare.count, 3);
    assert_true(c.compare_threshold == 0.05);
    config_done(&c);
}

static void test_what_does_not_go_together_is_refused(void **state)
{
    (void)state;
    refuse("--sweep-max-concurrency|1,,2", "''");
    refuse("--sweep-max-concurrency|1.5", "'1.5'");
    refuse("--sweep-request-rate|0", "'0'");
    refuse("--sweep-request-rate|nan", "'nan'");
    refuse("--sweep-request-rate|1|--ramp-up-strategy|linear|--ramp-up-start-rps|1|"
           "--ramp-up-end-rps|2",
           "--ramp-up-strategy");
    refuse("--fail-if|a=1", "--fail-if");
    refuse("--fail-if|>1", "--fail-if");
    refuse("--fail-if|a>nan", "--fail-if");
    refuse("--compare|a", "two files");
    refuse("--compare-threshold|5", "--compare");
    refuse("--resume", "--resume");
    refuse("--duration|5", "--max-concurrency");
    refuse("--profile-duration|2", "--profile-batch-threshold");
    refuse("--multi-turn", "openai-chat");
    refuse("--multi-turn|--backend|openai-chat|--duration|1|--max-concurrency|1", "--duration");
    refuse("--multi-turn|--backend|openai-chat|--multi-turn-min-turns|4|--multi-turn-max-turns|2",
           "'4'");
    refuse("--multi-turn|--backend|openai-chat|--multi-turn-prefix-global-ratio|1", "below 1");
}

/* CLI.md 3, rule 22. */
static void test_bounds_of_turns_follow_from_each_other(void **state)
{
    (void)state;
    static const struct {
        const char *flags;
        uint64_t low;
        uint64_t high;
    } rows[] = {
        {"", 3, 3},
        {"|--multi-turn-num-turns|5", 5, 5},
        {"|--multi-turn-min-turns|2", 2, 3},
        {"|--multi-turn-max-turns|6", 3, 6},
        {"|--multi-turn-min-turns|1|--multi-turn-max-turns|4", 1, 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct config c;
        char line[200];
        snprintf(line, sizeof(line), "--multi-turn|--backend|openai-chat%s", rows[i].flags);
        accept(&c, line);
        assert_int_equal(c.multi_turn.min_turns, rows[i].low);
        assert_int_equal(c.multi_turn.max_turns, rows[i].high);
        assert_false(c.ignore_eos);
        config_done(&c);
    }
}

static bool same_print(const char *a, const char *b)
{
    struct config x;
    struct config y;
    char print_x[FINGERPRINT_LEN + 1];
    char print_y[FINGERPRINT_LEN + 1];
    accept(&x, a);
    accept(&y, b);
    config_fingerprint(&x, print_x);
    config_fingerprint(&y, print_y);
    assert_int_equal(strlen(print_x), FINGERPRINT_LEN);
    config_done(&x);
    config_done(&y);
    return strcmp(print_x, print_y) == 0;
}

static void test_the_fingerprint_is_of_what_is_measured(void **state)
{
    (void)state;
    static const char *const equal[][2] = {
        {"", ""},
        {"--save-result|--result-dir|a", "--result-filename|b.json|--append-result"},
        {"--sweep-max-concurrency|1,2|--max-failures|1", "--sweep-max-concurrency|1,2,4"},
        {"--header|A=secret", "--header|A=other"},
        {"--mock", "--mock"},
    };
    static const char *const different[] = {
        "--num-prompts|5",        "--max-concurrency|4",
        "--request-rate|3",       "--temperature|0",
        "--goodput|ttft:5",       "--metric-percentiles|50",
        "--base-url|http://a:1",  "--random-range-ratio|0.5",
        "--extra-body|{\"a\":1}", "--save-result|--metadata|a=b",
        "--header|A=x",           "--save-result|--save-detailed"};
    for (size_t i = 0; i < sizeof(equal) / sizeof(equal[0]); i++)
        if (!same_print(equal[i][0], equal[i][1]))
            fail_msg("'%s' and '%s' differ", equal[i][0], equal[i][1]);
    for (size_t i = 0; i < sizeof(different) / sizeof(different[0]); i++)
        if (same_print("", different[i]))
            fail_msg("'%s' makes no difference", different[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_and_gates_are_read),
        cmocka_unit_test(test_what_does_not_go_together_is_refused),
        cmocka_unit_test(test_bounds_of_turns_follow_from_each_other),
        cmocka_unit_test(test_the_fingerprint_is_of_what_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
