/* Base URLs and hosts: what is right comes from RFC 3986 and RFC 9112 3.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/target.h"

struct url_case {
    const char *url;
    bool tls;
    const char *host;
    unsigned port;
    const char *authority;
    const char *prefix;
};

static const struct url_case good[] = {
    {"http://127.0.0.1:8000", false, "127.0.0.1", 8000, "127.0.0.1:8000", ""},
    {"http://localhost", false, "localhost", 80, "localhost", ""},
    {"https://api.example.com/", true, "api.example.com", 443, "api.example.com", ""},
    {"HTTP://h:81/a/b/", false, "h", 81, "h:81", "/a/b"},
    {"http://[::1]:9000/v", false, "::1", 9000, "[::1]:9000", "/v"},
    {"http://[fe80::1]", false, "fe80::1", 80, "[fe80::1]", ""},
};

static void urls_are_taken_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct net_target t;
        struct error err;
        assert_true(target_parse(&t, sv_from(good[i].url), &err));
        assert_int_equal(t.tls, good[i].tls);
        assert_string_equal(t.host, good[i].host);
        assert_int_equal(t.port, good[i].port);
        assert_string_equal(t.authority, good[i].authority);
        assert_string_equal(t.prefix, good[i].prefix);
    }
}

static void bad_urls_are_refused_by_name(void **state)
{
    (void)state;
    const char *bad[] = {
        "",           "127.0.0.1:8000", "ftp://h",       "http://",     "http://:80",
        "http://h:0", "http://h:65536", "http://h:x",    "http://[::1", "http://[::1]x",
        "http://a b", "http://user@h",  "http://h/p?q=1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct net_target t;
        struct error err = {0};
        assert_false(target_parse(&t, sv_from(bad[i]), &err));
        assert_int_equal(err.code, E_USAGE);
        assert_non_null(strstr(err.message, "'"));
    }
}

static void a_password_in_a_url_is_not_repeated(void **state)
{
    (void)state;
    const char *bad[] = {"http://me:secret@h:80/v1", "https://me:sec:ret@h", "http://me:s/secret@h",
                         "http://secret@[::1]"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct net_target t;
        struct error err = {0};
        assert_false(target_parse(&t, sv_from(bad[i]), &err));
        assert_int_equal(err.code, E_USAGE);
        assert_null(strstr(err.message, "sec"));
        assert_non_null(strstr(err.message, "user name"));
    }
}

static void a_query_in_a_url_is_not_repeated(void **state)
{
    (void)state;
    static const struct {
        const char *url, *shown;
    } bad[] = {
        {"http://h:1/x?key=secret", "'http://h:1/x'"},
        {"http://h:1?key=secret", "'http://h:1'"},
        {"http://h#secret", "'http://h'"},
        {"htp://h/x?key=secret", "'htp://h/x'"},
        {"htp://me:secret@h", "'htp://'"},
        {"h:1/x?key=secret", "'h:1/x'"},
        {"me:secret@h", "''"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct net_target t;
        struct error err = {0};
        assert_false(target_parse(&t, sv_from(bad[i].url), &err));
        assert_null(strstr(err.message, "secret"));
        assert_non_null(strstr(err.message, bad[i].shown));
    }
}

static void hosts_may_be_bare_ipv6(void **state)
{
    (void)state;
    struct net_target t;
    struct error err;
    assert_true(target_from_host(&t, "::1", 8000, &err));
    assert_string_equal(t.authority, "[::1]:8000");
    assert_true(target_from_host(&t, "[::1]", 8000, &err));
    assert_string_equal(t.host, "::1");
    assert_false(target_from_host(&t, "h", 70000, &err));
}

static void a_numeric_host_resolves_without_a_connection(void **state)
{
    (void)state;
    struct net_target t;
    struct error err;
    assert_true(target_from_host(&t, "127.0.0.1", 9, &err));
    assert_true(target_resolve(&t, &err));
    assert_string_equal(t.address_text, "127.0.0.1:9");
    assert_true(t.answered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_taken_apart),
        cmocka_unit_test(bad_urls_are_refused_by_name),
        cmocka_unit_test(a_password_in_a_url_is_not_repeated),
        cmocka_unit_test(a_query_in_a_url_is_not_repeated),
        cmocka_unit_test(hosts_may_be_bare_ipv6),
        cmocka_unit_test(a_numeric_host_resolves_without_a_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
