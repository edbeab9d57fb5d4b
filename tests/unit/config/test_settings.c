/* Settings from elsewhere than plain flags: YAML files as Python reads them, the environment, dotted flags, precedence;
 * and what a dump and a saved file say.  Expected words were made with PyYAML 6 and str(). */
#include "config/config.h"
#include "config/dump.h"
#include "config/options.h"
#include "config/settings_file.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

enum { WORDS_MAX = 32 };

/* ---- the file by itself ---------------------------------------------------------------------------------------- */

static void test_scalars_mean_what_pythons_reader_makes_of_them(void **state)
{
    (void)state;
    static const struct {
        const char *yaml;
        enum setting_kind kind;
        const char *word;
    } cases[] = {
        {"a: 12", SETTING_VALUE, "12"},
        {"a: +12", SETTING_VALUE, "12"},
        {"a: -7", SETTING_VALUE, "-7"},
        {"a: 1_000", SETTING_VALUE, "1000"},
        {"a: 010", SETTING_VALUE, "8"},
        {"a: 0x1F", SETTING_VALUE, "31"},
        {"a: 0b101", SETTING_VALUE, "5"},
        {"a: 1:30", SETTING_VALUE, "90"},
        {"a: 1:99", SETTING_VALUE, "1:99"},
        {"a: 08", SETTING_VALUE, "08"},
        {"a: 1.50", SETTING_VALUE, "1.5"},
        {"a: 10.", SETTING_VALUE, "10.0"},
        {"a: 1.0e+3", SETTING_VALUE, "1000.0"},
        {"a: 1e3", SETTING_VALUE, "1e3"},
        {"a: 1.0e3", SETTING_VALUE, "1.0e3"},
        {"a: .5", SETTING_VALUE, "0.5"},
        {"a: -.5", SETTING_VALUE, "-.5"},
        {"a: .inf", SETTING_VALUE, "inf"},
        {"a: inf", SETTING_VALUE, "inf"},
        {"a: \"010\"", SETTING_VALUE, "010"},
        {"a: 'yes'", SETTING_VALUE, "yes"},
        {"a: yes", SETTING_TRUE, "True"},
        {"a: True", SETTING_TRUE, "True"},
        {"a: off", SETTING_FALSE, "False"},
        {"a:", SETTING_NULL, ""},
        {"a: ~", SETTING_NULL, "~"},
        {"a: ttft:200", SETTING_VALUE, "ttft:200"},
        {"a: {x: 1, y: [yes, 1.5, '2', null]}", SETTING_VALUE,
         "{\"x\":1,\"y\":[true,1.5,\"2\",null]}"},
        {"b: &id {k: v}\na: *id", SETTING_VALUE, "{\"k\":\"v\"}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena = {0};
        struct settings_file file;
        struct error err;
        if (!settings_parse(sv_from(cases[i].yaml), "f.yaml", &arena, &file, &err)) {
            fail_msg("%s: %s", cases[i].yaml, err.message);
        }
        const struct settings_item *last = &file.items[file.count - 1];
        assert_string_equal(last->name, "a");
        assert_int_equal(last->kind, cases[i].kind);
        assert_int_equal(last->count, 1);
        assert_string_equal(last->words[0], cases[i].word);
        arena_done(&arena);
    }
}

static void test_lists_are_words_and_lines_are_counted(void **state)
{
    (void)state;
    struct arena arena = {0};
    struct settings_file file;
    struct error err;
    assert_true(settings_parse(SV_LIT("# head\na:\n  - x\n  - 1.0\n  - {k: 1}\n\nb: []\n"),
                               "f.yaml", &arena, &file, &err));
    assert_int_equal(file.count, 2);
    assert_int_equal(file.items[0].kind, SETTING_LIST);
    assert_int_equal(file.items[0].count, 3);
    assert_string_equal(file.items[0].words[0], "x");
    assert_string_equal(file.items[0].words[1], "1.0");
    assert_string_equal(file.items[0].words[2], "{\"k\":1}");
    assert_int_equal(file.items[0].line, 2);
    assert_int_equal(file.items[1].line, 7);
    assert_int_equal(file.items[1].count, 0);
    arena_done(&arena);
}

static void test_an_empty_file_sets_nothing(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "# only a remark\n", "---\n", "{}"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct arena arena = {0};
        struct settings_file file;
        struct error err;
        assert_true(settings_parse(sv_from(texts[i]), "f.yaml", &arena, &file, &err));
        assert_int_equal(file.count, 0);
        arena_done(&arena);
    }
}

