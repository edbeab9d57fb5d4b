/* Which files hold a split, by card and by names.  The choices are those of `datasets` 5.2.0 (data_files.py); each case
 * can be checked by hand against the patterns there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "datasets/hf_layout.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_patterns_match_as_in_python(void **state)
{
    static const struct {
        const char *pattern, *name;
        bool match;
    } cases[] = {
        {"**", "a", true},
        {"**", "a/b/c", true},
        {"**/train/**", "train/x.json", true},
        {"**/train/**", "data/train/y/x.json", true},
        {"**/train/**", "data/trainy/x.json", false},
        {"**/train/**", "train", false},
        {"**/train[-._ 0-9]*", "train.json", true},
        {"**/train[-._ 0-9]*", "a/train-00000.json", true},
        {"**/train[-._ 0-9]*", "a/trains.json", false},
        {"**/*[-._ 0-9]train[-._ 0-9]*", "my_train.json", true},
        {"**/*[-._ 0-9]train[-._ 0-9]*", "mytrain.json", false},
        {"data/*-[0-9][0-9].*", "data/a-b-01.parquet", true},
        {"data/*-[0-9][0-9].*", "data/x/a-01.parquet", false},
        {"main/test-*", "main/test-1", true},
        {"main/test-*", "main/x/test-1", false},
        {"a?c", "abc", true},
        {"a?c", "ac", false},
        {"[!a]b", "bb", true},
        {"[!a]b", "ab", false},
        {"[]x]", "]", true},
        {"[x", "[x", true},
        {"*a*b*c*", "xxaxxbxxbxcxx", true},
        {"*a*b*c*", "xxaxxcxxbx", false},
        {"**/a/**/b", "a/x/y/b", true},
        {"**/a/**/b", "a/b", true},
        {"**/a/**/b", "a/x/y/c", false},
        {"", "", true},
        {"a", "", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        if (hf_glob_match(sv_from(cases[i].pattern), sv_from(cases[i].name)) != cases[i].match)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].name);
}

static int by_name(const void *a, const void *b)
{
    const struct sv *x = a;
    const struct sv *y = b;
    return strcmp(x->ptr, y->ptr);
}

/* The files of a split as "a|b", or the message. */
static void find(const char *card_text, const char *const *names, const struct hf_wanted *wanted,
                 struct buf *out)
{
    struct sv list[32];
    size_t count = 0;
    struct hf_card card = {0};
    struct hf_files files = {0};
    struct error err;
    for (; names[count] != NULL; count++)
        list[count] = sv_from(names[count]);
    qsort(list, count, sizeof(list[0]), by_name);
    assert_true(hf_card_parse(sv_from(card_text), &card, &err));
    buf_reset(out);
    if (hf_layout_find("set", list, count, &card, wanted, &files, &err)) {
        for (size_t i = 0; i < files.count; i++)
            buf_add_fmt(out, "%s" SV_FMT, i > 0 ? "|" : "", SV_ARG(files.names[i]));
    } else {
        buf_add_str(out, err.message);
    }
    hf_files_done(&files);
    hf_card_done(&card);
    buf_cstr(out);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Outside of a function lists of names are constants. */
static const struct {
    const char *const *names;
    const char *split;
    const char *want;
} name_cases[] = {
    {NAMES("a.jsonl", "b.jsonl", "README.md", ".git/x.jsonl"), NULL, "a.jsonl|b.jsonl"},
    {NAMES("train.json", "test.json"), "test", "test.json"},
    {NAMES("train.json", "test.json"), NULL, "train.json"},
    {NAMES("x/valid_1.json", "x/dev-2.json", "x/test.json"), "validation",
     "x/valid_1.json|x/dev-2.json"},
    {NAMES("train/b.json", "train/a.json", "test/a.json"), "train", "train/a.json|train/b.json"},
    {NAMES("data/rare-00000-of-00001.parquet", "data/train-00000-of-00002.parquet",
           "data/train-00001-of-00002.parquet", "other.json"),
     "rare", "data/rare-00000-of-00001.parquet"},
    {NAMES("data/b-00000-of-00001.parquet", "data/a-00000-of-00001.parquet"), NULL,
     "data/a-00000-of-00001.parquet"},
    {NAMES("train.json", "test.json"), "dev",
     "--hf-split: 'dev' is no split of 'set'; it has train, test"},
    {NAMES("a.parquet", "b.json", "c.parquet"), NULL, "a.parquet|c.parquet"},
    {NAMES("a.csv"), NULL,
     "'set': split 'train' has neither .parquet, .json, .jsonl nor .ndjson files; the first of "
     "what it has is 'a.csv'"},
    {NAMES("README.md"), NULL, "'set': split 'train' has no files"},
};

static void test_splits_follow_from_the_names_of_files(void **state)
{
    struct buf out = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(name_cases); i++) {
        struct hf_wanted wanted = {.split = name_cases[i].split};
        find("", name_cases[i].names, &wanted, &out);
        assert_string_equal(out.ptr, name_cases[i].want);
    }
    buf_done(&out);
}

