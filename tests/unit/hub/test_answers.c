/* JSON answers in the forms that the hub's and the datasets server's documentation shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hub/answers.h"

static void a_listing_is_sorted_and_keeps_inside(void **state)
{
    (void)state;
    struct hub_names names;
    struct error err;
    size_t left_out;
    assert_true(hub_parse_listing(
        SV_LIT("{\"id\":\"a/b\",\"siblings\":[{\"rfilename\":\"b/x\"},{\"rfilename\":\"../e\"},"
               "{\"rfilename\":\"a\"},{\"rfilename\":\"/e\"},{\"rfilename\":7},{},"
               "{\"rfilename\":\"b\"}]}"),
        &names, &left_out, &err));
    assert_int_equal(names.count, 3);
    assert_string_equal(names.items[0].ptr, "a");
    assert_string_equal(names.items[1].ptr, "b");
    assert_string_equal(names.items[2].ptr, "b/x");
    assert_int_equal(left_out, 4);
    hub_names_done(&names);
    const char *const bad[] = {"", "[]", "{}", "{\"siblings\":{}}", "{\"siblings\":[}"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(hub_parse_listing(sv_from(bad[i]), &names, &left_out, &err));
}

#define INFO                                                                                       \
    "{\"dataset_info\":{\"main\":{\"splits\":{\"test\":{\"num_examples\":3},\"train\":{}}},"       \
    "\"socratic\":{\"splits\":{\"dev\":{},\"validation\":{}}},\"odd\":{\"splits\":{\"x\":{},"      \
    "\"y\":{}}},"                                                                                  \
    "\"none\":{}}}"

static void check_choice(const char *text, const char *config, const char *split, const char *want)
{
    struct datasets_info info;
    struct error err;
    struct sv c;
    struct sv s;
    char got[100];
    assert_true(hub_parse_info(sv_from(text), &info, &err));
    bool ok = datasets_info_choose(&info, config, split, &c, &s, &err);
    if (ok)
        snprintf(got, sizeof(got), "%s %s", c.ptr, s.ptr);
    else
        snprintf(got, sizeof(got), "%s", "-");
    assert_string_equal(got, want);
    if (!ok)
        assert_int_equal(err.code, E_CONFIG);
    datasets_info_done(&info);
}

static void the_choice_of_configuration_and_split(void **state)
{
    (void)state;
    check_choice(INFO, NULL, NULL, "main train");
    check_choice(INFO, NULL, "test", "main test");
    check_choice(INFO, "socratic", NULL, "socratic validation");
    check_choice(INFO, "socratic", "dev", "socratic dev");
    check_choice(INFO, "odd", NULL, "odd x");
    check_choice(INFO, "odd", "train", "-");
    check_choice(INFO, "none", NULL, "-");
    check_choice(INFO, "nothing", NULL, "-");
    check_choice("{\"dataset_info\":{\"a\":{\"splits\":{\"train\":{}}},"
                 "\"default\":{\"splits\":{\"test\":{}}}}}",
                 NULL, NULL, "default test");
}

static void what_there_is_is_named(void **state)
{
    (void)state;
    struct datasets_info info;
    struct error err;
    struct sv c;
    struct sv s;
    assert_true(hub_parse_info(SV_LIT(INFO), &info, &err));
    assert_false(datasets_info_choose(&info, "nothing", NULL, &c, &s, &err));
    assert_non_null(strstr(err.message, "'main', 'socratic', 'odd', 'none'"));
    assert_false(datasets_info_choose(&info, "socratic", "train", &c, &s, &err));
    assert_non_null(strstr(err.message, "'dev', 'validation'"));
    datasets_info_done(&info);
    assert_false(hub_parse_info(SV_LIT("{\"dataset_info\":{}}"), &info, &err));
    assert_false(hub_parse_info(SV_LIT("{\"dataset_info\":[]}"), &info, &err));
}

#define BASE "https://huggingface.co/datasets/a/b/resolve/"

static void files_in_parquet_form(void **state)
{
    (void)state;
    struct hub_names names;
    struct error err;
    const struct sv text = SV_LIT(
        "{\"parquet_files\":["
        "{\"config\":\"c\",\"split\":\"train\",\"url\":\"" BASE
        "refs%2Fconvert%2Fparquet/c/train/0001.parquet\"},"
        "{\"config\":\"c\",\"split\":\"partial-train\",\"url\":\"" BASE
        "refs/convert/parquet/c/partial-train/0000.parquet?download=true\"},"
        "{\"config\":\"c\",\"split\":\"test\",\"url\":\"" BASE
        "refs%2fconvert%2fparquet/c/test/0000.parquet\"},"
        "{\"config\":\"other\",\"split\":\"train\",\"url\":\"elsewhere\"}],\"partial\":false}");
    assert_true(hub_parse_parquet(text, "c", "train", &names, &err));
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0].ptr, "c/partial-train/0000.parquet");
    assert_string_equal(names.items[1].ptr, "c/train/0001.parquet");
    hub_names_done(&names);
    assert_true(hub_parse_parquet(text, "c", "test", &names, &err));
    assert_int_equal(names.count, 1);
    hub_names_done(&names);
    assert_true(hub_parse_parquet(text, "c", "rain", &names, &err));
    assert_int_equal(names.count, 0);
    hub_names_done(&names);
    /* "elsewhere" is no place in the repository. */
    assert_false(hub_parse_parquet(text, "other", "train", &names, &err));
    assert_false(hub_parse_parquet(
        SV_LIT("{\"parquet_files\":[{\"config\":\"c\",\"split\":\"s\",\"url\":\"" BASE
               "refs%2Fconvert%2Fparquet/..%2F..%2Fevil\"}]}"),
        "c", "s", &names, &err));
    assert_false(hub_parse_parquet(SV_LIT("{\"parquet_files\":[{\"config\":\"c\"}]}"), "c", "s",
                                   &names, &err));
}

static void rows_of_a_page(void **state)
{
    (void)state;
    struct hub_rows_page page;
    struct buf out = {0};
    struct error err;
    const struct sv text =
        SV_LIT("{\"rows\":[{\"row_idx\":0,\"row\":{\"a\": 1.50, \"b\":[null,\"\\u00e4\"]},"
               "\"truncated_cells\":[]},"
               "{\"row\":{},\"truncated_cells\":[\"a\"]}],\"num_rows_total\":880}");
    assert_true(hub_parse_rows(text, 100, &out, &page, &err));
    assert_string_equal(buf_cstr(&out), "{\"a\":1.50,\"b\":[null,\"\xC3\xA4\"]},\n{}");
    assert_int_equal(page.count, 2);
    assert_int_equal(page.total, 880);
    assert_int_equal(page.cut, 1);
    assert_true(hub_parse_rows(text, 1, &out, &page, &err));
    assert_int_equal(page.count, 1);
    size_t before = out.len;
    assert_false(
        hub_parse_rows(SV_LIT("{\"rows\":[{\"row\":{}},{\"row\":7}]}"), 100, &out, &page, &err));
    assert_int_equal(out.len, before);
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listing_is_sorted_and_keeps_inside),
        cmocka_unit_test(the_choice_of_configuration_and_split),
        cmocka_unit_test(what_there_is_is_named),
        cmocka_unit_test(files_in_parquet_form),
        cmocka_unit_test(rows_of_a_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
