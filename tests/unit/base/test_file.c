/* Tests of src/base/file, in a folder of their own below the temporary folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[128];

static const char *path_of(char out[256], const char *name)
{
    snprintf(out, 256, "%s/%s", folder, name);
    return out;
}

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/vb-file-XXXXXX",
             base != NULL && strlen(base) < 80 ? base : "/tmp");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int count_entries(void)
{
    DIR *dir = opendir(folder);
    int count = -2; /* . and .. */
    while (readdir(dir) != NULL)
        count++;
    closedir(dir);
    return count;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"a", "b", "log", "link", "empty", "x/y/z", "x/y", "x"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256];
        remove(path_of(path, names[i]));
    }
    return rmdir(folder);
}

static void check_content(const char *path, const char *want)
{
    struct error err;
    struct buf got = {0};
    assert_true(file_read(path, &got, &err));
    assert_string_equal(buf_cstr(&got), want);
    assert_int_equal(got.len, strlen(want));
    buf_done(&got);
}

static void test_write_then_read_gives_the_same_bytes(void **state)
{
    (void)state;
    char path[256];
    struct error err;
    path_of(path, "a");
    assert_true(file_write_atomic(path, SV_LIT("first"), &err));
    check_content(path, "first");
    assert_int_equal(chmod(path, 0640), 0);
    assert_true(file_write_atomic(path, SV_LIT("second, longer"), &err));
    check_content(path, "second, longer");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640); /* kept */
    assert_int_equal(count_entries(), 1);        /* no temporary file is left */
    assert_true(file_exists(path));
    assert_false(file_is_dir(path));
}

static void test_write_through_a_link_keeps_the_link(void **state)
{
    (void)state;
    char path[256], link[256];
    struct error err;
    path_of(path, "a");
    path_of(link, "link");
    assert_int_equal(symlink(path, link), 0);
    assert_true(file_write_atomic(link, SV_LIT("through"), &err));
    check_content(path, "through");
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_true(file_write_atomic("/dev/null", SV_LIT("lost"), &err));
}

static void test_pieces_become_a_file_at_the_end(void **state)
{
    (void)state;
    char path[256];
    struct error err;
    struct file_out out;
    path_of(path, "a");
    assert_true(file_write_atomic(path, SV_LIT("old"), &err));
    assert_true(file_out_begin(&out, path, &err));
    file_out_add(&out, SV_LIT("one "));
    file_out_add(&out, SV_LIT("two"));
    check_content(path, "old");
    assert_true(file_out_end(&out, &err));
    check_content(path, "one two");
}

static void test_a_link_to_nothing_yet_makes_its_target(void **state)
{
    (void)state;
    char path[256], link[256];
    struct error err;
    struct stat info;
    path_of(path, "b");
    path_of(link, "empty");
    assert_int_equal(symlink("b", link), 0);
    assert_true(file_write_atomic(link, SV_LIT("made"), &err));
    check_content(path, "made");
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    unlink(link);
    unlink(path);
}

static void test_a_pipe_is_written_in_place(void **state)
{
    (void)state;
    char path[256], got[16] = "";
    struct error err;
    struct stat info;
    path_of(path, "b");
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_true(file_write_atomic(path, SV_LIT("through"), &err));
    assert_int_equal(read(fd, got, sizeof(got) - 1), 7);
    assert_string_equal(got, "through");
    assert_int_equal(lstat(path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    close(fd);
    unlink(path);
}

static void test_a_new_file_never_takes_the_place_of_another(void **state)
{
    (void)state;
    char path[256], link[256];
    struct error err;
    path_of(path, "b");
    path_of(link, "empty");
    assert_int_equal(symlink("b", link), 0);
    assert_false(file_write_new(link, SV_LIT("x"), &err));
    assert_false(file_exists(path));
    assert_true(file_write_new(path, SV_LIT("mine"), &err));
    assert_false(file_write_new(path, SV_LIT("other"), &err));
    assert_int_equal(err.sys, EEXIST);
    check_content(path, "mine");
    unlink(link);
    unlink(path);
}

/* A limit of 100 bytes a file stands for a full disk. */
static void test_a_record_that_does_not_fit_is_taken_back(void **state)
{
    (void)state;
    char path[256];
    struct error err;
    struct rlimit old, small;
    static char record[90];
    memset(record, 'r', sizeof(record));
    path_of(path, "b");
    assert_true(file_append_record(path, SV_LIT("first record"), &err));
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){.rlim_cur = 100, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool appended = file_append_record(path, sv_make(record, sizeof(record)), &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, handler);
    assert_false(appended);
    assert_int_equal(err.sys, EFBIG);
    check_content(path, "first record");
    unlink(path);
}

static void test_read_appends_to_the_buffer(void **state)
{
    (void)state;
    char path[256];
    struct error err;
    struct buf got = {0};
    path_of(path, "b");
    assert_true(file_write_atomic(path, SV_LIT("tail"), &err));
    buf_add_str(&got, "head ");
    assert_true(file_read(path, &got, &err));
    assert_string_equal(buf_cstr(&got), "head tail");
    buf_done(&got);
}

static void test_read_takes_a_pipe_to_its_end(void **state)
{
    (void)state;
    int ends[2];
    char path[64];
    struct error err;
    struct buf got = {0};
    static char block[50000];
    memset(block, 'x', sizeof(block));
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], block, sizeof(block)), sizeof(block));
    close(ends[1]);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
    assert_true(file_read(path, &got, &err));
    assert_int_equal(got.len, sizeof(block));
    buf_done(&got);
    close(ends[0]);
}