static void test_what_is_no_mapping_is_refused_with_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"- a", "f.yaml: line 1: not a list of 'flag: value' lines"},
        {"word", "f.yaml: line 1: not a list of 'flag: value' lines"},
        {"a: 1\nb: [1", "f.yaml: line 3: not YAML: did not find expected ',' or ']'"},
        {"a: 1\n? [x]\n: 2", "f.yaml: line 2: a key must be the name of a flag"},
        {"a: 1\n---\nb: 2", "f.yaml: more than one YAML document"},
        {"a: *x", "f.yaml: line 1: not YAML: found undefined alias"},
        {"a: \"x\\0y\"", "f.yaml: line 1: the value holds a NUL character"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena arena = {0};
        struct settings_file file;
        struct error err = {0};
        assert_false(settings_parse(sv_from(cases[i].yaml), "f.yaml", &arena, &file, &err));
        assert_int_equal(err.code, E_USAGE);
        assert_string_equal(err.message, cases[i].message);
        arena_done(&arena);
    }
}

/* Nine levels of nine aliases each would be 387 million words. */
static void test_aliases_that_explode_are_refused(void **state)
{
    (void)state;
    struct buf text = {0};
    struct arena arena = {0};
    struct settings_file file;
    struct error err = {0};
    buf_add_str(&text, "a: &a [x,x,x,x,x,x,x,x,x]\n");
    for (char c = 'b'; c <= 'i'; c++) {
        buf_add_fmt(&text, "%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n", c, c, c - 1, c - 1,
                    c - 1, c - 1, c - 1, c - 1, c - 1, c - 1, c - 1);
    }
    assert_false(settings_parse(buf_sv(&text), "f.yaml", &arena, &file, &err));
    assert_non_null(strstr(err.message, "too large"));
    buf_done(&text);
    arena_done(&arena);
}

static void test_written_text_reads_back_as_itself(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "plain",     "010", "yes", "null", "~",        "1e5",  "a b", "it's", "#x",   "a: b", "",
        "{\"a\":1}", "-1",  "1_0", "x\ny", "\xc3\xa9", "1.50", ".5",  "*x",   "a\\b", "/p/q"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct buf out = {0};
        struct arena arena = {0};
        struct settings_file file;
        struct error err;
        buf_add_str(&out, "a: [");
        settings_write_text(&out, sv_from(texts[i]));
        buf_add_str(&out, "]\n");
        if (!settings_parse(buf_sv(&out), "f.yaml", &arena, &file, &err)) {
            fail_msg("%s: %s", buf_cstr(&out), err.message);
        }
        assert_string_equal(file.items[0].words[0], texts[i]);
        arena_done(&arena);
        buf_done(&out);
    }
}

/* ---- with the option table ------------------------------------------------------------------------------------- */

struct parsed {
    struct config config;
    struct option_parser parser;
    struct error err;
    char text[400]; /* the words */
    char *argv[WORDS_MAX];
    int argc;
};

/* Words between '|'. */
static bool parse(struct parsed *p, const char *line)
{
    *p = (struct parsed){0};
    size_t len = strlen(line);
    assert_true(len < sizeof(p->text));
    memcpy(p->text, line, len + 1);
    if (len > 0) {
        p->argv[p->argc++] = p->text;
    }
    for (char *at = p->text; *at != '\0'; at++) {
        if (*at == '|') {
            *at = '\0';
            assert_true(p->argc < WORDS_MAX);
            p->argv[p->argc++] = at + 1;
        }
    }
    config_init(&p->config);
    return config_parse(&p->config, p->argc, p->argv, &p->parser, &p->err);
}

