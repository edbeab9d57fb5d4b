/* Functions out of a library that is opened late; libm is there wherever the program runs. */
#include "base/library.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct api {
    double (*unused)(double);
    double (*root)(double);
};

static void test_functions_are_found_by_name(void **state)
{
    (void)state;
    const struct library_symbol symbols[] = {LIBRARY_SYMBOL(struct api, root, "sqrt")};
    struct api api = {0};
    struct error err;
    assert_true(library_open("libm.so.6", symbols, 1, &api, &err));
    assert_null(api.unused);
    assert_true(fabs(api.root(9.0) - 3.0) < 1e-15);
}

static void test_what_is_missing_is_named(void **state)
{
    (void)state;
    const struct library_symbol symbols[] = {LIBRARY_SYMBOL(struct api, root, "no_such_function")};
    struct api api = {0};
    struct error err;
    assert_false(library_open("libno-such.so.1", symbols, 1, &api, &err));
    assert_non_null(strstr(err.message, "'libno-such.so.1'"));
    assert_false(library_open("libm.so.6", symbols, 1, &api, &err));
    assert_string_equal(err.message, "the library 'libm.so.6' has no function 'no_such_function'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_are_found_by_name),
        cmocka_unit_test(test_what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
