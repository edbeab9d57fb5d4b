/* The option parser on a table of its own: forms of names and values, kinds, repeats, refusals, help. */
#include "config/options.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

enum { WORDS_MAX = 32 };

struct target {
    bool on, off;
    int port;
    unsigned threads;
    uint64_t count;
    int64_t length;
    double rate;
    uint64_t timeout_ns, gap_ns;
    const char *name, *color;
    char items[200]; /* callback: "[a][b]" */
    char warnings[400];
    struct arena arena;
};

static bool add_item(const struct option_call *call, struct error *err)
{
    struct target *t = call->target;
    if (strcmp(call->value, "bad") == 0) {
        return error_set(err, E_USAGE, "'bad' will not do");
    }
    size_t len = strlen(t->items);
    snprintf(t->items + len, sizeof(t->items) - len, "[%s]", call->value);
    return true;
}

static void add_warning(void *target, const char *sentence)
{
    struct target *t = target;
    size_t len = strlen(t->warnings);
    snprintf(t->warnings + len, sizeof(t->warnings) - len, "%s|", sentence);
}

#define AT(field) .offset = offsetof(struct target, field)

static const struct option_row rows[] = {
    {.name = "on", .kind = OPTION_SWITCH, .group = "one", .help = "Turn on.", AT(on)},
    {.name = "no-off", .kind = OPTION_SWITCH_OFF, .group = "one", .help = "Turn off.", AT(off)},
    {.name = "port",
     .aliases = "tcp-port the-port",
     .kind = OPTION_INT,
     .flags = OPTION_SHORT,
     .group = "one",
     .value = "PORT",
     .default_text = "80",
     .help = "Port of it.",
     .max = 65535,
     AT(port)},
    {.name = "client-threads",
     .kind = OPTION_UINT,
     .group = "one",
     .help = "Threads.",
     AT(threads)},
    {.name = "num-prompts",
     .kind = OPTION_U64,
     .group = "two",
     .default_text = "1000",
     .help = "Count.",
     .min = 1,
     AT(count)},
    {.name = "length", .kind = OPTION_I64, .group = "two", .help = "Length.", AT(length)},
    {.name = "rate", .kind = OPTION_DOUBLE, .group = "two", .help = "Rate.", AT(rate)},
    {.name = "timeout", .kind = OPTION_DURATION_S, .group = "two", .help = "Time.", AT(timeout_ns)},
    {.name = "gap", .kind = OPTION_DURATION_MS, .group = "two", .help = "Gap.", AT(gap_ns)},
    {.name = "name", .kind = OPTION_STRING, .group = "two", .help = "Name.", AT(name)},
    {.name = "color",
     .kind = OPTION_CHOICE,
     .group = "two",
     .help = "Colour.",
     .choices = "red dark-blue",
     AT(color)},
    {.name = "item",
     .kind = OPTION_CALLBACK,
     .flags = OPTION_MULTI,
     .group = "two",
     .help = "Items.",
     .example = "K=V",
     .set = add_item},
    {.name = "old",
     .kind = OPTION_SWITCH,
     .flags = OPTION_NO_EFFECT,
     .group = "two",
     .help = "Old.",
     .note = "it was dropped",
     AT(on)},
};
enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

/* Splits `line` at blanks ("~" stands for an empty word) and parses it. */
static bool parse(struct target *t, struct option_parser *p, const char *line, struct error *err)
{
    char *argv[WORDS_MAX];
    int argc = 0;
    *t = (struct target){.off = true};
    *err = (struct error){0};
    *p = (struct option_parser){.command = "test",
                                .rows = rows,
                                .row_count = ROW_COUNT,
                                .target = t,
                                .arena = &t->arena,
                                .warn = add_warning};
    struct sv rest = sv_from(line);
    struct sv word;
    while (line[0] != '\0' && sv_split(&rest, ' ', &word)) {
        assert_true(argc < WORDS_MAX);
        argv[argc++] = sv_eq(word, SV_LIT("~"))
                           ? arena_strdup(&t->arena, "")
                           : arena_strdup(&t->arena, arena_copy(&t->arena, word).ptr);
    }
    return option_parse(p, argc, argv, err);
}