static void expect(struct parsed *p, const char *line)
{
    if (!parse(p, line)) {
        fail_msg("%s: %s", line, p->err.message);
    }
}

static void expect_extra_body(const char *line, const char *json)
{
    struct parsed p;
    expect(&p, line);
    assert_string_equal(p.config.extra_body, json);
    config_done(&p.config);
}

static void test_dotted_flags_build_one_object(void **state)
{
    (void)state;
    expect_extra_body("--extra-body.a.b|1", "{\"a\":{\"b\":1}}");
    expect_extra_body("--extra_body.a.b=true|--extra-body.a.c|x y",
                      "{\"a\":{\"b\":true,\"c\":\"x y\"}}");
    expect_extra_body("--extra-body.a_b|-1.5", "{\"a_b\":-1.5}");
    expect_extra_body("--extra-body.a|1|--extra-body.a|2", "{\"a\":2}");
    expect_extra_body("--extra-body.a|{\"x\":1}|--extra-body.a.y|null",
                      "{\"a\":{\"x\":1,\"y\":null}}");
    /* over the object that was given whole, wherever it stands */
    expect_extra_body("--extra-body.a.b|1|--extra-body|{\"a\":{\"c\":2},\"d\":3}",
                      "{\"a\":{\"c\":2,\"b\":1},\"d\":3}");
    /* k is 1000, K is 1024; a word that only begins like a number stays a word */
    expect_extra_body("--extra-body.n|16k", "{\"n\":16000}");
    expect_extra_body("--extra-body.n|1.5m", "{\"n\":1500000}");
    expect_extra_body("--extra-body.n|2K", "{\"n\":2048}");
    expect_extra_body("--extra-body.n|3G", "{\"n\":3221225472}");
    expect_extra_body("--extra-body.n|1.5K", "{\"n\":\"1.5K\"}");
    expect_extra_body("--extra-body.n|1.2.3k", "{\"n\":\"1.2.3k\"}");
    /* + makes lists and joins them */
    expect_extra_body("--extra-body.stop+|a,b|--extra-body.stop+|c",
                      "{\"stop\":[\"a\",\"b\",\"c\"]}");
}

static void test_dotted_flags_need_a_row_with_an_object(void **state)
{
    (void)state;
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"--port.a|1", "--port.a: the value of --port is no JSON object that has members"},
        {"--extra-body.a", "--extra-body.a: needs a value; e.g. --extra-body.a 1"},
        {"--extra-body.a|1|--extra-body|{", "--extra-body: '{' is not JSON: "},
        {"--extra-bdy.a|1", "--extra-bdy.a: unknown flag; did you mean '--extra-body'?"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parsed p;
        assert_false(parse(&p, cases[i].line));
        if (strncmp(p.err.message, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("%s: %s", cases[i].line, p.err.message);
        }
        config_done(&p.config);
    }
}

static char path[] = "/tmp/test_settings_XXXXXX.yaml";
static char line[200];

static const char *with_file(const char *yaml, const char *words)
{
    struct error err;
    assert_true(file_write_atomic(path, sv_from(yaml), &err));
    snprintf(line, sizeof(line), "--config|%s%s%s", path, words[0] != '\0' ? "|" : "", words);
    return line;
}

static void test_command_line_beats_file_beats_environment_beats_default(void **state)
{
    (void)state;
    struct parsed p;
    setenv("VLLM_BENCH_NUM_PROMPTS", "1", 1);
    setenv("VLLM_BENCH_SEED", "2", 1);
    setenv("VLLM_BENCH_PORT", "3", 1);
    expect(&p, with_file("seed: 20\nport: 30\n", "--port|300"));
    assert_int_equal(p.config.num_prompts, 1);
    assert_int_equal(p.config.seed, 20);
    assert_int_equal(p.config.port, 300);
    assert_int_equal(p.config.random_input_len, 1024);
    assert_int_equal(p.config.warning_count, 0);
    config_done(&p.config);
    unsetenv("VLLM_BENCH_NUM_PROMPTS");
    unsetenv("VLLM_BENCH_SEED");
    unsetenv("VLLM_BENCH_PORT");
}

