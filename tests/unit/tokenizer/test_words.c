/* Tests of src/tokenizer/words: a twin that compares with every entry, over vocabularies of few letters, so that entries
 * begin each other at all lengths, inside and beyond what the filters tell apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tokenizer/words.h"

#include <stdlib.h>

struct fixture {
    struct vocab vocab;
    struct room room;
    struct words words;
};

static void fixture_add(struct fixture *f, struct sv text)
{
    struct error err;
    assert_true(vocab_add(&f->vocab, f->vocab.limit, text, &err));
}

static void build(struct fixture *f, const bool *whole)
{
    room_open(&f->room, words_room(f->vocab.limit));
    words_init(&f->words, &f->vocab, f->vocab.limit, &f->room);
    struct words_entry *entries = calloc(f->vocab.limit + 1, sizeof(*entries));
    for (uint32_t id = 0; id < f->vocab.limit; id++)
        entries[id] = (struct words_entry){id, whole != NULL && whole[id] ? WORDS_WHOLE : 0};
    words_add(&f->words, entries, f->vocab.limit);
    free(entries);
}

static void done(struct fixture *f)
{
    words_done(&f->words);
    room_close(&f->room);
    vocab_done(&f->vocab);
}

/* The id of a text, or VOCAB_NONE. */
static uint32_t find(const struct fixture *f, struct sv text)
{
    struct words_key key = words_key(&f->words, text, text.ptr + text.len);
    uint32_t meta = words_find(&f->words, &key, text);
    return meta != 0 ? words_id(meta) : VOCAB_NONE;
}

static uint32_t longest(const struct fixture *f, struct sv text, size_t most, size_t *len)
{
    *len = 0;
    uint32_t meta = words_longest(&f->words, text.ptr, most, text.ptr + text.len, len);
    return meta != 0 ? words_id(meta) : VOCAB_NONE;
}

static void test_example_of_the_file(void **state)
{
    (void)state;
    struct fixture f = {0};
    size_t len;
    vocab_init(&f.vocab);
    f.vocab.raw_bytes = true;
    fixture_add(&f, SV_LIT("abcde"));
    fixture_add(&f, SV_LIT("abcdefg"));
    fixture_add(&f, SV_LIT("ab"));
    build(&f, NULL);
    assert_int_equal(longest(&f, SV_LIT("abcdefxy"), 8, &len), 0);
    assert_int_equal(len, 5);
    assert_int_equal(longest(&f, SV_LIT("abcdefgh"), 8, &len), 1);
    assert_int_equal(longest(&f, SV_LIT("abcdefgh"), 6, &len), 0);
    assert_int_equal(longest(&f, SV_LIT("abcdefgh"), 4, &len), 2);
    assert_int_equal(longest(&f, SV_LIT("abcdefgh"), 1, &len), VOCAB_NONE);
    assert_int_equal(find(&f, SV_LIT("abcd")), VOCAB_NONE);
    assert_int_equal(find(&f, SV_LIT("abcdefg")), 1);
    done(&f);
}

/* Texts are padded with zeros inside: that must not make them equal. */
static void test_zero_bytes_count(void **state)
{
    (void)state;
    struct fixture f = {0};
    size_t len;
    vocab_init(&f.vocab);
    f.vocab.raw_bytes = true;
    fixture_add(&f, sv_make("a\0", 2));
    fixture_add(&f, sv_make("\0\0\0\0", 4));
    build(&f, NULL);
    assert_int_equal(find(&f, SV_LIT("a")), VOCAB_NONE);
    assert_int_equal(find(&f, sv_make("a\0", 2)), 0);
    assert_int_equal(find(&f, sv_make("a\0\0", 3)), VOCAB_NONE);
    assert_int_equal(longest(&f, SV_LIT("a"), 1, &len), VOCAB_NONE);
    assert_int_equal(longest(&f, sv_make("\0\0\0\0\0\0", 6), 6, &len), 1);
    assert_int_equal(longest(&f, sv_make("\0\0\0", 3), 3, &len), VOCAB_NONE);
    done(&f);
}

enum { ENTRIES = 3000, LONGEST = 70 };

/* A text of up to `most` bytes; long ones mostly of one letter, so that entries meet. */
static size_t draw(struct mt19937 *g, char *text, size_t most)
{
    size_t len = 1 + py_below(g, most);
    bool plain = py_below(g, 3) == 0;
    for (size_t i = 0; i < len; i++)
        text[i] = plain && py_below(g, 12) != 0 ? 'a' : (char)('a' + py_below(g, 2));
    return len;
}

static void check_text(const struct fixture *f, const bool *whole, struct sv text)
{
    uint32_t want = VOCAB_NONE;
    size_t want_len = 0;
    size_t len;
    for (uint32_t id = 0; id < f->vocab.limit; id++) {
        struct sv entry = vocab_bytes(&f->vocab, id);
        if (!whole[id] && entry.len > want_len && sv_starts(text, entry)) {
            want = id;
            want_len = entry.len;
        }
    }
    assert_int_equal(longest(f, text, text.len, &len), want);
    assert_int_equal(len, want_len);
    assert_int_equal(find(f, text), vocab_find(&f->vocab, text));
}

static void test_equals_comparing_with_every_entry(void **state)
{
    (void)state;
    struct mt19937 g;
    static bool whole[ENTRIES];
    for (uint32_t seed = 0; seed < 4; seed++) {
        struct fixture f = {0};
        char text[LONGEST + 20];
        py_seed(&g, seed);
        vocab_init(&f.vocab);
        f.vocab.raw_bytes = true;
        while (f.vocab.limit < ENTRIES / (1 + seed)) {
            struct sv entry = sv_make(text, draw(&g, text, seed % 2 == 0 ? 20 : LONGEST));
            if (vocab_find(&f.vocab, entry) == VOCAB_NONE || py_below(&g, 40) == 0) {
                whole[f.vocab.limit] = py_below(&g, 5) == 0;
                if (vocab_find(&f.vocab, entry) != VOCAB_NONE) /* the first one counts */
                    whole[f.vocab.limit] = true;
                fixture_add(&f, entry);
            }
        }
        build(&f, whole);
        for (uint32_t id = 0; id < f.vocab.limit; id++)
            assert_int_equal(find(&f, vocab_bytes(&f.vocab, id)),
                             vocab_find(&f.vocab, vocab_bytes(&f.vocab, id)));
        for (int i = 0; i < 2000; i++) {
            size_t len = draw(&g, text, sizeof(text));
            char *exact = malloc(len); /* sanitizers see a read behind its end */
            assert_non_null(exact);
            memcpy(exact, text, len);
            check_text(&f, whole, sv_make(exact, len));
            free(exact);
        }
        done(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example_of_the_file),
        cmocka_unit_test(test_zero_bytes_count),
        cmocka_unit_test(test_equals_comparing_with_every_entry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
