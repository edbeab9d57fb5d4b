/* The cache on disk and the part file; the layout is that of huggingface_hub 2.4 (Python) and hf-hub 0.5 (Rust). */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "hub/hub_priv.h"
#include "hub/part.h"

static char folder[] = "/tmp/vb-hub-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int drop_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static int drop_folder(void **state)
{
    (void)state;
    return nftw(folder, drop_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void write_file(const char *name, const char *text)
{
    struct error err;
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    assert_true(file_make_dirs(path, &err));
    *slash = '/';
    assert_true(file_write_atomic(path, sv_from(text), &err));
}

static struct hub_context context(void)
{
    return (struct hub_context){.cache = folder};
}

static void a_commit_is_found_by_ref_or_by_itself(void **state)
{
    (void)state;
    struct hub_context hub = context();
    char commit[HUB_COMMIT_MAX + 1];
    write_file("models--a--b/refs/main", "abc\n");
    write_file("models--a--b/refs/bad", "../../x");
    write_file("models--a--b/snapshots/def/t.json", "x");
    write_file("datasets--a--b/refs/refs/convert/parquet", "123");
    assert_true(hub_cached_commit(&hub, HUB_MODEL, "a/b", NULL, commit));
    assert_string_equal(commit, "abc");
    assert_true(hub_cached_commit(&hub, HUB_MODEL, "a/b", "def", commit));
    assert_string_equal(commit, "def");
    assert_true(hub_cached_commit(&hub, HUB_DATASET, "a/b", "refs/convert/parquet", commit));
    assert_string_equal(commit, "123");
    assert_false(hub_cached_commit(&hub, HUB_MODEL, "a/b", "bad", commit));
    assert_false(hub_cached_commit(&hub, HUB_MODEL, "a/b", "../main", commit));
    assert_false(hub_cached_commit(&hub, HUB_MODEL, "a/c", NULL, commit));
}

static void a_link_goes_up_once_more_for_each_folder(void **state)
{
    (void)state;
    struct hub_context hub = context();
    struct hub_file file = {HUB_MODEL, "l/k", NULL, "one/two/t.json"};
    struct error err;
    struct buf path = {0};
    char target[100] = "";
    write_file("models--l--k/blobs/etag", "content");
    assert_false(hub_find_cached(&hub, &file, &path));
    assert_true(hub_link(&hub, &file, "c0", "etag", &err));
    assert_true(hub_find_cached(&hub, &file, &path));
    assert_true(readlink(buf_cstr(&path), target, sizeof(target) - 1) > 0);
    assert_string_equal(target, "../../../../blobs/etag");
    /* Another commit: the ref moves on, the old snapshot stays. */
    assert_true(hub_link(&hub, &file, "c1", "etag", &err));
    file.revision = "c0";
    assert_true(hub_find_cached(&hub, &file, &path));
    char commit[HUB_COMMIT_MAX + 1];
    assert_true(hub_cached_commit(&hub, HUB_MODEL, "l/k", NULL, commit));
    assert_string_equal(commit, "c1");
    buf_done(&path);
}

static void a_dangling_link_is_replaced(void **state)
{
    (void)state;
    struct hub_context hub = context();
    struct hub_file file = {HUB_MODEL, "d/l", NULL, "t"};
    struct error err;
    struct buf path = {0};
    assert_true(hub_link(&hub, &file, "c0", "gone", &err));
    assert_false(hub_find_cached(&hub, &file, &path));
    write_file("models--d--l/blobs/here", "content");
    assert_true(hub_link(&hub, &file, "c0", "here", &err));
    assert_true(hub_find_cached(&hub, &file, &path));
    buf_done(&path);
}

static void what_is_known_to_be_absent(void **state)
{
    (void)state;
    struct hub_context hub = context();
    struct hub_file file = {HUB_MODEL, "n/e", NULL, "t.json"};
    assert_false(hub_known_absent(&hub, &file));
    hub_note_absent(&hub, &file, "c0");
    assert_true(hub_known_absent(&hub, &file));
    file.name = "other.json";
    assert_false(hub_known_absent(&hub, &file));
}

static void names_of_the_cache_when_offline(void **state)
{
    (void)state;
    struct hub_context hub = context();
    struct hub_names names;
    struct error err;
    hub.offline = true;
    write_file("datasets--o--l/refs/main", "c0");
    write_file("datasets--o--l/snapshots/c0/b/x.parquet", "x");
    write_file("datasets--o--l/snapshots/c0/a.json", "x");
    assert_int_equal(hub_list_files(&hub, HUB_DATASET, "o/l", NULL, &names, &err), HUB_OK);
    assert_int_equal(names.count, 2);
    assert_string_equal(names.items[0].ptr, "a.json");
    assert_string_equal(names.items[1].ptr, "b/x.parquet");
    hub_names_done(&names);
    assert_int_equal(hub_list_files(&hub, HUB_DATASET, "o/none", NULL, &names, &err), HUB_OFFLINE);
}

/* ---- parts -------------------------------------------------------------------------------------------------------- */

static void a_part_goes_on_where_it_was_saved(void **state)
{
    (void)state;
    struct part p;
    struct error err;
    struct buf text = {0};
    char path[100];
    char target[100];
    snprintf(path, sizeof(path), "%s/x.part", folder);
    snprintf(target, sizeof(target), "%s/x", folder);
    assert_true(part_open(&p, path, 10, false, &err));
    assert_true(part_add(&p, SV_LIT("0123"), &err));
    assert_true(part_save(&p, &err));
    assert_true(part_add(&p, SV_LIT("zz"), &err)); /* not saved */
    part_close(&p);
    assert_true(file_read(path, &text, &err));
    assert_int_equal(text.len, 18);
    assert_memory_equal(text.ptr + 10, "\4\0\0\0\0\0\0\0", 8);
    assert_true(part_open(&p, path, 10, true, &err));
    assert_int_equal(p.done, 4);
    assert_true(part_add(&p, SV_LIT("456789"), &err));
    assert_false(part_add(&p, SV_LIT("!"), &err));
    char hex[SHA256_HEX + 1];
    sha256_end(&p.hash, hex);
    /* sha256sum of "0123456789" */
    assert_string_equal(hex, "84d89877f0d4041efb6bf91a16f0248f2fd573e6af05c19f96bedb9f882f7882");
    assert_true(part_finish(&p, target, &err));
    buf_reset(&text);
    assert_true(file_read(target, &text, &err));
    assert_string_equal(buf_cstr(&text), "0123456789");
    assert_false(file_exists(path));
    buf_done(&text);
}

static void a_part_of_another_size_is_begun_anew(void **state)
{
    (void)state;
    struct part p;
    struct error err;
    char path[100];
    snprintf(path, sizeof(path), "%s/y.part", folder);
    assert_true(part_open(&p, path, 10, false, &err));
    assert_true(part_add(&p, SV_LIT("0123"), &err));
    assert_true(part_save(&p, &err));
    part_close(&p);
    assert_true(part_open(&p, path, 11, false, &err));
    assert_int_equal(p.done, 0);
    part_drop(&p);
    assert_false(file_exists(path));
}

static void a_disk_that_is_too_small_is_told_first(void **state)
{
    (void)state;
    struct part p;
    struct error err;
    char path[100];
    snprintf(path, sizeof(path), "%s/z.part", folder);
    assert_false(part_open(&p, path, HUB_FILE_MAX, false, &err));
    assert_non_null(strstr(err.message, "MB left"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_commit_is_found_by_ref_or_by_itself),
        cmocka_unit_test(a_link_goes_up_once_more_for_each_folder),
        cmocka_unit_test(a_dangling_link_is_replaced),
        cmocka_unit_test(what_is_known_to_be_absent),
        cmocka_unit_test(names_of_the_cache_when_offline),
        cmocka_unit_test(a_part_goes_on_where_it_was_saved),
        cmocka_unit_test(a_part_of_another_size_is_begun_anew),
        cmocka_unit_test(a_disk_that_is_too_small_is_told_first),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
