/* Heads of replies as the public hub, its store and mirrors send them; forms are those of RFC 9110. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hub/headers.h"

static void read_lines(struct hub_headers *h, const char *const *lines)
{
    hub_headers_reset(h);
    for (; *lines != NULL; lines++)
        hub_headers_line(h, sv_from(*lines));
}

static void a_redirect_to_the_store(void **state)
{
    (void)state;
    struct hub_headers h;
    read_lines(
        &h,
        (const char *const[]){
            "HTTP/2 302 ", "X-Repo-Commit: 0123456789abcdef0123456789abcdef01234567",
            "x-linked-size: 9085657",
            "X-Linked-ETag: \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"",
            "ETag: W/\"5-x\"", "location:   https://store.example/a?b=c", NULL});
    assert_int_equal(h.status, 302);
    assert_string_equal(h.commit, "0123456789abcdef0123456789abcdef01234567");
    assert_true(h.has_linked_size);
    assert_int_equal(h.linked_size, 9085657);
    assert_string_equal(h.linked_etag,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_string_equal(h.etag, "5-x");
    assert_string_equal(h.location, "https://store.example/a?b=c");
}

static void a_part_of_a_file(void **state)
{
    (void)state;
    struct hub_headers h;
    read_lines(&h, (const char *const[]){"HTTP/1.1 206 Partial Content", "Content-Length: 1",
                                         "Content-Range: bytes 0-0/4611686018427387904", NULL});
    assert_int_equal(h.status, 206);
    assert_true(h.has_range && h.has_range_total && h.has_length);
    assert_int_equal(h.range_first, 0);
    assert_int_equal(h.range_total, (uint64_t)1 << 62);
    assert_int_equal(h.length, 1);
}

static void ranges_without_a_total_or_a_first(void **state)
{
    (void)state;
    struct hub_headers h;
    read_lines(&h, (const char *const[]){"HTTP/1.1 206 x", "Content-Range: bytes 5-9/*", NULL});
    assert_true(h.has_range && !h.has_range_total);
    assert_int_equal(h.range_first, 5);
    read_lines(&h, (const char *const[]){"HTTP/1.1 416 x", "Content-Range: bytes */77", NULL});
    assert_true(!h.has_range && h.has_range_total);
    assert_int_equal(h.range_total, 77);
    const char *const bad[] = {"bytes",
                               "bytes ",
                               "bytes 5",
                               "bytes -5/9",
                               "bytes x-5/y",
                               "items 0-0/1",
                               "bytes 99999999999999999999-1/99999999999999999999"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char line[100] = "Content-Range: ";
        memcpy(line + 15, bad[i], strlen(bad[i]));
        read_lines(&h, (const char *const[]){"HTTP/1.1 206 x", line, NULL});
        assert_true(!(h.has_range && h.has_range_total));
    }
}

static void a_status_line_begins_anew(void **state)
{
    (void)state;
    struct hub_headers h;
    read_lines(&h, (const char *const[]){"HTTP/1.1 200 Connection established", "ETag: \"old\"",
                                         "HTTP/1.1 404 Not Found", NULL});
    assert_int_equal(h.status, 404);
    assert_string_equal(h.etag, "");
}

static void names_that_would_lead_elsewhere_are_not_there(void **state)
{
    (void)state;
    const char *const bad[] = {"ETag: \"../../x\"",  "ETag: \".hidden\"", "ETag: \"a b\"",
                               "ETag: \"a\\b\"",     "ETag: \"\"",        "X-Repo-Commit: ../x",
                               "X-Repo-Commit: a/b", "X-Repo-Commit: a.b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct hub_headers h;
        read_lines(&h, (const char *const[]){"HTTP/1.1 200 OK", bad[i], NULL});
        assert_string_equal(h.etag, "");
        assert_string_equal(h.commit, "");
    }
}

static void what_is_too_long_is_not_there(void **state)
{
    (void)state;
    static char line[HUB_LOCATION_MAX + 100];
    struct hub_headers h;
    memset(line, 'a', sizeof(line) - 1);
    memcpy(line, "ETag: ", 6);
    read_lines(&h, (const char *const[]){"HTTP/1.1 200 OK", line, NULL});
    assert_string_equal(h.etag, "");
    memcpy(line, "Location:", 9);
    read_lines(&h, (const char *const[]){"HTTP/1.1 200 OK", line, NULL});
    assert_string_equal(h.location, "");
    line[9 + HUB_LOCATION_MAX] = '\0';
    read_lines(&h, (const char *const[]){"HTTP/1.1 200 OK", line, NULL});
    assert_int_equal(strlen(h.location), HUB_LOCATION_MAX);
}

static void waiting_times(void **state)
{
    (void)state;
    struct hub_headers h;
    read_lines(&h, (const char *const[]){"HTTP/1.1 429 x", "Retry-After: 17", NULL});
    assert_int_equal(h.retry_after_s, 17);
    read_lines(&h, (const char *const[]){"HTTP/1.1 429 x", "Retry-After: 99999999999", NULL});
    assert_int_equal(h.retry_after_s, 3600);
    read_lines(&h, (const char *const[]){"HTTP/1.1 429 x",
                                         "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT", NULL});
    assert_int_equal(h.retry_after_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_redirect_to_the_store),
        cmocka_unit_test(a_part_of_a_file),
        cmocka_unit_test(ranges_without_a_total_or_a_first),
        cmocka_unit_test(a_status_line_begins_anew),
        cmocka_unit_test(names_that_would_lead_elsewhere_are_not_there),
        cmocka_unit_test(what_is_too_long_is_not_there),
        cmocka_unit_test(waiting_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
