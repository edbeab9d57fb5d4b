/* Adapters over requests: Python 3.11, random.seed(s); [random.choice(names) for _ in range(8)]. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "load/lora.h"

static void check(uint64_t seed, size_t modules, bool round_robin, const uint32_t wanted[8])
{
    struct config config = {.lora_modules = {.count = modules}, .lora_round_robin = round_robin};
    struct mt19937 py;
    py_seed(&py, seed);
    uint32_t *of = lora_assign(&config, &py, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(of[i], wanted[i]);
    free(of);
}

static void random_choices_are_those_of_python(void **state)
{
    (void)state;
    check(0, 3, false, (const uint32_t[]){1, 1, 0, 1, 2, 1, 1, 1});
    check(42, 5, false, (const uint32_t[]){0, 0, 2, 1, 1, 1, 0, 4});
    check(7, 1, false, (const uint32_t[]){0, 0, 0, 0, 0, 0, 0, 0});
}

static void round_robin_draws_nothing(void **state)
{
    (void)state;
    check(0, 3, true, (const uint32_t[]){0, 1, 2, 0, 1, 2, 0, 1});
    struct config config = {.lora_modules = {.count = 2}, .lora_round_robin = true};
    struct mt19937 py, same;
    py_seed(&py, 5);
    py_seed(&same, 5);
    free(lora_assign(&config, &py, 100));
    assert_true(py_random(&py) == py_random(&same));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_choices_are_those_of_python),
        cmocka_unit_test(round_robin_draws_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
