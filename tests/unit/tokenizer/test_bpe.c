/* Tests of src/tokenizer/bpe and vocab: hand-made merges, and a brute-force twin of both engines over random vocabularies
 * and words of all lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tokenizer/bpe.h"
#include "tokenizer/trie.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct vocab vocab;
    struct bpe bpe;
    struct bpe_work work;
};

static void add(struct fixture *f, uint32_t id, const char *text)
{
    struct error err;
    assert_true(vocab_add(&f->vocab, id, sv_from(text), &err));
}

static void merge(struct fixture *f, uint32_t rank, const char *left, const char *right)
{
    char both[64];
    snprintf(both, sizeof(both), "%s%s", left, right);
    bpe_add_merge(&f->bpe, vocab_find(&f->vocab, sv_from(left)),
                  vocab_find(&f->vocab, sv_from(right)), vocab_find(&f->vocab, sv_from(both)),
                  rank);
}

static void done(struct fixture *f)
{
    bpe_work_done(&f->work);
    bpe_done(&f->bpe);
    vocab_done(&f->vocab);
}

static void expect(struct fixture *f, const char *word, const uint32_t *want, size_t count)
{
    struct token_ids ids = {0};
    for (int again = 0; again < 2; again++) { /* the second time from the cache */
        ids.count = 0;
        bpe_encode(&f->bpe, sv_from(word), &f->work, &ids);
        assert_int_equal(ids.count, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(ids.items[i], want[i]);
    }
    token_ids_done(&ids);
}

/* Entries l=0 o=1 w=2 e=3 r=4 lo=5 low=6 er=7; merges lo, low, er. */
static void low_fixture(struct fixture *f, const struct bpe_options *options, const char *more)
{
    static const char *const entries[] = {"l", "o", "w", "e", "r", "lo", "low", "er"};
    *f = (struct fixture){0};
    vocab_init(&f->vocab);
    f->vocab.byte_level = true;
    for (uint32_t i = 0; i < 8; i++)
        add(f, i, entries[i]);
    if (more != NULL)
        add(f, 8, more);
    bpe_init(&f->bpe, &f->vocab, options);
    merge(f, 0, "l", "o");
    merge(f, 1, "lo", "w");
    merge(f, 2, "e", "r");
    bpe_finish(&f->bpe);
}

#define NO_UNKNOWN .bytes = true, .unk_id = VOCAB_NONE

static void test_merges_by_rank(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        struct fixture f;
        low_fixture(&f, &(struct bpe_options){NO_UNKNOWN, .always_merge = both != 0}, NULL);
        assert_int_equal(f.bpe.proven, both == 0);
        expect(&f, "lower", (const uint32_t[]){6, 7}, 2);
        expect(&f, "lo", (const uint32_t[]){5}, 1);
        expect(&f, "wol", (const uint32_t[]){2, 1, 0}, 3);
        done(&f);
    }
}

static void test_byte_without_token_vanishes(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f, &(struct bpe_options){NO_UNKNOWN}, NULL);
    expect(&f, "lxo", (const uint32_t[]){5}, 1); /* HF: the neighbours meet */
    expect(&f, "xx", NULL, 0);
    done(&f);
}

static void test_unknown_token_is_fused(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f, &(struct bpe_options){.bytes = true, .unk_id = 3}, NULL);
    expect(&f, "xxl", (const uint32_t[]){3, 3, 0}, 3);
    done(&f);
    low_fixture(&f, &(struct bpe_options){.bytes = true, .unk_id = 3, .fuse_unk = true}, NULL);
    expect(&f, "xxl", (const uint32_t[]){3, 0}, 2);
    done(&f);
}

static void test_ignore_merges_takes_whole_entries(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f, &(struct bpe_options){NO_UNKNOWN}, "we"); /* an entry without a merge */
    expect(&f, "we", (const uint32_t[]){2, 3}, 2);
    done(&f);
    for (int both = 0; both < 2; both++) {
        low_fixture(
            &f, &(struct bpe_options){NO_UNKNOWN, .ignore_merges = true, .always_merge = both != 0},
            "we");
        expect(&f, "we", (const uint32_t[]){8}, 1);
        expect(&f, "wer", (const uint32_t[]){2, 7}, 2);
        done(&f);
    }
}

/* HF tokenizers: a character that is no entry is spelled in byte tokens, in words of any length. */
static void test_byte_fallback_spells_characters(void **state)
{
    (void)state;
    struct fixture f = {0};
    vocab_init(&f.vocab);
    for (uint32_t byte = 0; byte < 256; byte++) {
        char name[8];
        snprintf(name, sizeof(name), "<0x%02X>", byte);
        add(&f, byte, name);
    }
    add(&f, 256, "a");
    add(&f, 257, "b");
    add(&f, 258, "ab");
    bpe_init(&f.bpe, &f.vocab, &(struct bpe_options){.byte_fallback = true, .unk_id = VOCAB_NONE});
    merge(&f, 0, "a", "b");
    bpe_finish(&f.bpe);
    assert_true(f.bpe.proven);
    expect(&f,
           "aba\xE2\x98\x83"
           "bab",
           (const uint32_t[]){258, 256, 0xE2, 0x98, 0x83, 257, 258}, 7);
    expect(&f, "\xE2\x98\x83", (const uint32_t[]){0xE2, 0x98, 0x83}, 3);
    done(&f);
}