static void expect_error(const char *line, const char *message)
{
    struct target t;
    struct option_parser p;
    struct error err;
    assert_false(parse(&t, &p, line, &err));
    assert_string_equal(err.message, message);
    assert_int_equal(err.code, E_USAGE);
    arena_done(&t.arena);
}

static void test_every_kind_lands_in_its_field(void **state)
{
    (void)state;
    struct target t;
    struct option_parser p;
    struct error err;
    assert_true(parse(&t, &p,
                      "--on --no-off --port 443 --client-threads 3 --num-prompts "
                      "18446744073709551615 --length -7 --rate 2.5 --timeout 1.5 --gap 0.25 "
                      "--name x=y --color dark_blue",
                      &err));
    assert_true(t.on);
    assert_false(t.off);
    assert_int_equal(t.port, 443);
    assert_int_equal(t.threads, 3);
    assert_true(t.count == UINT64_MAX);
    assert_int_equal(t.length, -7);
    assert_true(t.rate == 2.5);
    assert_int_equal(t.timeout_ns, 1500000000);
    assert_int_equal(t.gap_ns, 250000);
    assert_string_equal(t.name, "x=y");
    assert_string_equal(t.color, "dark-blue");
    assert_string_equal(t.warnings, "");
    assert_int_equal(option_given(&p, "port"), 1);
    assert_int_equal(option_given(&p, "item"), 0);
    arena_done(&t.arena);
}

static void test_dashes_underscores_equals_and_aliases_are_alike(void **state)
{
    (void)state;
    static const char *const lines[] = {"--client-threads 5", "--client_threads 5",
                                        "--client-threads=5", "--client_threads=5"};
    struct target t;
    struct option_parser p;
    struct error err;
    for (size_t i = 0; i < 4; i++) {
        assert_true(parse(&t, &p, lines[i], &err));
        assert_int_equal(t.threads, 5);
        arena_done(&t.arena);
    }
    assert_true(parse(&t, &p, "--the_port 9", &err));
    assert_int_equal(t.port, 9);
    arena_done(&t.arena);
    assert_true(parse(&t, &p, "--name=", &err));
    assert_string_equal(t.name, "");
    arena_done(&t.arena);
    assert_true(parse(&t, &p, "--name a=b=c_d --name=e-f=g", &err));
    assert_string_equal(t.name, "e-f=g");
    arena_done(&t.arena);
}

static void test_negative_numbers_are_values_and_other_dashes_are_not(void **state)
{
    (void)state;
    struct target t;
    struct option_parser p;
    struct error err;
    assert_true(parse(&t, &p, "--length -1 --rate -.5 --name -", &err));
    assert_int_equal(t.length, -1);
    assert_true(t.rate == -0.5);
    assert_string_equal(t.name, "-");
    arena_done(&t.arena);
    assert_true(parse(&t, &p, "--name=-abc", &err));
    assert_string_equal(t.name, "-abc");
    arena_done(&t.arena);
    expect_error("--name -abc",
                 "--name: needs a value, and '-abc' looks like a flag; a value that begins with "
                 "'-' is written --name=-abc");
}

static void test_multi_value_flags_take_words_up_to_the_next_flag_and_accumulate(void **state)
{
    (void)state;
    struct target t;
    struct option_parser p;
    struct error err;
    assert_true(parse(&t, &p, "--item a b=c -3 --on --item=d e --item f", &err));
    assert_string_equal(t.items, "[a][b=c][-3][d][e][f]");
    assert_true(t.on);
    assert_string_equal(t.warnings, "");
    arena_done(&t.arena);
    expect_error("--item --on", "--item: needs a value, and '--on' looks like a flag; a value that "
                                "begins with '-' is written --item=--on");
    expect_error("--item", "--item: needs a value; e.g. --item K=V");
    expect_error("--item a bad c", "--item: 'bad' will not do");
}

