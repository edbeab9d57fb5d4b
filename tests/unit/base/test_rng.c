/* Tests of src/base/rng against tests/data/rng/vectors.h (numpy 2.4.6, CPython 3.11).  Every row is drawn twice: from a
 * generator seeded anew for each field, and from one generator through all fields in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "data/rng/vectors.h"

#include <math.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Runs `draw` for every element and compares bits. */
#define CHECK(expected, draw)                                                                      \
    for (size_t at_ = 0; at_ < COUNT(expected); at_++) {                                           \
        __typeof__((expected)[0] + 0) got_ = (draw);                                               \
        if (got_ != (expected)[at_])                                                               \
            fail_msg("%s[%zu], seed %llu", #expected, at_, (unsigned long long)v->seed);           \
    }

#define CHECK_LIST(expected, list)                                                                 \
    for (size_t at_ = 0; at_ < COUNT(expected); at_++) {                                           \
        if ((list)[at_] != (expected)[at_])                                                        \
            fail_msg("%s[%zu], seed %llu", #expected, at_, (unsigned long long)v->seed);           \
    }

static void check_g(const struct g_vector *v, bool fresh)
{
    static const double weights[] = {0.2, 0.5, 0.3};
    const int64_t two62 = INT64_C(1) << 62;
    struct pcg64 g;
    uint8_t bytes[18];
    size_t order[10];
#define SEED                                                                                       \
    if (fresh)                                                                                     \
    pcg64_seed(&g, v->seed)
    pcg64_seed(&g, v->seed);
    CHECK(v->below_32000, pcg64_integers(&g, 0, 32000));
    SEED;
    CHECK(v->from_95, pcg64_integers(&g, 95, 106));
    SEED;
    CHECK(v->single_3, pcg64_integers(&g, 0, 3));
    SEED;
    CHECK(v->only_5, pcg64_integers(&g, 5, 6));
    SEED;
    CHECK(v->below_2p32, pcg64_integers(&g, 0, INT64_C(1) << 32));
    SEED;
    CHECK(v->below_2p33, pcg64_integers(&g, 0, INT64_C(1) << 33));
    SEED;
    CHECK(v->doubles, pcg64_double(&g));
    SEED;
    pcg64_bytes(&g, bytes, sizeof(bytes));
    CHECK_LIST(v->bytes, bytes);
    CHECK(v->choice, pcg64_choice(&g, weights, 3));
    CHECK(v->after_choice, pcg64_integers(&g, 0, 32000));
    SEED;
    pcg64_permutation(&g, order, 10);
    CHECK_LIST(v->permutation, order);
    SEED;
    CHECK(v->unfair_32, pcg64_integers(&g, 0, INT64_C(3) << 30));
    SEED;
    CHECK(v->unfair_64, pcg64_integers(&g, -two62, two62 + two62 / 2));
    SEED;
    CHECK(v->all_64, pcg64_integers(&g, INT64_MIN, INT64_MAX));
#undef SEED
}

static void test_numpy_generator_draw_for_draw(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(g_fresh); i++)
        check_g(&g_fresh[i], true);
    for (size_t i = 0; i < COUNT(g_continued); i++)
        check_g(&g_continued[i], false);
}

static void check_l(const struct l_vector *v, bool fresh)
{
    struct mt19937 g;
    size_t order[20];
#define SEED                                                                                       \
    if (fresh)                                                                                     \
    npl_seed(&g, (uint32_t)v->seed)
    npl_seed(&g, (uint32_t)v->seed);
    CHECK(v->gamma_1, npl_gamma(&g, 1.0, 0.1));
    SEED;
    CHECK(v->gamma_half, npl_gamma(&g, 0.5, 0.2));
    SEED;
    CHECK(v->gamma_2_5, npl_gamma(&g, 2.5, 0.04));
    SEED;
    CHECK(v->gamma_100, npl_gamma(&g, 100.0, 0.001));
    SEED;
    CHECK(v->below_32000, npl_randint(&g, 0, 32000));
    SEED;
    CHECK(v->doubles, npl_double(&g));
    SEED;
    CHECK(v->below_7, npl_randint(&g, 0, 7));
    SEED;
    CHECK(v->normals, npl_standard_normal(&g));
    SEED;
    CHECK(v->exponentials, npl_standard_exponential(&g));
    SEED;
    CHECK(v->below_2p32, npl_randint(&g, 0, INT64_C(1) << 32));
    SEED;
    CHECK(v->below_2p40, npl_randint(&g, -5, INT64_C(1) << 40));
    SEED;
    npl_permutation(&g, order, 20);
    CHECK_LIST(v->permutation, order);
#undef SEED
}

static void test_numpy_legacy_draw_for_draw(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(l_fresh); i++)
        check_l(&l_fresh[i], true);
    for (size_t i = 0; i < COUNT(l_continued); i++)
        check_l(&l_continued[i], false);
}