/* A merge that ranks before the one that makes its part cannot be proven: words where it could happen go to the second
 * engine. */
static void test_merges_out_of_order_are_doubted(void **state)
{
    (void)state;
    struct fixture f = {0};
    static const char *const entries[] = {"a", "b", "c", "ab", "abc"};
    vocab_init(&f.vocab);
    f.vocab.byte_level = true;
    for (uint32_t i = 0; i < 5; i++)
        add(&f, i, entries[i]);
    bpe_init(&f.bpe, &f.vocab, &(struct bpe_options){NO_UNKNOWN});
    merge(&f, 0, "ab", "c");
    merge(&f, 1, "a", "b");
    bpe_finish(&f.bpe);
    assert_non_null(f.bpe.doubtful);
    assert_int_equal(f.bpe.doubt_count, 1);
    expect(&f, "abcab", (const uint32_t[]){4, 3}, 2);
    done(&f);
}

struct rules {
    uint32_t rank[64][64];
    uint32_t made[64][64];
};

/* Repeatedly merges the leftmost pair of lowest rank, looking at all pairs each time. */
static size_t brute(uint32_t *ids, size_t n, const struct rules *rules)
{
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i + 1 < n; i++)
            if (rules->rank[ids[i]][ids[i + 1]] != UINT32_MAX &&
                (best == n ||
                 rules->rank[ids[i]][ids[i + 1]] < rules->rank[ids[best]][ids[best + 1]]))
                best = i;
        if (best == n)
            return n;
        ids[best] = rules->made[ids[best]][ids[best + 1]];
        memmove(ids + best + 1, ids + best + 2, (n - best - 2) * sizeof(*ids));
        n--;
    }
}

/* A vocabulary of two or three letters grown by random merges; sometimes a text is made in several ways, and sometimes
 * `disorder` of the ranks change places, so that parts rank behind their wholes. */
static void grow(struct fixture *f, struct mt19937 *g, bool always_merge, unsigned disorder,
                 struct rules *rules)
{
    char texts[64][65] = {"a", "b", "c"};
    uint32_t count = 2 + (uint32_t)py_below(g, 2);
    memset(rules->rank, 0xFF, sizeof(rules->rank));
    *f = (struct fixture){0};
    vocab_init(&f->vocab);
    f->vocab.byte_level = true;
    for (uint32_t i = 0; i < count; i++)
        add(f, i, texts[i]);
    uint32_t parts[80][3];
    uint32_t ranks = 0;
    for (int tries = 0; tries < 120 && count < 60 && ranks < 80; tries++) {
        uint32_t left = (uint32_t)py_below(g, count);
        uint32_t right = (uint32_t)py_below(g, count);
        char both[130];
        snprintf(both, sizeof(both), "%s%s", texts[left], texts[right]);
        if (strlen(both) > 12 || rules->rank[left][right] != UINT32_MAX)
            continue;
        uint32_t made = vocab_find(&f->vocab, sv_from(both));
        if (made == VOCAB_NONE) {
            made = count++;
            memcpy(texts[made], both, strlen(both) + 1);
            add(f, made, both);
        }
        memcpy(parts[ranks++], (uint32_t[]){left, right, made}, sizeof(parts[0]));
        rules->rank[left][right] = 0;
        rules->made[left][right] = made;
    }
    for (unsigned i = 0; i < disorder; i++) {
        uint32_t a = (uint32_t)py_below(g, ranks);
        uint32_t b = (uint32_t)py_below(g, ranks);
        uint32_t swap[3];
        memcpy(swap, parts[a], sizeof(swap));
        memcpy(parts[a], parts[b], sizeof(swap));
        memcpy(parts[b], swap, sizeof(swap));
    }
    for (uint32_t i = 0; i < ranks; i++)
        rules->rank[parts[i][0]][parts[i][1]] = i;
    bpe_init(&f->bpe, &f->vocab, &(struct bpe_options){NO_UNKNOWN, .always_merge = always_merge});
    for (uint32_t i = 0; i < ranks; i++)
        bpe_add_merge(&f->bpe, parts[i][0], parts[i][1], parts[i][2], i);
    bpe_finish(&f->bpe);
}