static void test_several_values_of_a_stronger_source_replace_those_of_a_weaker(void **state)
{
    (void)state;
    struct parsed p;
    setenv("VLLM_BENCH_METADATA", "a=1\nb=x y\n", 1);
    setenv("VLLM_BENCH_HEADER", "E=1", 1);
    expect(&p, with_file("header: [F=1, G=2]\n", "--goodput|ttft:1"));
    assert_int_equal(p.config.headers.count, 2);
    assert_true(sv_eq(p.config.headers.items[0].key, SV_LIT("F")));
    assert_int_equal(p.config.metadata.count, 2);
    assert_true(sv_eq(p.config.metadata.items[1].value, SV_LIT("x y")));
    config_done(&p.config);
    expect(&p, with_file("header: [F=1, G=2]\n", "--header|C=1"));
    assert_int_equal(p.config.headers.count, 1);
    assert_true(sv_eq(p.config.headers.items[0].key, SV_LIT("C")));
    config_done(&p.config);
    unsetenv("VLLM_BENCH_METADATA");
    unsetenv("VLLM_BENCH_HEADER");
}

static void test_mappings_are_pairs_where_a_flag_takes_pairs(void **state)
{
    (void)state;
    struct parsed p;
    expect(&p, with_file("header: {Authorization: Bearer x y, X-N: 5}\n"
                         "metadata:\n  - a: b\n    c: yes\n  - d=1.5\n  - {e: '', f: ~}\n"
                         "goodput:\n  ttft: 5\n  e2el: 1.5\n",
                         ""));
    const struct config *c = &p.config;
    assert_int_equal(c->headers.count, 2);
    assert_true(sv_eq(c->headers.items[0].key, SV_LIT("Authorization")));
    assert_true(sv_eq(c->headers.items[0].value, SV_LIT("Bearer x y")));
    assert_true(sv_eq(c->headers.items[1].value, SV_LIT("5")));
    assert_int_equal(c->metadata.count, 5);
    assert_true(sv_eq(c->metadata.items[0].value, SV_LIT("b")));
    assert_true(sv_eq(c->metadata.items[1].value, SV_LIT("True")));
    assert_true(sv_eq(c->metadata.items[2].key, SV_LIT("d")));
    assert_int_equal(c->metadata.items[3].value.len, 0);
    assert_true(c->goodput.given[METRIC_TTFT] && c->goodput.limit_ms[METRIC_TTFT] == 5);
    assert_true(c->goodput.given[METRIC_E2EL] && c->goodput.limit_ms[METRIC_E2EL] == 1.5);
    config_done(&p.config);
    expect(&p, with_file("metadata: {}\n", ""));
    assert_int_equal(p.config.metadata.count, 0);
    config_done(&p.config);
}

static void test_switches_are_turned_off_again(void **state)
{
    (void)state;
    struct parsed p;
    expect(&p, with_file("ignore-eos: true\nsave_result: yes\nself-timed: false\n", ""));
    assert_true(p.config.ignore_eos);
    assert_true(p.config.save_result);
    assert_false(p.config.self_timed);
    config_done(&p.config);
    expect(&p, with_file("ignore-eos: true\n", "--no-ignore-eos"));
    assert_false(p.config.ignore_eos);
    config_done(&p.config);
    expect(&p, with_file("self-timed: true\n", "--no-self-timed"));
    assert_false(p.config.self_timed);
    config_done(&p.config);
    setenv("VLLM_BENCH_IGNORE_EOS", "1", 1);
    expect(&p, with_file("ignore-eos: false\n", ""));
    assert_false(p.config.ignore_eos);
    config_done(&p.config);
    expect(&p, "--port|1");
    assert_true(p.config.ignore_eos);
    config_done(&p.config);
    unsetenv("VLLM_BENCH_IGNORE_EOS");
}