static const char card[] = "---\n"
                           "license: mit\n"
                           "configs:\n"
                           "- config_name: main\n"
                           "  data_files:\n"
                           "  - split: train\n"
                           "    path: main/train-*\n"
                           "  - split: test\n"
                           "    path:\n"
                           "    - main/test-*\n"
                           "    - more/*.json\n"
                           "- config_name: flat\n"
                           "  data_files: \"flat/*.json\"\n"
                           "- config_name: folder\n"
                           "  data_dir: deep/set\n"
                           "---\n"
                           "# Text\n---\nconfigs: []\n";

static void test_the_card_says_which_files(void **state)
{
    static const char *const names[] = {
        "README.md",   "main/train-1.json",  "main/test-1.json",    "more/a.json",
        "flat/x.json", "deep/set/test.json", "deep/set/train.json", NULL};
    static const struct {
        const char *config;
        bool given, first;
        const char *split;
        const char *want;
    } cases[] = {
        {"main", true, false, "test", "main/test-1.json|more/a.json"},
        {"main", true, false, NULL, "main/train-1.json"},
        {"flat", true, false, NULL, "flat/x.json"},
        {"folder", true, false, "test", "deep/set/test.json"},
        {NULL, false, true, NULL, "main/train-1.json"},
        {NULL, false, false, NULL,
         "'set' has several configurations: main, flat, folder; choose one with --hf-subset"},
        {"x", true, false, NULL,
         "--hf-subset: 'x' is no configuration of 'set'; it has main, flat, folder"},
        {"flat", true, false, "test", "--hf-split: 'test' is no split of 'set'; it has train"},
    };
    struct buf out = {0};
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct hf_wanted wanted = {.config = cases[i].config,
                                   .config_given = cases[i].given,
                                   .first_config = cases[i].first,
                                   .split = cases[i].split};
        find(card, names, &wanted, &out);
        assert_string_equal(out.ptr, cases[i].want);
    }
    struct hf_wanted folder = {.config = "more", .config_given = true};
    find("no card", names, &folder, &out);
    assert_string_equal(out.ptr, "more/a.json"); /* a folder of the configuration's name */
    struct hf_wanted needed = {.split_needed = true};
    find("", NAMES("train.json", "test.json"), &needed, &out);
    assert_string_equal(out.ptr,
                        "'set' has several splits: train, test; choose one with --hf-split");
    buf_done(&out);
}

static void test_a_broken_card_is_told_with_its_line(void **state)
{
    struct hf_card made;
    struct error err;
    (void)state;
    assert_false(hf_card_parse(SV_LIT("---\nok: 1\nbad: [1, 2\n---\n"), &made, &err));
    assert_non_null(strstr(err.message, "line 4"));
    assert_true(hf_card_parse(SV_LIT("---\nnever: closed\n"), &made, &err));
    assert_int_equal(made.count, 0);
    hf_card_done(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns_match_as_in_python),
        cmocka_unit_test(test_splits_follow_from_the_names_of_files),
        cmocka_unit_test(test_the_card_says_which_files),
        cmocka_unit_test(test_a_broken_card_is_told_with_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