static void test_last_of_repeated_flags_counts_with_a_warning(void **state)
{
    (void)state;
    struct target t;
    struct option_parser p;
    struct error err;
    assert_true(parse(&t, &p, "--port 1 --port=2 --tcp-port 3", &err));
    assert_int_equal(t.port, 3);
    assert_string_equal(t.warnings, "--port was given 3 times; the last one counts|");
    arena_done(&t.arena);
}

static void test_flags_without_effect_warn_once_and_store_nothing(void **state)
{
    (void)state;
    struct target t;
    struct option_parser p;
    struct error err;
    assert_true(parse(&t, &p, "--old --old", &err));
    assert_false(t.on);
    assert_string_equal(t.warnings, "--old has no effect: it was dropped|");
    arena_done(&t.arena);
}

static void test_numbers_are_read_whole_and_kept_in_bounds(void **state)
{
    (void)state;
    expect_error("--num-prompts abc",
                 "--num-prompts: 'abc' is not a whole number; e.g. --num-prompts 1000");
    expect_error("--num-prompts 1.5",
                 "--num-prompts: '1.5' is not a whole number; e.g. --num-prompts 1000");
    expect_error("--num-prompts ~",
                 "--num-prompts: '' is not a whole number; e.g. --num-prompts 1000");
    expect_error("--num-prompts 0", "--num-prompts: '0' is too small; at least 1");
    expect_error("--num-prompts -4", "--num-prompts: '-4' is too small; at least 1");
    expect_error("--num-prompts 18446744073709551616",
                 "--num-prompts: '18446744073709551616' is too large");
    expect_error("--port 65536", "--port: '65536' is too large; at most 65535");
    expect_error("--port=-1", "--port: '-1' is too small; at least 0");
    expect_error("--client-threads 4294967296",
                 "--client-threads: '4294967296' is too large; at most 4294967295");
    expect_error("--length 9223372036854775808", "--length: '9223372036854775808' is too large");
    expect_error("--length 5x", "--length: '5x' is not a whole number");
    expect_error("--rate 1,5", "--rate: '1,5' is not a number");
    expect_error("--rate NaN", "--rate: 'NaN' is not a number");
}

static void test_infinity_is_a_number_in_every_spelling(void **state)
{
    (void)state;
    static const char *const lines[] = {"--rate inf", "--rate INF", "--rate=Infinity"};
    struct target t;
    struct option_parser p;
    struct error err;
    for (size_t i = 0; i < 3; i++) {
        assert_true(parse(&t, &p, lines[i], &err));
        assert_true(t.rate == HUGE_VAL);
        arena_done(&t.arena);
    }
}

static void test_durations_take_units(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        uint64_t timeout_ns, gap_ns;
    } cases[] = {
        {"--timeout 2 --gap 2", 2000000000, 2000000},
        {"--timeout 2ms --gap 2s", 2000000, 2000000000},
        {"--timeout 1h --gap 7us", UINT64_C(3600000000000), 7000},
        {"--timeout 0.5m --gap 9ns", UINT64_C(30000000000), 9},
    };
    struct target t;
    struct option_parser p;
    struct error err;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(parse(&t, &p, cases[i].line, &err));
        assert_true(t.timeout_ns == cases[i].timeout_ns);
        assert_true(t.gap_ns == cases[i].gap_ns);
        arena_done(&t.arena);
    }
    expect_error("--timeout 5x", "--timeout: '5x' is not a time; a number, in seconds or with ns, "
                                 "us, ms, s, m or h");
    expect_error("--timeout inf", "--timeout: 'inf' is not a time; a number, in seconds or with "
                                  "ns, us, ms, s, m or h");
    expect_error("--gap -1", "--gap: '-1' is too small; at least 0");
    expect_error("--timeout 1e12", "--timeout: '1e12' is too long a time");
}

static void test_choices_name_the_list_and_the_near_match(void **state)
{
    (void)state;
    expect_error("--color rad", "--color: 'rad' is not one of red, dark-blue; did you mean 'red'?");
    expect_error("--color violet", "--color: 'violet' is not one of red, dark-blue");
}