static void test_a_general_flag_of_a_weaker_source_does_not_hide_a_special_one(void **state)
{
    (void)state;
    struct parsed p;
    expect(&p, with_file("base-url: http://a:1\ninput-len: 7\n", "--port|2|--random-input-len|9"));
    assert_null(p.config.base_url);
    assert_int_equal(p.config.port, 2);
    assert_int_equal(p.config.input_len, -1);
    assert_int_equal(p.config.random_input_len, 9);
    assert_int_equal(p.config.warning_count, 2);
    config_done(&p.config);
    expect(&p, with_file("port: 2\n", "--base-url|http://a:1"));
    assert_string_equal(p.config.base_url, "http://a:1");
    config_done(&p.config);
}

static void test_faults_of_a_file_name_file_line_and_flag(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *message;
    } cases[] = {
        {"a: 1", "line 1: a: 'vllm-bench serve' has no such flag"},
        {"\nnum-promts: 1", "line 2: num-promts: unknown flag; did you mean '--num-prompts'?"},
        {"port: abc", "line 1: --port: 'abc' is not a whole number; e.g. --port 8000"},
        {"port: yes", "line 1: port: needs a value, but 'True' was given; quote a word"},
        {"ignore-eos: 1", "line 1: ignore-eos: takes true or false, but '1' was given"},
        {"config: x.yaml", "line 1: config: a file of settings cannot name another"},
        {"header: {A: [sekret]}", "line 1: header: the value of 'A' must be one word or text"},
        {"header: {a=b: sekret}", "line 1: header: 'a=b' cannot be written as a=b=..."},
        {"extra-body: {a: 1}\ngoodput: [foo:1]",
         "line 2: --goodput: 'foo' in 'foo:1' is not one of "},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct parsed p;
        assert_false(parse(&p, with_file(cases[i].yaml, "")));
        assert_int_equal(p.err.code, E_USAGE);
        assert_int_equal(strncmp(p.err.message, path, strlen(path)), 0);
        const char *rest = p.err.message + strlen(path) + 2;
        if (strncmp(rest, cases[i].message, strlen(cases[i].message)) != 0) {
            fail_msg("%s", p.err.message);
        }
        config_done(&p.config);
    }
}

static void test_faults_of_the_environment_name_the_variable(void **state)
{
    (void)state;
    struct parsed p;
    setenv("VLLM_BENCH_PORT", "abc", 1);
    assert_false(parse(&p, ""));
    assert_string_equal(p.err.message,
                        "the environment variable VLLM_BENCH_PORT: --port: 'abc' is not "
                        "a whole number; e.g. --port 8000");
    config_done(&p.config);
    unsetenv("VLLM_BENCH_PORT");
    setenv("VLLM_BENCH_PROT", "1", 1);
    setenv("VLLM_BENCH_SEED", "", 1);
    expect(&p, "");
    assert_int_equal(p.config.warning_count, 1);
    assert_string_equal(p.config.warnings[0],
                        "the environment variable VLLM_BENCH_PROT names no flag");
    assert_int_equal(option_given(&p.parser, "seed"), 0);
    config_done(&p.config);
    unsetenv("VLLM_BENCH_PROT");
    unsetenv("VLLM_BENCH_SEED");
}

static void checked_snapshot(struct parsed *p, struct config_snapshot *snapshot)
{
    *snapshot =
        (struct config_snapshot){.before = p->config, .after = &p->config, .parser = &p->parser};
    assert_true(config_check(&p->config, &p->err));
}

static void test_a_dump_says_where_each_setting_came_from_and_no_secret(void **state)
{
    (void)state;
    struct parsed p;
    struct config_snapshot snapshot;
    struct buf out = {0};
    setenv("VLLM_BENCH_SEED", "5", 1);
    expect(&p, with_file("num-prompts: 3\nheader: [A=hidden1]\n",
                         "--base-url|http://me:hidden2@h:1/|--output-len|6"));
    p.config.api_key = "hidden3";
    checked_snapshot(&p, &snapshot);
    config_dump(&snapshot, &out);
    const char *text = buf_cstr(&out);
    static const char *const parts[] = {
        "\nbase-url: 'http://h:1/'                         # command line\n",
        "\nseed: 5                                         # environment VLLM_BENCH_SEED\n",
        "\n# random-output-len: 6                          # derived\n",
        "\n# burstiness: 1                                 # default\n",
        "\n# ignore-eos: true                              # derived\n",
        "line 2; the value is not shown\n",
        "A=***",
    };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (strstr(text, parts[i]) == NULL) {
            fail_msg("without %s:\n%s", parts[i], text);
        }
    }
    assert_null(strstr(text, "hidden"));
    buf_done(&out);
    config_done(&p.config);
    unsetenv("VLLM_BENCH_SEED");
}

