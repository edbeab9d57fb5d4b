/* Tests of src/tokenizer/bpe and vocab: hand-made merges, and a brute-force twin over random words of all lengths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tokenizer/bpe.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
    struct arena arena;
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
                  vocab_find(&f->vocab, sv_from(right)), rank,
                  vocab_find(&f->vocab, sv_from(both)));
}

static void done(struct fixture *f)
{
    bpe_work_done(&f->work);
    bpe_done(&f->bpe);
    vocab_done(&f->vocab);
    arena_done(&f->arena);
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
static void low_fixture(struct fixture *f)
{
    static const char *const entries[] = {"l", "o", "w", "e", "r", "lo", "low", "er"};
    *f = (struct fixture){0};
    vocab_init(&f->vocab, &f->arena);
    for (uint32_t i = 0; i < 8; i++)
        add(f, i, entries[i]);
    bpe_init(&f->bpe, &f->vocab);
    merge(f, 0, "l", "o");
    merge(f, 1, "lo", "w");
    merge(f, 2, "e", "r");
}

static void test_merges_by_rank(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f);
    expect(&f, "lower", (const uint32_t[]){6, 7}, 2);
    expect(&f, "lo", (const uint32_t[]){5}, 1);
    expect(&f, "wol", (const uint32_t[]){2, 1, 0}, 3);
    done(&f);
}

static void test_byte_without_token_vanishes(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f);
    expect(&f, "lxo", (const uint32_t[]){5}, 1); /* HF: the neighbours meet */
    expect(&f, "xx", NULL, 0);
    done(&f);
}

static void test_unknown_token_is_fused(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f);
    f.bpe.unk_id = 3;
    expect(&f, "xxl", (const uint32_t[]){3, 3, 0}, 3);
    done(&f);
    low_fixture(&f);
    f.bpe.unk_id = 3;
    f.bpe.fuse_unk = true;
    expect(&f, "xxl", (const uint32_t[]){3, 0}, 2);
    done(&f);
}

static void test_ignore_merges_takes_whole_entries(void **state)
{
    (void)state;
    struct fixture f;
    low_fixture(&f);
    add(&f, 8, "we"); /* an entry without a merge */
    expect(&f, "we", (const uint32_t[]){2, 3}, 2);
    done(&f);
    low_fixture(&f);
    add(&f, 8, "we");
    f.bpe.ignore_merges = true;
    expect(&f, "we", (const uint32_t[]){8}, 1);
    expect(&f, "wer", (const uint32_t[]){2, 7}, 2);
    done(&f);
}

/* Repeatedly merges the leftmost pair of lowest rank, looking at all pairs each time. */
static size_t brute(uint32_t *ids, size_t n, uint32_t rank[8][8], uint32_t made[8][8])
{
    for (;;) {
        size_t best = n;
        for (size_t i = 0; i + 1 < n; i++)
            if (ids[i] < 8 && ids[i + 1] < 8 && rank[ids[i]][ids[i + 1]] != UINT32_MAX &&
                (best == n || rank[ids[i]][ids[i + 1]] < rank[ids[best]][ids[best + 1]]))
                best = i;
        if (best == n)
            return n;
        ids[best] = made[ids[best]][ids[best + 1]];
        memmove(ids + best + 1, ids + best + 2, (n - best - 2) * sizeof(*ids));
        n--;
    }
}

/* Entries a b c d, and four pairs of them or of pairs; words up to 300 bytes cross from the scan to the heap. */
static void test_equals_brute_force(void **state)
{
    (void)state;
    static const char *const entries[] = {"a", "b", "c", "d", "ab", "ba", "aba", "cc"};
    static const uint32_t parts[4][2] = {{0, 1}, {1, 0}, {4, 0}, {2, 2}};
    static const uint32_t ranks[4] = {1, 0, 3, 2};
    struct fixture f = {0};
    uint32_t rank[8][8];
    uint32_t made[8][8];
    memset(rank, 0xFF, sizeof(rank));
    memset(made, 0, sizeof(made));
    vocab_init(&f.vocab, &f.arena);
    for (uint32_t i = 0; i < 8; i++)
        add(&f, i, entries[i]);
    bpe_init(&f.bpe, &f.vocab);
    for (uint32_t m = 0; m < 4; m++) {
        rank[parts[m][0]][parts[m][1]] = ranks[m];
        made[parts[m][0]][parts[m][1]] = 4 + m;
        bpe_add_merge(&f.bpe, parts[m][0], parts[m][1], ranks[m], 4 + m);
    }
    struct mt19937 g;
    py_seed(&g, 7);
    for (size_t len = 1; len <= 300; len++) {
        char word[301];
        uint32_t want[300];
        for (size_t i = 0; i < len; i++) {
            want[i] = (uint32_t)py_below(&g, 4);
            word[i] = entries[want[i]][0];
        }
        word[len] = '\0';
        size_t n = brute(want, len, rank, made);
        expect(&f, word, want, n);
    }
    done(&f);
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
        cmocka_unit_test(test_equals_brute_force),
        cmocka_unit_test(test_byte_map_is_a_bijection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