static void test_unknown_flags_get_the_near_match(void **state)
{
    (void)state;
    expect_error("--num-promts 3", "--num-promts: unknown flag; did you mean '--num-prompts'?");
    expect_error("--num-prom=3",
                 "--num-prom: flags cannot be abbreviated; did you mean '--num-prompts'?");
    expect_error("--num_prom 3",
                 "--num_prom: flags cannot be abbreviated; did you mean '--num-prompts'?");
    expect_error("--wholly-else", "--wholly-else: 'test' has no such flag");
    expect_error("-port 3", "-port: a flag begins with two dashes: '--port'");
    expect_error("-x", "-x: 'test' has no such flag");
    expect_error("--item.a 3", "--item.a: the value of --item is no JSON object that has members");
}

static void test_stray_words_and_values_are_refused_by_name(void **state)
{
    (void)state;
    struct target t;
    struct option_parser p;
    struct error err;
    expect_error("word",
                 "unexpected word 'word'; a value stands after its flag, as in --model NAME");
    expect_error("--on yes", "unexpected word 'yes'; a value stands after its flag, as in --model "
                             "NAME");
    expect_error("--on=yes", "--on: takes no value, but 'yes' was given");
    expect_error("-- x", "unexpected word 'x'; a value stands after its flag, as in --model NAME");
    expect_error("--port", "--port: needs a value; e.g. --port 80");
    expect_error("--port --", "--port: needs a value; e.g. --port 80");
    assert_true(parse(&t, &p, "--on --", &err));
    assert_true(t.on);
    arena_done(&t.arena);
}

static void test_operands_are_collected_where_the_command_takes_them(void **state)
{
    (void)state;
    struct target t = {0};
    const char *operands[8];
    struct option_parser p = {
        .command = "test",
        .rows = rows,
        .row_count = sizeof(rows) / sizeof(rows[0]),
        .target = &t,
        .arena = &t.arena,
        .operands = operands,
    };
    char a[] = "a", port[] = "--port", number[] = "81", dash[] = "-", end[] = "--", on[] = "--on";
    char *argv[] = {a, port, number, dash, end, on, NULL};
    struct error err;
    assert_true(option_parse(&p, 6, argv, &err));
    assert_int_equal(t.port, 81);
    assert_false(t.on);
    assert_int_equal(p.operand_count, 3);
    assert_string_equal(p.operands[0], "a");
    assert_string_equal(p.operands[1], "-");
    assert_string_equal(p.operands[2], "--on");
    arena_done(&t.arena);
}

static void test_help_and_version_stop_the_walk(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum option_help help;
        const char *topic;
    } cases[] = {
        {"-h --nonsense", OPTION_HELP_SHORT, NULL},
        {"--on --help --nonsense", OPTION_HELP_FULL, NULL},
        {"--help", OPTION_HELP_FULL, NULL},
        {"--help two", OPTION_HELP_TOPIC, "two"},
        {"--help all", OPTION_HELP_FULL, NULL},
        {"--help=all", OPTION_HELP_FULL, NULL},
        {"--help=two", OPTION_HELP_TOPIC, "two"},
        {"--version word", OPTION_HELP_NONE, NULL},
    };
    struct target t;
    struct option_parser p;
    struct error err;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(parse(&t, &p, cases[i].line, &err));
        assert_int_equal(p.help, cases[i].help);
        assert_int_equal(p.version, cases[i].help == OPTION_HELP_NONE);
        if (cases[i].topic != NULL) {
            assert_string_equal(p.help_topic, cases[i].topic);
        } else {
            assert_null(p.help_topic);
        }
        arena_done(&t.arena);
    }
}