/* Beside --mock a --host is refused, beside random prompts a --no-self-timed, though both stand in the dump. */
static void test_a_dump_is_read_back_without_complaint(void **state)
{
    (void)state;
    struct parsed p;
    struct parsed again;
    struct config_snapshot snapshot;
    struct buf out = {0};
    expect(&p, "--mock|--num-prompts|3|--temperature|0");
    checked_snapshot(&p, &snapshot);
    config_dump(&snapshot, &out);
    expect(&again, with_file(buf_cstr(&out), "--dump-config"));
    assert_true(config_check(&again.config, &again.err));
    assert_true(again.config.mock);
    assert_int_equal(again.config.num_prompts, 3);
    assert_int_equal(again.config.warning_count, 0);
    buf_done(&out);
    config_done(&p.config);
    config_done(&again.config);
}

static void test_a_saved_file_gives_the_same_settings_again(void **state)
{
    (void)state;
    struct parsed p;
    struct parsed again;
    struct config_snapshot snapshot;
    expect(&p, "--extra-body.a|it's|--goodput|ttft:1|e2el:2|--random-range-ratio|0.5|--top-k|4|"
               "--request-timeout|90s|--save-result|--label|a: b|--header|K=hidden");
    checked_snapshot(&p, &snapshot);
    assert_true(config_save(&snapshot, path, &p.err));
    snprintf(line, sizeof(line), "--config|%s", path);
    expect(&again, line);
    assert_string_equal(again.config.extra_body, "{\"a\":\"it's\"}");
    assert_true(again.config.goodput.limit_ms[METRIC_E2EL] == 2.0);
    assert_true(again.config.random_range_ratio_output == 0.5);
    assert_int_equal(again.config.sampling.count, 1);
    assert_int_equal(again.config.request_timeout_ns, UINT64_C(90000000000));
    assert_true(again.config.save_result);
    assert_string_equal(again.config.label, "a: b");
    assert_int_equal(again.config.headers.count, 0);
    assert_int_equal(option_given(&again.parser, "ignore-eos"), 0);
    config_done(&again.config);
    config_done(&p.config);
}

static int make_path(void **state)
{
    (void)state;
    int fd = mkstemps(path, 5);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_mean_what_pythons_reader_makes_of_them),
        cmocka_unit_test(test_lists_are_words_and_lines_are_counted),
        cmocka_unit_test(test_an_empty_file_sets_nothing),
        cmocka_unit_test(test_what_is_no_mapping_is_refused_with_its_line),
        cmocka_unit_test(test_aliases_that_explode_are_refused),
        cmocka_unit_test(test_written_text_reads_back_as_itself),
        cmocka_unit_test(test_dotted_flags_build_one_object),
        cmocka_unit_test(test_dotted_flags_need_a_row_with_an_object),
        cmocka_unit_test(test_command_line_beats_file_beats_environment_beats_default),
        cmocka_unit_test(test_several_values_of_a_stronger_source_replace_those_of_a_weaker),
        cmocka_unit_test(test_mappings_are_pairs_where_a_flag_takes_pairs),
        cmocka_unit_test(test_switches_are_turned_off_again),
        cmocka_unit_test(test_a_general_flag_of_a_weaker_source_does_not_hide_a_special_one),
        cmocka_unit_test(test_faults_of_a_file_name_file_line_and_flag),
        cmocka_unit_test(test_faults_of_the_environment_name_the_variable),
        cmocka_unit_test(test_a_dump_says_where_each_setting_came_from_and_no_secret),
        cmocka_unit_test(test_a_dump_is_read_back_without_complaint),
        cmocka_unit_test(test_a_saved_file_gives_the_same_settings_again),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
