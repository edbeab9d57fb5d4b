/* The key and the header values of a command line do not come back in what a server says. */
#include "config/secrets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct config_pair headers[] = {
    {.key = {"X-Team", 6}, .value = {"team-search", 11}},
    {.key = {"Authorization", 13}, .value = {"Basic dXNlcjpwYXNz", 18}},
    {.key = {"X-On", 4}, .value = {"on", 2}},
};

static const struct config config = {
    .api_key = "sk-secret-1",
    .headers = {.items = headers, .count = 3},
};

static void expect(const char *text, const char *want)
{
    struct buf out = {0};
    config_redact(&config, sv_from(text), &out);
    assert_string_equal(buf_cstr(&out), want);
    buf_done(&out);
}

static void test_every_secret_is_replaced_wherever_it_stands(void **state)
{
    (void)state;
    expect("", "");
    expect("all is well", "all is well");
    expect("sk-secret-1", "***");
    expect("no key sk-secret-1 of team-search.", "no key *** of ***.");
    expect("sk-secret-1sk-secret-1", "******");
    expect("Basic dXNlcjpwYXNz", "***");
    expect("credentials dXNlcjpwYXNz are bad", "credentials *** are bad");
}

static void test_short_values_and_parts_within_a_text_are_left(void **state)
{
    (void)state;
    expect("come on", "come on");
    expect("sk-secret-2 is another key", "sk-secret-2 is another key");
    expect("sk-secret and more", "sk-secret and more");
}

static void test_a_secret_that_was_cut_off_is_replaced_too(void **state)
{
    (void)state;
    expect("no such key: sk-sec", "no such key: ***");
    expect("no such key: sk-sec...", "no such key: ***...");
    expect("no such key: sk-se", "no such key: sk-se");
    expect("no such key: sk-secret-1...", "no such key: ***...");
    expect("wait...", "wait...");
    expect("...", "...");
    expect("..", "..");
}

static void test_the_message_of_an_error_stays_within_its_room(void **state)
{
    (void)state;
    struct error err;
    error_set(&err, E_NETWORK, "HTTP 401: bad key sk-secret-1");
    config_redact_error(&config, &err);
    assert_string_equal(err.message, "HTTP 401: bad key ***");
    assert_int_equal(err.code, E_NETWORK);
    memset(err.message, 'x', sizeof(err.message) - 1);
    err.message[sizeof(err.message) - 1] = '\0';
    config_redact_error(&config, &err);
    assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
    err.message[0] = '\0';
    config_redact_error(&config, &err);
    assert_string_equal(err.message, "");
}

static void test_without_secrets_nothing_changes(void **state)
{
    (void)state;
    struct config none = {0};
    struct buf out = {0};
    config_redact(&none, SV_LIT("sk-secret-1"), &out);
    assert_string_equal(buf_cstr(&out), "sk-secret-1");
    buf_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_secret_is_replaced_wherever_it_stands),
        cmocka_unit_test(test_short_values_and_parts_within_a_text_are_left),
        cmocka_unit_test(test_a_secret_that_was_cut_off_is_replaced_too),
        cmocka_unit_test(test_the_message_of_an_error_stays_within_its_room),
        cmocka_unit_test(test_without_secrets_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