static void test_near_prefers_abbreviations_then_small_distances(void **state)
{
    (void)state;
    static const char names[] = "model seed save-result save-detailed";
    static const struct {
        const char *word, *near;
    } cases[] = {{"mod", "model"},
                 {"modle", "model"},
                 {"save", "save-result"},
                 {"SAVE_RESULT", "save-result"},
                 {"save-resutl", "save-result"},
                 {"sed", "seed"},
                 {"zzzzzz", ""},
                 {"", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(sv_eq(option_near(names, sv_from(cases[i].word)), sv_from(cases[i].near)));
    }
}

static size_t longest_line(struct sv text)
{
    size_t longest = 0;
    struct sv line;
    while (sv_split(&text, '\n', &line)) {
        longest = line.len > longest ? line.len : longest;
    }
    return longest;
}

static void test_help_has_every_row_and_keeps_the_width(void **state)
{
    (void)state;
    for (unsigned width = 40; width <= 120; width += 20) {
        struct buf out = {0};
        option_help_full(&out, rows, ROW_COUNT, width);
        for (size_t i = 0; i < ROW_COUNT; i++) {
            assert_non_null(strstr(buf_cstr(&out), rows[i].name));
        }
        assert_true(longest_line(buf_sv(&out)) <= width);
        buf_done(&out);
    }
    struct buf out = {0};
    option_help_short(&out, rows, ROW_COUNT, 80);
    assert_string_equal(buf_cstr(&out), "  --port, --tcp-port, --the-port PORT\n"
                                        "                                  Port of it. [80]\n");
    buf_done(&out);
}

static void test_help_topic_is_a_group_or_a_word(void **state)
{
    (void)state;
    struct buf out = {0};
    assert_true(option_help_topic(&out, rows, ROW_COUNT, 80, "--NUM_prompts"));
    assert_string_equal(buf_cstr(&out),
                        "\ntwo:\n  --num-prompts NAME              Count. [1000]\n");
    buf_reset(&out);
    assert_true(option_help_topic(&out, rows, ROW_COUNT, 80, "one"));
    assert_non_null(strstr(buf_cstr(&out), "--client-threads"));
    assert_null(strstr(buf_cstr(&out), "--rate"));
    buf_reset(&out);
    assert_false(option_help_topic(&out, rows, ROW_COUNT, 80, "nothing like it"));
    assert_false(option_help_topic(&out, rows, ROW_COUNT, 80, ""));
    assert_int_equal(out.len, 0);
    buf_done(&out);
}

static void test_width_comes_from_columns_within_limits(void **state)
{
    (void)state;
    static const struct {
        const char *columns;
        unsigned width;
    } cases[] = {{"100", 100}, {"5", 40}, {"5000", 120}};
    for (size_t i = 0; i < 3; i++) {
        setenv("COLUMNS", cases[i].columns, 1);
        assert_int_equal(option_help_width(), cases[i].width);
    }
    unsetenv("COLUMNS");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_lands_in_its_field),
        cmocka_unit_test(test_dashes_underscores_equals_and_aliases_are_alike),
        cmocka_unit_test(test_negative_numbers_are_values_and_other_dashes_are_not),
        cmocka_unit_test(test_multi_value_flags_take_words_up_to_the_next_flag_and_accumulate),
        cmocka_unit_test(test_last_of_repeated_flags_counts_with_a_warning),
        cmocka_unit_test(test_flags_without_effect_warn_once_and_store_nothing),
        cmocka_unit_test(test_numbers_are_read_whole_and_kept_in_bounds),
        cmocka_unit_test(test_infinity_is_a_number_in_every_spelling),
        cmocka_unit_test(test_durations_take_units),
        cmocka_unit_test(test_choices_name_the_list_and_the_near_match),
        cmocka_unit_test(test_unknown_flags_get_the_near_match),
        cmocka_unit_test(test_operands_are_collected_where_the_command_takes_them),
        cmocka_unit_test(test_stray_words_and_values_are_refused_by_name),
        cmocka_unit_test(test_help_and_version_stop_the_walk),
        cmocka_unit_test(test_near_prefers_abbreviations_then_small_distances),
        cmocka_unit_test(test_help_has_every_row_and_keeps_the_width),
        cmocka_unit_test(test_help_topic_is_a_group_or_a_word),
        cmocka_unit_test(test_width_comes_from_columns_within_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