static void test_errors_name_the_path_and_keep_the_output(void **state)
{
    (void)state;
    char path[256];
    struct error err = {0};
    struct buf got = {0};
    struct file_map map;
    path_of(path, "absent");
    buf_add_str(&got, "kept");
    assert_false(file_read(path, &got, &err));
    assert_int_equal(err.code, E_IO);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "No such file"));
    assert_false(file_read(folder, &got, &err));
    assert_string_equal(buf_cstr(&got), "kept");
    buf_done(&got);
    assert_false(file_map_open(path, &map, &err));
    assert_false(file_map_open(folder, &map, &err));
    assert_false(file_write_atomic(folder, SV_LIT("x"), &err));
    assert_false(file_write_atomic("/nonexistent/x", SV_LIT("x"), &err));
    assert_non_null(strstr(err.message, "'/nonexistent/x'"));
    assert_false(file_append_record("/nonexistent/x", SV_LIT("x"), &err));
    assert_false(file_exists(path));
}

static void test_records_are_separated_by_newlines(void **state)
{
    (void)state;
    char path[256];
    struct error err;
    path_of(path, "log");
    assert_true(file_append_record(path, SV_LIT("{\"a\":1}"), &err));
    check_content(path, "{\"a\":1}");
    assert_true(file_append_record(path, SV_LIT("{\"a\":2}"), &err));
    check_content(path, "{\"a\":1}\n{\"a\":2}");
    remove(path);
}

static void test_records_of_several_processes_never_mix(void **state)
{
    (void)state;
    enum { WRITERS = 4, EACH = 50, LENGTH = 999 };
    char path[256];
    path_of(path, "log");
    for (int w = 0; w < WRITERS; w++) {
        if (fork() == 0) {
            struct error err;
            char line[LENGTH];
            memset(line, 'a' + w, LENGTH);
            for (int i = 0; i < EACH; i++) {
                if (!file_append_record(path, sv_make(line, LENGTH), &err))
                    _Exit(1);
            }
            _Exit(0);
        }
    }
    for (int w = 0; w < WRITERS; w++) {
        int status = 1;
        wait(&status);
        assert_int_equal(status, 0);
    }
    struct error err;
    struct buf got = {0};
    assert_true(file_read(path, &got, &err));
    assert_int_equal(got.len, WRITERS * EACH * (LENGTH + 1) - 1);
    struct sv rest = buf_sv(&got), line;
    while (sv_split(&rest, '\n', &line)) {
        assert_int_equal(line.len, LENGTH);
        for (size_t i = 1; i < line.len; i++)
            assert_int_equal(line.ptr[i], line.ptr[0]);
    }
    buf_done(&got);
    remove(path);
}

static void test_folders_are_made_with_their_parents(void **state)
{
    (void)state;
    char path[256], file[256];
    struct error err;
    path_of(path, "x/y/z");
    assert_true(file_make_dirs(path, &err));
    assert_true(file_is_dir(path));
    assert_true(file_make_dirs(path, &err)); /* again */
    assert_true(file_make_dirs("/", &err));
    path_of(file, "a");
    assert_false(file_make_dirs(file, &err));
    assert_non_null(strstr(err.message, file));
    char below[512];
    snprintf(below, sizeof(below), "%s/sub/", file);
    assert_false(file_make_dirs(below, &err));
}

static void test_map_shows_the_content(void **state)
{
    (void)state;
    char path[256];
    struct error err;
    struct file_map map;
    path_of(path, "b");
    assert_true(file_map_open(path, &map, &err));
    assert_true(sv_eq(map.view, SV_LIT("tail")));
    file_map_close(&map);
    file_map_close(&map); /* twice does nothing */
    path_of(path, "empty");
    assert_true(file_write_atomic(path, sv_make(NULL, 0), &err));
    assert_true(file_map_open(path, &map, &err));
    assert_int_equal(map.view.len, 0);
    file_map_close(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_then_read_gives_the_same_bytes),
        cmocka_unit_test(test_write_through_a_link_keeps_the_link),
        cmocka_unit_test(test_pieces_become_a_file_at_the_end),
        cmocka_unit_test(test_a_link_to_nothing_yet_makes_its_target),
        cmocka_unit_test(test_a_pipe_is_written_in_place),
        cmocka_unit_test(test_a_new_file_never_takes_the_place_of_another),
        cmocka_unit_test(test_a_record_that_does_not_fit_is_taken_back),
        cmocka_unit_test(test_read_appends_to_the_buffer),
        cmocka_unit_test(test_read_takes_a_pipe_to_its_end),
        cmocka_unit_test(test_errors_name_the_path_and_keep_the_output),
        cmocka_unit_test(test_records_are_separated_by_newlines),
        cmocka_unit_test(test_records_of_several_processes_never_mix),
        cmocka_unit_test(test_folders_are_made_with_their_parents),
        cmocka_unit_test(test_map_shows_the_content),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
