/* Tests of src/datasets/workload: the wire form of id prompts against snprintf, its length, and runs that wrap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "datasets/workload.h"

static void expect(const struct workload *w, struct prompt p, const char *want)
{
    struct buf out = {0};
    p.json_bytes = workload_prompt_measure(w, &p);
    assert_int_equal(p.json_bytes, strlen(want));
    workload_prompt_write(w, &p, &out);
    assert_int_equal(out.len, strlen(want));
    assert_string_equal(buf_cstr(&out), want);
    buf_done(&out);
}

static void test_json_is_written_as_it_is(void **state)
{
    struct workload w = {0};
    (void)state;
    expect(&w, (struct prompt){.kind = PROMPT_JSON, .json = SV_LIT("\"a\\n\"")}, "\"a\\n\"");
}

static void test_ids_of_every_length(void **state)
{
    static const uint32_t ids[] = {0,     9,      10,      99,       100,       999,       1000,
                                   12345, 999999, 1000000, 12345678, 123456789, 4294967295};
    struct workload w = {0};
    (void)state;
    expect(&w, (struct prompt){.kind = PROMPT_IDS, .ids = ids, .id_count = 13},
           "[0,9,10,99,100,999,1000,12345,999999,1000000,12345678,123456789,4294967295]");
    expect(&w, (struct prompt){.kind = PROMPT_IDS, .ids = ids, .id_count = 0}, "[]");
}

static void test_run_wraps_around_the_allowed_ids(void **state)
{
    static const uint32_t allowed[] = {5, 6, 7, 100};
    static const uint32_t prefix[] = {1, 2};
    struct workload w = {
        .prefix_ids = prefix, .prefix_count = 2, .allowed = allowed, .allowed_count = 4};
    (void)state;
    expect(&w, (struct prompt){.kind = PROMPT_ID_RUN, .run_start = 2, .run_len = 7},
           "[7,100,5,6,7,100,5]");
    expect(&w,
           (struct prompt){.kind = PROMPT_ID_RUN, .run_start = 3, .run_len = 2, .prefix_len = 2},
           "[1,2,100,5]");
    expect(&w, (struct prompt){.kind = PROMPT_ID_RUN, .prefix_len = 1}, "[1]");
}

static void test_run_without_a_list_is_the_identity(void **state)
{
    struct workload w = {.allowed_count = 1000};
    (void)state;
    expect(&w, (struct prompt){.kind = PROMPT_ID_RUN, .run_start = 998, .run_len = 4},
           "[998,999,0,1]");
}

/* Every number up to 200,000 and its neighbours at powers of ten, by a plain twin. */
static void test_digits_equal_printf(void **state)
{
    struct workload w = {.allowed_count = 200001};
    struct prompt p = {.kind = PROMPT_ID_RUN, .run_start = 0, .run_len = 200001};
    struct buf got = {0};
    struct buf want = {0};
    (void)state;
    for (uint32_t i = 0; i <= 200000; i++)
        buf_add_fmt(&want, i == 0 ? "[%u" : ",%u", i);
    buf_add_char(&want, ']');
    p.json_bytes = workload_prompt_measure(&w, &p);
    workload_prompt_write(&w, &p, &got);
    assert_int_equal(got.len, want.len);
    assert_memory_equal(got.ptr, want.ptr, got.len);
    buf_done(&got);
    buf_done(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_is_written_as_it_is),
        cmocka_unit_test(test_ids_of_every_length),
        cmocka_unit_test(test_run_wraps_around_the_allowed_ids),
        cmocka_unit_test(test_run_without_a_list_is_the_identity),
        cmocka_unit_test(test_digits_equal_printf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
