/* The option table of `serve` against the full list of the peers' flags (tests/data/flags.tsv): none missing, aliases
 * and defaults equal, and the defaults that the help shows are those that config_init sets. */
#include "base/num.h"
#include "config/config.h"
#include "config/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

struct flag {
    struct sv name, aliases, def;
};

/* Next line of the list that is no comment. */
static bool next_flag(struct sv *rest, struct flag *flag)
{
    struct sv line;
    while (sv_split(rest, '\n', &line)) {
        if (line.len > 0 && line.ptr[0] == '-') {
            assert_true(sv_split(&line, '\t', &flag->name));
            assert_true(sv_split(&line, '\t', &flag->aliases));
            assert_true(sv_split(&line, '\t', &flag->def));
            flag->name = sv_skip(flag->name, 2);
            return true;
        }
    }
    return false;
}

static bool built_in(struct sv name)
{
    return sv_eq(name, SV_LIT("help")) || sv_eq(name, SV_LIT("version"));
}

static char *read_list(void)
{
    static char text[32768];
    FILE *f = fopen(TEST_DATA "/flags.tsv", "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    assert_true(n > 0 && n < sizeof(text) - 1);
    text[n] = '\0';
    return text;
}

static void test_every_flag_of_the_peers_is_a_row(void **state)
{
    (void)state;
    size_t count;
    const struct option_row *rows = config_options(&count);
    struct sv rest = sv_from(read_list());
    struct flag flag;
    size_t seen = 0;
    while (next_flag(&rest, &flag)) {
        seen++;
        if (!built_in(flag.name) && option_find(rows, count, flag.name) == NULL) {
            fail_msg("--" SV_FMT " is missing", SV_ARG(flag.name));
        }
        if (flag.aliases.len > 1 && !built_in(flag.name)) {
            struct sv alias = sv_skip(flag.aliases, 2);
            if (sv_eq(alias, SV_LIT("no-self-timed"))) {
                continue; /* no other name but the opposite: a row of its own */
            }
            assert_ptr_equal(option_find(rows, count, alias), option_find(rows, count, flag.name));
        }
    }
    assert_int_equal(seen, 135);
}

static void test_rows_that_no_peer_has_are_marked_as_our_own(void **state)
{
    (void)state;
    size_t count;
    const struct option_row *rows = config_options(&count);
    const char *list = read_list();
    for (size_t i = 0; i < count; i++) {
        struct sv rest = sv_from(list);
        struct flag flag = {0};
        bool known = false;
        while (!known && next_flag(&rest, &flag)) {
            known = sv_eq(flag.name, sv_from(rows[i].name));
        }
        if (known == ((rows[i].flags & OPTION_OWN) != 0)) {
            fail_msg("--%s: is it our own?", rows[i].name);
        }
    }
}

static bool same_default(const char *text, struct sv expected)
{
    double a;
    double b;
    if (sv_eq(expected, SV_LIT("none")) || sv_eq(expected, SV_LIT("off")) ||
        sv_eq(expected, SV_LIT("derived"))) {
        return text == NULL;
    }
    if (text == NULL) {
        return false;
    }
    return sv_eq(sv_from(text), expected) ||
           (num_parse_double(sv_from(text), &a) && num_parse_double(expected, &b) && a == b);
}

static void test_defaults_are_those_of_the_peers(void **state)
{
    (void)state;
    size_t count;
    const struct option_row *rows = config_options(&count);
    struct sv rest = sv_from(read_list());
    struct flag flag;
    while (next_flag(&rest, &flag)) {
        const struct option_row *row = option_find(rows, count, flag.name);
        if (row != NULL && !same_default(row->default_text, flag.def)) {
            fail_msg("--%s: default '%s', the peers' is '" SV_FMT "'", row->name,
                     row->default_text != NULL ? row->default_text : "(none)", SV_ARG(flag.def));
        }
    }
}

static void test_no_row_is_listed_twice_and_groups_stand_together(void **state)
{
    (void)state;
    size_t count;
    const struct option_row *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(option_find(rows, count, sv_from(rows[i].name)), &rows[i]);
        assert_non_null(rows[i].help);
        for (size_t j = 0; i > 0 && j + 1 < i; j++) {
            if (strcmp(rows[j].group, rows[i].group) == 0) {
                assert_string_equal(rows[i - 1].group, rows[i].group);
            }
        }
    }
}

static void test_short_help_shows_twenty_flags(void **state)
{
    (void)state;
    size_t count;
    size_t shown = 0;
    const struct option_row *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        shown += (rows[i].flags & OPTION_SHORT) != 0;
    }
    assert_int_equal(shown, 20);
}

/* Text fields compare by text, all others by their bytes. */
static bool same_field(const struct option_row *row, const struct config *a, const struct config *b)
{
    const char *x = (const char *)a + row->offset;
    const char *y = (const char *)b + row->offset;
    switch (row->kind) {
    case OPTION_STRING:
    case OPTION_CHOICE: {
        const char *const *s = (const void *)x;
        const char *const *t = (const void *)y;
        return strcmp(*s, *t) == 0;
    }
    case OPTION_INT:
    case OPTION_UINT:
        return memcmp(x, y, sizeof(int)) == 0;
    case OPTION_U64:
    case OPTION_I64:
    case OPTION_DOUBLE:
    case OPTION_DURATION_S:
    case OPTION_DURATION_MS:
        return memcmp(x, y, sizeof(uint64_t)) == 0;
    case OPTION_CALLBACK:
        return memcmp(a->metric_selected, b->metric_selected, sizeof(a->metric_selected)) == 0 &&
               a->percentile_count == b->percentile_count &&
               a->percentiles[0] == b->percentiles[0] &&
               a->itl_thresholds_ms[0] == b->itl_thresholds_ms[0] &&
               a->itl_thresholds_ms[1] == b->itl_thresholds_ms[1] &&
               a->random_range_ratio_input == b->random_range_ratio_input &&
               a->random_range_ratio_output == b->random_range_ratio_output;
    case OPTION_SWITCH:
    case OPTION_SWITCH_OFF:
    case OPTION_KIND_COUNT:
        break;
    }
    return true;
}

static void test_defaults_of_the_table_are_those_of_config_init(void **state)
{
    (void)state;
    size_t count;
    const struct option_row *rows = config_options(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].default_text == NULL) {
            continue;
        }
        struct config fresh;
        struct config given;
        struct option_parser parser;
        struct error err;
        char flag[100];
        char value[100];
        char *argv[] = {flag, value};
        config_init(&fresh);
        config_init(&given);
        snprintf(flag, sizeof(flag), "--%s", rows[i].name);
        snprintf(value, sizeof(value), "%s", rows[i].default_text);
        assert_true(config_parse(&given, 2, argv, &parser, &err));
        if (!same_field(&rows[i], &fresh, &given)) {
            fail_msg("--%s: the default of the help is not that of config_init", rows[i].name);
        }
        config_done(&fresh);
        config_done(&given);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_flag_of_the_peers_is_a_row),
        cmocka_unit_test(test_rows_that_no_peer_has_are_marked_as_our_own),
        cmocka_unit_test(test_defaults_are_those_of_the_peers),
        cmocka_unit_test(test_no_row_is_listed_twice_and_groups_stand_together),
        cmocka_unit_test(test_short_help_shows_twenty_flags),
        cmocka_unit_test(test_defaults_of_the_table_are_those_of_config_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
