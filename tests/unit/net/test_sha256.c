/* The examples of FIPS 180-4 (NIST's published intermediate values). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/sha256.h"

static const struct {
    const char *text;
    const char *hex;
} examples[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrs"
     "mnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void the_standards_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        struct sha256 s = {0};
        char hex[SHA256_HEX + 1];
        sha256_begin(&s);
        sha256_add(&s, sv_from(examples[i].text));
        sha256_end(&s, hex);
        sha256_done(&s);
        assert_string_equal(hex, examples[i].hex);
    }
}

static void a_million_letters_in_pieces_of_any_size(void **state)
{
    static char letters[1000];
    (void)state;
    memset(letters, 'a', sizeof(letters));
    for (size_t piece = 1; piece <= sizeof(letters); piece += 111) {
        struct sha256 s = {0};
        char hex[SHA256_HEX + 1];
        sha256_begin(&s);
        for (size_t left = 1000000; left > 0;) {
            size_t n = left < piece ? left : piece;
            sha256_add(&s, sv_make(letters, n));
            left -= n;
        }
        sha256_end(&s, hex);
        sha256_done(&s);
        assert_string_equal(hex,
                            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}

/* Around the end of a block the padding takes one block or two: whole and in two pieces it is the same. */
static void every_split_gives_the_same_sum(void **state)
{
    char text[130];
    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 7);
    for (size_t len = 0; len <= sizeof(text); len++) {
        struct sha256 whole = {0};
        char want[SHA256_HEX + 1];
        sha256_begin(&whole);
        sha256_add(&whole, sv_make(text, len));
        sha256_end(&whole, want);
        sha256_done(&whole);
        for (size_t cut = 0; cut <= len; cut++) {
            struct sha256 s = {0};
            char hex[SHA256_HEX + 1];
            sha256_begin(&s);
            sha256_add(&s, sv_make(text, cut));
            sha256_add(&s, sv_make(text + cut, len - cut));
            sha256_end(&s, hex);
            sha256_done(&s);
            assert_string_equal(hex, want);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_standards_examples),
        cmocka_unit_test(a_million_letters_in_pieces_of_any_size),
        cmocka_unit_test(every_split_gives_the_same_sum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