static void check_m(const struct m_vector *v, bool fresh)
{
    struct mt19937 g;
    size_t items[20];
#define SEED                                                                                       \
    if (fresh)                                                                                     \
    py_seed(&g, v->seed)
    py_seed(&g, v->seed);
    CHECK(v->doubles, py_random(&g));
    SEED;
    CHECK(v->randint_1_5, py_randint(&g, 1, 5));
    SEED;
    for (size_t i = 0; i < 20; i++)
        items[i] = i;
    py_shuffle(&g, items, 20);
    CHECK_LIST(v->shuffle, items);
    SEED;
    CHECK(v->choice_7, py_choice(&g, 7));
    SEED;
    CHECK(v->choices_1000, py_choices1(&g, 1000));
    SEED;
    assert_int_equal(v->below_1[0], py_below(&g, 1));
    assert_int_equal(v->below_1[1], py_randint(&g, 1, 1000));
    SEED;
    CHECK(v->below_2p40, (int64_t)py_below(&g, (UINT64_C(1) << 40) + 1));
    SEED;
    CHECK(v->uniform, py_uniform(&g, -3.5, 10.25));
#undef SEED
}

static void test_python_random_draw_for_draw(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(m_fresh); i++)
        check_m(&m_fresh[i], true);
    for (size_t i = 0; i < COUNT(m_continued); i++)
        check_m(&m_continued[i], false);
}

/* The engine's own reference output: the 10000th word of seed 5489 (std::mt19937 is defined by it in C++11 26.5.5). */
static void test_mersenne_twister_reference_word(void **state)
{
    (void)state;
    struct mt19937 g;
    npl_seed(&g, 5489);
    for (int i = 1; i < 10000; i++)
        npl_u32(&g);
    assert_int_equal(npl_u32(&g), 4123659995u);
}

static void test_specification_vector_of_pcg64(void **state)
{
    (void)state;
    static const int64_t want[] = {42749, 32011, 25688, 13558, 15470};
    struct pcg64 g;
    pcg64_seed(&g, 0);
    for (size_t i = 0; i < COUNT(want); i++)
        assert_int_equal(pcg64_integers(&g, 0, 50257), want[i]);
}

static void test_pcg64_halves_come_low_first(void **state)
{
    (void)state;
    struct pcg64 a, b;
    pcg64_seed(&a, 77);
    pcg64_seed(&b, 77);
    uint64_t whole = pcg64_u64(&a);
    assert_int_equal(pcg64_u32(&b), (uint32_t)whole);
    uint64_t second = pcg64_u64(&a);
    assert_true(pcg64_u64(&b) == second); /* a waiting half survives a 64-bit draw */
    assert_int_equal(pcg64_u32(&b), (uint32_t)(whole >> 32));
}

static void test_normal_variates_have_mean_0_and_variance_1(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    struct pcg64 g;
    double sum = 0, squares = 0;
    pcg64_seed(&g, 4);
    for (int i = 0; i < DRAWS; i++) {
        double x = pcg64_standard_normal(&g);
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum / DRAWS) < 0.03);         /* four standard errors of the mean */
    assert_true(fabs(squares / DRAWS - 1) < 0.04); /* four of the variance */
}

static void test_gamma_of_shape_zero_is_zero_without_a_draw(void **state)
{
    (void)state;
    struct mt19937 a, b;
    npl_seed(&a, 3);
    npl_seed(&b, 3);
    assert_true(npl_gamma(&a, 0.0, 2.0) == 0.0);
    assert_int_equal(npl_u32(&a), npl_u32(&b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numpy_generator_draw_for_draw),
        cmocka_unit_test(test_numpy_legacy_draw_for_draw),
        cmocka_unit_test(test_python_random_draw_for_draw),
        cmocka_unit_test(test_mersenne_twister_reference_word),
        cmocka_unit_test(test_specification_vector_of_pcg64),
        cmocka_unit_test(test_pcg64_halves_come_low_first),
        cmocka_unit_test(test_normal_variates_have_mean_0_and_variance_1),
        cmocka_unit_test(test_gamma_of_shape_zero_is_zero_without_a_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