static void test_both_engines_equal_brute_force(void **state)
{
    (void)state;
    struct mt19937 g;
    static struct rules rules;
    unsigned proven = 0;
    for (uint32_t seed = 0; seed < 600; seed++) {
        struct fixture f;
        py_seed(&g, seed);
        grow(&f, &g, seed % 8 == 7, seed % 3 == 0 ? 0 : seed % 7, &rules);
        proven += f.bpe.proven;
        for (size_t len = 1; len <= 120; len += 1 + len / 16) {
            char word[301];
            uint32_t want[300];
            for (size_t i = 0; i < len; i++) {
                want[i] = (uint32_t)py_below(&g, 3);
                want[i] =
                    want[i] == 2 && vocab_find(&f.vocab, SV_LIT("c")) == VOCAB_NONE ? 0 : want[i];
                word[i] = "abc"[want[i]];
            }
            word[len] = '\0';
            expect(&f, word, want, brute(want, len, &rules));
        }
        done(&f);
    }
    assert_true(proven > 100); /* else the test says little about the first engine */
}

/* Words that follow each other are encoded together: each as if it were alone. */
static void test_a_row_is_its_words(void **state)
{
    (void)state;
    struct mt19937 g;
    static struct rules rules;
    for (uint32_t seed = 1000; seed < 1200; seed++) {
        struct fixture f;
        struct token_ids ids = {0};
        py_seed(&g, seed);
        grow(&f, &g, false, seed % 3 == 0 ? seed % 5 : 0, &rules);
        for (int again = 0; f.bpe.proven && again < 3; again++) {
            static char text[BPE_BATCH * 40];
            const char *ends[BPE_BATCH];
            static uint32_t want[sizeof(text)];
            size_t wanted = 0;
            size_t len = 0;
            size_t count = 1 + py_below(&g, BPE_BATCH);
            for (size_t i = 0; i < count; i++) {
                size_t word = 1 + py_below(&g, 40);
                for (size_t k = 0; k < word; k++) {
                    want[wanted + k] = (uint32_t)py_below(&g, 2);
                    text[len++] = "ab"[want[wanted + k]];
                }
                wanted += brute(want + wanted, word, &rules);
                ends[i] = text + len;
            }
            ids.count = 0;
            bpe_encode_row(&f.bpe, text, ends, count, text + len, &f.work, &ids);
            assert_int_equal(ids.count, wanted);
            assert_memory_equal(ids.items, want, wanted * sizeof(*want));
        }
        token_ids_done(&ids);
        done(&f);
    }
}

/* A NUL byte behind an entry that nothing continues once led back to the root. */
static void test_trie_steps_by_nul(void **state)
{
    (void)state;
    struct trie t;
    struct trie_key keys[] = {{(const unsigned char *)"ab", 2, 7},
                              {(const unsigned char *)"b", 1, 3},
                              {(const unsigned char *)"a\0", 2, 5}};
    trie_sort(keys, 3);
    trie_build(&t, keys, 3);
    assert_int_equal(trie_find(&t, sv_make("a\0", 2)), 5);
    assert_int_equal(trie_find(&t, sv_from("ab")), 7);
    assert_int_equal(trie_find(&t, sv_from("b")), 3);
    assert_int_equal(trie_find(&t, sv_from("a")), TRIE_NONE);
    assert_int_equal(trie_find(&t, sv_make("ab\0b", 4)), TRIE_NONE);
    uint64_t node = trie_step(&t, trie_root(&t), 'b');
    assert_int_equal(trie_value(node), 3);
    assert_int_equal(trie_step(&t, node, '\0'), 0);
    trie_done(&t);
}

static void test_byte_map_is_a_bijection(void **state)
{
    (void)state;
    bool seen[256] = {0};
    unsigned n = 0;
    for (uint32_t cp = 0; cp < 0x200; cp++) {
        int byte = vocab_byte_of(cp);
        if (byte < 0)
            continue;
        assert_false(seen[byte]);
        seen[byte] = true;
        n++;
    }
    assert_int_equal(n, 256);
    /* GPT-2: space is U+0120, newline U+010A, 0xAD the last, U+0143. */
    assert_int_equal(vocab_byte_of(0x120), ' ');
    assert_int_equal(vocab_byte_of(0x10A), '\n');
    assert_int_equal(vocab_byte_of(0x143), 0xAD);
    assert_int_equal(vocab_byte_of('!'), '!');
    assert_int_equal(vocab_byte_of(' '), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_merges_by_rank),
        cmocka_unit_test(test_byte_without_token_vanishes),
        cmocka_unit_test(test_unknown_token_is_fused),
        cmocka_unit_test(test_ignore_merges_takes_whole_entries),
        cmocka_unit_test(test_byte_fallback_spells_characters),
        cmocka_unit_test(test_merges_out_of_order_are_doubted),
        cmocka_unit_test(test_both_engines_equal_brute_force),
        cmocka_unit_test(test_a_row_is_its_words),
        cmocka_unit_test(test_trie_steps_by_nul),
        cmocka_unit_test(test_byte_map_is_a_bijection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
