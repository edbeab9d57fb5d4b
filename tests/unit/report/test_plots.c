/* Names and places of the two files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "fixture.h"
#include "report/plots.h"

static struct fixture f;
static char folder[] = "/tmp/vb-plots-XXXXXX";
static struct plot_outcome o[PLOT_COUNT];

static int setup(void **state)
{
    (void)state;
    fixture_begin(&f);
    memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
    f.config.plot_timeline = f.config.plot_dataset_stats = true;
    return mkdtemp(folder) == NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    return remove(path);
}

static int teardown(void **state)
{
    (void)state;
    fixture_end(&f);
    return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static char *in_folder(const char *name)
{
    static char path[2][200];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof(path[turn]), "%s/%s", folder, name);
    return path[turn];
}

static void write_plots(const char *saved, const char *suffix)
{
    plots_write(&f.report, NULL, &(struct plots_place){saved, suffix}, o);
}

/* What Python 3.12's Path(name).with_suffix(".timeline.html") gives. */
static void test_the_ending_is_replaced_as_python_does(void **state)
{
    (void)state;
    static const char *const names[][2] = {
        {"run.json", "run.timeline.html"},
        {"a.b.json", "a.b.timeline.html"},
        {"plain", "plain.timeline.html"},
        {".hidden", ".hidden.timeline.html"},
        {"vllm-10.0qps-m-20261130-075542.json", "vllm-10.0qps-m-20261130-075542.timeline.html"},
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        f.config.result_dir = folder;
        f.config.result_filename = names[i][0];
        write_plots(NULL, NULL);
        assert_true(o[0].wanted && o[0].written && o[1].written);
        assert_string_equal(o[0].path, in_folder(names[i][1]));
        assert_true(file_exists(o[0].path) && file_exists(o[1].path));
        plots_done(o);
    }
}

static void test_files_stand_beside_the_saved_result(void **state)
{
    (void)state;
    write_plots(in_folder("x-2.json"), "-run3");
    assert_string_equal(o[0].path, in_folder("x-2-run3.timeline.html"));
    assert_string_equal(o[1].path, in_folder("x-2-run3.dataset_stats.png"));
    assert_true(file_exists(o[0].path) && file_exists(o[1].path));
    plots_done(o);
}

static void test_automatic_names_are_never_written_over(void **state)
{
    (void)state;
    struct error err;
    struct buf content = {0};
    f.config.result_dir = in_folder("new");
    write_plots(NULL, NULL);
    assert_string_equal(o[0].path,
                        in_folder("new/vllm-infqps-mock-model-20261130-075542.timeline.html"));
    plots_done(o);
    /* one of the two names is enough to be taken */
    assert_int_equal(unlink(in_folder("new/vllm-infqps-mock-model-20261130-075542.timeline.html")),
                     0);
    f.config.result_dir = in_folder("new");
    write_plots(NULL, NULL);
    assert_string_equal(o[0].path,
                        in_folder("new/vllm-infqps-mock-model-20261130-075542-2.timeline.html"));
    assert_string_equal(
        o[1].path, in_folder("new/vllm-infqps-mock-model-20261130-075542-2.dataset_stats.png"));
    assert_false(
        file_exists(in_folder("new/vllm-infqps-mock-model-20261130-075542.timeline.html")));
    assert_true(file_read(o[1].path, &content, &err) && content.len > 1000);
    buf_done(&content);
    plots_done(o);
}

static void test_nothing_wanted_writes_nothing(void **state)
{
    (void)state;
    f.config.plot_timeline = false;
    f.config.result_dir = folder;
    f.config.result_filename = "x.json";
    write_plots(NULL, NULL);
    assert_true(!o[0].wanted && !o[0].written && o[1].written);
    assert_false(file_exists(in_folder("x.timeline.html")));
    plots_done(o);
    f.config.plot_dataset_stats = false;
    write_plots(NULL, NULL);
    assert_true(!o[0].wanted && !o[1].wanted);
    plots_done(o);
}

static void test_failures_are_told(void **state)
{
    (void)state;
    struct error err;
    assert_true(file_write_atomic(in_folder("file"), SV_LIT("x"), &err));
    f.config.result_dir = in_folder("file");
    write_plots(NULL, NULL);
    assert_true(!o[0].written && strstr(o[0].error.message, "/file") != NULL);
    assert_false(o[1].written);
    plots_done(o);
    f.config.result_dir = folder;
    for (size_t i = 0; i < 3; i++)
        f.records[i].sent = false;
    write_plots(NULL, NULL);
    assert_true(!o[0].written && strstr(o[0].error.message, "no request was sent") != NULL);
    assert_false(file_exists(o[0].path)); /* no empty file is left */
    plots_done(o);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_the_ending_is_replaced_as_python_does),
        TEST(test_files_stand_beside_the_saved_result),
        TEST(test_automatic_names_are_never_written_over),
        TEST(test_nothing_wanted_writes_nothing),
        TEST(test_failures_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
