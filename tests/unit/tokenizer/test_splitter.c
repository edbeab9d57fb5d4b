/* Tests of src/tokenizer/splitter: many pieces at once (splitter_cut.c) are the pieces one by one (splitter.c), which the
 * fuzz target compares with PCRE2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tokenizer/splitter.h"

#include <stdlib.h>

/* What the patterns tell apart: cases, marks, letters without case, numbers, all white space, contractions. */
static const char *const items[] = {
    "a",
    "b",
    "e",
    "s",
    "t",
    "l",
    "r",
    "v",
    "m",
    "d",
    "S",
    "T",
    "L",
    "E",
    "Z",
    "A",
    "z",
    "0",
    "9",
    "5",
    " ",
    " ",
    "  ",
    "        ",
    "\n",
    "\r",
    "\t",
    "\v",
    "\f",
    "\n\n",
    "'",
    "'s",
    "'ll",
    "'RE",
    "'\u017F",
    "/",
    "//",
    ".",
    "(",
    "@",
    "[",
    "`",
    "{",
    "_",
    "\x01",
    "\x1C",
    "\x7F",
    "\u017F",
    "é",
    "É",
    "\xC2\xA0",
    "\xC2\x85",
    "\u2028",
    "\u3000",
    "\u0301",
    "\u01C5",
    "\u02B0",
    "\u0663",
    "\u00BD",
    "中",
    "文",
    "あ",
    "\U00031350",
    "\U0001F600",
    "word",
    "Words",
    "WORDS",
    "somewhatLonger",
    "lowercaseletters",
    "UPPERCASELETTERS",
    "12345",
};

enum { ITEMS = sizeof(items) / sizeof(items[0]), TEXTS = 20000, MOST = 24 };

static void check(const struct splitter *s, struct sv text, size_t most)
{
    const char *ends[MOST];
    for (size_t at = 0; at < text.len;) {
        size_t count = s->cut(s, text, at, ends, most);
        assert_in_range(count, 1, most);
        for (size_t i = 0; i < count; i++) {
            size_t end = s->next(s, text, at);
            if (ends[i] != text.ptr + end)
                fail_msg("%s at %zu of '%.*s': %zu, one by one %zu", s->name, at, (int)text.len,
                         text.ptr, (size_t)(ends[i] - text.ptr), end);
            at = end;
        }
    }
}

static void test_many_pieces_are_the_pieces_one_by_one(void **state)
{
    (void)state;
    struct mt19937 g;
    py_seed(&g, 1);
    for (size_t n = 0; n < TEXTS; n++) {
        char text[512];
        size_t len = 0;
        size_t parts = 1 + py_below(&g, 20);
        /* Half of the texts are ASCII but for one place at most. */
        size_t range = py_below(&g, 2) == 0 ? ITEMS : 47;
        for (size_t i = 0; i < parts; i++) {
            const char *item = items[py_below(&g, range)];
            memcpy(text + len, item, strlen(item));
            len += strlen(item);
        }
        char *exact = malloc(len); /* sanitizers see a read behind its end */
        assert_non_null(exact);
        memcpy(exact, text, len);
        for (size_t i = 0; i < splitter_count(); i++) {
            struct sv pattern;
            const struct splitter *s = splitter_at(i, &pattern);
            if (s->cut != NULL)
                check(s, sv_make(exact, len), 1 + n % MOST);
        }
        free(exact);
    }
}

static void test_patterns_that_take_everything_cut_many(void **state)
{
    (void)state;
    for (size_t i = 0; i < splitter_count(); i++) {
        struct sv pattern;
        const struct splitter *s = splitter_at(i, &pattern);
        assert_int_equal(s->total, s->cut != NULL);
    }
    assert_non_null(splitter_gpt2.cut);
}

/* The example of splitter.c. */
static void test_example_of_cl100k(void **state)
{
    (void)state;
    static const char *const want[] = {"a", " ", " b", "\n\n", " c"};
    const struct splitter *s = NULL;
    struct sv pattern;
    struct sv text = SV_LIT("a  b\n\n c");
    const char *ends[8];
    const char *at = text.ptr;
    for (size_t i = 0; i < splitter_count(); i++)
        if (strcmp(splitter_at(i, &pattern)->name, "cl100k") == 0)
            s = splitter_at(i, &pattern);
    assert_non_null(s);
    assert_int_equal(s->cut(s, text, 0, ends, 8), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(sv_eq(sv_make(at, (size_t)(ends[i] - at)), sv_from(want[i])));
        at = ends[i];
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_of_cl100k),
        cmocka_unit_test(test_many_pieces_are_the_pieces_one_by_one),
        cmocka_unit_test(test_patterns_that_take_everything_cut_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
