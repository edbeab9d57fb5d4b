/* select_ranks against counting, on series of every kind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "metrics/select.h"

enum { MAX = 3000 };

static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % below;
}

/* x[k] must be the value of rank k: at most k values are smaller and more than k are not larger. */
static void check(const double *given, size_t n, const size_t *wanted, size_t wanted_count)
{
    static double x[MAX];
    size_t ranks[16];
    memcpy(x, given, n * sizeof(*x));
    memcpy(ranks, wanted, wanted_count * sizeof(*ranks));
    select_ranks(x, n, ranks, wanted_count);
    for (size_t i = 0; i < wanted_count; i++) {
        size_t less = 0;
        size_t equal = 0;
        for (size_t j = 0; j < n; j++) {
            less += given[j] < x[wanted[i]];
            equal += given[j] == x[wanted[i]];
        }
        assert_true(less <= wanted[i] && wanted[i] < less + equal);
    }
    /* Nothing was lost: the sum of whole numbers is exact. */
    double before = 0;
    double after = 0;
    for (size_t j = 0; j < n; j++) {
        before += given[j];
        after += x[j];
    }
    assert_true(before == after);
}

static void fill(double *x, size_t n, unsigned kind)
{
    for (size_t i = 0; i < n; i++) {
        switch (kind) {
        case 0:
            x[i] = (double)draw(1000000);
            break;
        case 1:
            x[i] = (double)i;
            break;
        case 2:
            x[i] = (double)(n - i);
            break;
        case 3:
            x[i] = 7;
            break;
        case 4:
            x[i] = (double)draw(3);
            break;
        case 5:
            x[i] = (double)(i < n / 2 ? i : n - i); /* up and down */
            break;
        default:
            x[i] = i == n / 3 ? -1 : (double)(i % 10);
            break;
        }
    }
}

static void test_ranks_hold_what_a_sort_would_put_there(void **state)
{
    (void)state;
    static double x[MAX];
    static const size_t SIZES[] = {1, 2, 3, 47, 48, 49, 50, 100, 513, MAX};
    for (unsigned kind = 0; kind < 7; kind++) {
        for (size_t s = 0; s < sizeof(SIZES) / sizeof(SIZES[0]); s++) {
            size_t n = SIZES[s];
            fill(x, n, kind);
            size_t ranks[6] = {n - 1, 0, n / 2, draw(n), draw(n), n / 2};
            check(x, n, ranks, 6);
        }
    }
}

static void test_every_single_rank_is_found(void **state)
{
    (void)state;
    static double x[200];
    fill(x, 200, 4);
    for (size_t k = 0; k < 200; k++)
        check(x, 200, &k, 1);
    fill(x, 200, 0);
    for (size_t k = 0; k < 200; k++)
        check(x, 200, &k, 1);
}

static void test_no_ranks_and_no_values_are_fine(void **state)
{
    (void)state;
    double one = 3;
    size_t rank = 0;
    select_ranks(&one, 1, &rank, 0);
    select_ranks(&one, 0, &rank, 0);
    assert_true(one == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_hold_what_a_sort_would_put_there),
        cmocka_unit_test(test_every_single_rank_is_found),
        cmocka_unit_test(test_no_ranks_and_no_values_are_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
